"""Measure what a study costs offline: .venv/bin/python bench/sweep.py [SESSIONS ...]

It plans, holds, scores and continues studies of citizens of growing size, each command in a process
of its own. The default, 20, 200 and 1,980 sessions, takes minutes.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DELIBSIM = Path(sys.executable).with_name("delibsim")
PLAN = (
    "import sys; from delibsim.planning.compose import plan; print(len(plan(sys.argv[1:],"
    " sweep=True).sessions))"
)


def main() -> None:
    print(
        f"{os.cpu_count()} cores, Python {sys.version.split()[0]}; .venv/bin/python"
        " bench/sweep.py\n"
    )
    print(
        f"{'what':34} {'sessions':>9} {'seconds':>8} {'CPU s':>7} {'CPU ms each':>12}"
        f" {'peak MB':>8}"
    )
    with tempfile.TemporaryDirectory() as folder:
        grid = ["+experiment=main_grid", "survey=null"]  # the instruments need an import
        measured(
            "compose and plan the main grid", 1980, [sys.executable, "-c", PLAN, *grid], folder
        )
        for n in map(int, sys.argv[1:] or ("20", "200", "1980")):
            words = [
                "-m",
                "-q",
                f"study=s{n}",
                "topic=acp,ccps",
                f"replicate=range(1,{n // 2 + 1})",
            ]
            if n == 1980:
                words = [
                    "-m",
                    "-q",
                    f"study=s{n}",
                    "topic=all",
                    "treatment=none,basic,normative",
                    "replicate=range(1,56)",
                ]
            measured("hold", n, [DELIBSIM, "run", *words], folder)
            measured("score", n, [DELIBSIM, "score", f"s{n}", "--json"], folder)
            measured("the same command again", n, [DELIBSIM, "run", *words], folder)


def measured(what: str, n: int, command: list, folder: str) -> None:
    """Run one command and print what it took."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds, cpu = time.perf_counter() - started, used.ru_utime + used.ru_stime
    if status:
        raise SystemExit(f"{what}: exit status {status}")
    print(
        f"{what:34} {n:9,} {seconds:8.1f} {cpu:7.1f} {1000 * cpu / n:12.1f}"
        f" {used.ru_maxrss / 1024:8.0f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
