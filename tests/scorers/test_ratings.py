"""Ratings and speeches as scores, worked by hand on a debate of given words."""

import math
from dataclasses import replace

import pytest
from debates import debate, scripted

from delibsim import Completion, Score, Usage
from delibsim.domain.annotation import DIMENSIONS, Rating, annotated
from delibsim.domain.reason import Reason
from delibsim.engine.forum import hold
from delibsim.plugins import load
from delibsim.scorers.answers import Ratings
from delibsim.scorers.speeches import Speeches

GIVEN = {
    "before": 40,
    "after": 55,
    "proposition": dict.fromkeys(DIMENSIONS, 70),
    "opposition": dict.fromkeys(DIMENSIONS, 50),
}


@pytest.fixture
async def run(tmp_path):
    session = debate(tmp_path)
    words = {
        (side, f"turn {i}"): f"{'word ' * (100 + i)}."
        for i in range(1, 7)
        for side in ("Proposition", "Opposition")
    }
    words["Opposition", "turn 6"] = "See www.a.org, as an AI."
    return await hold(session, scripted(session, words))


def rated(run, *ratings):
    return annotated(run, ratings=ratings)


def test_every_rating_is_a_row_of_its_rater(run):
    one = Rating(
        run.session.id, "panel 1", "proposition", winner="proposition", attentive=True, **GIVEN
    )
    gaps = {**GIVEN, "after": None, "opposition": {**GIVEN["opposition"]}}
    del gaps["opposition"]["logic"]
    given = Reason("not_given")
    missing = {"after": given, "winner": Reason("unreadable", "a tie"), "opposition.logic": given}
    two = Rating(run.session.id, "panel 2", "opposition", missing=missing, **gaps)
    scores = Ratings().score([rated(run, one, two)])
    target = run.session.id
    assert (
        Score("rating.logic", "participant", f"{target}/Proposition", 70.0, coder="panel 1")
        in scores
    )
    assert (
        Score("rating.winner", "participant", f"{target}/Opposition", 0.0, coder="panel 1")
        in scores
    )
    assert Score("stance", "participant", f"{target}/panel 1", 15.0, "change", "panel 1") in scores
    undefined = {(s.measure, s.target, s.phase): s.note for s in scores if math.isnan(s.value)}
    assert undefined == {
        ("rating.logic", f"{target}/Opposition", ""): "not_given", ("rating.winner", f"{target}/Proposition", ""): "unreadable",
        ("rating.winner", f"{target}/Opposition", ""): "unreadable", ("stance", f"{target}/panel 2", "post"): "not_given",
        ("stance", f"{target}/panel 2", "change"): "not_given", ("rating.attentive", f"{target}/panel 2", ""): "not_answered",
    }  # fmt: skip
    assert scores[0] == Score("proposition_wins", "run", target, 1.0)
    assert len(scores) == 1 + 2 * (2 * 12 + 4)


def test_people_and_models_give_the_same_rows(run):
    of = [
        Rating(run.session.id, "r", "proposition", winner="opposition", source=source, **GIVEN)
        for source in ("model", "human")
    ]
    one, two = (Ratings().score([rated(run, rating)]) for rating in of)
    assert [replace(s, value=0.0) for s in one] == [replace(s, value=0.0) for s in two]


async def test_what_was_not_rated_says_why(run, tmp_path):
    assert [s.note for s in Ratings().score([run])] == ["not_rated"]
    session = debate(tmp_path)
    refused = Completion("", "refusal", "no", Usage(cost_usd=0.0), "x")
    broken = await hold(session, scripted(session, {("Proposition", "turn 5"): refused}))
    assert [s.note for s in Ratings().score([broken])] == ["debate_incomplete"]
    failed = Rating(
        run.session.id, "r", "proposition", winner="opposition", attentive=False, **GIVEN
    )
    assert Ratings().score([rated(run, failed)])[0].note == "no_winner_named"


def test_a_rating_of_another_debate_or_two_of_one_rater_are_refused(run):
    rating = Rating(run.session.id, "r", "proposition", winner="opposition", **GIVEN)
    for wrong in ((rating, rating), (replace(rating, session="other"),)):
        with pytest.raises(ValueError, match="one from each rater"):
            rated(run, *wrong)


def test_words_and_broken_rules_are_counted(run):
    scores = {(s.measure, s.target.partition("/")[2]): s.value for s in Speeches().score([run])}
    assert [scores["speech.words", str(i)] for i in range(1, 7)] == [102, 103, 104, 105, 106, 5]
    assert (scores["speech.words", "Proposition"], scores["speech.words", "Opposition"]) == (
        312,
        213,
    )
    assert scores["speech.words_difference", ""] == 99
    kinds = ("too_short", "too_long", "link", "citation", "disclosure")
    assert [scores[f"speech.broken.{kind}", ""] for kind in kinds] == [1, 0, 1, 0, 1]


@pytest.mark.parametrize("spoken", [0, 1, 5])
async def test_a_debate_that_broke_off_has_speeches_and_no_sums(tmp_path, as_table, spoken):
    session = debate(tmp_path, "procedure.rules.then=cut")
    refused = Completion("", "refusal", "no", Usage(cost_usd=0.0), "x")
    silent = {(side, f"turn {spoken + 1}"): refused for side in ("Proposition", "Opposition")}
    scores = Speeches().score([await hold(session, scripted(session, silent))])
    statements = [s for s in scores if s.unit == "statement"]
    assert [s.target.partition("/")[2] for s in statements] == [
        str(turn) for turn in range(1, spoken + 1)
    ]
    assert all(s.value > 0 for s in statements)
    kinds = [
        f"speech.broken.{kind}"
        for kind in ("too_short", "too_long", "link", "citation", "disclosure")
    ]
    measures = ["speech.words_difference", *kinds, "speech.cut"]
    names = [(measure, "") for measure in measures] + [
        ("speech.words", "", side) for side in ("Proposition", "Opposition")
    ]
    assert as_table(s for s in scores if s.unit != "statement") == dict.fromkeys(
        names, "debate_incomplete"
    )


def test_scorers_of_deliberations_leave_debates_out(run):
    for name in ("agreement", "diversity", "dri"):
        assert load("delibsim.scorers", name).score([run]) == []
