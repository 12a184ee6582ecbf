"""The measures of a study by condition, as tables for reading."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from delibsim.analysis.conditions import ByCondition, MeasureMeans, by_measure
from delibsim.analysis.table import Column, Table, number
from delibsim.domain.condition import Condition
from delibsim.domain.measure import HEADINGS, Measure
from delibsim.domain.reason import in_words
from delibsim.domain.text import counted

COUNTS = ("planned", "held", "valid")
ALWAYS = ("measure", *COUNTS)
"""The columns that are there even where they are empty."""
OF_RUNS = (*HEADINGS.values(), "SD")
"""The columns of values of the runs, beside which people's may stand."""
TEXTS = ("measure", "undefined because")


@dataclass(frozen=True)
class ConditionTable:
    """One condition for reading: its title, its measures (None without any), what is missing."""

    title: str
    table: Table | None
    missing: Sequence[str]


def condition_tables(
    found: ByCondition,
    declared: Mapping[str, Measure],
) -> Iterator[ConditionTable]:
    """A table for each condition; `declared` are the measures of the scorers, by id.

    Of a condition that equals another by construction it holds only what differs.
    """
    titles = {mean.condition: mean.title() for mean in found.means}
    for condition, measures in by_measure(found.means).items():
        table = None
        if measures:
            table = _table(measures, declared, condition in found.null)
        yield ConditionTable(titles[condition], table, _missing(found, condition))


def _missing(found: ByCondition, condition: Condition) -> list[str]:
    """What is missing from the runs of a condition, in sentences."""
    lines = []
    for gap in found.gaps:
        if gap.condition == condition:
            what = counted(gap.n, gap.what.removesuffix("s"))
            runs = counted(gap.runs, "run")
            lines.append(f"missing: {what} in {runs}: {in_words(gap.reason)}")
    return lines


def _table(measures: Sequence[MeasureMeans], declared: Mapping[str, Measure], null: bool) -> Table:
    """The measures of one condition; of the values only the columns that are not empty."""
    rows = [_cells(own, declared.get(own.measure)) for own in measures]
    group = "null citizen" if null and any(row["people"] for row in rows) else ""
    columns = []
    for heading in rows[0]:
        if heading in ALWAYS or any(row[heading] for row in rows):
            own_group = group if heading in OF_RUNS else ""
            columns.append(Column(heading, text=heading in TEXTS, group=own_group))
    cells = []
    for row in rows:
        cells.append([row[column.heading] for column in columns])
    return Table(columns, cells)


def _cells(own: MeasureMeans, declared: Measure | None) -> dict[str, str]:
    """The cells of one measure by the headings of their columns, in order; "" for what it has not.

    A change has its sign unless it is declared to have none.
    """
    signed = declared is None or declared.signed
    least, change = own.least, own.change
    sd = None if change is None else change.sd
    people = None if change is None else change.people
    cells = {"measure": own.measure if declared is None else declared.label}
    for name in COUNTS:
        cells[name] = str(getattr(least, name))
    for phase, heading in HEADINGS.items():
        cells[heading] = _value(own, phase, signed and phase == "change")
    cells["SD"] = "" if sd is None else number(sd)
    cells["people"] = "" if people is None else number(people, signed)
    cells["mean"] = _value(own, "", signed=False)
    reasons = ", ".join(f"{reason} ({n})" for reason, n in least.missing.items())
    return cells | {"undefined because": reasons}


def _value(own: MeasureMeans, phase: str, signed: bool) -> str:
    """The mean in a phase; "" where the measure has none there."""
    return number(own.mean(phase), signed) if phase in own.phases else ""
