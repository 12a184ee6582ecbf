"""The spread of changes in a pilot, and that of the published study."""

import math

import numpy as np
import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.study.analyses.pilot import of_pilot, published
from delibsim.analysis.study.analyses.power import Question, answer
from delibsim.analysis.study.study_table import StudyTable
from delibsim.domain.errors import WrongInput
from delibsim.measures.inference.power import TESTS, Sample

BETWEEN = ("normative", "none")
QUESTION = Question(0.03, 0.8, 0.05, "dri", BETWEEN)


def test_a_large_pilot_tells_the_spread_of_its_study():
    study = synthetic_study(
        topics=16, models=8, sd_slope=0.05, sd_pair=0.06, sd_residual=0.1, seed=3
    )
    found = of_pilot(study, "dri", BETWEEN)
    assert found.spread.residual == pytest.approx(0.1, rel=0.05)
    assert found.spread.pair == pytest.approx(0.06, rel=0.25)
    assert found.spread.topic < 0.03
    low, high = found.intervals["model"]
    assert low < found.spread.model < high
    assert found.spread.model == pytest.approx(0.05, rel=0.6)
    assert found.sample == Sample(16, 8, 5)
    assert "1280 sessions of normative and none" in found.source


def test_effects_that_differ_between_topics_are_found():
    study = synthetic_study(topics=24, models=3, replicates=3, seed=4)
    rng = np.random.default_rng(5)
    moved = {name: rng.normal(0, 0.08) for name in study.rows["topic"].unique()}
    rows = study.rows.copy()
    of_topic = rows["topic"].map(moved) * (rows["treatment"] == "normative")
    rows["dri_change"] = rows["dri_change"] + of_topic
    found = of_pilot(StudyTable("s", rows, ()), "dri", BETWEEN)
    assert found.spread.topic == pytest.approx(0.08, rel=0.35)


def test_what_a_pilot_does_not_tell_is_not_a_number_and_named():
    found = of_pilot(synthetic_study(models=1), "dri", BETWEEN)
    assert math.isnan(found.spread.model)
    assert any("SD of the effect by model" in note for note in found.notes)


def test_without_shared_seeds_a_pilot_has_no_pairs():
    study = synthetic_study()
    found = of_pilot(StudyTable("s", study.rows, (), paired=False), "dri", BETWEEN)
    assert found.spread.pair == 0
    assert any("share no seeds" in note for note in found.notes)


def test_a_pilot_without_a_treatment_or_with_one_session_each_is_refused():
    with pytest.raises(WrongInput, match="treatment with a change of dri"):
        of_pilot(synthetic_study(), "dri", ("normativ", "none"))
    with pytest.raises(WrongInput, match="too small"):
        of_pilot(synthetic_study(topics=1, models=1, replicates=1), "dri", BETWEEN)


def test_the_published_spread_gives_back_what_was_published():
    spread = published().spread
    noise = 2 * 0.1117**2
    of_topics = spread.topic**2 + noise / 55
    assert 1.96 * math.sqrt(of_topics * 11 / 12 / 12) == pytest.approx(0.04)
    assert math.sqrt(spread.model**2 / 11 + noise / 660) == pytest.approx(0.013)


def test_an_answer_has_each_test_and_the_design_asked_for_in_its_grid():
    found = answer(QUESTION, published(), Sample(10, 11, 4))
    assert [one.test for one in found.tests] == list(TESTS)
    powers = found.grid[10, 4]
    assert powers == tuple(one.power for one in found.tests)
    plain = found.plain()
    assert plain["between"] == BETWEEN
    rows = {(row["topics"], row["replicates"]): row for row in plain["grid"]}
    assert rows[10, 4]["power_topics"] == powers[2]


def test_what_is_not_known_of_pairs_leaves_the_other_tests():
    study = synthetic_study(replicates=1)
    assumed = of_pilot(study, "dri", BETWEEN)
    found = {one.test: one for one in answer(QUESTION, assumed, Sample(12, 4, 5)).tests}
    assert math.isnan(assumed.spread.pair)
    assert math.isnan(found["free"].power)
    assert found["free"].topics is None
    assert found["paired"].power > 0
