"""Adaptive choice: what is taken, what is left, and when to stop."""

import numpy as np
import pytest
from pair_votes import simulated
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from delibsim.measures.bradley_terry.adaptive import (
    evidence,
    expected_r,
    expected_r_by_probe,
    gains_of,
    lengthened,
    mean_error,
    next_pairs,
    with_prior,
)
from delibsim.measures.bradley_terry.counts import counted, tabled
from delibsim.measures.bradley_terry.fit import Model, fit
from delibsim.measures.bradley_terry.likelihood import Normal
from delibsim.measures.bradley_terry.stability import r_of_probes
from delibsim.measures.bradley_terry.uncertainty import uncertainty
from delibsim.measures.correlations import spearman_brown
from delibsim.measures.designs import random_pairs, ring, shown

MODEL = Model(order=True, penalty=Normal(2))


@pytest.fixture(scope="module")
def known():
    pairs = ring(40, 4, seed=1)
    votes, _ = simulated(40, shown(pairs, 40, seed=1), seed=2, spread=2)
    return uncertainty(fit(votes, MODEL), clustered=False), pairs


def test_a_batch_takes_new_pairs_evenly(known):
    found, judged = known
    chosen, probes = next_pairs(found, judged, batch=50, seed=3)
    assert (len(chosen), len(probes)) == (35, 15)
    everything = np.concatenate([judged, chosen, probes])
    assert len({tuple(sorted(pair)) for pair in everything.tolist()}) == len(everything)
    assert np.bincount(chosen.ravel(), minlength=40).max() <= 3  # ceil(2 * 50 / 40)
    again = next_pairs(found, judged, batch=50, seed=3)
    assert np.array_equal(chosen, again[0])
    assert np.array_equal(probes, again[1])
    assert not np.array_equal(probes, next_pairs(found, judged, batch=50, seed=4)[1])


def test_the_first_pair_is_the_one_that_teaches_most(known):
    found, judged = known
    (first,) = next_pairs(found, judged, batch=1, seed=1, probe=0)[0].tolist()
    low, high = np.triu_indices(40, 1)
    free = ~np.isin(low * 40 + high, judged[:, 0] * 40 + judged[:, 1])
    gains = gains_of(found, low[free], high[free])
    best = gains.argmax()
    assert first == [low[free][best], high[free][best]]


def test_gains_by_hand():
    # Two texts, one vote each way, plain, s ~ N(0, 1): information 2 * (1/4) and two ridges of 1.
    found = fit(counted(2, [0, 1], [1, 0], [1, 1]), Model("bt", penalty=Normal(1)))
    covariance = np.linalg.inv(np.array([[1.5, -0.5], [-0.5, 1.5]]))
    v = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    expected = np.log1p(v / 4)
    assert gains_of(uncertainty(found), [0], [1]) == pytest.approx([expected])


def test_a_batch_ends_where_there_are_no_pairs_left():
    votes = counted(3, [0, 1], [1, 2], [1, 1])
    found = uncertainty(fit(votes, MODEL))
    chosen, probes = next_pairs(found, [(0, 1), (1, 2)], batch=5, seed=1)
    assert len(chosen) + len(probes) == 1
    chosen, probes = next_pairs(found, [(0, 1), (1, 2), (0, 2)], batch=5, seed=1)
    assert len(chosen) + len(probes) == 0


@pytest.mark.parametrize(("batch", "probe"), [(0, 0.2), (5, -0.1), (5, 1.1)])
def test_a_batch_that_cannot_be_is_refused(known, batch, probe):
    with pytest.raises(ValueError, match="a batch has"):
        next_pairs(*known, batch=batch, seed=1, probe=probe)
    bare = uncertainty(fit(known[0].fit.counts, Model("bt", penalty=None)))
    with pytest.raises(ValueError, match="penalised"):
        next_pairs(bare, known[1], batch=5, seed=1)


