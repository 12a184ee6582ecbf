"""Measure the reader on 10,000 runs: .venv/bin/python bench/reader.py

The runs are copies of sessions that the citizen held (ccps, five participants, two rounds). What is
timed: the index, made once and refreshed after one run more; the pages as the server gives them;
and, where there is Chromium and Playwright (make browser), the first paint of the list.
"""

import asyncio
import os
import shutil
import statistics
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote
from urllib.request import urlopen

import uvicorn
from record import record

from delibsim import Runs, compose
from delibsim.conduct.hold import hold_session
from delibsim.conduct.reading.index import StudyIndex
from delibsim.conduct.score import score_all
from delibsim.domain.run import Run
from delibsim.store.manifest import Manifest
from delibsim.web.app import application
from delibsim.web.guard import Guard
from delibsim.web.serve import bound
from delibsim.web.site import Site

RUNS = 10_000
TREATMENTS = ("none", "basic", "normative")
TIMES = 7
ABOUT = (
    "Seconds that the reader takes on 10,000 runs of five citizens and two rounds: its index made"
    " once and refreshed, and pages from the server, the median and the most of seven. `kB` is the"
    " size of a page, or of the index. A figure counts where the machine had nothing else to do."
)
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


def main() -> None:
    rows: list[dict[str, str | float | None]] = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "runs")
        runs = study(root)
        cache = Path(folder, "cache")
        index = StudyIndex(runs, cache)
        rows.append(row("index, made", [seconds(index.refresh)], index.file.stat().st_size))
        rows.append(row("index, nothing new", [seconds(index.refresh) for _ in range(TIMES)]))
        one_more(runs)
        rows.append(row("index, one run more", [seconds(index.refresh)]))
        index.close()
        rows += served(Site(root, cache=cache), runs)
    record("reader", ABOUT, rows, ["starlette", "uvicorn"])


def row(what: str, took: list[float], size: float | None = None) -> dict[str, str | float | None]:
    """One figure, printed too: seconds (median and most), and kB where something was sent."""
    median, most = statistics.median(took), max(took)
    print(f"{what}: {median:.3f} s (most {most:.3f})" + (f", {size / 1000:.0f} kB" if size else ""))
    kilobytes = None if size is None else round(size / 1000)
    return {"what": what, "seconds": median, "most seconds": most, "kB": kilobytes}


def study(root: Path) -> Runs:
    """A scored study of many runs that differ in name, treatment and replicate."""
    runs = Runs(root, "many")
    runs.settle(Manifest(runs.study, {}, {}))
    made = []
    for treatment in TREATMENTS:
        session = replace(compose("topic=ccps", f"treatment={treatment}", "seed=7"), id=treatment)
        held = asyncio.run(hold_session(session, runs))
        assert held.run is not None
        made.append((held.run, (runs.path(treatment) / "exchanges.jsonl").read_bytes()))
        shutil.rmtree(runs.path(treatment))
    for n in range(RUNS):
        run, record = made[n % len(made)]
        copied(runs, run, record, n // len(made) + 1)
    score_all(runs, ["agreement", "diversity", "dri", "flags"])
    return runs


def copied(runs: Runs, run: Run, record: bytes, replicate: int) -> None:
    name = f"ccps.{run.session.treatment.name}.citizen.r{replicate}"
    own = replace(run.session, id=name, replicate=replicate)
    runs.plan(own)
    (runs.path(name) / "exchanges.jsonl").write_bytes(record)
    runs.add(replace(run, session=own))


def one_more(runs: Runs) -> None:
    first = runs.run("ccps.normative.citizen.r1")
    record = (runs.path(first.session.id) / "exchanges.jsonl").read_bytes()
    copied(runs, first, record, RUNS + 1)


def seconds(act) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def served(site: Site, runs: Runs) -> list[dict[str, str | float | None]]:
    """Times and sizes of pages from a server of their own thread."""
    made = bound("127.0.0.1", 0)
    port = made.getsockname()[1]
    guarded = Guard(application(site), port)
    settings = uvicorn.Config(guarded, log_level="critical", lifespan="off")
    server = uvicorn.Server(settings)
    thread = threading.Thread(target=server.run, args=[[made]], daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    here = f"http://127.0.0.1:{port}/many"
    word = runs.run("ccps.normative.citizen.r1").transcript[0].text.split()[3]
    pages = {
        "study, first": "index.html",
        "study": "index.html",
        "list": "runs.html",
        "list, filtered": "runs.html?treatment=basic&replicate=17",
        "list, sorted by the change of the index": "runs.html?sort=dri_change&order=desc",
        f"search for '{word}'": f"runs.html?q={quote(word)}",
        "search for a phrase": f"runs.html?q={quote(chr(34) + 'Of the options' + chr(34))}",
        "run": "ccps.normative.citizen.r5/index.html",
        "calls of a run": "ccps.normative.citizen.r5/calls/index.html",
        "one call": "ccps.normative.citizen.r5/calls/7.html",
    }
    rows = []
    for name, page in pages.items():
        times = 1 if name.endswith("first") else TIMES
        took = [seconds(lambda page=page: urlopen(f"{here}/{page}").read()) for _ in range(times)]
        rows.append(row(name, took, len(urlopen(f"{here}/{page}").read())))
    rows += painted(here)
    server.should_exit = True
    thread.join()
    return rows


def painted(here: str) -> list[dict[str, str | float | None]]:
    """The time to first paint in Chromium, where there is one."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("first paint: not measured, Playwright is not installed (make browser)")
        return []
    if CHROMIUM is None:
        print("first paint: not measured, there is no Chromium")
        return []
    paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000"
    rows = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name, page in {
            "list": "runs.html",
            "run": "ccps.normative.citizen.r5/index.html",
        }.items():
            took = []
            for _ in range(TIMES):
                tab = browser.new_context().new_page()
                tab.goto(f"{here}/{page}")
                tab.wait_for_timeout(300)
                took.append(tab.evaluate(paint))
                tab.close()
            rows.append(row(f"first paint of the {name} in Chromium", took))
        browser.close()
    return rows


if __name__ == "__main__":
    main()
