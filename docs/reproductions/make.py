"""Write the pages of published papers: python docs/reproductions/make.py [PAPER ...]

A paper is one file, `docs/reproductions/PAPER.yaml`. This script runs its commands one after
another in a new folder, offline and in about a minute, and writes `docs/reproductions/PAPER.md`
and the figures that the page shows, `docs/reproductions/PAPER/NAME.svg`. Nothing of a page is
written by hand. `tests/test_reproductions.py` (heavy) makes each page anew and compares.

Fields of a file, those in brackets where there is something to say:

    title, source     the heading; where the paper is, as Markdown
    design            what the paper did, as Markdown
    cost              {told: Markdown, commands: [delibsim estimate ...]}; what they print is shown
    hosted            commands that hold the published design with hosted models; they are not run
    offline           {told, command, [then]}: ONE command that holds a small version, and those
                      that analyse it; they are run first
    files             [{name: text}]: files that lie in the folder beforehand, shown in the page
    shows             a list, one entry for each numbered table and figure (below)
    [anomalies]       a list of Markdown: what published figures hold that cannot be, or does not
                      mean what it says, with its proof
    [data]            {name: Markdown}: how to get the data that entries with `needs: name` read

Fields of an entry of `shows` (its section is headed `published: shows`):

    published         its number, such as Table 1
    shows             what it shows, in a few words
    ours              where ours stands: table and figure of the report, as Markdown
    [commands]        the commands that make ours; one that was run above is named, not run again
    [rows]            a list of tables, each read from a file of the folder (fields below)
    [figures]         paths of SVG files in the folder; the page shows them with their descriptions
    [printed]         {first, last}: of what the last command prints, the lines from the first that
                      matches one regular expression to the next that matches the other
    [compared]        whether published figures may be compared with ours, and why
    [cannot]          why there is no figure of ours, or not all
    [needs]           the name of a folder of public data that the commands name PATH. Without it
                      (REPRODUCTION_DATA/name, beside the repository in shared/data) the section
                      stays as it is. Such entries come last and change nothing that others read.

Fields of a table in `rows`:

    table             path of a CSV file, or of a JSON file with a list of rows
    row, value        Python formats with the names of its columns: "{a} − {b}", "{estimate:.3f}".
                      What is missing becomes a dash, 0.1 is written .1, and {p:p} is "< .001"
                      where it is less
    [label]           what a row is, the head of the first column
    [reads]           what `value` says, the head of the second: "estimate [95% interval]"
    [where]           a query of pandas that picks rows
    [published]       {row: figure}: what the paper prints for a row, as text; a row that ours has
                      not stands with a dash
"""

import os
import re
import string
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("REPRODUCTION_DATA") or HERE.parents[2] / "shared" / "data")
MADE = "<!-- made by docs/reproductions/make.py from {name}.yaml: do not edit -->"
DASH = "–"


@dataclass(frozen=True)
class Rows:
    """A table of ours with published figures beside it; its fields are told above."""

    table: str
    row: str
    value: str
    label: str = "row"
    reads: str = "ours"
    where: str = ""
    published: dict[str, Any] = field(default_factory=dict)

    def lines(self, folder: Path) -> list[str]:
        """The table as lines of Markdown. Raises FileNotFoundError where the file is not made."""
        path = folder / self.table
        found = pd.read_json(path) if path.suffix == ".json" else pd.read_csv(path)
        found = found.query(self.where, engine="python") if self.where else found
        assert len(found), f"{self.table}: no row where {self.where}"
        ours = {}
        for one in found.to_dict("records"):
            try:
                ours[Words().format(self.row, **one)] = Words().format(self.value, **one)
            except KeyError as unknown:
                sys.exit(f"{self.table}: no column {unknown}; there are {', '.join(one)}")
        told = {str(name): str(figure) for name, figure in self.published.items()}
        heads, rule = [self.label, f"ours: {self.reads}"], "|---|--:|"
        if told:
            heads, rule = [*heads, "published"], rule + "--:|"
        lines = [_line(heads), rule]
        for name in [*ours, *(one for one in told if one not in ours)]:
            cells = [name, ours.get(name, DASH)]
            lines.append(_line([*cells, told.get(name, DASH)] if told else cells))
        return lines


