"""Errors, ranks and bootstrap: large and small solutions agree, and intervals hold the truth. Split
halves, curve, separation and jackknife.
"""

import numpy as np
import pytest
from pair_votes import simulated, votes_of
from scipy.stats import norm
from statsmodels.stats.multitest import multipletests

from delibsim.measures.bradley_terry import problem
from delibsim.measures.bradley_terry.counts import counted
from delibsim.measures.bradley_terry.fit import Model, fit
from delibsim.measures.bradley_terry.stability import (
    bootstrap,
    by_judge,
    curve,
    jackknifed,
    separation,
    split_half,
)
from delibsim.measures.bradley_terry.strengths import apart, ranks, unit_scale, win_scale, z_scale
from delibsim.measures.bradley_terry.uncertainty import uncertainty
from delibsim.measures.designs import all_pairs, both_orders, random_pairs, ring, shown

MODEL = Model(order=True)


@pytest.fixture(scope="module")
def votes():
    pairs = shown(random_pairs(60, 600, seed=1), 60, seed=2)
    return simulated(60, pairs, seed=3, spread=0.6)[0]


@pytest.mark.parametrize("penalty", [MODEL.penalty, None])
def test_conjugate_gradients_and_sparse_factors_give_what_a_full_matrix_gives(
    votes, penalty, monkeypatch
):
    model = Model(order=True, penalty=penalty)
    expected = fit(votes, model)
    errors = [uncertainty(expected, clustered) for clustered in (False, True)]
    pairs = [(0, 1), (5, 30)]
    wanted = [
        (e.scores, e.judges, e.difference_errors(pairs), [c for _, c in e.rows()]) for e in errors
    ]
    monkeypatch.setattr(problem, "DIRECT", 0)
    monkeypatch.setattr(problem, "DENSE", 0)
    for iterations in (300, 2):  # with two only, a sparse factor must take over
        monkeypatch.setattr(problem, "ITERATIONS", iterations)
        found = fit(votes, model)
        assert found.scores == pytest.approx(expected.scores, abs=1e-10)
        for clustered, (scores, judges, differences, rows) in zip(
            (False, True), wanted, strict=True
        ):
            error = uncertainty(found, clustered)
            assert error.scores == pytest.approx(scores, rel=1e-7)
            assert error.judges == pytest.approx(judges, abs=1e-9)
            assert error.difference_errors(pairs) == pytest.approx(differences, rel=1e-7)
            assert (
                np.abs(np.concatenate([c for _, c in error.rows()]) - np.concatenate(rows)).max()
                < 1e-9
            )


def test_a_long_ring_is_fitted_without_a_full_matrix():
    n = 3000
    votes, truth = simulated(n, ring(n, 4, seed=1), seed=2)
    found = fit(votes)
    gradient, _ = found.problem.slope(found.problem.at(found.point))
    assert np.abs(gradient).max() < 1e-7
    assert np.corrcoef(found.scores, truth)[0, 1] > 0.4


def test_errors_clustered_by_few_pairs_say_that_they_are_too_small(votes):
    few = fit(votes_of(1), MODEL)  # six pairs, six parameters
    assert uncertainty(few).note == "few_pairs"
    assert uncertainty(few, clustered=False).note == ""
    assert (uncertainty(few).scores < uncertainty(few, clustered=False).scores).all()
    assert uncertainty(fit(votes, MODEL), clustered=True).note == ""


def test_clustered_errors_are_the_sandwich_by_hand():
    # Three texts, plain: scores by pair times the inverse information (the textbook formula).
    votes = counted(3, [0, 0, 1, 1, 2, 2, 0], [1, 1, 2, 2, 0, 0, 2], [1, -1, 1, 1, 1, -1, -1])
    found = fit(votes, Model("bt", penalty=None))
    s = found.scores
    p = 1 / (1 + np.exp(-(s[votes.first] - s[votes.second])))
    design = np.eye(3)[votes.first] - np.eye(3)[votes.second]
    information = (design * (votes.votes * p * (1 - p))[:, None]).T @ design
    inverse = np.linalg.pinv(information)
    rows = design * (votes.a - votes.votes * p)[:, None]
    sums = np.stack([rows[votes.pair == pair].sum(axis=0) for pair in range(3)])
    sandwich = inverse @ sums.T @ sums @ inverse * 3 / 2
    assert uncertainty(found, clustered=True).scores == pytest.approx(
        np.sqrt(np.diag(sandwich)), rel=1e-8
    )


def test_intervals_of_scores_hold_the_truth():
    inside, total = 0, 0
    for repeat in range(12):
        pairs = shown(random_pairs(50, 500, seed=repeat), 50, seed=repeat)
        votes, truth = simulated(50, pairs, seed=100 + repeat)
        found = uncertainty(fit(votes, MODEL)).score_intervals()
        inside += ((found.low < truth) & (truth < found.high)).sum()
        total += 50
    assert 0.92 < inside / total < 0.98


def test_ranks_and_their_intervals(votes):
    found = uncertainty(fit(votes, MODEL))
    scores, n = found.fit.scores, 60
    given = ranks(found)
    assert sorted(given.rank) == list(range(1, n + 1))
    assert (given.low <= given.rank).all()
    assert (given.rank <= given.high).all()
    best = int(scores.argmax())
    assert given.rank[best] == given.low[best] == 1
    # Holm by hand for one text.
    pairs = [(best, other) for other in range(n) if other != best]
    z = np.array([scores[best] - scores[other] for _, other in pairs]) / found.difference_errors(
        pairs
    )
    surely_worse = multipletests(2 * norm.sf(z), method="holm")[0].sum()
    assert given.high[best] == n - surely_worse
    assert ranks(found, level=0.5).high[best] <= given.high[best]


