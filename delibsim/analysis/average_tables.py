"""Means of a study for reading: by condition, measures against levels, levels of one measure; and
what must be known of them, in sentences.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeVar, get_args

from delibsim.analysis.averages import NULL_CITIZEN, Average, Averages, Levels
from delibsim.analysis.conditions import (
    NAMED,
    ByCondition,
    ConditionMean,
    by_measure,
    people_in_words,
)
from delibsim.analysis.run.summary import FLAG
from delibsim.analysis.table import DisplayColumn, DisplayTable, number
from delibsim.domain.condition import Condition
from delibsim.domain.effect import Drop, NoEffect
from delibsim.domain.reason import in_words
from delibsim.domain.run import Session
from delibsim.domain.score import HEADINGS, Measure, heading_of
from delibsim.domain.survey import Phase
from delibsim.domain.text import counted

NO_PHASE = ""
CHANGE, PEOPLE = "change", "people"
ALL_SESSIONS = "sessions (n)"
CONDITIONS = "conditions"
BECAUSE = "no value because"
INTERVAL = "95% over topics"
SHOWN = {phase: heading_of(phase) for phase in (*get_args(Phase), CHANGE)}
"""The phases and their headings, in order; columns without any value are left out."""
OF_RUNS = (*SHOWN.values(), "mean", "SD", INTERVAL)

Cell = tuple[str, Levels]
_Cells = Mapping[Cell, Mapping[str, Average]]
_M = TypeVar("_M", Average, ConditionMean)


@dataclass(frozen=True)
class _Filled:
    """A column with its cells, and what stands in it above and below them."""

    column: DisplayColumn
    cells: Sequence[str]
    top: str = ""
    bottom: str = ""


@dataclass(frozen=True)
class MeasuresByLevel:
    """What a table of measures against levels is made of: averages, and the measures in it.

    `declared` are measures by id; those that are not declared go by their ids.
    """

    found: Averages
    measures: Sequence[str]
    declared: Mapping[str, Measure]

    def label(self, measure: str) -> str:
        """The name of a measure in tables."""
        return label_of(measure, self.declared)

    def with_phase(self, phase: str) -> list[str]:
        """Those of the measures that have this phase."""
        return [one for one in self.measures if self._has(one, phase)]

    def _has(self, measure: str, phase: str) -> bool:
        return any(phase in phases for phases in self.found.of(measure).values())

    def tables(self) -> Iterator[list[DisplayTable]]:
        """The tables that may be printed, from the widest to the narrowest: first one for the
        measures that change, then one for those without a phase.
        """
        unphased = self.with_phase(NO_PHASE)
        last = [self._table(unphased, [NO_PHASE])] if unphased else []
        changing = self.with_phase(CHANGE)
        if changing:
            phases = [one for one in SHOWN if one in HEADINGS or self.with_phase(one)]
            yield [self._table(changing, phases), *last]
            yield [self._table(changing, [CHANGE]), *last]
        else:
            yield last

    def _table(self, measures: Sequence[str], phases: Sequence[str]) -> DisplayTable:
        """Measures in rows, and the levels beside each other, each with its phases.

        The number of sessions stands above where all measures have as many, or else beside each;
        the number of conditions stands below where some have no value.
        """
        mixed = len({population for population, _ in self.found.cells}) > 1
        by_measure = {measure: self.found.of(measure) for measure in measures}
        labels = [self.label(measure) for measure in measures]
        filled = [_Filled(DisplayColumn("measure", text=True), labels, ALL_SESSIONS, CONDITIONS)]
        counts = {cell: self._counts(cell, by_measure) for cell in self.found.cells}
        beside = any(len(set(own)) > 1 for own in counts.values())
        people = {cell: self._people(cell, by_measure) for cell in self.found.cells}
        known = {tuple(values) for values in people.values() if any(values)}
        headings = [*phases, *(["n"] if beside else []), *([PEOPLE] if len(known) > 1 else [])]
        whole = True
        for cell in self.found.cells:
            bottom, all_there = self._conditions(cell, by_measure)
            whole = whole and all_there
            for phase in phases:
                values = []
                for measure, of_cells in by_measure.items():
                    signed = self._signed(measure)
                    values.append(_value(of_cells.get(cell, {}), phase, signed))
                filled.append(_Filled(_column(cell, phase, headings, mixed), values))
            if beside:
                filled.append(_Filled(_column(cell, "n", headings, mixed), counts[cell]))
            filled[-1] = replace(filled[-1], top=counts[cell][0], bottom=bottom)
            if len(known) > 1:
                filled.append(_Filled(_column(cell, PEOPLE, headings, mixed), people[cell]))
        if len(known) == 1:
            filled.append(_Filled(DisplayColumn(PEOPLE), known.pop()))
        rows = list(zip(*[one.cells for one in filled], strict=True))
        if not beside:
            rows.insert(0, tuple(one.top for one in filled))
        if not whole:
            rows.append(tuple(one.bottom for one in filled))
        return DisplayTable([one.column for one in filled], rows, self._title(phases))

    def _people(self, cell: Cell, by_measure: Mapping[str, _Cells]) -> list[str]:
        """People's change on every measure, over the topics of one cell."""
        found = []
        for measure, cells in by_measure.items():
            row = cells.get(cell, {}).get(CHANGE)
            value = None if row is None else row.people
            found.append("" if value is None else number(value, self._signed(measure)))
        return found

    def _counts(self, cell: Cell, by_measure: Mapping[str, _Cells]) -> list[str]:
        """The counts of every measure in one cell; where nothing was held, 0 of all planned."""
        found = []
        for cells in by_measure.values():
            phases = cells.get(cell)
            found.append(_count(_least(phases)) if phases else f"0/{self.found.cells[cell]}")
        return found

    def _conditions(self, cell: Cell, by_measure: Mapping[str, _Cells]) -> tuple[str, bool]:
        """How many conditions of a cell have a value of some measure, and whether all have one."""
        found = [_least(cells[cell]) for cells in by_measure.values() if cell in cells]
        if not found:
            return "0", False
        best = max(found, key=lambda row: row.conditions)
        if best.conditions == best.conditions_planned:
            return str(best.conditions), True
        return f"{best.conditions} of {best.conditions_planned}", False

    def _title(self, phases: Sequence[str]) -> str:
        what = {NO_PHASE: "Mean", CHANGE: "Change (after less before)"}
        named = ", ".join(map(heading_of, phases[:-1])).capitalize()
        shown = what[phases[0]] if len(phases) == 1 else f"{named} and change"
        found = self.found
        over = f"{counted(found.topics, 'topic')} and {counted(found.models, 'model')}"
        if found.settings > 1:
            over = f"{over.replace(' and ', ', ')} and {found.settings} settings"
        return f"{shown} by {', '.join(self.found.by)}, averaged over {over}"

    def _signed(self, measure: str) -> bool:
        declared = self.declared.get(measure)
        return declared is None or declared.signed


