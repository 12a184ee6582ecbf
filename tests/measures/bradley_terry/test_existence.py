"""What has no estimate is NaN with a note, and what has one keeps it."""

import numpy as np
import pytest
from pair_votes import simulated

from delibsim.measures.bradley_terry.counts import counted, tabled
from delibsim.measures.bradley_terry.fit import Model, fit
from delibsim.measures.bradley_terry.judges import crowd_bt
from delibsim.measures.bradley_terry.likelihood import Dummy, Normal
from delibsim.measures.bradley_terry.uncertainty import uncertainty
from delibsim.measures.designs import all_pairs, both_orders

PLAIN = Model("bt", penalty=None)


def beats(*pairs, n=None):
    first, second = np.array(pairs).T
    return counted(n or first.max() + 1 + second.max(), first, second, np.ones(len(first)))


def test_a_text_that_won_or_lost_all_has_no_score():
    found = fit(beats((0, 1), (1, 2), (2, 1), (1, 3), (2, 3), n=4), PLAIN)
    assert np.isnan(found.scores).all()
    assert found.notes == ("won_all", "one_way", "one_way", "lost_all")


def test_all_votes_between_two_groups_go_one_way():
    votes = beats((0, 1), (1, 0), (2, 3), (3, 2), (0, 2), (1, 3), n=4)
    assert fit(votes, PLAIN).notes == ("one_way",) * 4
    assert np.isnan(fit(votes, PLAIN).scores).all()
    assert np.isfinite(fit(votes, Model("bt")).scores).all()
    assert fit(votes, Model("bt")).notes == ("one_way",) * 4


def test_groups_that_never_met_have_scores_of_their_own_and_no_difference():
    votes = beats((0, 1), (1, 0), (0, 1), (2, 3), (3, 2), n=5)
    for model in (PLAIN, Model("bt")):
        found = fit(votes, model)
        assert found.scores[:2].sum() == pytest.approx(0, abs=1e-12)
        assert found.scores[2:4] == pytest.approx([0, 0], abs=1e-12)
        assert np.isnan(found.scores[4])
        assert found.notes[4] == "not_connected"
        assert "not_connected" in found.flags
        errors = uncertainty(found).difference_errors([(0, 1), (0, 2), (0, 4)])
        assert np.isfinite(errors).tolist() == [True, False, False]
        assert np.isnan(uncertainty(found).scores).tolist() == [False] * 4 + [True]


def test_no_ties_at_all_make_the_models_plain():
    votes = tabled(3, [0, 1, 2], [1, 2, 0], [3, 3, 3], [0, 0, 0], [2, 1, 1])
    plain = fit(votes, PLAIN).scores
    for kind in ("rao_kupper", "davidson"):
        found = fit(votes, Model(kind, penalty=None))
        assert found.scores == pytest.approx(plain, abs=1e-9)
        assert found.theta.tolist() == [0]
        assert found.flags == ("no_ties",)


def test_only_ties_say_nothing_of_scores_where_the_threshold_is_estimated():
    votes = tabled(3, [0, 1], [1, 2], [0, 0], [5, 5], [0, 0])
    found = fit(votes, Model(penalty=None))
    assert np.isnan(found.scores).all()
    assert np.isnan(found.theta).all()
    assert "all_ties" in found.flags
    assert fit(votes, Model(penalty=None, theta=0.3)).scores == pytest.approx([0, 0, 0], abs=1e-9)
    assert fit(votes, Model("bt", penalty=None, ties="half")).scores == pytest.approx([0, 0, 0])
    assert np.isnan(fit(votes, PLAIN).scores).all()


def test_a_judge_who_always_names_the_first_says_nothing_of_texts():
    sheets = both_orders(all_pairs(4))
    votes = counted(4, *sheets.T, np.ones(len(sheets)))
    found = fit(votes, Model(order=True))
    assert np.isnan(found.delta).all()
    assert found.judge_notes == ("no_ties always_a",)
    assert fit(votes, Model()).scores == pytest.approx([0] * 4, abs=1e-9)
    rest, _ = simulated(4, np.tile(sheets, (20, 1)), seed=1)
    both = tabled(
        4,
        np.append(rest.first, sheets[:, 0]),
        np.append(rest.second, sheets[:, 1]),
        np.append(rest.a, np.ones(12)),
        np.append(rest.tie, np.zeros(12)),
        np.append(rest.b, np.zeros(12)),
        judge=np.append(rest.judge, np.ones(12)),
    )
    alone = fit(rest, Model(order=True))
    for kind in ("own_bias", "discriminating"):
        found = fit(both, Model(order=True, judges=kind))
        assert found.scores == pytest.approx(alone.scores, abs=1e-8)
        assert np.isnan(found.delta).tolist() == [False, True]