def test_the_share_of_neighbours_told_apart():
    votes = counted(3, [0] * 90 + [1] * 8, [1] * 90 + [2] * 8, [1] * 60 + [-1] * 30 + [1, -1] * 4)
    found = uncertainty(fit(votes, Model("bt", penalty=None)), clustered=False)
    assert apart(found) == 0.5  # the first two differ by 3.1 errors, the others by none
    assert np.isnan(apart(uncertainty(fit(counted(2, [], [], [])))))


def test_scales():
    found = fit(votes_of(1), MODEL)
    won = win_scale(found)
    assert won.mean() == pytest.approx(0.5)
    assert (np.argsort(won) == np.argsort(found.scores)).all()
    plain = fit(counted(2, [0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, -1]), Model("bt", penalty=None))
    assert win_scale(plain) == pytest.approx([0.75, 0.25])
    assert z_scale(found.raw).std() == pytest.approx(1)
    assert np.isnan(z_scale([1.0, 1.0])).all()
    assert np.isnan(unit_scale([1.0, 1.0])).all()


def test_the_bootstrap_agrees_with_errors_clustered_by_pair():
    sheets = np.tile(both_orders(all_pairs(12)), (6, 1))
    found = fit(simulated(12, sheets, seed=1)[0], Model("bt"))
    drawn = bootstrap(found, 150, seed=1)
    errors = uncertainty(found).scores
    # 11 differences from 66 pairs: errors in closed form are too small by about sqrt(55 / 66).
    assert np.median(drawn.errors / errors) == pytest.approx(1.1, abs=0.12)
    low, high = drawn.intervals()
    assert ((low < found.scores) & (found.scores < high)).all()


def test_draws_within_groups_keep_the_pairs_of_each_group_and_count_lost_ones():
    votes = counted(4, [0, 1, 0, 2, 3, 2, 3], [1, 0, 1, 3, 2, 3, 2], [1, 1, 0, 1, 1, 0, 1])
    found = fit(votes, Model("bt"))
    drawn = bootstrap(found, 20, seed=1)
    assert (drawn.scores == drawn.scores[0]).all()  # one pair a group: nothing varies
    assert drawn.penalised == 0
    together = bootstrap(found, 40, seed=1, groups=[0, 0, 0, 0])
    assert 5 < together.penalised < 35  # a pair is lost in half of the draws
    assert np.isnan(together.scores).any()


def test_where_the_likelihood_has_no_clear_maximum_there_are_no_errors():
    # Two judges who discriminate, and fourteen votes on four texts.
    first = [3, 3, 2, 0, 1, 0, 0, 0, 1, 2, 2, 1, 1, 2]
    second = [2, 0, 0, 1, 2, 3, 3, 3, 2, 0, 3, 0, 2, 0]
    outcomes = [1, -1, 1, -1, -1, -1, -1, -1, 1, -1, -1, 1, 1, -1]
    judge = [0] * 7 + [1] * 7
    counts = counted(4, first, second, outcomes, judge)
    found = uncertainty(fit(counts, Model(order=True, judges="discriminating")))
    assert found.note == "no_maximum"
    assert np.isnan(found.scores).all()
    assert np.isnan(found.delta().error).all()
    assert all(np.isnan(block).all() for _, block in found.rows())


@pytest.fixture(scope="module")
def known():
    pairs = shown(random_pairs(40, 400, seed=1), 40, seed=1)
    return simulated(40, pairs, seed=2, spread=1.5)


def test_split_halves_say_how_far_scores_agree_with_the_truth(known):
    votes, truth = known
    halves = split_half(votes, Model(), seed=1, splits=8)
    assert len(halves.r) == 8
    assert np.array_equal(halves.r, split_half(votes, Model(), seed=1, splits=8).r)
    reached = np.corrcoef(fit(votes).scores, truth)[0, 1]
    assert np.sqrt(halves.reliability) == pytest.approx(reached, abs=0.06)
    found = uncertainty(fit(votes), clustered=False)
    share = separation(found.fit.scores, found.scores, found.fit.graph)
    assert share == pytest.approx(halves.reliability, abs=0.08)


def test_the_curve_rises_to_1_with_all_pairs(known):
    votes, _ = known
    steps = curve(votes, Model(), [0.25, 0.5, 1], seed=1, draws=4)
    assert [step.pairs for step in steps] == [100, 200, 400]
    assert steps[0].r < steps[1].r < steps[2].r
    assert steps[2].r == pytest.approx(1)
    assert steps[0].half_half_r < steps[1].half_half_r
    assert np.isnan(steps[2].half_half_r)
    with pytest.raises(ValueError, match="share"):
        curve(votes, Model(), [0], seed=1)


def test_halves_of_judges():
    halves = by_judge(votes_of(1, 2, 3), Model(), seed=1, splits=6)
    assert len(halves.r) == 6
    assert halves.r.max() <= 1
    assert np.isnan(by_judge(votes_of(1), Model(), seed=1).reliability)


def test_the_jackknife_takes_bias_from_delta():
    plain, better = [], []
    model = Model(order=True)
    for repeat in range(4):
        pairs = shown(random_pairs(60, 600, seed=repeat), 60, seed=repeat)
        votes, _ = simulated(60, pairs, seed=50 + repeat, theta=0.4, delta=0.6)
        plain.append(fit(votes, model).delta[0])
        delta, theta = jackknifed(votes, model, seed=1, splits=2)
        better.append(delta[0])
        assert 0 < theta[0] < 1
    assert abs(np.mean(better) - 0.6) < abs(np.mean(plain) - 0.6)
