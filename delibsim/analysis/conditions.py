"""A study by condition: means of measures beside those of people, and what is missing."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from statistics import fmean, stdev
from typing import Any

from delibsim.analysis.human.people import on_their_instrument, people_of
from delibsim.analysis.run.summary import FLAG, OTHER_INSTRUMENT, is_null
from delibsim.domain.condition import Condition, conditions
from delibsim.domain.run import Run, Session
from delibsim.domain.score import Score, of_whole_runs
from delibsim.domain.study import cell_of, natural
from delibsim.domain.text import counted

NUMBERS = ("held", "valid", "mean", "sd")
"""What a mean says of the values that it stands on."""
NAMED = 3
"""So many topics or measures are named; of more, their number is told."""


def mean_of(values: Sequence[float]) -> float | None:
    """The mean of values; None without any."""
    return fmean(values) if values else None


def sd_of(values: Sequence[float]) -> float | None:
    """The standard deviation of a sample; None of fewer than two values."""
    return stdev(values) if len(values) > 1 else None


@dataclass(frozen=True)
class ConditionMean:
    """The mean of a measure in a phase over the runs of a condition, and people's value.

    `planned` and `held` count runs; `values` are those of the valid ones, `missing` counts the
    reason codes of the others.
    `equal_to` is the condition that this one equals by construction, `asked_like` the one that was
    asked alike because the parameter they differ in was dropped; None without one.
    """

    condition: Condition
    equal_to: Condition | None
    asked_like: Condition | None
    measure: str
    phase: str
    planned: int
    held: int
    values: Sequence[float]
    missing: Mapping[str, int]
    people: float | None

    @property
    def valid(self) -> int:
        """How many runs have a value."""
        return len(self.values)

    @cached_property
    def mean(self) -> float | None:
        """The mean of the values; None without any."""
        return mean_of(self.values)

    @cached_property
    def sd(self) -> float | None:
        """Their standard deviation; None of fewer than two."""
        return sd_of(self.values)

    def title(self) -> str:
        """What stands above the table of the condition: its name, and which other it is like."""
        if self.equal_to is not None:
            equal = f"= {self.equal_to}, by construction; only numbers that differ are shown"
            return f"{self.condition} ({equal})"
        alike = "" if self.asked_like is None else f" (asked like {self.asked_like})"
        return f"{self.condition}{alike}"

    def plain(self) -> dict[str, Any]:
        """As plain values; the condition as its topic, treatment, models and settings."""
        row = named(self.condition)
        for name in ("equal_to", "asked_like"):
            row[name] = getattr(self, name) and str(getattr(self, name))
        for name in ("measure", "phase", "planned", *NUMBERS, "people"):
            row[name] = getattr(self, name)
        return row | {"missing": dict(self.missing)}


@dataclass(frozen=True)
class ConditionGap:
    """What is missing from the runs of a condition: so many statements or answers for one reason.

    `n` counts statements or answers, `runs` the runs they are missing from.
    """

    condition: Condition
    what: str
    reason: str
    n: int
    runs: int

    def plain(self) -> dict[str, Any]:
        """As plain values; the condition as its topic, treatment, models and settings."""
        row = {"what": self.what, "reason": self.reason, "n": self.n, "runs": self.runs}
        return named(self.condition) | row


@dataclass(frozen=True)
class ByCondition:
    """A study by condition: means of its measures, what is missing, and what is no finding.

    `null` are the conditions in which every participant is a citizen, a null model. `on_people`
    says, in one sentence for each topic, what must be known of people's values.
    """

    means: Sequence[ConditionMean]
    gaps: Sequence[ConditionGap]
    null: Set[Condition]
    on_people: Sequence[str]

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "conditions": [mean.plain() for mean in self.means],
            "missing": [gap.plain() for gap in self.gaps],
        }


class Collected:
    """What the table of a study needs of its runs and their scores, taken from one after another.

    `plans` are the sessions of the study.
    """

    def __init__(self, plans: Sequence[Session]) -> None:
        self.plans, self.of = plans, conditions(plans)
        self._values: dict[str, dict[_Key, _Values]] = {}
        self._missing: dict[tuple[Condition, str, str], Counter[str]] = defaultdict(Counter)

    def add_scores(self, scorer: str, scores: Iterable[Score]) -> None:
        """Take in all scores of a run by one scorer; those of the whole run are tabulated."""
        values = self._values.setdefault(scorer, {})
        for score in of_whole_runs(scores):
            condition = self.of.get(score.target)
            if condition is not None:
                key = condition, score.measure, score.phase
                if key not in values:
                    values[key] = _Values()
                values[key].add(score)

    def add_run(self, run: Run) -> None:
        """Take in what is missing from a run."""
        for gap in run.gaps:
            key = self.of[run.session.id], gap.what, gap.reason.code
            self._missing[key][run.session.id] += gap.answers or 1

    def add_withdrawn(self, sessions: Iterable[str]) -> None:
        """Take in sessions that were withdrawn: each lacks its whole run."""
        for session in sessions:
            if session in self.of:
                self._missing[self.of[session], "sessions", "withdrawn"][session] += 1

    def values(self) -> list[tuple["_Key", "_Values"]]:
        """The values by condition, measure and phase, in the order of conditions and scorers."""
        found: dict[_Key, _Values] = {}
        for values in self._values.values():
            for key, own in values.items():
                found[key] = found[key].with_those_of(own) if key in found else own
        return sorted(found.items(), key=lambda entry: natural(str(entry[0][0])))

    def gaps(self) -> list[ConditionGap]:
        """What is missing from the runs of each condition: statements and answers, by status."""
        found = []
        for key, by_run in self._missing.items():
            found.append(ConditionGap(*key, n=by_run.total(), runs=len(by_run)))
        return found


_Key = tuple[Condition, str, str]


class _Values:
    """The values of a measure, and why some runs have none."""

    def __init__(self) -> None:
        self.held = 0
        self.valid = array("d")
        self.notes: Counter[str] = Counter()

    def with_those_of(self, other: "_Values") -> "_Values":
        both = _Values()
        both.held = self.held + other.held
        both.valid = self.valid + other.valid
        both.notes = self.notes + other.notes
        return both

    def add(self, score: Score) -> None:
        self.held += 1
        if not isnan(score.value):
            self.valid.append(score.value)
        if score.note:
            self.notes[score.note] += 1


def by_condition(
    found: Collected, same: Mapping[str, str], alike: Mapping[str, str]
) -> ByCondition:
    """What was collected of a study, by condition.

    `same` gives for a cell of the design, by name, the first that it equals by construction,
    `alike` the first that was asked alike.
    """
    plans, of = found.plans, found.of
    same_as, asked_like = (conditions_of_cells(cells, plans, of) for cells in (same, alike))
    return ByCondition(
        means=means(found, same_as, asked_like),
        gaps=found.gaps(),
        null={of[plan.id] for plan in plans if is_null(plan)},
        on_people=on_people(plans),
    )


def means(
    found: Collected,
    same: Mapping[Condition, Condition],
    alike: Mapping[Condition, Condition],
) -> list[ConditionMean]:
    """The means of every run-level measure, by condition.

    `same` and `alike` give the `equal_to` and the `asked_like` of conditions.
    """
    planned = Counter(found.of.values())
    last = {found.of[plan.id]: plan for plan in found.plans}
    people = {condition: people_of(plan) or {} for condition, plan in last.items()}
    rows = []
    for (condition, measure, phase), own in found.values():
        what = condition, same.get(condition), alike.get(condition), measure, phase
        of_people = people[condition].get(phase, {}).get(measure)
        numbers = planned[condition], own.held, own.valid, own.notes
        rows.append(ConditionMean(*what, *numbers, of_people))
    return rows


def on_people(plans: Sequence[Session]) -> list[str]:
    """What must be known of people's values before anything is compared with them, by topic."""
    by_survey = {(plan.topic.id, plan.survey.id): plan for plan in plans}
    found = []
    for plan in by_survey.values():
        found += people_in_words([plan])
    return found


