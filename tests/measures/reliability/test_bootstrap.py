"""The bootstrap by patterns against the bootstrap text by text, and undefined resamples."""

import math

import numpy as np
import pytest
from scipy.stats import ks_2samp

from delibsim.measures.reliability.bootstrap import bootstrap
from delibsim.measures.reliability.codes import codes_of
from delibsim.measures.reliability.coefficients import coefficient

NA = math.nan
LEVELS = [0, 1, 2]


def a_table(texts=60, coders=3, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, (texts, 1))
    rows = np.where(rng.random((texts, coders)) < 0.7, truth, rng.integers(0, 3, (texts, coders)))
    rows = rows.astype(float)
    rows[rng.random(rows.shape) < 0.1] = NA
    return rows


@pytest.mark.parametrize(
    "kind", [("ac", "linear"), ("kappa", "quadratic"), ("alpha", "ordinal")], ids=str
)
def test_it_has_the_distribution_of_drawing_texts_one_by_one(kind):
    rows = a_table()
    (drawn,) = bootstrap(codes_of(rows, LEVELS), [kind], 2000, 1)
    rng = np.random.default_rng(2)
    plain = []
    for _ in range(300):
        picked = rows[rng.integers(0, len(rows), len(rows))]
        plain.append(coefficient(codes_of(picked, LEVELS), *kind).value)
    assert ks_2samp(drawn.values, plain).pvalue > 0.01


def test_the_same_seed_gives_the_same_draws_and_their_error_is_that_in_closed_form():
    codes = codes_of(a_table(texts=400), LEVELS)
    kinds = [("ac", "linear"), ("kappa", "linear"), ("fleiss", "identity"), ("alpha", "interval")]
    first, again = bootstrap(codes, kinds, 2000, 7), bootstrap(codes, kinds, 2000, 7)
    for one, other, kind in zip(first, again, kinds, strict=True):
        assert np.array_equal(one.values, other.values)
        assert (one.coefficient, one.weighting, one.undefined) == (*kind, {})
        found = coefficient(codes, *kind)
        assert one.error == pytest.approx(found.error, rel=0.1)
        assert one.interval() == pytest.approx(found.interval(), abs=0.02)


def test_clusters_are_drawn_whole():
    rows = np.repeat(a_table(texts=20), 5, axis=0)  # five copies of each text in one cluster
    codes, clusters = codes_of(rows, LEVELS), np.repeat(np.arange(20), 5)
    (whole,) = bootstrap(codes, [("ac", "linear")], 2000, 3, clusters[codes.kept])
    (single,) = bootstrap(codes, [("ac", "linear")], 2000, 3)
    (once,) = bootstrap(codes_of(rows[::5], LEVELS), [("ac", "linear")], 2000, 3)
    assert (whole.clusters, single.clusters) == (len(np.unique(clusters[codes.kept])), 0)
    assert whole.error == pytest.approx(once.error, rel=0.1)
    assert single.error < 0.6 * whole.error


def test_undefined_resamples_are_counted_by_reason_and_left_out():
    rows = [[0, 0, NA], [0, 0, NA], [1, NA, 0]]
    kinds = [("alpha", "nominal"), ("kappa", "identity"), ("percent", "identity")]
    alpha, kappa, percent = bootstrap(codes_of(rows, [0, 1]), kinds, 1000, 5)
    for drawn in (alpha, kappa, percent):
        assert sum(drawn.undefined.values()) == np.isnan(drawn.values).sum()
    assert set(kappa.undefined) == {"coder_absent"}
    assert set(alpha.undefined) == {"one_category"}
    assert percent.undefined == {}
    lonely = codes_of([[0, 0], [1, NA], [NA, 1]], [0, 1])
    (percent,) = bootstrap(lonely, [("percent", "identity")], 1000, 5)
    assert set(percent.undefined) == {"no_text_coded_twice"}
    assert percent.undefined["no_text_coded_twice"] == pytest.approx(1000 * (2 / 3) ** 3, abs=60)
    assert percent.interval() == (1, 1)