@dataclass(frozen=True)
class Shown:
    """A numbered table or figure of a paper; its fields are told above."""

    published: str
    shows: str
    ours: str = ""
    commands: tuple[str, ...] = ()
    rows: tuple[dict[str, Any], ...] = ()
    figures: tuple[str, ...] = ()
    printed: dict[str, str] | None = None
    compared: str = ""
    cannot: str = ""
    needs: str = ""

    @property
    def heading(self) -> str:
        """The heading of its section."""
        return f"{self.published}: {self.shows}"


@dataclass(frozen=True)
class Paper:
    """A paper as its file has it; its fields are told above."""

    name: str
    title: str
    source: str
    design: str
    cost: dict[str, Any]
    hosted: list[str]
    offline: dict[str, Any]
    shows: list[dict[str, Any]]
    files: dict[str, str] = field(default_factory=dict)
    anomalies: list[str] = field(default_factory=list)
    data: dict[str, str] = field(default_factory=dict)


class Words(string.Formatter):
    """Formats of a row: what is missing is a dash, minus is a minus, 0.1 is .1"""

    def format_field(self, value: Any, format_spec: str) -> str:
        """One value of a row."""
        if pd.isna(value):
            return DASH
        if format_spec == "p":
            return "< .001" if value < 0.0005 else self.format_field(value, ".3f")
        text = format(value, format_spec)
        if isinstance(value, str):
            return text
        return re.sub(r"(?<!\d)0\.(?=\d)", ".", text).replace("-", "−")


