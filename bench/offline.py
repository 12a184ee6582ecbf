"""Measure time and memory of offline sessions: .venv/bin/python bench/offline.py

Every figure beside its aim: the start of commands, one run from process start to summary, and
2,000 sessions in one process. Commands are measured in seconds of CPU, the least of five, because
other work on a machine changes what the clock says far more.
"""

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from record import beside

from delibsim import compose, hold, models_for

SLOW = ("mesa", "pandas", "scipy", "litellm")
SESSIONS = 2_000
SMALL = ("topic=ccps", "group.size=3", "rounds=1", "seed=7")
PLAN = ("topic=acp,ccps,bep,zukunft", "treatment=all", "replicate=1,2,3", *SMALL[1:])  # 36 sessions
COMMANDS = (
    (("--help",), 0.12),
    (("topics",), 0.25),
    (("surveys",), 0.25),
    (("estimate", "--help"), 0.25),
    (("status", "one"), 0.5),
    (("show", "one"), 0.5),
    (("estimate", *SMALL), None),
    (("run", "-q", "-m", "study=one", *SMALL), None),
    (("run", "-q", "-m", "study=all", *PLAN), None),
)
"""Commands that hold nothing, and the seconds of CPU that each is to take at most; the last two are
finished.
"""
HELD = 5.0
"""Seconds that one run is to take at most, from its start to its summary."""


def main() -> None:
    print(
        f"{os.cpu_count()} cores, Python {sys.version.split()[0]}; .venv/bin/python"
        " bench/offline.py\n"
    )
    delibsim = Path(sys.executable).with_name("delibsim")
    bare = best_of(5, [sys.executable, "-c", "pass"])
    show("python -c pass", f"{bare:.2f} s", "")
    commands(str(delibsim))
    code = (
        "import sys; sys.argv=['delibsim','--help']\nfrom delibsim.cli.main import app\ntry:"
        " app()\nexcept SystemExit: pass\n"
    )
    code += f"print('loaded:', [m for m in {SLOW!r} if m in sys.modules])"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.splitlines()[-1]
    show(
        "slow modules loaded by --help",
        loaded.removeprefix("loaded: "),
        "none of " + ", ".join(SLOW),
    )
    with tempfile.TemporaryDirectory() as folder:
        runs = iter(range(5))
        seconds = min(
            timed(
                [str(delibsim), "run", "-q", f"runs={folder}/{next(runs)}", "topic=ccps", "seed=7"]
            )
            for _ in range(3)
        )
    show("delibsim run, start to summary", f"{seconds:.2f} s", beside(seconds, HELD))
    asyncio.run(memory())


def commands(delibsim: str) -> None:
    """Seconds of CPU of every command that holds nothing, in a folder with two finished studies."""
    with tempfile.TemporaryDirectory() as folder:
        for study, settings in (("one", SMALL), ("all", PLAN)):
            words = [delibsim, "run", "-q", "-m", f"study={study}", *settings]
            subprocess.run(words, cwd=folder, capture_output=True, check=True)
        for words, aim in COMMANDS:
            seconds = min(cpu_of([delibsim, *words], folder) for _ in range(5))
            name = " ".join(words if len(words) < 4 else (*words[:4], "..."))
            show(f"delibsim {name}", f"{seconds:.2f} s of CPU", beside(seconds, aim))


def cpu_of(command: list[str], folder: str) -> float:
    """Seconds of CPU of a command, those of its own processes included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


async def memory() -> None:
    """Hold many sessions in one process; resident memory after each part, and seconds a session."""
    session = compose("topic=ccps", "seed=7")
    at: dict[int, float] = {}
    started = time.perf_counter()
    for i in range(1, SESSIONS + 1):
        one = replace(session, replicate=i)
        await hold(one, models_for(one))
        if i in (SESSIONS // 8, SESSIONS // 4, SESSIONS // 2, SESSIONS):
            at[i] = resident()
    seconds = time.perf_counter() - started
    show(
        f"{SESSIONS} sessions in one process",
        f"{seconds:.1f} s, {1000 * seconds / SESSIONS:.1f} ms each",
        "",
    )
    show("resident memory", ", ".join(f"{mb:.0f} MB after {n}" for n, mb in at.items()), "flat")


def resident() -> float:
    """Resident memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def best_of(n: int, command: list[str]) -> float:
    return min(timed(command) for _ in range(n))


def timed(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return time.perf_counter() - started


def show(what: str, value: str, aim: str) -> None:
    print(f"{what:34} {value:60} {aim}")


if __name__ == "__main__":
    main()
