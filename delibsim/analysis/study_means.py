"""The measures of a study by condition, from its table instead of from its runs and scores."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from delibsim.analysis.averages import Averages, averages
from delibsim.analysis.conditions import ByCondition, ConditionMean, on_people
from delibsim.analysis.human.reference import people_of
from delibsim.analysis.study.study_table import HELD, StudyTable, column_of
from delibsim.domain.condition import Condition
from delibsim.domain.run import Session
from delibsim.domain.score import Measure

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
) -> list[ConditionMean]:
    """The means of the measures that the table has, a condition, measure and phase each; `number`
    is that of the condition of every row.
    """
    held = rows["status"].isin(HELD).to_numpy()
    planned, n_held = Counter(number), Counter(number[held])
    # The rows that were held, those of one condition beside each other.
    order = np.argsort(number[held].to_numpy(), kind="stable")
    rows = rows[held].iloc[order]
    bounds = np.cumsum([n_held[n] for n in range(len(conditions) - 1)])
    no_notes = pd.Series(None, rows.index, dtype=object)
    samples: dict[tuple[str, str], list[Sample]] = {}
    for name, measure in measures.items():
        for phase in measure.phases or ("",):
            if column_of(name, phase) in rows:
                values = rows[column_of(name, phase)].to_numpy(dtype=float)
                notes = rows.get(f"{name}_note", no_notes).to_numpy(dtype=object)
                parts = zip(np.split(values, bounds), np.split(notes, bounds), strict=True)
                samples[name, phase] = [_sample(*part) for part in parts]
    found = []
    for n, condition in enumerate(conditions):
        for (name, phase), parts in samples.items():
            one = ConditionMean(
                condition=condition,
                equal_to=None,
                asked_like=None,
                measure=name,
                phase=phase,
                planned=planned[n],
                held=n_held[n],
                values=parts[n][0],
                missing=parts[n][1],
                people=people[n].get(phase, {}).get(name),
            )
            found.append(one)
    return found


Sample = tuple[list[float], Counter[str]]
"""The values of a measure, and the reason codes of the sessions without one."""


def _sample(values: np.ndarray, notes: np.ndarray) -> Sample:
    lost = np.isnan(values)
    codes = [note for note in notes[lost] if isinstance(note, str)] if lost.any() else ()
    return values[~lost].tolist(), Counter(codes)
