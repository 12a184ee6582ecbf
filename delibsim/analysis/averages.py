"""Averages of a study: means of measures over the conditions that share columns of its design."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isnan
from statistics import fmean
from typing import Any

from delibsim.analysis.conditions import ByCondition, ConditionMean, mean_of, sd_of
from delibsim.domain.condition import Condition, settings_of
from delibsim.domain.errors import unknown
from delibsim.domain.run import Session
from delibsim.domain.study import natural

ABSENT, UNSET, SEVERAL = "-", "not set", "several"
"""The level of what a session has not, of what is left to the provider, of what replicates share
no value of.
"""


def _settings(condition: Condition) -> str:
    """The settings in which a condition differs from others, as text."""
    settings = [f"{key}={value}" for key, value in condition.settings]
    return ", ".join(settings) or ABSENT


OF_CONDITIONS: Mapping[str, Callable[[Condition], str]] = {
    "topic": lambda condition: condition.topic,
    "model": lambda condition: condition.models,
    "treatment": lambda condition: condition.treatment,
    "setting": _settings,
}
"""Columns of the design that a condition has, and how they are read from it."""
OF_SETTINGS = {
    "rounds": "rounds",
    "size": "group.size",
    "temperature": "temperature",
    "wording": "wording",
    "persona": "persona",
}
"""Columns of the design that are settings, and the setting or the last part of its name."""
COLUMNS = (*OF_CONDITIONS, *OF_SETTINGS)
"""The columns of a design; any setting by its dotted name is one too."""
LANGUAGE_MODELS, NULL_CITIZEN = "models", "null citizen"

Levels = tuple[str, ...]


@dataclass(frozen=True)
class Average:
    """The unweighted mean of a measure in a phase over conditions; every condition counts once.

    `levels` are those of the columns that the conditions share. `planned` and `valid` count
    sessions: those that were planned, and those with a value; a condition whose runs have scores,
    but none of this measure, is not counted. `conditions`, `topics` and `models` count those with
    a value, `conditions_planned` all. `mean` is the mean of the conditions' means, `sd` the
    standard deviation of the sessions around the mean of all sessions; `low` and `high` are the
    ends of the 95% interval by t over the means of topics; None where there is none.
    `missing` counts the reason codes of the sessions without a value. `people` is the mean of real
    people's values over the topics, `people_topics` their number: those topics on which all
    conditions with a value have one of people too. `population` is "models" or "null citizen".
    """

    population: str
    levels: Levels
    measure: str
    phase: str
    planned: int
    valid: int
    conditions: int
    conditions_planned: int
    topics: int
    models: int
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    missing: Mapping[str, int]
    people: float | None
    people_topics: int


@dataclass(frozen=True)
class Averages:
    """The averages of a study by columns of its design, and how many sessions each cell plans.

    `cells` gives for every population and levels, in order, the number of planned sessions, also
    where none of them was held. `topics`, `models` and `settings` count those of the whole study
    (settings: of the treatment that has most). `levels` are those of each condition.
    """

    by: tuple[str, ...]
    rows: Sequence[Average]
    cells: Mapping[tuple[str, Levels], int]
    topics: int
    models: int
    settings: int
    levels: Mapping[Condition, Levels]

    def measures(self) -> list[str]:
        """The measures that have averages, in the order in which scorers give them."""
        return list(dict.fromkeys(row.measure for row in self.rows))

    def of(self, measure: str) -> dict[tuple[str, Levels], dict[str, Average]]:
        """The averages of one measure: for each cell those of its phases."""
        found: dict[tuple[str, Levels], dict[str, Average]] = {}
        for row in self.rows:
            if row.measure == measure:
                found.setdefault((row.population, row.levels), {})[row.phase] = row
        return found

    def plain(self) -> dict[str, Any]:
        """As plain values; each row has its levels under the names of their columns."""
        rows = []
        for row in self.rows:
            values = dict(vars(row))
            values["levels"] = dict(zip(self.by, row.levels, strict=True))
            rows.append(values | {"missing": dict(row.missing)})
        return {"by": list(self.by), "rows": rows}


def averages(
    found: ByCondition, by: Sequence[str], of: Mapping[str, Condition], plans: Sequence[Session]
) -> Averages:
    """The averages of a study by columns of its design.

    `of` gives the condition of each of the `plans` by its name. WrongInput for an unknown column.
    """
    planned = Counter(of.values())
    levels = levels_of(by, of, plans)
    members: dict[tuple[str, Levels], list[Condition]] = {}
    for condition in planned:
        population = NULL_CITIZEN if condition in found.null else LANGUAGE_MODELS
        members.setdefault((population, levels[condition]), []).append(condition)
    ordered = sorted(members, key=lambda cell: (cell[0], [natural(level) for level in cell[1]]))
    scored = {mean.condition for mean in found.means}
    values = _by_measure(found.means)
    rows = []
    for means in values.values():
        for cell in ordered:
            counted = [one for one in members[cell] if one in means or one not in scored]
            own = [means[one] for one in counted if one in means]
            if own:
                sessions = _sessions(counted, planned)
                rows.append(_average(cell, own, sessions, len(counted)))
    cells = {cell: _sessions(members[cell], planned) for cell in ordered}
    topics = len({condition.topic for condition in planned})
    models = len({condition.models for condition in planned})
    return Averages(tuple(by), rows, cells, topics, models, _most_settings(planned), levels)


def _sessions(conditions: Iterable[Condition], planned: Mapping[Condition, int]) -> int:
    """How many sessions of these conditions are planned."""
    return sum(planned[one] for one in conditions)


def _most_settings(conditions: Iterable[Condition]) -> int:
    """In how many settings the treatment was held that was held in most."""
    found: dict[str, set[tuple[tuple[str, Any], ...]]] = {}
    for condition in conditions:
        found.setdefault(condition.treatment, set()).add(condition.settings)
    return max(map(len, found.values()), default=0)


def _by_measure(
    means: Iterable[ConditionMean],
) -> dict[tuple[str, str], dict[Condition, ConditionMean]]:
    """The means of each measure and phase, by condition."""
    found: dict[tuple[str, str], dict[Condition, ConditionMean]] = {}
    for mean in means:
        found.setdefault((mean.measure, mean.phase), {})[mean.condition] = mean
    return found


def _average(
    cell: tuple[str, Levels], means: Sequence[ConditionMean], planned: int, conditions: int
) -> Average:
    """One row of the averages, from the means of its conditions."""
    known = [mean for mean in means if mean.values]
    missing: Counter[str] = Counter()
    for mean in means:
        missing.update(mean.missing)
    sessions = list(chain.from_iterable(mean.values for mean in known))
    people, (low, high) = _people(known), _interval(known)
    return Average(
        population=cell[0],
        levels=cell[1],
        measure=means[0].measure,
        phase=means[0].phase,
        planned=planned,
        valid=len(sessions),
        conditions=len(known),
        conditions_planned=conditions,
        topics=len({mean.condition.topic for mean in known}),
        models=len({mean.condition.models for mean in known}),
        mean=mean_of([fmean(mean.values) for mean in known]),
        sd=sd_of(sessions),
        low=low,
        high=high,
        missing=missing,
        people=mean_of(people),
        people_topics=len(people),
    )


def _interval(means: Sequence[ConditionMean]) -> tuple[float | None, float | None]:
    """The 95% interval by t over topics, a topic's value being the mean of its conditions."""
    from delibsim.measures.inference.means import mean_of_units  # numpy, which a run need not have

    by_topic: dict[str, list[float]] = {}
    for mean in means:
        by_topic.setdefault(mean.condition.topic, []).append(fmean(mean.values))
    found = mean_of_units(list(map(fmean, by_topic.values())))
    return (None, None) if isnan(found.error) else (found.low, found.high)


