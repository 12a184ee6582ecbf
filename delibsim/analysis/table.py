"""Tables for reading: columns, and rows of text in their order, whose layout is that of who shows
them; and who moved in a session, as such tables.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from delibsim.domain.condition import Condition
from delibsim.domain.reason import in_words
from delibsim.domain.score import IndividualChange
from delibsim.domain.study import natural
from delibsim.domain.text import counted

MOVED = ("changed", "ratings", "ranks", "tau")
INDEX = ("DRI before", "DRI after")
REPLICATE = re.compile(r".*\.(r\d+)", re.DOTALL)
LARGEST = "largest"
NAMED = 3
"""So many participants are named; of more, their number is told."""
MEANING = (
    "changed: items with another answer afterwards; ratings, ranks: mean absolute change; tau:"
    " own ranks after against before; largest: the largest change of one answer (a lower rank is"
    " better)"
)
"""What the columns of the tables are."""


Row = Sequence[str]


@dataclass(frozen=True)
class DisplayColumn:
    """A column: its heading, whether it holds text, and what stands above it and its neighbours.

    Text is aligned left and wraps between words; everything else is aligned right and stays whole.
    Neighbouring columns of one `group` stand below its name, and in one table wherever they fit
    beside the columns that name the rows.
    """

    heading: str
    text: bool = False
    group: str = ""


@dataclass(frozen=True)
class DisplayTable:
    """A table: its columns, its rows (None is an empty line), and its title, "" without one."""

    columns: Sequence[DisplayColumn]
    rows: Sequence[Row | None]
    title: str = ""


def texts(*headings: str) -> list[DisplayColumn]:
    """Columns that hold text."""
    return [DisplayColumn(heading, text=True) for heading in headings]


def numbers(headings: Iterable[str], group: str = "") -> list[DisplayColumn]:
    """Columns that hold numbers, below the name of their group."""
    return [DisplayColumn(heading, group=group) for heading in headings]


def of_participants(names: Sequence[str]) -> list[DisplayColumn]:
    """A column of numbers a participant: "Participant 2" is "2" below "Participant", because "P2"
    is an option; names that are not of one word and a number stand as they are.
    """
    parts = [name.rpartition(" ") for name in names]
    words = {word for word, _, _ in parts}
    if len(words) == 1 and "" not in words and all(last.isdecimal() for _, _, last in parts):
        return numbers([last for _, _, last in parts], words.pop())
    return numbers(names)


def number(value: float | None, signed: bool = False) -> str:
    """Three decimals, or a dash where there is no value."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:+.3f}" if signed else f"{value:.3f}"


def who_moved(rows: Sequence[IndividualChange]) -> DisplayTable:
    """The participants of one session: what changed, and how far."""
    return _table(rows, texts("participant"), "Who moved")


def by_condition(
    rows: Sequence[IndividualChange],
    of: Mapping[str, Condition],
) -> Iterator[tuple[DisplayTable, list[str]]]:
    """The participants of a study, a table for each condition, and why some lack values; `of`
    gives the condition of a session.
    """
    members: dict[Condition, list[IndividualChange]] = {}
    for row in rows:
        members.setdefault(of[row.session], []).append(row)
    for condition in sorted(members, key=lambda condition: natural(str(condition))):
        own = sorted(members[condition], key=lambda row: natural(row.session))
        table = _table(own, texts("run", "participant"), str(condition))
        yield table, why_undefined(own, with_run=True)


def why_undefined(rows: Sequence[IndividualChange], with_run: bool = False) -> list[str]:
    """Why some of these participants lack values, one sentence for all who lack the same."""
    by_note: dict[str, list[str]] = {}
    for row in rows:
        if row.note:
            who = f"{_replicate(row)} {row.participant}" if with_run else row.participant
            by_note.setdefault(row.note, []).append(who)
    found = []
    for note, names in by_note.items():
        who = ", ".join(names) if len(names) <= NAMED else counted(len(names), "participant")
        found.append(f"no value: {who}: {', '.join(map(in_words, note.split('; ')))}")
    return found


def _replicate(row: IndividualChange) -> str:
    return REPLICATE.sub(r"\1", row.session)


def _table(
    rows: Sequence[IndividualChange], naming: Sequence[DisplayColumn], title: str
) -> DisplayTable:
    """One participant a row; the run goes by its replicate."""
    headings = [*MOVED, LARGEST, *INDEX]
    columns = [*naming, *(DisplayColumn(name) for name in headings)]
    cells = [_cells(row) for row in rows]
    found = []
    for own in cells:
        found.append([own[column.heading] for column in columns])
    return DisplayTable(columns, found, title)


def _cells(row: IndividualChange) -> dict[str, str]:
    """The cells of one participant by their headings."""
    changed = f"{row.items_changed}/{row.items}"
    if row.items < row.items_asked:
        changed += f" of {row.items_asked}"
    largest = f"{row.largest_item} {row.largest_change:+.0f}" if row.largest_item else "-"
    return {
        "run": _replicate(row),
        "participant": row.participant,
        "changed": changed,
        "ratings": number(row.mean_change_c),
        "ranks": number(row.mean_change_p),
        "tau": number(row.tau),
        LARGEST: largest,
        INDEX[0]: number(row.dri_before),
        INDEX[1]: number(row.dri_after),
    }
