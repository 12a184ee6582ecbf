"""The means of a study from its table equal those of one condition, measure and phase after another."""

from collections import Counter

import numpy as np
import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.study.study_table import StudyTable, column_of
from delibsim.analysis.study_means import HELD, means_of_table
from delibsim.domain.score import MEASURES

NAMES = ("dri", "diversity", "opinion_change_c", "rank_stability", "dri_relative")
STATES = ("complete", "partial", "no run", "damaged", "not begun")


def one_by_one(rows, measures):
    """The same numbers, a condition, measure and phase at a time."""
    found = []
    for key, own in rows.groupby(
        ["topic", "treatment", "model", "setting"], sort=False, dropna=False
    ):
        held = own[own["status"].isin(HELD)]
        for name, measure in measures.items():
            for phase in measure.phases or ("",):
                column = column_of(name, phase)
                if column not in own:
                    continue
                values = [value for value in held[column] if value == value]
                lost = held[held[column].isna()][f"{name}_note"]
                row = [*("" if part != part else part for part in key), name, phase, len(own)]
                row += [len(held), len(values), Counter(note for note in lost if note == note)]
                row.append(float(np.mean(values)) if values else None)
                row.append(float(np.std(values, ddof=1)) if len(values) > 1 else None)
                found.append(row)
    return found


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_they_equal_those_of_one_condition_after_another(seed):
    rows = synthetic_study(topics=3, models=2, replicates=3, seed=seed).rows
    draws = np.random.default_rng(seed)
    rows["setting"] = draws.choice([None, "rounds=1"], len(rows))
    rows["status"] = draws.choice(STATES, len(rows), p=[0.6, 0.1, 0.1, 0.1, 0.1])
    rows["null"] = rows["model"] == "model1"
    for name in NAMES:
        rows[f"{name}_note"] = draws.choice(
            ["too_few_participants", "missing_answer", None], len(rows)
        )
    for column in [name for name in rows if name.endswith(("_pre", "_post", "_change"))]:
        rows.loc[draws.random(len(rows)) < 0.3, column] = np.nan
    rows.loc[rows["topic"] == "topic0", "dri_pre"] = np.nan  # conditions without any value
    measures = {name: MEASURES[name] for name in NAMES if name in MEASURES}
    asked = []
    found, of = means_of_table(StudyTable("s", rows, ()), measures, asked.append)
    expected = one_by_one(rows.astype({"setting": object}), measures)
    assert len(found.means) == len(expected) > 100
    for mean, row in zip(found.means, expected, strict=True):
        condition = mean.condition
        setting = dict(condition.settings).get("setting", "")
        told = [condition.topic, condition.treatment, condition.models, setting]
        told += [mean.measure, mean.phase, mean.planned, mean.held, mean.valid, mean.missing]
        assert told == row[:-2]
        assert [mean.mean, mean.sd] == [
            value and pytest.approx(value, rel=1e-12) for value in row[-2:]
        ]
    assert {str(condition.models) for condition in found.null} == {"model1"}
    assert len(asked) == len(set(of.values())) == len(expected) / len(found_kinds(found))
    assert set(of) == set(rows["session"])


def found_kinds(found):
    return {(mean.measure, mean.phase) for mean in found.means}
