"""What `limits.durable=true` costs: the seconds of a line of a log with and without fsync.

.venv/bin/python bench/durable.py [FOLDER]

The folder decides: measure where your studies lie.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from delibsim.store.files import append_line

LINES = 300
"""Lines of a log."""
RECORD = {"hash": "0" * 64, "model": "local", "text": "x" * 6_000}
"""An exchange of common length."""


def microseconds(path: Path, durable: bool) -> list[float]:
    """What each line takes that is appended to a log."""
    found = []
    for _ in range(LINES):
        begun = time.perf_counter()
        append_line(path, RECORD, durable)
        found.append((time.perf_counter() - begun) * 1e6)
    return found


def main() -> None:
    """Print the median and the slowest of twenty lines for both."""
    where = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        print(f"{LINES} lines of {len(str(RECORD)):,} bytes in {folder}, microseconds a line")
        print(f"{'limits.durable':16}{'median':>10}{'95 %':>10}")
        for durable in (False, True):
            took = microseconds(Path(folder) / f"{durable}.jsonl", durable)
            slow = statistics.quantiles(took, n=20)[-1]
            print(f"{str(durable).lower():16}{statistics.median(took):10.0f}{slow:10.0f}")


if __name__ == "__main__":
    main()
