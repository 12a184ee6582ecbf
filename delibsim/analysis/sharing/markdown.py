"""A run as Markdown: CommonMark with tables, in which no text of others is markup."""

import re
from collections.abc import Iterator

from delibsim.analysis.sharing.shared_run import SharedRun
from delibsim.analysis.table import Column, Table
from delibsim.domain.text import safe

MARKUP = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>#|$~&@"})
"""Marks that mean something to a reader of Markdown wherever they stand."""
ADDRESS = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
"""What makes a reader of Markdown take a text for a link."""
BEGIN = re.compile(r"^([-+=]|\d+(?=[.)]))")
"""What makes a list, a line or a heading of a line that begins with it."""


def markdown(shared: SharedRun) -> str:
    """A run as Markdown."""
    parts = [f"# {escaped(shared.run.session.topic.question)}"]
    for term, said in shared.facts[1:]:
        parts.append(f"**{term}.** {escaped(said)}")
    parts.append("## Participants")
    parts.append("\n".join(_people(shared)))
    parts.append("## Transcript")
    for line in shared.lines:
        parts += [f"### {line.heading}"] if line.heading else []
        time = f" ({line.time} UTC)" if line.time else ""
        parts.append(f"**{line.turn.index}\\. {escaped(line.turn.speaker)}**{time}")
        parts.append(_quoted(line.text))
    if not shared.lines:
        parts.append("Nobody spoke in this session.")
    if shared.statement is not None:
        text, chosen = shared.statement
        parts += ["## Collective statement", *([_quoted(text)] if text else []), escaped(chosen)]
    for table in shared.tables:
        parts += [f"## {escaped(table.title)}", _table(table)]
    if shared.notes:
        parts += ["## Notes", "\n".join(f"- {escaped(note)}" for note in shared.notes)]
    parts += ["## Citation", escaped(shared.citation)]
    return "\n\n".join(parts) + "\n"


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


def _people(shared: SharedRun) -> Iterator[str]:
    for who, persona in shared.people:
        yield f"- **{escaped(who)}**" + (f": {escaped(persona)}" if persona else "")


def _table(table: Table) -> str:
    rulers = ["---" if column.text else "---:" for column in table.columns]
    rows = [[heading(column) for column in table.columns], rulers]
    rows += [list(row) for row in table.rows if row is not None]
    lines = []
    for i, row in enumerate(rows):
        cells = row if i == 1 else map(escaped, row)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def heading(column: Column) -> str:
    """The heading of a column with that of its group before it."""
    return f"{column.group}: {column.heading}" if column.group else column.heading
