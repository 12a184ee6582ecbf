"""Measure how soon one run can be read, replayed, compared and shared:
.venv/bin/python bench/reading.py

Every command from the start of its process to its end, beside what Python and numpy alone take. The
least of nine: of the clock, and of processor time, which other work on the machine changes less.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from record import beside, record

ROOT = Path(__file__).resolve().parents[1]
TIMES = 9
ABOUT = """Commands on one run of five citizens and two rounds, from the start of the process to its
end, the least of nine; beside them what Python and numpy alone take. The aims are 1.2 s of CPU for
`replay` and 0.5 s for `show`. Compare processor time where the load is high."""
AIMS = {"delibsim --help": 0.12, "delibsim show one": 0.5, "delibsim replay one": 1.2}
"""Seconds of CPU that a command is to take at most."""
PLAIN = (("python -c pass", ("-c", "pass")), ("python -c 'import numpy'", ("-c", "import numpy")))
COMMANDS = (
    ("--help",),
    ("show", "one", "--no-answers"),
    ("show", "one"),
    ("replay", "one"),
    ("replay", "one", "--recorded"),
    ("compare-runs", "one", "two"),
    ("share", "one", "--format", "md"),
    ("share", "one", "--format", "html"),
)


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for study, seed in (("one", 7), ("two", 8)):
            measured(("run", "-q", f"study={study}", "topic=ccps", f"seed={seed}"), folder)
        for what, words in PLAIN:
            rows.append(best(what, [sys.executable, *words], folder))
        for words in COMMANDS:
            rows.append(best(f"delibsim {' '.join(words)}", command(words), folder))
    for row in rows:
        cpu = float(row["cpu_seconds"])
        took = f"{row['seconds']:.2f} s, {cpu:.2f} s of CPU"
        print(f"{row['what']:34} {took:24} {beside(cpu, AIMS.get(str(row['what'])))}".rstrip())
    record("reading", ABOUT.replace("\n", " "), rows, ["numpy", "mesa"])


def command(words: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-m", "delibsim.cli.main", *words]


def best(what: str, words: list[str], folder: str) -> dict[str, str | float]:
    """The least of all times of a command."""
    found = [_timed(words, folder) for _ in range(TIMES)]
    seconds, cpu = (min(column) for column in zip(*found, strict=True))
    return {"what": what, "seconds": round(seconds, 3), "cpu_seconds": round(cpu, 3)}


def measured(words: tuple[str, ...], folder: str) -> None:
    _timed(command(words), folder)


def _timed(words: list[str], folder: str) -> tuple[float, float]:
    """Seconds of the clock and of the processor that a command takes."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(words, cwd=folder, env=environment, capture_output=True, check=True)
    seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
