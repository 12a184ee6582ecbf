"""A real browser for tests: Chromium, driven by Playwright, and what axe finds on a page.

CHROMIUM names the program where it is none of the usual ones.
"""

import os
import shutil

import pytest

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
    "--disable-sync", "--disable-component-update",
]  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    """The browser of a module; a test is skipped where there is none."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium; CHROMIUM names one")
    with driver.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield started
        started.close()


def found_by_axe(page):
    """What axe finds on a page: the rule, and the first element that breaks it."""
    module = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe")
    found = module.Axe().run(page).response["violations"]
    return [(one["id"], one["nodes"][0]["html"]) for one in found]


def fits(page):
    """Whether nothing of a page is beside the screen."""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")
