"""What Lighthouse says of the accessibility of every page for people. It runs where Node's package
lighthouse is installed: LIGHTHOUSE names the program, CHROMIUM the browser.
"""

import json
import os
import shutil
import subprocess

import pytest
from chromium import CHROMIUM
from people_pages import every_page

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900)]
LIGHTHOUSE = os.environ.get("LIGHTHOUSE") or shutil.which("lighthouse")
QUIET = ["--quiet", "--output=json", "--only-categories=accessibility"]
BROWSER = "--chrome-flags=--headless=new --no-sandbox --disable-gpu --no-first-run"


@pytest.fixture
def places(tmp_path, monkeypatch):
    if CHROMIUM is None or LIGHTHOUSE is None:
        pytest.skip("Lighthouse or Chromium is not installed; LIGHTHOUSE and CHROMIUM name them")
    monkeypatch.chdir(tmp_path)
    with every_page(tmp_path) as found:
        yield found


def report(place, file):
    """What Lighthouse reports of a page, seen by who stands there."""
    cookies = "; ".join(f"{name}={value}" for name, value in place.cookies.items())
    headers = [f"--extra-headers={json.dumps({'Cookie': cookies})}"] if cookies else []
    file.unlink(missing_ok=True)
    words = [LIGHTHOUSE, place.address + place.path, *QUIET, f"--output-path={file}", BROWSER]
    words += headers
    environment = {**os.environ, "CHROME_PATH": CHROMIUM}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    assert file.is_file(), done.stderr[-2000:]
    return json.loads(file.read_text(encoding="utf-8"))


def test_lighthouse_finds_every_page_accessible(places, tmp_path):
    scores = {}
    for place in places:
        found = report(place, tmp_path / "report.json")
        if found.get("runtimeError"):  # of a page that answers with an error, as it should
            assert found["runtimeError"]["code"] == "ERRORED_DOCUMENT_REQUEST", place.name
            continue
        assert found["finalDisplayedUrl"].endswith(place.path), place.name
        scores[place.name] = found["categories"]["accessibility"]["score"]
    assert {name: score for name, score in scores.items() if score != 1} == {}
    assert len(scores) > len(places) / 2