def test_place_cannot_be_told_from_merit_in_a_line_and_hardly_in_a_sorted_file():
    line = tabled(3, [0, 1], [1, 2], [3, 3], [1, 1], [2, 2])
    found = fit(line, Model(order=True, penalty=None))
    assert np.isnan(found.delta).all()
    assert found.flags == ("one_order",)
    assert found.scores == pytest.approx(fit(line, Model(penalty=None)).scores)
    sorted_file = tabled(3, [0, 1, 0], [1, 2, 2], [3, 3, 3], [1, 1, 1], [2, 2, 2])
    found = fit(sorted_file, Model(order=True, penalty=None))
    assert np.isfinite(found.delta).all()
    assert found.flags == ("one_order",)
    both = tabled(3, [0, 1, 2], [1, 2, 0], [3, 3, 3], [1, 1, 1], [2, 2, 2])
    assert fit(both, Model(order=True, penalty=None)).flags == ()


def panel(alphas, votes=400, n=8, seed=3):
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, n)
    parts = []
    for judge, alpha in enumerate(alphas):
        first = rng.integers(0, n, votes)
        second = (first + rng.integers(1, n, votes)) % n
        won = rng.random(votes) < 1 / (1 + np.exp(-alpha * (truth[first] - truth[second])))
        parts.append(np.stack([first, second, np.where(won, 1, -1), np.full(votes, judge)]))
    return counted(n, *np.concatenate(parts, axis=1)), truth


def test_a_reversed_judge_is_found_where_signs_are_free_and_left_out_where_not():
    votes, truth = panel([1.5, 1.5, -1.5])
    signed = fit(votes, Model("bt", judges="discriminating", signed=True))
    assert np.sign(signed.alpha).tolist() == [1, 1, -1]
    assert np.prod(np.abs(signed.alpha)) == pytest.approx(1)
    assert np.corrcoef(signed.scores, truth)[0, 1] > 0.95
    positive = fit(votes, Model("bt", judges="discriminating"))
    assert positive.alpha[2] == 0
    assert positive.judge_notes == ("", "", "alpha_zero")
    assert positive.alpha[0] * positive.alpha[1] == pytest.approx(1)
    assert np.corrcoef(positive.scores, truth)[0, 1] > 0.95


def test_alphas_are_recovered():
    votes, truth = panel([0.5, 1.0, 2.0], votes=4000)
    found = fit(votes, Model("bt", judges="discriminating", penalty=None))
    interval = uncertainty(found, clustered=False).alpha()
    assert (interval.low < [0.5, 1, 2]).all()
    assert (interval.high > [0.5, 1, 2]).all()
    assert found.scores == pytest.approx(truth - truth.mean(), abs=0.25)


def test_a_judge_of_crowd_bt_who_tosses_coins_or_is_reversed():
    votes, truth = panel([2, 2, 0, -2], votes=1500)
    found = crowd_bt(votes)
    assert found.eta[:2].min() > 0.8
    assert found.eta[2] == pytest.approx(0.5, abs=0.1)
    assert found.eta[3] < 0.2
    assert np.corrcoef(found.scores, truth)[0, 1] > 0.95
    with pytest.raises(ValueError, match="above 1"):
        crowd_bt(votes, beta=(1, 2))


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda: counted(2, [0], [0], [1]), "itself"),
        (lambda: counted(2, [0], [2], [1]), "from 0 to 1"),
        (lambda: counted(2, [0], [1], [2]), "1 .first., 0 .tie. or -1"),
        (lambda: counted(2, [0], [1], [np.nan]), "an outcome is"),
        (lambda: counted(2, [0, 1], [1], [1]), "unequal lengths"),
        (lambda: counted(2, [0], [1], [1], judge=[-1]), "judges"),
        (lambda: tabled(2, [0], [1], [-1], [0], [0]), "0 or more"),
        (lambda: tabled(2, [0], [1], [np.nan], [0], [0]), "0 or more"),
        (lambda: Dummy(0), "above 0"),
        (lambda: Normal(-1), "above 0"),
        (lambda: Model(theta=0), "above 0"),
    ],
)
def test_what_is_no_vote_and_no_model_is_refused(make, fault):
    with pytest.raises(ValueError, match=fault):
        make()


def test_no_votes_at_all():
    nothing = counted(3, [], [], [])
    for model in (PLAIN, Model(), Model(order=True), Model(judges="discriminating")):
        found = fit(nothing, model)
        assert np.isnan(found.scores).all()
        assert found.notes == ("not_connected",) * 3
        assert np.isnan(uncertainty(found).scores).all()
