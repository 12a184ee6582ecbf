"""Tables from answers: pairs of participants, and who moved."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr
from small_study import held_study

from delibsim import Reason
from delibsim.analysis.individual_change import individual_change
from delibsim.analysis.study.people import pair_correlations, people_pair_correlations
from delibsim.measures.dri import pair_index
from delibsim.scorers.arrays import considerations, preferences
from delibsim.scorers.dri import DRI
from delibsim.testing import a_run


def test_each_pair_has_the_correlations_of_scipy_and_their_mean_index_is_the_scorers():
    run = a_run()
    rows = pair_correlations([run]).rows
    for phase in ("pre", "post"):
        own = rows[rows["phase"] == phase]
        rated, ranked = considerations(run, phase), preferences(run, phase)
        n = len(rated)
        assert len(own) == n * (n - 1) / 2
        first = spearmanr(rated[0], rated[1]).statistic
        second = spearmanr(ranked[0], ranked[1]).statistic
        assert own["considerations"].iloc[0] == pytest.approx(first)
        assert own["preferences"].iloc[0] == pytest.approx(second)
        index = pair_index(own["considerations"].to_numpy(), own["preferences"].to_numpy()).mean()
        scores = {(s.measure, s.phase): s.value for s in DRI().score([run])}
        assert index == pytest.approx(scores["dri", phase])


def test_nothing_that_has_no_answers_gives_pairs():
    nothing = pair_correlations([])
    assert not nothing.given
    assert nothing.rows.empty
    assert nothing.detail
    assert not people_pair_correlations({}, ["ccps"]).given


def test_a_group_without_an_index_has_a_row_with_its_reason():
    run = a_run()
    silent = run.session.participants[0].id
    kept = []
    for response in run.responses:
        answers = {} if response.participant == silent else response.answers
        kept.append(replace(response, answers=answers))
    rows = pair_correlations([replace(run, responses=tuple(kept))]).rows
    assert rows["note"].tolist() == ["missing_answer"] * 2
    assert np.isnan(rows["considerations"]).all()


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    study = held_study(tmp_path_factory.mktemp("home"))
    return list(study.all()[0])


def test_who_moved_on_what_and_how_far(runs):
    run = runs[0]
    before = run.response("Participant 2", "pre")
    answers = dict(before.answers) | {"C3": before.answers["C3"] % 7 + 1}
    after = replace(run.response("Participant 2", "post"), answers=answers)
    responses = tuple(
        after if (one.participant, one.phase) == ("Participant 2", "post") else one
        for one in run.responses
    )
    rows = individual_change([replace(run, responses=responses)]).rows
    row = rows[rows["participant"] == "Participant 2"].iloc[0]
    moved = answers["C3"] - before.answers["C3"]
    assert (row["items_changed"], row["largest_item"], row["largest_change"]) == (1, "C3", moved)
    ratings = len(run.session.survey.considerations)
    assert row["mean_change_c"] == pytest.approx(abs(moved) / ratings)
    assert (row["mean_change_p"], row["tau"]) == (0, 1)


def test_who_answered_nothing_has_a_reason_and_so_have_the_others(runs):
    run = runs[0]
    reasons = {item.id: Reason("refusal") for item in run.session.survey.items}
    responses = tuple(
        replace(one, answers={}, missing=reasons)
        if (one.participant, one.phase) == ("Participant 1", "post")
        else one
        for one in run.responses
    )
    rows = individual_change([replace(run, responses=responses, status="partial")]).rows
    assert rows["note"].tolist() == [
        "missing_answer; missing_answer_in_group",
        *["missing_answer_in_group"] * 2,
    ]
    assert math.isnan(rows["mean_change_c"][0])
    assert (rows["items"][0], rows["items_changed"][0], rows["largest_item"][0]) == (0, 0, "")
    assert math.isnan(rows["largest_change"][0])
    assert np.isfinite(rows["mean_change_c"][1:]).all()


def test_debates_and_nothing_at_all_give_a_reason(tmp_path):
    assert individual_change([]).why_not == "no_runs"
    debates = held_study(
        tmp_path, "format=debate", "motion=voting", "proposition=citizen_plain",
        "opposition=citizen",
    )  # fmt: skip
    found = individual_change(debates.all()[0])
    assert (found.why_not, len(found.rows)) == ("no_survey", 0)
    assert found.detail.endswith("Debates left out, which have no survey of participants: 1.")
