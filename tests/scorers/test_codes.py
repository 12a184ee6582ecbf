"""Codes as scores: levels by statement, means by participant and run, one coder beside another."""

import math
from dataclasses import replace

import pytest

from delibsim.domain.annotation import annotated
from delibsim.domain.coding import Code, measures_of_scheme
from delibsim.domain.reason import Reason
from delibsim.domain.scheme import Dimension, Level, Scheme
from delibsim.domain.score import Score
from delibsim.domain.transcript import Statement, Turn
from delibsim.scorers.answers import Codes
from delibsim.testing import a_coded_run, a_run

REASONS = Dimension(
    "reasons", "Reasons", "ordinal", tuple(Level(i, f"level {i}", f"Anchor {i}.") for i in range(3))
)
TONE = Dimension("tone", "Tone", "nominal", (Level("calm", "", "C."), Level("loud", "", "L.")))
SCHEME = Scheme("s", "S", "own", "1", (REASONS, TONE))


@pytest.fixture
def scored():
    """The scores of a run in which the first participant speaks twice."""
    run = a_run("one", participants=2)
    again = Statement(Turn(3, 2, "Participant 1"), "Once more.")
    run = replace(run, transcript=(*run.transcript, again))
    codes = [
        Code("one/1", "reasons", "ensemble", "ensemble", 0),
        Code("one/2", "reasons", "ensemble", "ensemble", None, Reason("too_few_models")),
        Code("one/3", "reasons", "ensemble", "ensemble", 1),
        Code("one/1", "reasons", "Ann", "human", 2),
        Code("one/1", "tone", "m", "model", "calm"),
        Code("one/3", "tone", "m", "model", "loud"),
        Code("one/2", "tone", "m", "model", "loud"),
    ]
    return Codes().score([annotated(run, codes=((SCHEME, tuple(codes)),))])


def test_levels_means_and_reasons(scored):
    own = [score for score in scored if score.coder == "ensemble"]
    known = [score for score in own if not math.isnan(score.value)]
    assert known == [
        Score("s.reasons", "statement", "one/1", 0.0, coder="ensemble"),
        Score("s.reasons", "statement", "one/3", 1.0, coder="ensemble"),
        Score("s.reasons", "participant", "one/Participant 1", 0.5, coder="ensemble"),
        Score("s.reasons", "run", "one", 0.5, coder="ensemble"),
    ]
    missing = {score.target: score.note for score in own if math.isnan(score.value)}
    assert missing == dict.fromkeys(["one/2", "one/Participant 2"], "too_few_models")


def test_each_coder_has_its_own_scores(scored):
    (run,) = [one for one in scored if one.coder == "Ann" and one.unit == "run"]
    assert (run.measure, run.value) == ("s.reasons", 2.0)


def test_names_are_shares_of_texts(scored):
    runs = {score.measure: score.value for score in scored if score.unit == "run"}
    assert runs["s.tone.loud"] == pytest.approx(2 / 3)
    assert runs["s.tone.calm"] == pytest.approx(1 / 3)


def test_speakers_are_scored_where_all_that_they_said_was_coded():
    run = a_run("two")
    codes = tuple(
        Code(f"two/Participant {i}", "reasons", "ensemble", "ensemble", level)
        for i, level in ((1, 0), (2, 2))
    )
    found = Codes().score([annotated(run, codes=((SCHEME, codes),))])
    assert [score.unit for score in found] == ["participant", "participant", "run"]
    assert found[-1].value == 1.0


def test_measures_are_those_of_the_scheme_and_hold_its_scores():
    run = a_coded_run()
    known = {measure.id: measure for measure in measures_of_scheme(run.codes[0][0])}
    scores = Codes().score([run, a_run("not coded")])
    assert {score.measure for score in scores} == known.keys()
    for score in scores:
        assert math.isnan(score.value) or known[score.measure].holds(score.value)
    assert {score.target.partition("/")[0] for score in scores} == {run.session.id}
