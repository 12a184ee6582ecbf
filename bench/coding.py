"""Measure coding over HTTP: .venv/bin/python bench/coding.py [--quick]

As in the published study 200 texts are coded on three dimensions by four models in five samples:
12,000 calls, and twelve for the steps. The server on loopback answers at once
(bench/loopback/server.py, a process of its own). Then the same command is given again, the coding
is replayed, and, with the fake provider and a tenth of the texts, the share of the prompts' common
beginnings is measured that a cache in blocks of 64 characters gives at a discount. Process time is
that of this process alone.
"""

import asyncio
import contextlib
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Generator
from pathlib import Path
from typing import Any

from record import Row, record

from delibsim import Runs
from delibsim.asking import road
from delibsim.asking.kinds.code import CODES, plan_coding
from delibsim.asking.nouns import Outcome
from delibsim.conduct import ask as asking
from delibsim.domain.annotation import Text
from delibsim.models.replay import exchanges_in
from delibsim.store.codings import Codings
from delibsim.store.manifest import Manifest
from delibsim.store.study_texts import StudyTexts
from delibsim.testing.answers import tokens
from delibsim.testing.provider import FakeProvider

MODELS = ("a", "b", "c", "d")
SERVED = "bench"
SAMPLES = 5
WORDS = "we should plant trees because streets are hot but others say that cars need room".split()
ABOUT = """Coding 200 texts of 100 words by dqi3: three dimensions, four models, five samples, over
HTTP on loopback without delay. Asking, the same command again, and a replay of the record; process
time is that of the asking process alone. Then the share of what prompts have in common (role,
rules, entry, steps) that a provider's cache in blocks of 64 characters had seen before."""


def main() -> None:
    """Every measurement in a folder that is removed afterwards."""
    n = 20 if "--quick" in sys.argv else 200
    with tempfile.TemporaryDirectory() as home:
        os.chdir(home)
        rows = asyncio.run(measure(Path(home), n))
    for row in rows:
        print(row)
    if "--quick" not in sys.argv:
        print(record("coding", ABOUT, rows))


async def measure(home: Path, n: int) -> list[Row]:
    """A row for each measurement."""
    runs = study(home, "all", n)
    with served() as url:
        presets(home, url)
        asked, first = await timed(lambda: ask(runs))
        again, second = await timed(lambda: ask(runs))
    assert asked.whole, asked.faults
    assert again.asked == 0
    replayed, third = await timed(lambda: road.replay(CODES.kept(runs, "")))
    assert replayed.verdict == "equal"
    few = study(home, "few", max(n // 10, 2))
    share = await cached(home, few)
    rows = []
    for what, calls, (seconds, cpu) in (
        ("ask", asked.asked, first),
        ("the same command again", again.asked, second),
        ("replay", 0, third),
    ):
        plain = {"what": what, "samples": asked.new, "calls": calls, "seconds": seconds}
        rows.append({**plain, "process seconds": cpu, "cached share of the beginning": None})
    plain = {"what": "cache", "samples": None, "calls": None, "seconds": None}
    rows.append({**plain, "process seconds": None, "cached share of the beginning": share})
    return rows


async def ask(runs: Runs) -> Outcome:
    """Plan and ask, as the command does."""
    settings = ["scheme=dqi3", f"group.models=[{','.join(MODELS)}]", f"samples={SAMPLES}"]
    return await asking.ask(plan_coding(runs, settings))


async def cached(home: Path, runs: Runs) -> float:
    """The share of what is alike in the prompts of a dimension that came from the cache."""
    async with FakeProvider(models=(SERVED,)) as provider:
        presets(home, provider.base_url)
        outcome = await ask(runs)
        assert outcome.whole, outcome.faults
    files = Codings.of(runs, "dqi3").files
    alike = hit = 0
    for exchange in exchanges_in(files.read(files.exchanges)[0])[0]:
        beginning = tokens(exchange.messages[0].content)
        alike += beginning
        hit += min(exchange.completion.usage.cached_tokens or 0, beginning)
    return hit / alike


async def timed(act: Callable[[], Awaitable[Any]]) -> tuple[Any, tuple[float, float]]:
    """What an act gives, its seconds, and the process time it took."""
    clock, cpu = time.perf_counter(), time.process_time()
    found = await act()
    return found, (time.perf_counter() - clock, time.process_time() - cpu)


def study(home: Path, name: str, n: int) -> Runs:
    """A study of n texts of a hundred words each."""
    draw = random.Random(name)
    texts = []
    for number in range(1, n + 1):
        said = " ".join(draw.choices(WORDS, k=100))
        texts.append(Text(str(number), f"{said}."))
    runs = Runs(home / "runs", name)
    StudyTexts(runs).keep(texts, Manifest(name, {}, {}))
    return runs


def presets(home: Path, url: str) -> None:
    """Presets of the four models, served at this address."""
    folder = home / "conf" / "model"
    folder.mkdir(parents=True, exist_ok=True)
    for name in MODELS:
        settings = {"name": name, "kind": "openai_compatible", "model": SERVED, "base_url": url}
        text = json.dumps({**settings, "max_tokens": 4096, "price": {"input": 1, "output": 2}})
        (folder / f"{name}.yaml").write_text(text)


@contextlib.contextmanager
def served() -> Generator[str]:
    """The address of the server on loopback, while it runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = Path(__file__).with_name("loopback") / "server.py"
    server = subprocess.Popen([sys.executable, str(script), str(port), "0"])
    try:
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
