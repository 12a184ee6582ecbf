"""Draw the pictures of the reader: python docs/images/reader.py, in a new folder of its own.

Needs Playwright and Chromium (make browser). Other versions of these draw other
pixels, so that `make figures` leaves these pictures alone.
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
STUDY = "study=pilot topic=ccps,fremantle treatment=none,basic,normative replicate=1,2,3".split()
RUN = "pilot/ccps.normative.citizen.r1/index.html"
PICTURES = {
    "reader-run": (RUN, 1280, 1000, "light"),
    "reader-runs": ("pilot/runs.html?q=climate&treatment=normative", 1280, 900, "light"),
    "reader-small": (f"{RUN}#pairs", 400, 800, "dark"),
}
"""Each with its page, the width and height of the screen, and light or dark."""


def main() -> None:
    """Hold a study, serve it, and keep what a browser shows of it."""
    delibsim = [sys.executable, "-m", "delibsim.cli.main"]
    with tempfile.TemporaryDirectory() as folder:
        for words in (["run", "-q", "-m", *STUDY], ["score", "pilot"]):
            subprocess.run([*delibsim, *words], cwd=folder, check=True, capture_output=True)
        view = [*delibsim, "view", "--port", "0", "--no-browser"]
        own = {**os.environ, "XDG_CACHE_HOME": f"{folder}/cache"}
        server = subprocess.Popen(view, cwd=folder, stdout=subprocess.PIPE, text=True, env=own)
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]
        with sync_playwright() as driver:
            options = {"executable_path": CHROMIUM, "args": ["--no-sandbox", "--disable-gpu"]}
            browser = driver.chromium.launch(**options)
            for name, (page, width, height, scheme) in PICTURES.items():
                size = {"width": width, "height": height}
                tab = browser.new_page(viewport=size, color_scheme=scheme)
                tab.goto(address + page)
                while "compare with the same replicate" not in tab.content().lower():
                    tab.wait_for_timeout(300)  # until the index of the study is made
                    tab.goto(address + RUN)
                tab.goto(address + page)
                tab.wait_for_timeout(300)
                picture = Image.open(BytesIO(tab.screenshot()))
                picture.quantize(128).save(HERE / f"{name}.png", optimize=True)
            browser.close()
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