def table_of_levels(found: Averages, measure: str, declared: Mapping[str, Measure]) -> DisplayTable:
    """One measure: a row for every combination of levels, with all that is known of it.

    Of the columns of values only those that are not empty.
    """
    own = declared.get(measure)
    signed = own is None or own.signed
    by_cell = found.of(measure)
    populations = {population for population, _ in found.cells}
    mixed = len(populations) > 1
    group = NULL_CITIZEN if populations == {NULL_CITIZEN} else ""
    naming = [*found.by, *(["population"] if mixed else [])]
    rows = []
    for cell, planned in found.cells.items():
        levels = dict(zip(found.by, cell[1], strict=True))
        if mixed:
            levels["population"] = cell[0]
        rows.append(levels | _cells_of(by_cell.get(cell, {}), planned, signed))
    unit = f" ({own.unit})" if own is not None and own.unit else ""
    title = f"{label_of(measure, declared)}{unit}"
    return _not_empty(rows, naming, (*naming, BECAUSE), dict.fromkeys(OF_RUNS, group), title)


def _not_empty(
    rows: Sequence[Mapping[str, str]],
    always: Sequence[str],
    texts: Sequence[str],
    groups: Mapping[str, str],
    title: str = "",
) -> DisplayTable:
    """A table of rows by heading: the columns `always`, and those that are not empty."""
    columns = []
    for heading in rows[0]:
        if heading in always or any(row[heading] for row in rows):
            columns.append(DisplayColumn(heading, heading in texts, groups.get(heading, "")))
    cells = []
    for row in rows:
        cells.append([row[column.heading] for column in columns])
    return DisplayTable(columns, cells, title)


def _cells_of(phases: Mapping[str, Average], planned: int, signed: bool) -> dict[str, str]:
    """The values of one row by their headings, in order; "" for what the measure has not."""
    cells = dict.fromkeys((*OF_RUNS, "n", CONDITIONS, PEOPLE, BECAUSE), "")
    if not phases:
        return cells | {"n": f"0/{planned}", CONDITIONS: "0", BECAUSE: "no run"}
    for phase, heading in SHOWN.items():
        cells[heading] = _value(phases, phase, signed)
    cells["mean"] = _value(phases, NO_PHASE, signed)
    least, main = _least(phases), phases.get(CHANGE) or phases.get(NO_PHASE)
    if main is not None:
        cells["SD"] = "" if main.sd is None else number(main.sd)
        ends = (number(end, signed) for end in (main.low, main.high))
        cells[INTERVAL] = "" if main.low is None else f"[{', '.join(ends)}]"
        cells[PEOPLE] = "" if main.people is None else number(main.people, signed)
    cells["n"], cells[CONDITIONS] = _count(least), str(least.conditions)
    cells[BECAUSE] = reasons_in_words(least.missing)
    return cells


