"""Measure time and memory of offline sessions: .venv/bin/python bench/offline.py

Every figure beside its aim: `delibsim --help`, one run from process start to summary, and 2,000
sessions in one process.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from delibsim import compose, hold, models_for

SLOW = ("mesa", "pandas", "scipy", "litellm")
SESSIONS = 2_000


def main() -> None:
    print(
        f"{os.cpu_count()} cores, Python {sys.version.split()[0]}; .venv/bin/python"
        " bench/offline.py\n"
    )
    delibsim = Path(sys.executable).with_name("delibsim")
    bare = best_of(5, [sys.executable, "-c", "pass"])
    show("python -c pass", f"{bare:.2f} s", "")
    show("delibsim --help", f"{best_of(5, [str(delibsim), '--help']):.2f} s", "under 0.3 s")
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
    show("delibsim run, start to summary", f"{seconds:.2f} s", "under 5 s")
    asyncio.run(memory())


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
