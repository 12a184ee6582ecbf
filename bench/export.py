"""Measure time and memory of an export: .venv/bin/python bench/export.py

A study of 2,000 runs (27 items, five citizens, two rounds: 540,000 answers), copied from one
session that was held.
"""

import asyncio
import multiprocessing
import resource
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from record import beside

from delibsim import Runs, compose
from delibsim.conduct.hold import hold_session
from delibsim.conduct.score import score_all
from delibsim.store.manifest import Manifest
from delibsim.store.tables.export import export

RUNS = 2_000
AIM = 8.0
"""Seconds of CPU that an export as CSV is to take at most."""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        runs = study(Path(folder))
        for formats in (("csv",), ("parquet",), ("csv", "parquet")):
            process = multiprocessing.get_context("spawn").Process(
                target=measured, args=(runs.folder, Path(folder, "out"), formats)
            )
            process.start()
            process.join()


def study(folder: Path) -> Runs:
    """A study of many runs that differ in name and replicate, with scores."""
    runs = Runs(folder / "runs", "many")
    runs.settle(Manifest(runs.study, {}, {}))
    session = replace(compose("topic=ccps", "seed=7"), id="r1")
    held = asyncio.run(hold_session(session, runs))
    assert held.run is not None
    record = (runs.path("r1") / "exchanges.jsonl").read_bytes()
    for replicate in range(2, RUNS + 1):
        own = replace(session, id=f"r{replicate}", replicate=replicate)
        runs.plan(own)
        (runs.path(own.id) / "exchanges.jsonl").write_bytes(record)
        runs.add(replace(held.run, session=own))
    score_all(runs, ["dri"])
    return runs


def measured(study: Path, out: Path, formats: tuple[str, ...]) -> None:
    started, before = time.perf_counter(), time.process_time()
    written = export(Runs.at(study), out, formats)
    seconds, cpu = time.perf_counter() - started, time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    aim = beside(cpu, AIM) if formats == ("csv",) else ""
    size = sum(path.stat().st_size for path in out.iterdir()) / 2**20
    rows = sum(written.rows.values())
    print(
        f"{' and '.join(formats):16} {rows} rows of {RUNS} runs: {seconds:.1f} s, {cpu:.1f} s of"
        f" CPU, {size:.0f} MB written, {peak:.0f} MB of memory at most  {aim}".rstrip()
    )


if __name__ == "__main__":
    main()
