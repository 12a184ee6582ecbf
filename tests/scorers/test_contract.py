"""Every installed scorer that need not be asked for keeps its contract, whatever the runs hold."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from strategies import quick, runs

from delibsim.conduct.scorers import scorers_when_analysed, usual_scorers
from delibsim.domain.annotation import debated
from delibsim.domain.score import MEASURES, Score, Scorer
from delibsim.plugins import load
from delibsim.testing import a_debate, a_run, check_scorer

GROUP = "delibsim.scorers"
INSTALLED = [*usual_scorers(), *scorers_when_analysed(["talk.words", "drift"])]


def test_our_scorers_are_installed():
    assert {"agreement", "diversity", "dri"} <= set(INSTALLED)
    assert "aqua" not in INSTALLED
    assert INSTALLED[-2:] == ["movement", "talk"]


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
    assert len({(score.measure, score.unit, score.target, score.phase) for score in scores}) == len(
        scores
    )
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
            return [
                type(score)(score.measure, score.unit, score.target, score.value, score.phase)
                for score in scores
            ]

    with pytest.raises(AssertionError, match="NaN without a note that gives the reason"):
        check_scorer(Silent())


class Words:
    """Words of each speech, of deliberations and debates alike; `of` are the formats it scores."""

    name, version = "words", 1

    def __init__(self, *of):
        self.of = of

    def score(self, runs):
        scores = []
        for run in runs:
            if run.session.format in self.of:
                total = sum(len(said.text.split()) for said in run.transcript)
                scores.append(Score("words", "run", run.session.id, float(total)))
        return scores


@pytest.mark.parametrize("of", [("deliberation",), ("debate",), ("deliberation", "debate")])
def test_a_scorer_may_leave_out_the_runs_it_does_not_measure(of):
    check_scorer(Words(*of))


def test_a_scorer_that_never_gives_a_score_is_caught():
    with pytest.raises(AssertionError, match="no score of any run"):
        check_scorer(Words())


def test_a_scorer_that_takes_every_run_for_a_deliberation_is_caught():
    class Careless(Words):
        def score(self, runs):
            for run in runs:
                for participant in run.session.participants:
                    run.response(participant.id, "pre")
            return super().score(runs)

    with pytest.raises(KeyError, match="no pre survey of Proposition"):
        check_scorer(Careless("deliberation"))


def test_a_scorer_that_changes_an_answer_in_place_is_caught():
    class Meddling(Words):
        def score(self, runs):
            for run in runs:
                run.responses[0].answers.clear()
            return super().score(runs)

    with pytest.raises(AssertionError, match="leave the runs as they are"):
        check_scorer(Meddling("deliberation"))


def test_the_example_debate_is_one_that_our_scorers_of_debates_measure():
    whole, broken = a_debate("whole"), a_debate("broken", speeches=3)
    assert (debated(whole), debated(broken)) == (True, False)
    assert a_debate("whole") == whole
    scores = load(GROUP, "ratings").score([whole])
    assert len(scores) > 20
    assert not [score for score in scores if math.isnan(score.value)]
    notes = {score.note for score in load(GROUP, "speeches").score([broken]) if score.unit == "run"}
    assert notes == {"debate_incomplete"}
    with pytest.raises(ValueError, match="0 to 6 speeches, not 7"):
        a_debate(speeches=7)
