"""Measure how fast pairs are asked about and chosen: python bench/asking_pairs.py

A provider on this machine (a process of its own) answers after 50 ms. Process time is that of the
asking process alone. Run it by hand, never in CI.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
from pairs import TEXTS, TIES, cpu, simulated
from record import ROOT, Value, record
from threadpoolctl import threadpool_limits

from delibsim import Runs
from delibsim.conduct.comparing.carry_out import carry_out
from delibsim.conduct.comparing.plan import plan_comparison
from delibsim.domain.annotation import Text
from delibsim.measures.bradley_terry.adaptive import next_pairs, with_prior
from delibsim.store.manifest import Manifest
from delibsim.store.study_texts import StudyTexts

PORT, LATENCY, AT_ONCE = 8947, 0.05, 32
ABOUT = """1,000 votes of one judge over HTTP on loopback, 50 ms a call, 32 at once (32 calls in
flight take 1.56 s at least), pairs known beforehand and chosen in batches of 50 among 100 texts;
and choosing a batch of 50 among 1,000 texts, the spread of the texts estimated anew. A dash: not
timed by the clock, or no target."""


def study() -> Runs:
    """A study of 100 texts."""
    runs = Runs(Path("runs"), f"bench{time.monotonic_ns()}")
    said = "We should plant trees because streets are hot, and trees give shade. " * 5
    texts = [Text(f"t{n}", f"Text {n}. {said}", "", source="bench") for n in range(100)]
    StudyTexts(runs).keep(texts, Manifest(runs.study, {}, {}))
    return runs


async def asked(*design: str) -> tuple[float, float]:
    """Seconds and CPU seconds of 1,000 votes."""
    url = f"http://127.0.0.1:{PORT}/v1"
    own = [f"base_url={url}", f"limits.concurrency={AT_ONCE}", "design.per_text=20", *design]
    planned = plan_comparison(study(), ["dimension=logical", "model=local", *own])
    start, began = time.perf_counter(), time.process_time()
    found = await carry_out(planned)
    assert (found.new, found.whole) == (1_000, True)
    return time.perf_counter() - start, time.process_time() - began


@contextmanager
def served() -> Generator[None]:
    """A provider in a process of its own."""
    words = ["-m", "delibsim.testing.provider", "--port", str(PORT), "--latency", str(LATENCY)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    server = subprocess.Popen([sys.executable, *words], env=environment, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        server.terminate()


async def rows_of_asking() -> list[dict[str, Value]]:
    """Both designs, each the best of three by the clock."""
    rows: list[dict[str, Value]] = []
    await up()
    for design, target in (("random", 2.5), ("adaptive", None)):
        best = min([await asked(f"design={design}") for _ in range(3)])
        row: dict[str, Value] = {"what": f"1,000 calls, design={design}", "seconds": best[0]}
        rows.append(row | {"cpu_s": best[1], "to_reach_s": target})
        print(rows[-1], flush=True)
    return rows


async def up() -> None:
    """Wait for the provider."""
    async with aiohttp.ClientSession() as session:
        while True:
            try:
                async with session.get(f"http://127.0.0.1:{PORT}/v1/models"):
                    return
            except aiohttp.ClientError:
                await asyncio.sleep(0.1)


def main() -> None:
    """Print and keep the table."""
    with tempfile.TemporaryDirectory() as home, threadpool_limits(1):
        os.chdir(home)
        with served():
            rows = asyncio.run(rows_of_asking())
        few = simulated(TEXTS, 10_000, 2)
        seconds, _ = cpu(lambda: next_pairs(with_prior(few, TIES), few.pairs, 50, 1), 3)
    what = f"choosing a batch of 50 among {TEXTS:,} texts"
    rows.append({"what": what, "seconds": None, "cpu_s": seconds, "to_reach_s": 0.6})
    print(rows[-1])
    print(record("asking_pairs", ABOUT, rows, ["numpy", "scipy", "aiohttp"]))


if __name__ == "__main__":
    main()