def test_the_expected_correlation_with_the_truth():
    pairs = shown(random_pairs(60, 900, seed=1), 60, seed=1)
    votes, truth = simulated(60, pairs, seed=2, spread=2)
    found = uncertainty(fit(votes, MODEL), clustered=False)
    reached = np.corrcoef(found.fit.scores, truth)[0, 1]
    assert expected_r(found) == pytest.approx(reached, abs=0.03)
    assert mean_error(found) == pytest.approx(found.scores.mean())
    probes = np.arange(len(votes.pairs)) % 3 == 0
    by_probe = uncertainty(fit(votes.only(probes[votes.pair]), MODEL), clustered=False)
    others = fit(votes.only(~probes[votes.pair]), MODEL)
    reached = np.corrcoef(others.scores, truth)[0, 1]
    assert expected_r_by_probe(by_probe, others) == pytest.approx(reached, abs=0.06)


def test_groups_are_not_crossed(known):
    found, judged = known
    group = np.arange(40) % 3
    chosen, probes = next_pairs(found, judged, batch=30, seed=3, group=group)
    both = np.concatenate([chosen, probes])
    assert len(both) == 30
    assert (group[both[:, 0]] == group[both[:, 1]]).all()


@pytest.mark.parametrize("spread", [1, 2, 4])
def test_the_spread_of_texts_is_found_from_twelve_votes_each(spread):
    pairs = shown(random_pairs(100, 600, seed=1), 100, seed=1)
    votes, truth = simulated(100, pairs, seed=4, spread=spread)
    found = with_prior(votes, Model(order=True))
    assert found.fit.model.penalty.tau == pytest.approx(truth.std(), rel=0.15)
    again = with_prior(votes, Model(order=True), start=8.0)
    assert again.fit.model.penalty.tau == pytest.approx(found.fit.model.penalty.tau, rel=0.1)
    reached = np.corrcoef(found.fit.scores, truth)[0, 1]
    assert expected_r(found) == pytest.approx(reached, abs=0.04)


def test_coins_have_next_to_no_spread():
    votes, _ = simulated(60, shown(random_pairs(60, 900, seed=1), 60, seed=1), 5, spread=0)
    found = with_prior(votes, Model(order=True))
    assert found.fit.model.penalty.tau < 0.35
    assert not expected_r(found) > 0.7


def test_the_evidence_is_the_integral_over_strengths():
    """Two texts, plain votes: against quadrature, in which only their difference counts. There are
    40 votes, so that Laplace's approximation is good.
    """
    votes = tabled(2, [0, 1], [1, 0], [14, 8], [0, 0], [6, 12])

    def exactly(tau):
        def density(d):
            return expit(d) ** 26 * expit(-d) ** 14 * norm.pdf(d, 0, tau * np.sqrt(2))

        return np.log(quad(density, -9, 9)[0])

    def laplace(tau):
        found = fit(votes, Model("bt", penalty=Normal(tau)))
        return evidence(uncertainty(found, clustered=False))

    gap = laplace(1.5) - laplace(0.5)
    assert gap == pytest.approx(exactly(1.5) - exactly(0.5), abs=0.02)
    with pytest.raises(ValueError, match="normal prior"):
        evidence(uncertainty(fit(votes)))


def test_a_correlation_is_lengthened_as_spearman_and_brown_say():
    assert lengthened(0.8, 2) ** 2 == pytest.approx(spearman_brown(0.64))
    assert lengthened(0.8, 1) == 0.8


def test_votes_on_probe_pairs_agree_with_the_scores_of_the_others():
    pairs = shown(random_pairs(60, 900, seed=1), 60, seed=1)
    votes, truth = simulated(60, pairs, seed=2, spread=2)
    outcome = votes.a - votes.b
    probes = np.arange(len(outcome)) % 4 == 0
    found = r_of_probes((votes.first, votes.second, outcome), probes, 60, MODEL)
    true = truth[votes.first] - truth[votes.second]
    assert found == pytest.approx(np.corrcoef(true[probes], outcome[probes])[0, 1], abs=0.05)
    everything = np.ones(len(outcome), dtype=bool)
    assert np.isnan(r_of_probes((votes.first, votes.second, outcome), everything, 60, MODEL))
