"""Measure what a researcher waits for: .venv/bin/python bench/waiting.py [REPLICATES]

One study of citizens: all topics, three treatments, eleven models, 396 conditions; five replicates,
1,980 sessions, unless another number is given (50 are 19,800 sessions). Every command is a process
of its own and is measured once, on a study that the commands before it left as a user would.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from record import record

DELIBSIM = str(Path(sys.executable).with_name("delibsim"))
QUIET = subprocess.DEVNULL
PORT = 8399
AIMS = {
    "view: the first page": 1.0,
    "view: the study's page": 1.0,
    "score": 5.0,
    "analyze": 15.0,
    "export": 8.0,
    "status": 1.0,
    "hold": 25.0,
}
CPU_AIMS = {"show RUN": 0.5, "topics": 0.25, "estimate --help": 0.25, "--help": 0.12}
ABOUT = """What a researcher waits for, on one study of citizens: seconds from the start of the
process, seconds of processor time, highest memory, and the aim with the ratio to it. The aims of
the first rows are seconds on a machine of two cores that does nothing else, for 1,980 sessions;
those of the short commands are seconds of processor time, the least of five."""


def main() -> None:
    replicates = int(sys.argv[1]) if sys.argv[1:] else 5
    grid = ["experiment=main_grid_offline", f"replicate=range(1,{replicates + 1})"]
    with tempfile.TemporaryDirectory() as folder:
        rows = [measured("hold", [DELIBSIM, "run", "-m", "-q", *grid, "study=grid"], folder)]
        rows.append(measured("status", [DELIBSIM, "status", "grid"], folder))
        rows += viewed(folder)
        for name in ("score", "analyze", "export"):
            rows.append(measured(name, [DELIBSIM, name, "grid"], folder))
        run = next(Path(folder, "runs", "grid").glob("*.r1")).name
        short = {
            "show RUN": ["show", f"grid/{run}", "--no-answers"],
            "topics": ["list", "topics"],
            "estimate --help": ["estimate", "--help"],
            "--help": ["--help"],
        }
        for name, words in short.items():
            rows.append(least(name, [DELIBSIM, *words], folder))
    if not sys.argv[1:]:
        print(record("waiting", ABOUT, rows))


def measured(what: str, command: list[str], folder: str) -> dict:
    """Run one command, print what it took, and give that as a row."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=QUIET, stderr=QUIET)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if status:
        raise SystemExit(f"{what}: exit status {os.waitstatus_to_exitcode(status)}")
    cpu = used.ru_utime + used.ru_stime
    aim = AIMS.get(what)
    return row(what, seconds, cpu, used.ru_maxrss / 1024, aim, seconds)


def least(what: str, command: list[str], folder: str) -> dict:
    """A short command: the row of the least of five, by processor time."""
    found = []
    for _ in range(5):
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, stdout=QUIET, stderr=QUIET)
        _, _, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        found.append((used.ru_utime + used.ru_stime, seconds, used.ru_maxrss / 1024))
    cpu, seconds, memory = min(found)
    return row(what, seconds, cpu, memory, CPU_AIMS[what], cpu)


def viewed(folder: str) -> list[dict]:
    """`view` of a study that was never read before: seconds until two pages are there."""
    started = time.perf_counter()
    command = [DELIBSIM, "view", "grid", "--no-browser", "--port", str(PORT)]
    process = subprocess.Popen(command, cwd=folder, stdout=QUIET, stderr=QUIET)
    rows = []
    try:
        first = fetched("/", started)
        rows.append(row("view: the first page", first, None, None, 1.0, first))
        again = time.perf_counter()
        page = fetched("/grid/index.html", again)
        rows.append(row("view: the study's page", page, None, None, 1.0, page))
    finally:
        process.terminate()
        process.wait()
    return rows


def fetched(path: str, started: float) -> float:
    """Seconds since `started` until the page was read whole."""
    while True:
        try:
            with urlopen(f"http://127.0.0.1:{PORT}{path}", timeout=120) as answer:
                answer.read()
            return time.perf_counter() - started
        except URLError as error:
            if not isinstance(error.reason, ConnectionRefusedError):
                raise
            time.sleep(0.01)


def row(what, seconds, cpu, memory, aim, measure) -> dict:
    """One row, printed as it is made."""
    ratio = measure / aim if aim else None
    parts = [f"{what:24} {seconds:7.2f} s"]
    parts.append("" if cpu is None else f"{cpu:7.2f} s of CPU {memory:6.0f} MB")
    parts.append("" if ratio is None else f"aim {aim} s, {ratio:.2f} of it")
    print("  ".join(parts), flush=True)
    return {
        "what": what,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "peak_mb": memory,
        "aim_seconds": aim,
        "of_the_aim": ratio,
    }


if __name__ == "__main__":
    main()
