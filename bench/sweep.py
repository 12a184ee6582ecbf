"""Measure what a study costs offline: .venv/bin/python bench/sweep.py [SESSIONS ...]

It plans, holds, scores and continues studies of citizens of growing size, each command in a process
of its own. The default, 20, 200 and 1,980 sessions, takes minutes, and its figures are kept.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from record import beside, record

DELIBSIM = Path(sys.executable).with_name("delibsim")
PLAN = (
    "import sys; from delibsim.planning.compose import plan; print(len(plan(sys.argv[1:],"
    " sweep=True).sessions))"
)
ABOUT = """Seconds, seconds of processor time and highest memory of commands that plan, hold and
score studies of citizens offline, each a process of its own. 1,980 sessions are all topics under
three treatments, one of them without speech; 20 and 200 are of two topics with long instruments.
The start of a command, about a second, is in every figure. Compare processor time where the load
is high."""


AIMS = {("hold", 1980): 25.0, ("score", 1980): 5.0}
"""Seconds of CPU that a command on so many sessions is to take at most."""


def main() -> None:
    print(
        f"{os.cpu_count()} cores, Python {sys.version.split()[0]}; .venv/bin/python"
        " bench/sweep.py\n"
    )
    print(
        f"{'what':34} {'sessions':>9} {'seconds':>8} {'CPU s':>7} {'CPU ms each':>12}"
        f" {'peak MB':>8}  aim, in seconds of CPU"
    )
    with tempfile.TemporaryDirectory() as folder:
        grid = ["experiment=main_grid", "survey=null"]  # the instruments need an import
        planning = [sys.executable, "-c", PLAN, *grid]
        rows = [measured("compose and plan the main grid", 1980, planning, folder)]
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
            run = [DELIBSIM, "run", *words]
            rows.append(measured("hold", n, run, folder))
            rows.append(measured("score", n, [DELIBSIM, "score", f"s{n}", "--json"], folder))
            rows.append(measured("the same command again", n, run, folder))
    if not sys.argv[1:]:
        print(record("sweep", ABOUT, rows))


def measured(what: str, n: int, command: list, folder: str) -> dict[str, str | int | float]:
    """Run one command, print what it took, and give that as a row."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds, cpu = time.perf_counter() - started, used.ru_utime + used.ru_stime
    if status:
        raise SystemExit(f"{what}: exit status {status}")
    print(
        f"{what:34} {n:9,} {seconds:8.1f} {cpu:7.1f} {1000 * cpu / n:12.1f}"
        f" {used.ru_maxrss / 1024:8.0f}  {beside(cpu, AIMS.get((what, n)))}".rstrip(),
        flush=True,
    )
    return {
        "what": what,
        "sessions": n,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "cpu_ms_a_session": 1000 * cpu / n,
        "peak_mb": used.ru_maxrss / 1024,
    }


if __name__ == "__main__":
    main()
