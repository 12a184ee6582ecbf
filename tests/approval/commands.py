"""Holds a study of studies.yaml with the commands of a user, and gathers what they left to read.

As a program it keeps what it gathered: python tests/approval/commands.py [STUDY ...]. The commit
that changes a kept file says which value changed, and why it was wrong before.
"""

import contextlib
import csv
import fcntl
import io
import math
import os
import platform
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from html.parser import HTMLParser
from itertools import cycle
from pathlib import Path

import yaml

from delibsim.cli.main import main as delibsim

HERE = Path(__file__).parent
KEPT = HERE / "kept"
FOLDER = Path("/tmp/delibsim-approval")
"""The same on every machine: the names of packs, and so the order of sheets, follow from it."""
STUDIES = yaml.safe_load((HERE / "studies.yaml").read_text(encoding="utf-8"))
READ = {".csv", ".md", ".tex", ".txt", ".json", ".html", ".svg", ".yaml"}
LEFT_OUT = (
    "run.json",
    "session.json",
    "study.json",
    "/annotations/",
    "/calls/",
    "turns-",
)
"""Files of the record, which golden runs and replays hold, and pages of single calls."""
VARIES = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?[.\d]*(\+00:00|Z| UTC)?"), "WHEN"),
    (re.compile(r"\b\d\d:\d\d:\d\d UTC"), "WHEN"),
    (re.compile(r"\b20\d\d-\d\d-\d\d\b"), "DAY"),
    (re.compile(r"\b[0-9a-f]{40,64}\b"), "HASH"),
    (re.compile(r" Commit of delibsim: HASH\+?\.|^\| commit of delibsim .*\n", re.MULTILINE), ""),
    (re.compile(r'^A "\+" after a commit says .*\n', re.MULTILINE), ""),
    (re.compile(rf"\b{re.escape(platform.python_version())}\b"), "PYTHON"),
    (re.compile(r'"(seconds|bytes)": [\d.e-]+'), r'"\1": VARIES'),
    (re.compile(r"\b\d+(\.\d+)? (s|ms|seconds)\b"), "SECONDS"),
    (re.compile(r"(citizen\\?_\d .*\D)\.\d{3}( \|| \\\\)?$", re.MULTILINE), r"\1SECONDS"),
)
"""What differs between two runs of the same commands: times, and what is derived from them. The
last is the end of a line of the table of costs.
"""
TOLD = ("note:", "warning:", "delibsim:")
"""How lines of stderr begin that are no progress."""
COLUMNS = {"started", "seconds"}
"""Columns of tables that hold times."""
LINES = 500
"""Lines of a table that are kept."""


