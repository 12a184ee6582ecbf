"""The reader in a real browser: reading, filtering, searching, notes, keys, print, small and dark
screens, hostile texts; axe finds no fault. Needs Chromium and `make browser`.
"""

import subprocess
import sys
import threading
import time

import pytest
import uvicorn
from chromium import fits, found_by_axe

from delibsim.store.notes import Notes
from delibsim.store.runs import Runs
from delibsim.web.guard import Guard
from delibsim.web.pages import write_static
from delibsim.web.serve import application, bound

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]
SCREENS = [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")]


@pytest.fixture
def here(site):
    """The address of a real server of these studies."""
    made = bound("127.0.0.1", 0)
    port = made.getsockname()[1]
    guarded = Guard(application(site), port)
    server = uvicorn.Server(uvicorn.Config(guarded, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=server.run, args=[[made]])
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def opened(browser):
    """Opens pages on a screen, and fails where the browser complains of anything."""
    contexts, said = [], []

    def open_page(address, width=1280, scheme="light", **options):
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


@pytest.fixture
def addresses(here, site, hostile, spoken):
    """One page of every kind, hostile ones among them."""
    (evil,) = hostile.sessions()
    # In a process of its own: that of a browser has an event loop already.
    fork = ["fork", f"s/{spoken}", "--at", "2", "--control", "--dir", str(site.root)]
    subprocess.run(
        [sys.executable, "-m", "delibsim.cli.main", *fork], check=True, capture_output=True
    )
    (fork,) = Runs.at(site.root / "s" / "forks").sessions()
    Notes(hostile).add(evil, 1, "a note", "tag")
    return [
        f"{here}/", f"{here}/models.html", f"{here}/?q=s&sort=effect", f"{here}/s/index.html", f"{here}/s/runs.html?q=options", f"{here}/s/{spoken}/index.html",
        f"{here}/s/{spoken}/calls/index.html", f"{here}/s/{spoken}/calls/1.html", f"{here}/evil/index.html",
        f"{here}/evil/{evil}/index.html", f"{here}/s~forks/index.html", f"{here}/s~forks/runs.html", f"{here}/s~forks/{fork}/index.html",
        f"{here}/s/{spoken}/beside.html?with=ccps.none.citizen_size3.r1", f"{here}/nothing/index.html",
    ]  # fmt: skip


def at_turn(page, number):
    """Wait until the page is at a turn: a key is obeyed a moment after it is pressed."""
    page.wait_for_function(f"location.hash === '#turn-{number}'")


def test_no_page_is_wider_than_the_screen_and_none_is_run_by_what_it_shows(opened, addresses):
    for width, scheme in SCREENS:
        page = opened("about:blank", width, scheme)
        page.on("dialog", lambda dialog: pytest.fail(f"asked: {dialog.message}"))
        for address in addresses[:-1]:
            page.goto(address)
            assert fits(page), address
            assert page.title() != "run"
            for box in page.locator("details").all():
                box.evaluate("one => { one.open = true }")
            assert fits(page), address


def test_axe_finds_no_fault(opened, addresses):
    for scheme in ("light", "dark"):
        # axe is a script of another place, which the policy of the pages forbids.
        page = opened("about:blank", 1280, scheme, bypass_csp=True)
        for address in addresses[:-1]:
            page.goto(address)
            assert found_by_axe(page) == [], address


def test_the_list_is_filtered_and_searched_without_leaving_the_page(opened, here):
    page = opened(f"{here}/s/runs.html")
    assert page.locator("tr.entry").count() == 4
    page.evaluate("window.stayed = true")
    page.select_option("select[name=treatment]", "none")
    page.locator("tr.entry").nth(2).wait_for(state="detached")
    page.select_option("select[name=treatment]", "")
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("/")
    page.keyboard.type("options I would")
    page.wait_for_selector("mark")
    assert page.evaluate("window.stayed")
    page.wait_for_url("**q=options**")
    page.locator("tr.hits a").first.click()
    page.wait_for_selector(":target", state="attached")
    assert page.evaluate("document.querySelector(':target').matches('.turn')")


def test_a_filter_works_without_scripts(opened, here):
    page = opened(f"{here}/s/runs.html", java_script_enabled=False)
    page.select_option("select[name=treatment]", "none")
    page.click("text=Show")
    page.wait_for_url("**treatment=none**")
    assert page.locator("tr.entry").count() == 2
    assert page.locator(".keys-hint").is_hidden()


def test_keys_lead_through_a_run_and_a_note_is_kept(opened, here, site, spoken):
    page = opened(f"{here}/s/{spoken}/index.html")
    page.keyboard.press("j")
    page.keyboard.press("j")
    at_turn(page, 2)
    page.keyboard.press("k")
    at_turn(page, 1)
    page.keyboard.press("j")
    page.keyboard.press("?")
    page.locator("#keys").wait_for(state="visible")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.keyboard.type("j is typed here, <b>not obeyed</b>")
    page.locator("#turn-2 input[name=tags]").fill("turning point")
    page.locator("#turn-2 form button").first.click()
    page.wait_for_selector("#turn-2 .notes")
    (note,) = Notes(Runs(site.root, "s")).all()
    assert (note.turn, note.text, note.tags) == (
        2,
        "j is typed here, <b>not obeyed</b>",
        ("turning point",),
    )
    at_turn(page, 2)
    page.locator("#turn-2 .notes button").click()
    page.locator(".notes").wait_for(state="detached")


def test_a_run_is_chosen_and_opened_in_a_list_by_keys(opened, here):
    page = opened(f"{here}/s/runs.html")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector(".conversation")
    assert "none.citizen_size3.r2" in page.title()


def test_a_study_that_is_being_held_refreshes_itself(opened, here, site):
    runs = Runs(site.root, "s")
    with runs.lock():
        page = opened(f"{here}/s/index.html")
        assert page.locator("text=4 complete").count() == 1
        for name in ("SHA256SUMS", "run.json"):
            (runs.path(runs.sessions()[0]) / name).unlink()
        page.wait_for_selector("text=1 no run", timeout=20_000)
    page.locator("[hx-trigger]").wait_for(state="detached", timeout=20_000)


def test_a_list_that_refreshes_itself_keeps_the_run_that_is_chosen(opened, here, site):
    runs = Runs(site.root, "s")
    with runs.lock():
        page = opened(f"{here}/s/runs.html")
        page.keyboard.press("j")
        for name in ("SHA256SUMS", "run.json"):
            (runs.path(runs.sessions()[3]) / name).unlink()
        page.wait_for_selector("td:text-is('no run')", timeout=20_000)
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_selector(".conversation")
    assert "none.citizen_size3.r2" in page.title()


def test_print_shows_what_is_said_and_no_form(opened, here, spoken):
    page = opened(f"{here}/s/{spoken}/index.html", 794)
    page.emulate_media(media="print")
    assert page.locator(".turn .said").first.is_visible()
    assert page.locator("form:visible").count() == 0
    assert page.locator(".pages").count()
    assert page.locator(":is(.jump, .pages, .legend):visible").count() == 0


def test_pages_in_a_folder_work_from_a_file(opened, site, spoken, tmp_path):
    site.static = site.read_only = True
    write_static(site, tmp_path / "out", lambda *_: None)
    page = opened((tmp_path / "out" / "index.html").as_uri())
    page.click("a:text-is('s')")
    page.click("text=All runs")
    page.wait_for_selector(".script #narrow")
    page.keyboard.press("/")
    page.keyboard.type("normative")
    assert page.locator("tr.entry:visible").count() == 2
    page.click(f"text={spoken}")
    page.wait_for_selector(".script .turn")
    page.keyboard.press("j")
    assert page.url.endswith("#turn-1")
    assert (
        page.evaluate("getComputedStyle(document.querySelector('.turn')).borderLeftStyle")
        == "solid"
    )
    page.locator(".turn .call").first.click()
    assert page.title().startswith("Call ")
