"""A run written for others: as Markdown and HTML in which no text of others is markup, as plain
values, and as the rows of one table.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from delibsim.analysis.pages.page import standalone
from delibsim.analysis.run.tables import ratings_of, values_of_rating
from delibsim.analysis.run.view import RunPart, RunView
from delibsim.analysis.table import DisplayColumn, DisplayTable
from delibsim.domain.annotation import Rating
from delibsim.domain.consensus import MEDIATOR
from delibsim.domain.text import safe
from delibsim.store.codec import SCHEMA, run_to_plain
from delibsim.store.tables.session_rows import consensus_rows
from delibsim.store.tables.sheets import inert

COLUMNS = "part run occasion round turn participant model name value text missing".split()
"""Of one table: what a row is (statement, answer, measure; consensus, rank, agreement; rating), and
what is known of it.
"""
MARKUP = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>#|$~&@"})
"""Marks that mean something to a reader of Markdown wherever they stand."""
ADDRESS = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
"""What makes a reader of Markdown take a text for a link."""
BEGIN = re.compile(r"^([-+=]|\d+(?=[.)]))")
"""What makes a list, a line or a heading of a line that begins with it."""
Row = dict[str, Any]


def html(view: RunView) -> str:
    """A run as an HTML document with its style inside: nothing is fetched, nothing is run."""
    return standalone("run.html", ("page.css", "run.css"), {"spans": spans}, view=view)


def spans(columns: Sequence[DisplayColumn]) -> list[tuple[str, int]]:
    """The groups of neighbouring columns, each with its number of columns."""
    found = []
    for name, members in groupby(columns, key=lambda column: column.group):
        found.append((name, len(list(members))))
    return found


def markdown(view: RunView) -> str:
    """A run as Markdown (CommonMark with tables)."""
    blocks = [f"# {escaped(view.session.topic.question)}"]
    for part in view.parts():
        blocks += _blocks(part)
    blocks += ["## Citation", escaped(view.citation)]
    return "\n\n".join(blocks) + "\n"


def _blocks(part: RunPart) -> Iterator[str]:
    """The paragraphs of a part."""
    if part.title:
        yield f"## {escaped(part.title)}"
    facts = [f"- **{escaped(term)}**{_behind(said)}" for term, said in part.facts]
    if facts:
        yield "\n".join(facts)
    for line in part.turns:
        if line.heading:
            yield f"### {line.heading}"
        time = f" ({line.time} UTC)" if line.time else ""
        yield f"**{line.turn.index}\\. {escaped(line.turn.shown)}**{time}"
        yield _quoted(line.text)
        if line.codes:
            yield "\n".join(f"- {escaped(code)}" for code in line.codes)
        if line.then:
            yield f"*{escaped(line.then)}*"
    if part.text:
        yield _quoted(part.text)
    for table in part.tables:
        yield f"## {escaped(table.title)}"
        yield _table(table)
    if part.sentences:
        yield "\n".join(f"- {escaped(one)}" for one in part.sentences)


def _behind(said: str) -> str:
    return f": {escaped(said)}" if said else ""


def escaped(text: str) -> str:
    r"""Text that is no markup and stays on one line.

    >>> print(escaped("- a|b <script> [x](javascript:y) https://x.org"))
    \- a\|b \<script\> \[x\](javascript:y) https\://x.org
    """
    line = ADDRESS.sub(r"\\\g<0>", " ".join(safe(text).split()).translate(MARKUP))
    found = BEGIN.match(line)
    if found is None:
        return line
    return f"\\{line}" if not found[1].isdigit() else f"{found[1]}\\{line[found.end() :]}"


def _quoted(text: str) -> str:
    """What was said, as a quotation; its paragraphs stay apart."""
    lines = [escaped(line) for line in safe(text).split("\n")]
    quoted = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        broken = "\\" if line and following else ""  # a line ends where it did
        quoted.append(f"> {line}{broken}".rstrip())
    return "\n".join(quoted)


def _table(table: DisplayTable) -> str:
    rulers = ["---" if column.text else "---:" for column in table.columns]
    rows = [[heading(column) for column in table.columns], rulers]
    rows += [list(row) for row in table.rows if row is not None]
    lines = []
    for i, row in enumerate(rows):
        cells = row if i == 1 else map(escaped, row)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def heading(column: DisplayColumn) -> str:
    """The heading of a column with that of its group before it."""
    return f"{column.group}: {column.heading}" if column.group else column.heading


def plain(view: RunView) -> dict[str, Any]:
    """A run as plain values: its citation, its run as in run.json, changes, ratings, measures."""
    return {
        "name": view.name,
        "citation": view.citation,
        "sha256": view.sha256,
        "personas": not view.private,
        "run": {"schema": SCHEMA, **run_to_plain(view.run)},
        "changes": [row.plain() for row in view.changes],
        "ratings": [_rating(one) for one in ratings_of(view.run)],
        "measures": view.summary["measures"],
        "undefined": view.summary["undefined"],
        "notes": view.remarks(),
    }


def table(view: RunView) -> str:
    """A run as CSV: a row a statement, answer, measure, vote and rating.

    Texts that a spreadsheet would take for formulas have an apostrophe before them.
    """
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for row in rows(view):
        cells = [row.get(column, "") for column in COLUMNS]
        writer.writerow([inert(safe(cell)) if isinstance(cell, str) else cell for cell in cells])
    return file.getvalue()


def rows(view: RunView) -> Iterator[Row]:
    """The rows of the table: statements in order, answers in the order of seats, measures, what was
    written and voted for a collective statement, ratings.
    """
    session = view.run.session
    people = (*session.seats, *(one.id for one in session.invited))
    models = {name: session.seated(name).model for name in people}
    models[MEDIATOR] = session.mediator
    for row in (*_statements(view), *_answers(view)):
        yield row | {"run": view.name, "model": models.get(row["participant"], "")}
    for name, values in view.summary["measures"].items():
        for phase, value in values.items():
            code = view.summary["undefined"].get(f"{name}.{phase}", "")
            row = {"part": "measure", "run": view.name, "occasion": phase, "name": name}
            yield row | {"value": "" if value is None else value, "missing": code}
    for row in _sought(view):
        yield row | {"run": view.name, "model": models[row["participant"]]}
    for row in _ratings(view):
        yield row | {"run": view.name}


def _statements(view: RunView) -> Iterator[Row]:
    for line in view.lines:
        turn = line.turn
        row = {"part": "statement", "occasion": f"turn {turn.index}", "round": turn.round}
        row |= {"turn": turn.index, "participant": turn.speaker, "name": turn.task}
        yield row | ({"missing": line.missing} if line.missing else {"text": line.said})


def _answers(view: RunView) -> Iterator[Row]:
    run = view.run
    for person in run.session.respondents:
        for phase in run.session.waves:
            response = run.response(person.id, phase)
            for item in run.session.survey.items:
                row: Row = {"part": "answer", "occasion": phase, "participant": person.id}
                row |= {"name": item.id, "text": item.text}
                row |= {"value": response.answers.get(item.id, "")}
                yield row | {"missing": str(response.missing.get(item.id, ""))}


def _sought(view: RunView) -> Iterator[Row]:
    """What was written for a collective statement, and each rank and agreement given."""
    sought = view.run.consensus
    for table, found in consensus_rows(sought) if sought is not None else ():
        name, missing = found.get("text_id", ""), {"missing": found["reason"]}
        if table == "consensus_texts":
            row: Row = {"part": "consensus", "occasion": found["kind"], "name": name}
            yield row | {"participant": found["author"], "text": found["text"]} | missing
            continue
        row = {"occasion": f"vote {found['vote']}", "participant": found["participant"]}
        for part in ("rank", "agreement"):
            value = "" if found[part] is None else found[part]
            yield row | {"part": part, "name": name, "value": value} | missing


def _ratings(view: RunView) -> Iterator[Row]:
    for rating in ratings_of(view.run):
        row = {"part": "rating", "participant": rating.rater, "model": rating.model}
        for name, value in values_of_rating(rating).items():
            missing = str(rating.missing.get(name, ""))
            yield row | {"name": name, "value": "" if value is None else value, "missing": missing}


def _rating(rating: Rating) -> dict[str, Any]:
    """A rating as plain values."""
    reasons = {name: str(reason) for name, reason in rating.missing.items()}
    about: dict[str, Any] = {"rater": rating.rater, "source": rating.source, "model": rating.model}
    about |= {"panel": rating.panel, "attentive": rating.attentive}
    return about | {"values": values_of_rating(rating), "missing": reasons}
