"""Who moved: counts by hand, tau by scipy, means that are those of the group's measures."""

from dataclasses import replace
from math import isnan
from statistics import fmean

import pytest
from scipy.stats import kendalltau

from delibsim import DRI, Agreement
from delibsim.analysis.individual_change import rows_of
from delibsim.domain.survey import Response
from delibsim.testing import a_run


def answers_of(run, participant, phase):
    return run.response(participant, phase).answers


def given(run, participant, phase, answers):
    """The run with other answers of one participant in one phase."""
    responses = []
    for response in run.responses:
        if (response.participant, response.phase) == (participant, phase):
            order = response.order
            response = Response(participant, phase, answers, {}, order)
        responses.append(response)
    return replace(run, responses=tuple(responses))


def test_who_moved_is_counted_by_hand():
    run = a_run(participants=3)
    before = answers_of(run, "Participant 1", "pre")
    items = list(before)
    after = dict(before) | {items[1]: before[items[1]] % 7 + 1}
    ranked = [item for item in items if item.startswith("P")]
    first, second = ranked[:2]
    after |= {first: before[second], second: before[first]}
    run = given(run, "Participant 1", "post", after)
    row = rows_of(run)[0]
    assert (row.participant, row.items, row.items_asked, row.items_changed) == (
        "Participant 1",
        len(items),
        len(items),
        3,
    )
    moved = {item: after[item] - before[item] for item in items}
    largest = max(moved, key=lambda item: abs(moved[item]))
    assert abs(row.largest_change) == abs(moved[largest])
    assert moved[row.largest_item] == row.largest_change
    rated = [abs(moved[item]) for item in items if item not in ranked]
    assert row.mean_change_c == pytest.approx(fmean(rated))
    assert row.mean_change_p == pytest.approx(fmean(abs(moved[item]) for item in ranked))
    tau = kendalltau([before[i] for i in ranked], [after[i] for i in ranked]).statistic
    assert row.tau == pytest.approx(tau)
    assert row.note == ""


@pytest.mark.parametrize("seed", range(5))
def test_the_means_over_participants_are_the_measures_of_the_group(seed):
    run = a_run(seed=seed)
    rows = rows_of(run)
    scores = {(s.measure, s.phase): s.value for s in Agreement().score([run]) if s.unit == "run"}
    for name, measure in (
        ("mean_change_c", "opinion_change_c"),
        ("mean_change_p", "opinion_change_p"),
        ("tau", "rank_stability"),
    ):
        mean = fmean(getattr(row, name) for row in rows)
        assert mean == pytest.approx(scores[measure, "change"], abs=1e-12)
    individual = {
        (score.target.split("/")[1], score.phase): score.value
        for score in DRI().score([run])
        if score.measure == "dri_individual"
    }
    for row in rows:
        assert row.dri_before == individual[row.participant, "pre"]
        assert row.dri_after == individual[row.participant, "post"]


def test_missing_answers_are_no_data_and_their_reason_is_named():
    rows = rows_of(a_run(participants=3, missing=["Participant 1"]))
    moved, other = rows[0], rows[1]
    assert (moved.items, moved.items_asked, moved.items_changed) == (0, 10, 0)
    for name in ("mean_change_c", "mean_change_p", "tau", "largest_change", "dri_after"):
        assert isnan(getattr(moved, name))
        assert moved.plain()[name] is None
    assert moved.note == "missing_answer; missing_answer_in_group"
    assert other.note == "missing_answer_in_group"
    assert not isnan(other.tau)
    assert isnan(other.dri_after)
