"""Draw the pictures of reports in the gallery: python docs/images/gallery.py, in any folder.

Needs Playwright and Chromium (make browser), as docs/images/reader.py does for the pictures of the
reader. Seeds are fixed; other versions of the browser draw other pixels.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

HERE = Path(__file__).resolve().parent
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
COMMANDS = (
    "run -q -m experiment=smoke topic=all",
    "analyze smoke",
    "run -q -m experiment=oxford tournament.motions=[voting,nuclear,plastics]",
    "rate ask oxford group.size=6",
    "rate report oxford -o debates",
)
PICTURES = {
    "finding": ("runs/smoke/analysis/finding.html", "", 1000),
    "report": ("runs/smoke/analysis/report.html", "#effects", 1000),
    "report-debates": ("debates/report.html", "#figures", 1000),
}
"""Each with its page, the place in it, and the height of the screen."""


def main() -> None:
    """Hold a study and a tournament, and keep what a browser shows of their reports."""
    with tempfile.TemporaryDirectory() as folder:
        for command in COMMANDS:
            words = [sys.executable, "-m", "delibsim.cli.main", *command.split()]
            subprocess.run(words, cwd=folder, check=True, capture_output=True)
        with sync_playwright() as driver:
            options = {"executable_path": CHROMIUM, "args": ["--no-sandbox", "--disable-gpu"]}
            browser = driver.chromium.launch(**options)
            for name, (page, place, height) in PICTURES.items():
                tab = browser.new_page(viewport={"width": 1100, "height": height})
                tab.goto(f"{Path(folder, page).as_uri()}{place}")
                tab.wait_for_timeout(300)
                picture = Image.open(BytesIO(tab.screenshot()))
                picture.quantize(128).save(HERE / f"{name}.png", optimize=True)
            browser.close()


if __name__ == "__main__":
    main()