def people_in_words(plans: Sequence[Session]) -> list[str]:
    """What people's values are, one sentence for all topics of which the same is to be said."""
    by_note: dict[bool, dict[str, int]] = {}
    for (topic, _), plan in {(plan.topic.id, plan.survey.id): plan for plan in plans}.items():
        if known := people_of(plan):
            by_note.setdefault(on_their_instrument(plan), {})[topic] = known["n"]
    found = []
    for own, numbers in by_note.items():
        which, n = ", ".join(numbers), ", ".join(map(str, numbers.values()))
        if len(numbers) > NAMED:
            which = counted(len(numbers), "topic")
            n = f"{min(numbers.values())} to {max(numbers.values())}"
        pooled = f"the change of {n} people pooled, which no single group shows"
        found.append(
            "; ".join([f"people on {which}: {pooled}", *([] if own else OTHER_INSTRUMENT)])
        )
    return found


def conditions_of_cells(
    cells: Mapping[str, str],
    plans: Iterable[Session],
    of: Mapping[str, Condition],
) -> dict[Condition, Condition]:
    """Pairs of cells, by name, as pairs of conditions; without pairs of one condition."""
    named_so = {cell_of(session): of[session.id] for session in plans}
    found = {}
    for cell, first in cells.items():
        if named_so[cell] != named_so[first]:
            found[named_so[cell]] = named_so[first]
    return found


def by_measure(rows: Iterable[ConditionMean]) -> dict[Condition, list[Mapping[str, ConditionMean]]]:
    """The measures of each condition, in order, each by phase; no flags that were never raised.

    Of a condition that equals another by construction only the measures with other numbers.
    """
    tables: dict[Condition, dict[str, dict[str, ConditionMean]]] = {}
    equal: dict[Condition, Condition | None] = {}
    for row in rows:
        phases = tables.setdefault(row.condition, {}).setdefault(row.measure, {})
        phases[row.phase] = row
        equal[row.condition] = row.equal_to
    found: dict[Condition, list[Mapping[str, ConditionMean]]] = {}
    for condition, measures in tables.items():
        first = equal[condition]
        others = {} if first is None else tables.get(first, {})
        for measure, phases in measures.items():
            same = {phase: _numbers(row) for phase, row in others.get(measure, {}).items()}
            unlike = any(_numbers(row) != same.get(phase) for phase, row in phases.items())
            raised = not measure.startswith(FLAG) or any(row.mean for row in phases.values())
            found.setdefault(condition, []).extend([phases] if unlike and raised else [])
    return found


def _numbers(row: ConditionMean) -> tuple[Any, ...]:
    """The numbers by which a measure of two conditions is told apart."""
    return (row.planned, *(getattr(row, name) for name in NUMBERS), dict(row.missing))


def named(condition: Condition) -> dict[str, Any]:
    """A condition as plain values."""
    return {**vars(condition), "settings": dict(condition.settings)}