def reasons_in_words(missing: Mapping[str, int]) -> str:
    """Why values are missing, each reason with the number of sessions."""
    return ", ".join(f"{in_words(code)}: {n}" for code, n in missing.items())


def label_of(measure: str, declared: Mapping[str, Measure]) -> str:
    """The name of a measure in tables: its label, or its id."""
    return declared[measure].label if measure in declared else measure


def _column(cell: Cell, own: str, headings: Sequence[str], mixed: bool) -> DisplayColumn:
    """One of the columns of a cell: a phase, n or people; the name of the cell is the heading of
    its only column, or the group of several. `mixed`: there are other cells of another population.
    """
    population, levels = cell
    name = ", ".join(levels)
    null = population == NULL_CITIZEN
    if len(headings) == 1:
        return DisplayColumn(name, group=population if null else "")
    heading = heading_of(own) or "mean"
    return DisplayColumn(heading, group=f"{name}, {population}" if null and mixed else name)


def _least(phases: Mapping[str, _M]) -> _M:
    """The mean that stands on the fewest values."""
    return min(phases.values(), key=lambda row: row.valid)


def _count(row: Average) -> str:
    """The sessions with a value, and those planned where they are more."""
    return str(row.valid) if row.valid == row.planned else f"{row.valid}/{row.planned}"


def _value(phases: Mapping[str, Average | ConditionMean], phase: str, signed: bool) -> str:
    """The mean in a phase, "" for a measure that has none there; a change has its sign."""
    if phase not in phases:
        return "" if phases else number(None)
    return number(phases[phase].mean, signed and phase == CHANGE)


COUNTS = ("planned", "held", "valid")
ALWAYS = ("measure", *COUNTS)
"""The columns that are there even where they are empty."""
BESIDE_PEOPLE = (*SHOWN.values(), "SD")
"""The columns of values of the runs, beside which people's may stand."""
TEXTS = ("measure", "undefined because")


@dataclass(frozen=True)
class ConditionTable:
    """One condition for reading: its title, its measures (None without any), what is missing."""

    title: str
    table: DisplayTable | None
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
        table = _table(measures, declared, condition in found.null) if measures else None
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


def _table(
    measures: Sequence[Mapping[str, ConditionMean]], declared: Mapping[str, Measure], null: bool
) -> DisplayTable:
    """The measures of one condition; of the values only the columns that are not empty."""
    rows = [_cells(phases, declared) for phases in measures]
    group = "null citizen" if null and any(row["people"] for row in rows) else ""
    return _not_empty(rows, ALWAYS, TEXTS, dict.fromkeys(BESIDE_PEOPLE, group))


def _cells(phases: Mapping[str, ConditionMean], known: Mapping[str, Measure]) -> dict[str, str]:
    """The cells of one measure by the headings of their columns, in order; "" for what it has not.

    A change has its sign unless it is declared to have none.
    """
    least, change = _least(phases), phases.get(CHANGE)
    declared = known.get(least.measure)
    signed = declared is None or declared.signed
    cells = {"measure": label_of(least.measure, known)}
    for name in COUNTS:
        cells[name] = str(getattr(least, name))
    for phase, heading in SHOWN.items():
        cells[heading] = _value(phases, phase, signed)
    cells["SD"] = "" if change is None or change.sd is None else number(change.sd)
    people = None if change is None else change.people
    cells[PEOPLE] = "" if people is None else number(people, signed)
    cells["mean"] = _value(phases, NO_PHASE, signed)
    reasons = ", ".join(f"{reason} ({n})" for reason, n in least.missing.items())
    return cells | {"undefined because": reasons}


WEIGHTS = "Every condition (topic, model, treatment, settings) weighs alike."
OF_PLANNED = "n/m: n of m planned sessions have a value."
NULL = "the citizen, a null model"
SD = "SD: of all sessions."


def sessions_in_words(found: ByCondition, held: int, planned: int) -> str:
    """How many of the planned sessions were held, and which of them are those of the null model."""
    told = f"{held} of {counted(planned, 'session')} held"
    everybody = {mean.condition for mean in found.means}
    if not held or not found.null:
        return told
    if everybody <= found.null:
        return f"{told}, all by {NULL}"
    return f"{told}; the columns of the null citizen are those of {NULL}"