def _people(means: Sequence[ConditionMean]) -> list[float]:
    """People's values of the topics on which all conditions have one, a topic once."""
    by_topic: dict[str, list[float | None]] = {}
    for mean in means:
        by_topic.setdefault(mean.condition.topic, []).append(mean.people)
    found = []
    for values in by_topic.values():
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            found.append(known[0])
    return found


def levels_of(
    by: Sequence[str], of: Mapping[str, Condition], plans: Sequence[Session]
) -> dict[Condition, Levels]:
    """The levels of every condition in these columns; WrongInput for one that no session has."""
    by_column = [_levels(column, of, plans) for column in by]
    found = {}
    for condition in dict.fromkeys(of.values()):
        found[condition] = tuple(levels[condition] for levels in by_column)
    return found


def _levels(
    column: str, of: Mapping[str, Condition], plans: Sequence[Session]
) -> dict[Condition, str]:
    """The level of every condition in one column."""
    if column in OF_CONDITIONS:
        read = OF_CONDITIONS[column]
        return {condition: read(condition) for condition in of.values()}
    values: dict[Condition, set[str]] = {}
    keys: set[str] = set()
    for plan in plans:
        settings = dict(settings_of(plan))
        keys |= settings.keys()
        values.setdefault(of[plan.id], set()).add(_level(column, settings))
    if column not in OF_SETTINGS and column not in keys:
        raise unknown("column", column, (*COLUMNS, "participant"), unlisted=keys)
    found = {}
    for condition, own in values.items():
        found[condition] = own.pop() if len(own) == 1 else SEVERAL
    return found


def _level(column: str, settings: Mapping[str, Any]) -> str:
    """The level of a session; of several models with a setting each, all that differ."""
    key = OF_SETTINGS.get(column, column)
    if column == "temperature":
        own = [settings[name] for name in settings if name.rpartition(".")[2] == key]
    else:
        own = [settings[key]] if key in settings else []
    if not own:
        return ABSENT
    texts = [UNSET if value is None else str(value) for value in own]
    return ", ".join(dict.fromkeys(texts))
