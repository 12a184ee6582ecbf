"""Every installed scorer that need not be asked for keeps its contract, whatever the runs hold."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from strategies import quick, runs

from delibsim.conduct import usual_scorers
from delibsim.domain.measure import MEASURES
from delibsim.domain.score import Score, Scorer
from delibsim.plugins import load
from delibsim.testing import a_run, check_scorer

GROUP = "delibsim.scorers"
INSTALLED = usual_scorers()


def test_our_scorers_are_installed():
    assert {"agreement", "diversity", "dri"} <= set(INSTALLED)
    assert "aqua" not in INSTALLED


@pytest.mark.parametrize("name", INSTALLED)
def test_a_scorer_keeps_the_contract_and_goes_by_the_name_of_its_entry_point(name):
    scorer = load(GROUP, name)
    assert isinstance(scorer, Scorer)
    assert scorer.name == name
    check_scorer(scorer)


@pytest.mark.parametrize("name", INSTALLED)
@quick
@given(run=runs())
def test_any_run_is_scored_and_a_value_is_nan_just_where_a_note_says_why(name, run):
    scores = load(GROUP, name).score([run])
    assert [score for score in scores if math.isnan(score.value) != bool(score.note)] == []
    assert len({(score.measure, score.unit, score.target, score.phase) for score in scores}) == len(scores)
    assert all(score.target.split("/")[0] == run.session.id for score in scores)


@pytest.mark.parametrize("name", INSTALLED)
def test_phases_are_before_after_and_change(name):
    phases = {score.phase for score in load(GROUP, name).score([a_run()])}
    assert phases <= {"pre", "post", "change", ""}


DECLARED = MEASURES["dri"]
NARROW = replace(DECLARED, id="one", range=(0.9, 1.0))


class One:
    """Gives every run a value; what it declares is said by a test."""

    name, version = "one", 1

    def score(self, runs):
        return [Score("one", "run", run.session.id, 0.5, "pre") for run in runs]


@pytest.mark.parametrize(
    ("measures", "fault"),
    [
        ([NARROW], "measures is a tuple"),
        (("one",), "measures is a tuple of Measure objects"),
        ((replace(NARROW, id="dri"),), "dri: the id of another, built-in measure"),
        ((NARROW, NARROW), "declares an id twice"),
        ((DECLARED,), "one: not among the declared measures"),
        ((replace(NARROW, phases=("post",)),), "one: phase 'pre' is not declared"),
        ((NARROW,), "one: 0.5 lies outside the declared range"),
    ],
)
def test_a_scorer_that_declares_what_it_does_not_give_is_caught(measures, fault):
    with pytest.raises(AssertionError, match=fault):
        check_scorer(type("Declaring", (One,), {"measures": measures})())
    check_scorer(One())
    check_scorer(type("Right", (One,), {"measures": (replace(DECLARED, id="one"),)})())


def test_a_scorer_that_breaks_its_contract_is_caught():
    class Silent:
        name, version = "silent", 1

        def score(self, runs):
            scores = load(GROUP, "dri").score(runs)
            return [type(score)(score.measure, score.unit, score.target, score.value, score.phase) for score in scores]

    with pytest.raises(AssertionError, match="NaN without a note that gives the reason"):
        check_scorer(Silent())
