"""The spread of changes in a pilot, and that of the published study."""

import math

import numpy as np
import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.study.power import PowerQuestion, answer, of_pilot, published
from delibsim.analysis.study.study_table import StudyTable
from delibsim.domain.errors import WrongInput
from delibsim.measures.inference.power import TESTS, SampleSize

BETWEEN = ("normative", "none")
QUESTION = PowerQuestion(0.03, 0.8, 0.05, "dri", BETWEEN)
T, M, R = 8, 3, 4


def pilot(topics=T, models=M, replicates=R):
    """A study in which the effect differs between topics and draws (topic, replicate) alike; the
    differences of its two treatments (topics, models, replicates).
    """
    study = synthetic_study({"none": 0.0, "normative": 0.1}, topics, models, replicates)
    rng = np.random.default_rng(3)
    of_topic, of_draw = rng.normal(0, 0.08, topics), rng.normal(0, 0.08, (topics, replicates))
    rows = study.rows
    treated = rows["treatment"] == "normative"
    places = rows["topic"].str[5:].astype(int), rows["replicate"] - 1
    rows["dri_change"] += treated * (of_topic[places[0]] + of_draw[places])
    values = rows["dri_change"].to_numpy().reshape(topics, models, replicates, 2)
    return study, values[..., 1] - values[..., 0]


def test_the_spread_is_that_of_the_sums_of_squares():
    """In a balanced design REML is the estimator of the analysis of variance, where none of its
    components is negative (Searle, Casella and McCulloch 1992, chapter 4).
    """
    study, d = pilot()
    found = of_pilot(study, "dri", BETWEEN)
    of_draws, of_topics, of_models = d.mean(axis=1), d.mean(axis=(1, 2)), d.mean(axis=(0, 2))
    whole = d.mean()
    topics = M * R * ((of_topics - whole) ** 2).sum() / (T - 1)
    draws = M * ((of_draws - of_topics[:, None]) ** 2).sum() / (T * (R - 1))
    rest = d - of_draws[:, None, :] - of_models[None, :, None] + whole
    error = (rest**2).sum() / (T * M * R - T * R - M + 1)
    draw, topic = (draws - error) / M, (topics - draws) / (M * R)
    assert min(draw, topic) > 0
    assert found.spread.topic == pytest.approx(math.sqrt(topic), rel=1e-4)
    assert found.spread.residual == pytest.approx(math.sqrt((draw + error) / 2), rel=1e-4)
    assert found.spread.correlation == pytest.approx(draw / (draw + error), rel=1e-4)
    for name, (low, high) in found.intervals.items():
        assert low < getattr(found.spread, name) < high
    assert (found.sample.topics, found.sample.models, found.sample.replicates) == (T, M, R)


def test_one_model_tells_no_correlation_and_one_topic_no_spread_of_topics():
    found = of_pilot(pilot(models=1)[0], "dri", BETWEEN)
    assert math.isnan(found.spread.correlation)
    assert found.spread.residual > 0
    found = of_pilot(pilot(topics=1)[0], "dri", BETWEEN)
    assert math.isnan(found.spread.topic)
    assert found.spread.correlation > 0


def test_a_pilot_of_one_replicate_or_without_a_treatment_is_refused():
    with pytest.raises(WrongInput, match="needs two replicates"):
        of_pilot(pilot(replicates=1)[0], "dri", BETWEEN)
    with pytest.raises(WrongInput, match="too small"):
        of_pilot(synthetic_study(topics=1, models=1, replicates=1), "dri", BETWEEN)
    with pytest.raises(WrongInput, match="treatment with a change of dri"):
        of_pilot(synthetic_study(), "dri", ("normativ", "none"))


def test_a_large_pilot_tells_the_spread_of_its_study():
    study = synthetic_study(topics=24, models=6, sd_residual=0.1, seed=4)
    rng = np.random.default_rng(5)
    moved = {name: rng.normal(0, 0.08) for name in study.rows["topic"].unique()}
    rows = study.rows.copy()
    of_topic = rows["topic"].map(moved) * (rows["treatment"] == "normative")
    rows["dri_change"] = rows["dri_change"] + of_topic
    found = of_pilot(StudyTable("s", rows, (), paired=False), "dri", BETWEEN)
    assert found.spread.topic == pytest.approx(0.08, rel=0.35)
    assert found.spread.residual == pytest.approx(0.1, rel=0.08)
    assert found.spread.correlation < 0.1
    assert found.sample == SampleSize(24, 6, 5)
    assert "1440 sessions of normative and none" in found.source
    assert any("share no seeds" in note for note in found.notes)


def test_the_published_spread_gives_back_what_was_published():
    spread = published().spread
    of_topics = spread.topic**2 + 2 * 0.1117**2 / 55
    assert 1.96 * math.sqrt(of_topics * 11 / 12 / 12) == pytest.approx(0.04)
    assert (spread.residual, spread.correlation) == (0.1117, 0.3)


def test_an_answer_has_each_test_and_the_design_asked_for_in_its_grid():
    found = answer(QUESTION, published(), SampleSize(10, 11, 4))
    assert [one.test for one in found.tests] == list(TESTS)
    powers = found.grid[10, 4]
    assert powers == tuple(one.power for one in found.tests)
    plain = found.plain()
    assert plain["between"] == BETWEEN
    rows = {(row["topics"], row["replicates"]): row for row in plain["grid"]}
    assert rows[10, 4]["power_topics"] == powers[0]
    assert rows[10, 4]["power_draws"] == powers[1]