def held(study: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Give the commands of a study in this folder: the name and output of each."""
    for n, step in enumerate(STUDIES[study], 1):
        if isinstance(step, Mapping):
            _prepare(step, folder)
            continue
        words = shlex.split(step)
        name = "-".join([f"{n:02}", *(word for word in words[:2] if word.isalpha())])
        yield f"{name}.txt", f"$ delibsim {step}\n{_called(words)}"


def _prepare(step: Mapping, folder: Path) -> None:
    """Write a file, or fill in a form."""
    for name, text in step.get("write", {}).items():
        (folder / name).write_text(text, encoding="utf-8")
    if "fill" in step:
        _fill(folder / step["fill"], step["with"])


def _fill(form: Path, answers: Mapping[str, list]) -> None:
    """Write these values by turns below the questions of a form; a name with * means several, and a
    full name goes before it; * alone means all lines.
    """
    with form.open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    questions = {line.get("question", "") for line in lines} - {""}
    for question in sorted(questions):
        names = [name for name in answers if name == question]
        names += [name for name in answers if fnmatch(question, name)]
        asked = [line for line in lines if line["question"] == question]
        if names and names[0] != "*":
            for line, value in zip(asked, cycle(answers[names[0]]), strict=False):
                line["answer"] = value
    if "*" in answers:
        for line, value in zip(lines, cycle(answers["*"]), strict=False):
            line["answer"] = value
    for column in () if questions else lines[0]:
        names = [name for name in answers if name == column]
        names += [name for name in answers if fnmatch(column, name)]
        if names:
            for line, value in zip(lines, cycle(answers[names[0]]), strict=False):
                line[column] = value
    with form.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def _called(words: list[str]) -> str:
    """What a command printed to stdout, then to stderr, and its exit code."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    argv, sys.argv = sys.argv, ["delibsim", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            delibsim()
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = argv
    told = [line for line in err.getvalue().splitlines() if line.startswith(TOLD)]
    return "\n".join([out.getvalue(), *told, f"== exit {code}", ""])


def gathered(study: str) -> dict[str, str]:
    """What the commands of a study printed, and every file for a reader that they left, by name:
    tables as they are, pages and figures as their text, without what varies.
    """
    before = Path.cwd()
    with _emptied(FOLDER / study) as folder:
        os.chdir(folder)
        try:
            found = dict(held(study, folder))
            found |= dict(_files(folder))
        finally:
            os.chdir(before)
    return {name: _settled(text, folder) for name, text in found.items()}


@contextlib.contextmanager
def _emptied(folder: Path) -> Iterator[Path]:
    """This folder, empty and for nobody else, until the study is gathered."""
    folder.parent.mkdir(exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder)


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    """The name and text of every file for a reader."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or path.suffix not in READ or any(part in name for part in LEFT_OUT):
            continue
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix in {".html", ".svg"}:
            yield f"{name}.txt", text_of(text)
        elif path.suffix == ".csv":
            yield name, _without_times(text)
        else:
            yield name, text


def _without_times(table: str) -> str:
    """The first lines of a table without the values of the columns that hold times."""
    lines = list(csv.reader(io.StringIO(table)))
    times = [n for n, name in enumerate(lines[0]) if name in COLUMNS] if lines else []
    for line in lines[1:]:
        for n in times:
            line[n] = ""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(lines[:LINES])
    return f"{out.getvalue()}({len(lines)} lines)\n"


class _Text(HTMLParser):
    """The text of a page, a line a row of a table or a piece, without scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._row: list[str] | None = None
        self._hidden = 0

    def handle_starttag(self, tag, attrs):
        self._hidden += tag in {"script", "style"}
        if tag == "tr":
            self._row = []
        said = dict(attrs)
        for name in ("href", "title", "alt", "aria-label"):
            if said.get(name):
                self._add(f"({said[name]})")

    def handle_endtag(self, tag):
        self._hidden -= tag in {"script", "style"}
        if tag == "tr" and self._row is not None:
            self.lines.append(" ".join(self._row))
            self._row = None

    def handle_data(self, data):
        if not self._hidden and data.strip():
            self._add(" ".join(data.split()))

    def _add(self, text: str) -> None:
        (self.lines if self._row is None else self._row).append(text)


def text_of(page: str) -> str:
    """The text of an HTML page or an SVG figure."""
    reader = _Text()
    reader.feed(page)
    return "\n".join([*reader.lines, ""])


def _settled(text: str, folder: Path) -> str:
    """The text without times, hashes, and the folder that it was made in."""
    text = text.replace(str(folder), "FOLDER")
    for pattern, word in VARIES:
        text = pattern.sub(word, text)
    return text


NUMBER = re.compile(r"(?<![\w.])[-−]?\d*\.?\d+(?:e[-+]?\d+)?(?![\w.])")


def alike(before: str, now: str) -> bool:
    """Whether two lines are the same but for the last digits of their numbers."""
    if before == now:
        return True
    if NUMBER.sub("#", before) != NUMBER.sub("#", now):
        return False
    pairs = zip(NUMBER.findall(before), NUMBER.findall(now), strict=True)
    return all(math.isclose(_number(a), _number(b), rel_tol=1e-9, abs_tol=1e-12) for a, b in pairs)


def _number(text: str) -> float:
    return float(text.replace("−", "-"))


def _as_kept(path: Path, text: str) -> str:
    """A text with the lines of the file that are alike as they stand there."""
    before = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.is_file() else []
    now = text.splitlines(keepends=True)
    if len(before) != len(now):
        return text
    return "".join(old if alike(old, new) else new for old, new in zip(before, now, strict=True))


def keep(study: str) -> int:
    """Keep what a study gave, in place of what was kept before; the number of files. Lines that
    differ in last digits alone stay.
    """
    found = gathered(study)
    found = {name: _as_kept(KEPT / study / name, text) for name, text in found.items()}
    shutil.rmtree(KEPT / study, ignore_errors=True)
    for name, text in found.items():
        path = KEPT / study / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return len(found)


if __name__ == "__main__":
    for study in sys.argv[1:] or STUDIES:
        sys.stdout.write(f"{study}: {keep(study)} files\n")
