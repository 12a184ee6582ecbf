"""The measures of a study by condition, from its table instead of from its runs and scores."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import isnan

import pandas as pd

from delibsim.analysis.averages import Averages, averages
from delibsim.analysis.conditions import ByCondition, Mean, on_people
from delibsim.analysis.human.values import people_of
from delibsim.analysis.study.study_table import StudyTable
from delibsim.analysis.study.table.columns import column_of
from delibsim.domain.condition import Condition
from delibsim.domain.measure import Measure
from delibsim.domain.run import Session

HELD = ("complete", "partial")
BY = ["topic", "treatment", "model", "setting"]
"""The columns that tell conditions apart."""


def means_of_table(
    study: StudyTable,
    measures: Mapping[str, Measure],
    planned: Callable[[str], Session | None],
) -> tuple[ByCondition, dict[str, Condition]]:
    """The means of these measures by condition, and the condition of every session by its name.

    `planned` gives the plan of a session, None where it cannot be read; one of each condition is
    asked for, to find what real people did on its topic. What is missing from runs is not counted
    here. Conditions that equal another by construction are not marked.
    """
    rows = study.rows
    rows = rows[rows["topic"].notna() & rows["model"].notna() & rows["treatment"].notna()]
    texts = rows[BY].astype(object)
    keys = texts.where(texts.notna(), "").astype(str)
    number = keys.groupby(BY, sort=False).ngroup()
    first = ~number.duplicated()
    conditions, people, plans = [], [], []
    for named, session in zip(keys[first].to_numpy(), rows.loc[first, "session"], strict=True):
        topic, treatment, model, setting = named
        settings = (("setting", setting),) if setting else ()
        conditions.append(Condition(topic, treatment, model, settings))
        plan = planned(str(session))
        plans += [] if plan is None else [plan]
        people.append({} if plan is None else people_of(plan) or {})
    all_null = rows["null"].fillna(False).astype(bool).groupby(number).all()
    null = {conditions[n] for n in all_null[all_null].index}
    means = _means(rows, number, conditions, measures, people)
    of = {str(name): conditions[n] for name, n in zip(rows["session"], number, strict=True)}
    return ByCondition(means, (), null, on_people(plans)), of


def by_treatment(found: ByCondition, of: Mapping[str, Condition]) -> Averages:
    """The means averaged over the conditions of each treatment."""
    return averages(found, ("treatment",), of, ())


def _means(
    rows: pd.DataFrame,
    number: pd.Series,
    conditions: Sequence[Condition],
    measures: Mapping[str, Measure],
    people: Sequence[Mapping[str, Mapping[str, float | None]]],
) -> list[Mean]:
    """The means of the measures that the table has, a condition, measure and phase each; `number`
    is that of the condition of every row.
    """
    kinds = []
    for name, measure in measures.items():
        for phase in measure.phases or ("",):
            if column_of(name, phase) in rows:
                kinds.append((name, phase))
    held = rows["status"].isin(HELD)
    columns = [column_of(*kind) for kind in kinds]
    values = rows.loc[held, columns].astype(float)
    groups = values.groupby(number[held])
    within = range(len(conditions))
    valid, mean, sd = (
        table.reindex(within).to_numpy(dtype=float)
        for table in (groups.count(), groups.mean(), groups.std(ddof=1))
    )
    planned = Counter(number)
    n_held = Counter(number[held])
    rows = rows[held]
    missing = {kind: _missing(rows, number[held], kind) for kind in kinds}
    found = []
    for n, condition in enumerate(conditions):
        for k, (name, phase) in enumerate(kinds):
            one = Mean(
                condition=condition,
                equal_to=None,
                asked_like=None,
                measure=name,
                phase=phase,
                planned=planned[n],
                held=n_held[n],
                valid=_whole(valid[n, k]),
                mean=_defined(mean[n, k]),
                sd=_defined(sd[n, k]),
                missing=missing[name, phase].get(n, Counter()),
                people=people[n].get(phase, {}).get(name),
            )
            found.append(one)
    return found


def _missing(rows: pd.DataFrame, number: pd.Series, kind: tuple[str, str]) -> dict[int, Counter]:
    """The reason codes of the rows without a value of a measure, counted by condition."""
    name, _ = kind
    lost = rows[column_of(*kind)].isna()
    notes = rows.loc[lost, f"{name}_note"] if lost.any() else pd.Series(dtype=object)
    found: dict[int, Counter[str]] = {}
    for row, note in notes.dropna().items():
        n = number[row]
        found.setdefault(int(n), Counter())[str(note)] += 1
    return found


def _defined(value: float) -> float | None:
    """A statistic; None of too few values."""
    return None if isnan(value) else float(value)


def _whole(value: float) -> int:
    """A count; that of a condition without any held run is not there."""
    return 0 if isnan(value) else int(value)