class Folder:
    """A new folder in which the commands of a paper are run, each once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.printed: dict[str, str] = {}

    def run(self, command: str, data: Path | None = None) -> str:
        """What a command prints. SystemExit with what it says, where it fails."""
        if command in self.printed:
            return self.printed[command]
        here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        words = re.sub(r"\bPATH\b", str(data), command) if data else command
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", words],
            cwd=self.path,
            env={**os.environ, "PATH": here, "COLUMNS": "100", "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        self.printed[command] = done.stdout
        return done.stdout


def papers() -> list[str]:
    """The names of the papers that have a file."""
    return sorted(path.stem for path in HERE.glob("*.yaml"))


def read(name: str) -> Paper:
    """A paper from its file. TypeError for a field that is unknown or lacks."""
    settings = yaml.safe_load((HERE / f"{name}.yaml").read_text(encoding="utf-8"))
    return Paper(name=name, **settings)


def page(paper: Paper, folder: Folder) -> tuple[str, dict[str, str]]:
    """The page of a paper, and its figures by name, made by running its commands in a folder."""
    for name, text in paper.files.items():
        (folder.path / name).write_text(text, encoding="utf-8")
    for command in (paper.offline["command"], *paper.offline.get("then", ())):
        folder.run(command)
    shown = [Shown(**entry) for entry in paper.shows]
    parts = [f"# {paper.title}", MADE.format(name=paper.name), paper.source.strip()]
    parts += ["## Design", paper.design.strip(), *_cost(paper, folder), *_offline(paper)]
    parts += ["## Every table and figure", *_overview(shown)]
    figures: dict[str, str] = {}
    for one in shown:
        parts += _section(one, paper, folder, figures)
    if paper.anomalies:
        parts += ["## What is to be known of published figures"]
        parts += [f"- {_indented(text)}" for text in paper.anomalies]
    return "\n\n".join(parts) + "\n", figures


def _cost(paper: Paper, folder: Folder) -> list[str]:
    """What the design costs with hosted models."""
    parts = ["## What it costs with hosted models", paper.cost["told"].strip()]
    for command in paper.cost["commands"]:
        parts += [_block("console", f"$ {command}"), _block("text", folder.run(command))]
    return [*parts, "It is held, once keys are there, by", _block("sh", "\n".join(paper.hosted))]


def _offline(paper: Paper) -> list[str]:
    """The command that holds a small version, and those that analyse it."""
    parts = ["## Held offline, in a minute", paper.offline["told"].strip()]
    for name, text in paper.files.items():
        parts += [f"`{name}`:", _block("plain", text)]
    parts.append(_block("console", f"$ {paper.offline['command']}"))
    then = [f"$ {command}" for command in paper.offline.get("then", ())]
    return [*parts, _block("console", "\n".join(then))] if then else parts


def _overview(shown: list[Shown]) -> list[str]:
    """A table of all tables and figures with where ours stands."""
    lines = [_line(["published", "what it shows", "ours"]), "|---|---|---|"]
    for one in shown:
        link = f"[{one.published}](#{_anchor(one.heading)})"
        lines.append(_line([link, one.shows, one.ours or "none: " + one.cannot.split(". ")[0]]))
    return ["\n".join(lines)]


def _section(one: Shown, paper: Paper, folder: Folder, figures: dict[str, str]) -> list[str]:
    """The section of one table or figure; figures are added to those of the page."""
    data = DATA / one.needs if one.needs else None
    if data and not data.is_dir():
        return [_kept(one, paper, figures)]
    parts, printed = [f"### {one.heading}"], ""
    if one.needs:
        parts.append(f"PATH is a folder: {paper.data[one.needs].strip()}")
    known = [command for command in one.commands if command in folder.printed]
    fresh = [command for command in one.commands if command not in known]
    for command in one.commands:
        printed = folder.run(command, data)
    if known:
        parts.append(f"By {' and '.join(f'`{command}`' for command in known)}, run above.")
    if fresh:
        parts.append(_block("console", "\n".join(f"$ {command}" for command in fresh)))
    if one.printed:
        parts.append(_block("text", _excerpt(printed, one.printed)))
    if one.ours:
        parts.append(f"Ours: {one.ours}.")
    parts += ["\n".join(Rows(**entry).lines(folder.path)) for entry in one.rows]
    for place in one.figures:
        file = folder.path / place
        figures[file.stem] = file.read_text(encoding="utf-8")
        parts.append(f"![{_described(figures[file.stem])}]({paper.name}/{file.name})")
    return [*parts, *(text.strip() for text in (one.compared, one.cannot) if text)]


def _kept(one: Shown, paper: Paper, figures: dict[str, str]) -> str:
    """The section as the page has it, where its data are not at hand."""
    text = (HERE / f"{paper.name}.md").read_text(encoding="utf-8")
    found = re.search(rf"^### {re.escape(one.heading)}\n.*?(?=\n\n##|\Z)", text, re.M | re.S)
    assert found, f"{one.heading}: needs data {one.needs}, and {paper.name}.md has no such section"
    for name in re.findall(rf"\]\({paper.name}/(\w+)\.svg\)", found[0]):
        figures[name] = (HERE / paper.name / f"{name}.svg").read_text(encoding="utf-8")
    return found[0].rstrip()


def _excerpt(printed: str, ends: dict[str, str]) -> str:
    """The lines between two that match, both included, with a line for what is left out."""
    lines = printed.rstrip().splitlines()
    first = next(i for i, line in enumerate(lines) if re.search(ends["first"], line))
    last = next(i for i in range(first, len(lines)) if re.search(ends["last"], lines[i]))
    above, below = ["..."] if first else [], ["..."] if last + 1 < len(lines) else []
    return "\n".join([*above, *lines[first : last + 1], *below])


def _described(picture: str) -> str:
    """What the description of a figure says."""
    found = re.search(r"<desc>([^<]+)</desc>", picture)
    assert found, "a figure without a description"
    return " ".join(found[1].split()).replace("[", "(").replace("]", ")")


def _block(kind: str, text: str) -> str:
    """A fenced block, with no space at the ends of its lines."""
    lines = [line.rstrip() for line in text.rstrip().splitlines()]
    return "\n".join([f"```{kind}", *lines, "```"])


def _line(cells: list[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _anchor(heading: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")


def _indented(text: str) -> str:
    """Markdown as the body of an item of a list."""
    return text.strip().replace("\n", "\n  ")


def main(names: list[str]) -> None:
    """Write the pages of these papers, or of all."""
    for name in names or papers():
        paper = read(name)
        with tempfile.TemporaryDirectory() as place:
            text, figures = page(paper, Folder(Path(place)))
        (HERE / f"{name}.md").write_text(text, encoding="utf-8")
        for figure in (HERE / name).glob("*.svg"):
            figure.unlink()
        for figure, picture in figures.items():
            (HERE / name).mkdir(exist_ok=True)
            (HERE / name / f"{figure}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
