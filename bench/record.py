"""Keeps the results of a benchmark with machine and commit, and makes the page that shows them.

A benchmark calls `record` with its rows; that writes bench/results/NAME.json. As a program
(python bench/record.py) it writes docs/benchmarks.md from all files of that folder.
"""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results"
PAGE = ROOT / "docs" / "benchmarks.md"
HEAD = """# Benchmarks

The last figures of the benchmarks that keep their results, each with machine and commit. The page
is made from `bench/results/*.json` by `python bench/record.py`, as `make bench` does at its end.
Times differ between machines, and with what else runs on a machine: compare those of one machine.
A dash stands where there is no value.
"""

Value = str | int | float | None
Row = Mapping[str, Value]


def record(name: str, about: str, rows: Sequence[Row], packages: Sequence[str] = ()) -> Path:
    """Write bench/results/NAME.json; the path.

    `about` says in a sentence or two what was measured. Every row has the same columns, whose
    names carry the unit; None is a value that could not be had. `packages` are those whose
    version bears on the result. Raises ValueError for rows with different columns.
    """
    columns = list(rows[0])
    if any(list(row) != columns for row in rows):
        raise ValueError(f"{name}: every row needs the columns {', '.join(columns)}")
    found = {
        "name": name,
        "about": about,
        "command": " ".join(["python", *sys.argv]),
        "date": datetime.now(UTC).date().isoformat(),
        **_commit(),
        "machine": _machine(),
        "packages": {package: version(package) for package in ["delibsim", *packages]},
        "rows": [dict(row) for row in rows],
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return path


def beside(found: float, aim: float | None, unit: str = "s") -> str:
    """An aim, and how many times as much was found; "" where there is no aim."""
    return "" if aim is None else f"aim {aim:g} {unit}, {found / aim:.2f} of that"


def _commit() -> dict[str, str | bool | None]:
    """The commit that was measured, and whether code was changed since; None outside a clone."""
    try:
        head = _git("rev-parse", "HEAD")
        changed = bool(_git("status", "--porcelain", "--", "delibsim", "conf", "bench/*.py"))
    except (OSError, subprocess.CalledProcessError):
        return {"commit": None, "changed": None}
    return {"commit": head, "changed": changed}


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _machine() -> dict[str, Value]:
    """Processor, cores, memory in GB, system, Python, and the load when the benchmark ended."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1),
    }


def _processor() -> str | None:
    """The processor's name, as Linux gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or None
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else None


def page(results: Sequence[Mapping]) -> str:
    """The page with a table for each result, in Markdown."""
    return "\n".join([HEAD, *(_section(result) for result in results)])


def _section(result: Mapping) -> str:
    """One result: what was measured, the table, and where."""
    columns = list(result["rows"][0])
    lines = [f"## {result['name']}", "", result["about"], ""]
    titles = [column.replace("_", " ") for column in columns]
    lines.append(f"| {' | '.join(titles)} |")
    lines.append("|---|" + "---:|" * (len(columns) - 1))
    for row in result["rows"]:
        cells = [_shown(row[column]) for column in columns]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", _where(result), ""])


def _where(result: Mapping) -> str:
    """Command, date, commit and machine in two sentences."""
    machine = result["machine"]
    commit = "of an unknown commit"
    if result["commit"]:
        commit = f"at commit `{result['commit'][:10]}`"
    if result["changed"]:
        commit += ", with changes that were not committed"
    packages = [f"{name} {number}" for name, number in result["packages"].items()]
    memory = f"{machine['cores']} cores, {machine['memory_gb']} GB of memory"
    versions = ", ".join([f"Python {machine['python']}", *packages])
    load = f"load {machine['load']} (processes that wait or run) at the end"
    return (
        f"`{result['command']}` on {result['date']} {commit}.\n"
        f"{machine['processor'] or 'Unknown processor'}, {memory}, {machine['system']};\n"
        f"{versions}; {load}."
    )


def _shown(value: Value) -> str:
    """A value as the table shows it: three significant digits; a dash for none."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    if isinstance(value, int):
        return f"{value:,}"
    return value.replace("|", "\\|")


def results() -> list[dict]:
    """All results that are kept, by name."""
    files = sorted(RESULTS.glob("*.json"))
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(results()), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {len(results())} benchmarks")


if __name__ == "__main__":
    main()
