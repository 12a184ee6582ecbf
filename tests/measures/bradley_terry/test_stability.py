"""Split halves, curve, separation and jackknife."""

import numpy as np
import pytest
from pair_votes import simulated, votes_of

from delibsim.measures.bradley_terry.fit import Model, fit
from delibsim.measures.bradley_terry.stability import (
    by_judge,
    curve,
    jackknifed,
    separation,
    split_half,
)
from delibsim.measures.bradley_terry.uncertainty import uncertainty
from delibsim.measures.designs import random_pairs, shown


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
