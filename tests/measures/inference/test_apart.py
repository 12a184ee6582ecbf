"""How far two samples lie apart: against Welch's t, by the densities, and where nothing is known."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm, ttest_ind

from delibsim.measures.inference.apart import Sessions, apart, classified, overlapping


def sample(values, topics=None, draws=None):
    found = np.asarray(values, dtype=float)
    topics = np.zeros(len(found), dtype=int) if topics is None else np.asarray(topics)
    return Sessions(found, topics, np.arange(len(found)) if draws is None else np.asarray(draws))


def test_of_independent_sessions_of_one_topic_it_is_welchs_test():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=40), rng.normal(0.5, 2, size=200)
    found = apart(sample(a), sample(b))
    assert found.difference.estimate == pytest.approx(a.mean() - b.mean())
    assert found.difference.error == pytest.approx(
        np.sqrt(a.var(ddof=1) / 40 + b.var(ddof=1) / 200)
    )
    assert found.difference.p == pytest.approx(ttest_ind(a, b, equal_var=False).pvalue, rel=0.15)
    both = np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2)
    assert found.g.estimate == pytest.approx((a.mean() - b.mean()) / both, rel=0.01)
    assert found.spread.estimate == pytest.approx(np.log(a.std(ddof=1) / b.std(ddof=1)))
    assert found.unit == "draws"


@pytest.mark.parametrize(("g", "ratio"), [(0.7, 1.0), (-1.5, 0.4), (0.0, 3.0)])
def test_the_overlap_is_the_area_below_both_densities(g, ratio):
    here, there = norm(g, ratio * np.sqrt(2 / (1 + ratio**2))), norm(0, np.sqrt(2 / (1 + ratio**2)))
    area = quad(lambda x: min(here.pdf(x), there.pdf(x)), -12, 12, limit=500)[0]
    assert overlapping(g, ratio) == pytest.approx(area, abs=1e-5)


def test_sessions_of_a_draw_count_as_little_as_they_are_alike():
    rng = np.random.default_rng(2)
    of_draws = rng.normal(size=10)
    b = sample(rng.normal(size=12))
    once = apart(sample(of_draws), b).difference
    copied = apart(sample(np.repeat(of_draws, 6), draws=np.repeat(np.arange(10), 6)), b).difference
    assert copied.error == pytest.approx(once.error)


def test_with_one_session_a_topic_intervals_rest_on_topics():
    rng = np.random.default_rng(3)
    topics = np.arange(8)
    level = 10.0 * topics
    a, b = level + rng.normal(size=8), level + rng.normal(size=8)
    found = apart(sample(a, topics), sample(b, topics))
    assert found.unit == "topics"
    assert found.difference.error == pytest.approx((a - b).std(ddof=1) / np.sqrt(8))


def test_few_sessions_and_equal_values_have_estimates_and_no_interval():
    few = apart(sample([1, 2, 3]), sample([2, 3, 5, 7, 1, 0]))
    assert (few.note, np.isnan(few.g.low), few.g.estimate < 0) == ("too_few_sessions", True, True)
    equal = apart(sample([1.0] * 8), sample(np.arange(8.0)))
    assert equal.note == "no_variance"
    assert np.isnan(equal.spread.estimate)
    assert np.isnan(equal.overlap).all()
    assert np.isfinite([equal.difference.p, equal.g.low]).all()


def test_a_classifier_finds_what_was_planted_and_nothing_else():
    rng = np.random.default_rng(5)
    n = 24
    values, first = rng.normal(size=(n, 4)), np.arange(n) < n // 2
    topics, draws = np.arange(n) % 2, np.arange(n)
    chance = classified(values, first, topics, draws, 99, 1)
    assert chance is not None
    assert chance.p > 0.05
    assert chance.chance == pytest.approx(0.5, abs=0.08)
    values[first, 2] += 3
    found = classified(values, first, topics, draws, 99, 1)
    assert found is not None
    assert (found.accuracy > 0.85, found.p) == (True, 0.01)
    assert np.abs(found.weights).argmax() == 2
    assert found.weights[2] > 0
    assert classified(values, draws < 4, topics, draws, 9, 1) is None
