"""Intervals hold what they say, tests reject a true null at their level, verbs are seldom wrong.

Each test counts in some seeded studies what bench/validity.py counts in thousands, and leaves room
for three errors of chance.
"""

from collections import defaultdict
from math import sqrt

import numpy as np
import pytest
from known_studies import Known, claims_of_contrasts, contrasts_of, drawn, rows_of_index
from known_tables import OF_TABLES, mixed_of, of_blocks, of_icc, of_mixed, of_noise, of_slopes

from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.mixed import mixed_table
from delibsim.analysis.study.study_table import DrawCounts
from delibsim.measures.inference.contrasts import flipped_p

DRAWS = DrawCounts(permutations=199, resamples=99, parametric=9)
TOPICS_VARY = Known(sd_topic=0.07)
"""Six topics, three models, three replicates, and what a treatment does varies between topics."""
ALONE = {"shared": False, "correlation": 0.0}


def shares(known, claims, studies):
    found = defaultdict(list)
    for seed in range(studies):
        for name, value in claims(drawn(known, seed), draws=DRAWS):
            found[name].append(value)
    return {name: np.mean(values) for name, values in found.items()}


def least(share, studies):
    """The smallest share that chance gives in so many studies, three errors below the true one."""
    return share - 3 * sqrt(share * (1 - share) / studies)


def most(share, studies):
    return 1 - least(1 - share, studies)


@pytest.mark.parametrize("topics", [2, 3, 6])
def test_intervals_over_topics_and_on_these_topics_hold_the_truth(topics):
    found = shares(Known(topics=topics, sd_topic=0.07), claims_of_contrasts, 150)
    assert least(0.95, 150) <= found["interval"] <= most(0.95, 150)
    assert least(0.95, 150) <= found["interval here"] <= most(0.95, 150)


def test_the_published_interval_is_too_short_with_six_topics():
    found = shares(TOPICS_VARY, claims_of_contrasts, 150)
    assert found["published interval"] < least(0.95, 150) < found["interval"]


@pytest.mark.parametrize("known", [Known(models=1), Known(models=11), Known(models=3, **ALONE)])
def test_a_true_null_is_seldom_rejected_on_these_topics(known):
    found = shares(known, claims_of_contrasts, 150)
    assert found["p here"] <= most(0.05, 150)
    assert found["p"] <= most(0.05, 150)


def test_signs_flipped_model_by_model_would_reject_it_often():
    rejected = []
    for seed in range(100):
        change = drawn(Known(models=11), seed).change.reshape(6, 11, 3, 3)
        apart = (change[..., 2] - change[..., 0]).ravel()
        blocks = np.arange(66).repeat(3)
        rejected.append(flipped_p(apart, blocks, np.arange(198), 199, seed) < 0.05)
    assert np.mean(rejected) > most(0.05, 100)


def test_raised_and_lowered_are_seldom_wrong():
    found = shares(TOPICS_VARY, claims_of_contrasts, 200)
    assert found["wrong verb"] <= most(0.05, 200)
    assert found["wrong here"] <= most(0.05, 200)
    assert shares(Known(topics=4, sd_topic=0.07), claims_of_contrasts, 50)["wrong verb"] == 0


def test_a_true_effect_has_its_verb():
    known = Known(topics=12, models=2, normative=0.15, sd_topic=0.05)
    assert shares(known, claims_of_contrasts, 20)["verb for an effect"] > 0.9


@pytest.mark.parametrize(
    "known",
    [
        TOPICS_VARY,
        Known(topics=2, models=2, **ALONE),
        Known(topics=1, replicates=4),
        Known(topics=5, models=5, sd_model=0.07),
    ],
)
def test_arrays_give_what_the_tables_give(known):
    one = drawn(known, 5)
    tables = contrasts(one.study, DRAWS), mixed_table(one.study)
    for table, arrays in zip(tables, (contrasts_of(one, DRAWS), mixed_of(one)), strict=True):
        for given, row in zip(rows_of_index(table), arrays, strict=True):
            left_out = "p_free" if known.shared else "p_draws"
            for name in row.keys() - {left_out}:
                if isinstance(row[name], str):
                    assert given[name] == row[name]
                else:
                    assert given[name] == pytest.approx(row[name], abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("known", [TOPICS_VARY, Known(models=6, sd_topic=0.07, sd_model=0.07)])
def test_the_mixed_model_holds_the_truth_over_topics_and_models(known):
    found = shares(known, of_mixed, 30)
    (unit,) = [name for name in found if name.count(":") == 1]
    assert unit == ("mixed: topic and model" if known.sd_model else "mixed: topic")
    assert found[unit] >= least(0.95, 30)
    if not known.sd_model:
        assert found[f"{unit}: p"] <= most(0.05, 30)


def test_by_topic_and_by_model_hold_the_truth():
    found = shares(Known(models=2, sd_topic=0.07), of_blocks, 6)
    assert min(found["by_topic"], found["by_model"], found["leave_one_out"]) >= least(0.95, 6)
    assert found["by_topic"] >= least(0.95, 36)


@pytest.mark.parametrize(
    ("claims", "name"),
    [(of_noise, "noise_floor"), (of_slopes, "ceiling: corrected"), (of_icc, "icc: adjusted")],
)
def test_other_tables_hold_the_truth(claims, name):
    assert shares(Known(models=2), claims, 40)[name] >= least(0.95, 40)


def test_every_table_makes_claims():
    one = drawn(Known(models=2), 1)
    for claims in OF_TABLES:
        assert list(claims(one, DRAWS)), claims.__name__
