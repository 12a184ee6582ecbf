"""The measures of a study by condition, from its table instead of from its runs and scores."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from math import nan

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
    means: list[Mean] = []
    of: dict[str, Condition] = {}
    null, plans = set(), []
    texts = rows[BY].astype(object)
    keys = texts.where(texts.notna(), "")
    for named, own in rows.groupby([keys[name] for name in BY], sort=False):
        topic, treatment, model, setting = map(str, named)
        settings = (("setting", setting),) if setting else ()
        condition = Condition(topic, treatment, model, settings)
        of |= dict.fromkeys(map(str, own["session"]), condition)
        plan = planned(str(own["session"].iloc[0]))
        if plan is not None:
            plans.append(plan)
        if own["null"].fillna(False).all():
            null.add(condition)
        people = {} if plan is None else people_of(plan) or {}
        means += _means(condition, own, measures, people)
    return ByCondition(means, (), null, on_people(plans)), of


def by_treatment(found: ByCondition, of: Mapping[str, Condition]) -> Averages:
    """The means averaged over the conditions of each treatment."""
    return averages(found, ("treatment",), of, ())


def _means(
    condition: Condition,
    own: pd.DataFrame,
    measures: Mapping[str, Measure],
    people: Mapping[str, Mapping[str, float | None]],
) -> Iterator[Mean]:
    """The means of one condition, a measure and phase each, for those that the table has."""
    held = own[own["status"].isin(HELD)]
    for name, measure in measures.items():
        for phase in measure.phases or ("",):
            column = column_of(name, phase)
            if column not in own:
                continue
            values = held[column].dropna()
            notes = held.loc[held[column].isna(), f"{name}_note"].dropna()
            yield Mean(
                condition=condition,
                equal_to=None,
                asked_like=None,
                measure=name,
                phase=phase,
                planned=len(own),
                held=len(held),
                valid=len(values),
                mean=float(values.mean()) if len(values) else None,
                sd=_sd(values),
                missing=Counter(map(str, notes)),
                people=people.get(phase, {}).get(name),
            )


def _sd(values: pd.Series) -> float | None:
    """The standard deviation of a sample; None of fewer than two values."""
    found = float(values.std(ddof=1)) if len(values) > 1 else nan
    return None if found != found else found