def design_notes(
    found: ByCondition,
    averages: Averages,
    without_effect: Sequence[NoEffect],
    dropped: Sequence[Drop],
) -> list[str]:
    """What a study varies without effect, and which of its conditions are the same as others."""
    notes = []
    for one in without_effect:
        values = _listed(one.values, "value")
        models = _listed(one.models, "model")
        notes.append(f"{one.setting} ({values}) has no effect on {models} {one.where}".rstrip())
    equal = {mean.condition: mean.equal_to for mean in found.means if mean.equal_to}
    alike = {mean.condition: mean.asked_like for mean in found.means if mean.asked_like}
    notes += _pairs(equal, averages, "equal {} by construction")
    notes += map(str, dropped)
    notes += _pairs(alike, averages, "were asked like {}")
    return [f"note: {note}" for note in notes]


def _pairs(others: Mapping[Condition, Condition], averages: Averages, what: str) -> Iterator[str]:
    """How many conditions of some levels are like others, and of which levels these are."""
    of_levels = Counter(averages.levels.values())
    pairs: Counter[tuple[Levels, Levels]] = Counter()
    for condition, other in others.items():
        pairs[averages.levels[condition], averages.levels[other]] += 1
    if len(pairs) > NAMED:
        yield f"{len(others)} of {of_levels.total()} conditions {what.format('another')}"
        return
    for (levels, other_levels), n in pairs.items():
        some = f"{n} of {counted(of_levels[levels], 'condition')} of {', '.join(levels)}"
        which = "others of it" if levels == other_levels else f"those of {', '.join(other_levels)}"
        yield f"{some} {what.format(which)}"


def _listed(names: Sequence[str], noun: str) -> str:
    """Some names, or their number where they are many."""
    return ", ".join(names) if len(names) <= NAMED else counted(len(names), noun)


def average_notes(
    found: ByCondition,
    averages: Averages,
    shown: Sequence[str],
    declared: Mapping[str, Measure],
    plans: Sequence[Session],
) -> list[str]:
    """What must be known of averages: their weights, people, and all that is missing.

    `shown` are the measures that are printed, `declared` the measures of the scorers by id.
    """
    rows = [row for row in averages.rows if row.measure in shown]
    nothing = len({(row.population, row.levels) for row in rows}) < len(averages.cells)
    partial = nothing or any(row.valid < row.planned for row in rows)
    notes = [f"{WEIGHTS} {OF_PLANNED}" if partial else WEIGHTS]
    notes += people_in_words(plans)
    notes += _without_value(averages, shown, declared)
    notes += _gaps(found)
    notes += _flagged(found)
    return notes


def _without_value(
    averages: Averages, shown: Sequence[str], declared: Mapping[str, Measure]
) -> Iterator[str]:
    """Why sessions have no value, one sentence for all measures that lack the same."""
    patterns = []
    for measure in shown:
        missing: Counter[str] = Counter()
        for phases in averages.of(measure).values():
            missing.update(min(phases.values(), key=lambda row: row.valid).missing)
        if missing:
            patterns.append((sorted(missing.items()), measure))
    patterns.sort(key=lambda pattern: pattern[0])
    for missing_of_all, group in groupby(patterns, key=lambda pattern: pattern[0]):
        labels = [label_of(measure, declared) for _, measure in group]
        which = ", ".join(labels[:NAMED])
        if len(labels) == len(shown) > 1:
            which = "any measure"
        elif len(labels) > NAMED:
            which = f"{labels[0]} and {counted(len(labels) - 1, 'other measure')}"
        yield f"no value of {which}: {reasons_in_words(dict(missing_of_all))}"


def _gaps(found: ByCondition) -> Iterator[str]:
    """What is missing from runs, by reason."""
    n: Counter[tuple[str, str]] = Counter()
    runs: Counter[tuple[str, str]] = Counter()
    for gap in found.gaps:
        n[gap.what, gap.reason] += gap.n
        runs[gap.what, gap.reason] += gap.runs
    for (what, reason), lacking in n.items():
        among = counted(runs[what, reason], "session")
        noun = what.removesuffix("s")
        yield f"missing: {counted(lacking, noun)} in {among}: {in_words(reason)}"


def _flagged(found: ByCondition) -> list[str]:
    """How many statements are flagged, by kind."""
    flagged: dict[str, float] = {}
    for mean in found.means:
        if mean.measure.startswith(FLAG) and mean.mean:
            kind = mean.measure.removeprefix(FLAG)
            flagged[kind] = flagged.get(kind, 0) + mean.mean * mean.valid
    if not flagged:
        return []
    kinds = ", ".join(f"{kind} ({n:.0f})" for kind, n in flagged.items())
    return [f"statements flagged, to be looked at: {kinds}"]
