"""The numbers of the literature and of scikit-learn, scipy and krippendorff, as
DEFINITIONS-SUMMARIES 16 lists them.
"""

import numpy as np
import pytest

from delibsim.measures.correlations import exact_rank_p, partial_spearman, pearson, spearman
from delibsim.measures.designs import directed_ring, mirrored
from delibsim.measures.inference.components import intraclass, of_means, raters_needed
from delibsim.measures.inference.resampling import line
from delibsim.measures.reliability.codes import codes_of
from delibsim.measures.reliability.coefficients import coefficient
from delibsim.measures.summaries.gaps import (
    gap,
    overlap,
    random_gaps,
    sign_flip_p,
    t_mean,
    within,
    within_slope,
)
from delibsim.measures.summaries.prediction import (
    derived,
    label_of,
    linear,
    normalised,
    preferences,
)
from delibsim.measures.summaries.texts import (
    factors,
    local_outliers,
    marginal_relevance,
    relevance,
    sentence_vectors,
)

near = pytest.approx


def pairs(text):
    return [[int(cell) for cell in pair.split(",")] for pair in text.split()]


def test_rings():
    five = "0,1 0,2 1,2 1,3 2,3 2,4 3,4 3,0 4,0 4,1"
    assert directed_ring(5, 2).tolist() == pairs(five)
    four = "0,1 0,2 1,2 1,3 2,3 2,0 3,0 3,1 0,3 1,0"
    assert directed_ring(4, total=10).tolist() == pairs(four)
    found = directed_ring(75, 6)
    assert len(found) == 450
    assert mirrored(found) == 0
    assert (np.bincount(found[:, 0]) == 6).all()
    assert (np.bincount(found[:, 1]) == 6).all()
    for n, unordered in ((13, 78), (12, 66), (7, 21)):
        ring = directed_ring(n, 6)
        assert len({frozenset(pair) for pair in ring.tolist()}) == unordered
        assert mirrored(ring) == len(ring) - unordered
    with pytest.raises(ValueError, match="1 to 5 comparisons"):
        directed_ring(6, 6)


def test_labels():
    assert normalised([-1, 1, 2, 3, 4, 5, 7]).tolist() == [0, 0.25, 0.375, 0.5, 0.625, 0.75, 1]
    made = derived([4, 4, 1, 5, 3], [1, 5, 1, 5, 4], [True, True, True, True, False])
    assert made.tolist() == [2, 6, -1, 7, 2]
    assert np.isnan(derived([np.nan, 3], [3, np.nan], [True, True])).all()
    assert linear([1, 2, 3, 4, 5]).tolist() == [-1, 1, 3, 5, 7]
    assert label_of(normalised(3)).tolist() == 3


SPOTS = [(0, 0), (0, 1), (1, 0), (1, 1), (0.5, 0.5), (4, 4), (4, 5), (5, 4), (5, 5), (9, 0)]


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (2, [0.926777] * 4 + [1.171573] + [1] * 4 + [6.029989]),
        (3, [0.967456] * 4 + [1.108194] + [1] * 4 + [4.351795]),
        (4, [0.96875] * 4 + [1.142857] + [1.755076] * 4 + [1.283157]),
    ],
)
def test_local_outlier_factors(k, expected):
    found, flagged = factors(SPOTS, k)
    assert found == near(expected, abs=1e-6)
    if k == 3:
        assert flagged.tolist() == [False] * 9 + [True]


def test_equal_points_count_once_and_small_groups_flag_nobody():
    twice = SPOTS + [(0, 0)] * 30
    found, _ = factors(twice, 3)
    assert found[:10] == near(factors(SPOTS, 3)[0])
    assert found[10:] == near(found[0])
    few = local_outliers(np.array(SPOTS[:9]), ["a"] * 9)
    assert (few.notes, few.flagged.any()) == ({"a": "group_too_small"}, False)
    assert np.isnan(few.factors).all()


@pytest.mark.parametrize(
    ("n", "flagged"),
    [(10, 1), (11, 1), (20, 2), (21, 2), (92, 10), (164, 17), (300, 30), (807, 81), (1000, 100)],
)
def test_the_top_tenth_is_flagged(n, flagged):
    points = np.random.default_rng(n).normal(size=(n, 3))
    assert factors(points)[1].sum() == flagged


X = [1, 2, 2, 3, 4, 5, 5, 3, 4, 2]
Y = [0.30, 0.42, 0.38, 0.55, 0.61, 0.70, 0.52, 0.47, 0.66, 0.49]


def test_correlations():
    found = pearson(X, Y)
    assert [found.value, found.p, found.low, found.high] == near(
        [0.847429, 0.001964, 0.466950, 0.963152], abs=1e-6
    )
    found = spearman(X, Y)
    assert [found.value, found.p, found.low, found.high] == near(
        [0.848496, 0.001912, 0.368648, 0.971294], abs=1e-6
    )
    assert spearman(X, [1] * 10).note == "no_variance"
    assert np.isnan(spearman(X, [1] * 10).value)
    assert pearson([1, 2], [1, 2]).note == "too_few_ratings"
    error = normalised(X) - np.array(Y)
    assert [np.abs(error).mean(), np.sqrt((error**2).mean())] == near([0.0625, 0.088332], abs=1e-6)
    assert [exact_rank_p(rho, 5) for rho in (1.0, 0.9, 0.7, 0.6)] == near(
        [0.0167, 0.083, 0.233, 0.350], abs=5e-4
    )


def test_ordinal_agreement_and_one_way_reliability():
    a, b = [4, 3, 5, 2, 4, 1, 3, 5, 4, 2], [4, 4, 5, 3, 3, 2, 3, 4, 5, 2]
    codes = codes_of(np.column_stack([a, b]), [1, 2, 3, 4, 5])
    found = [coefficient(codes, "kappa", name).value for name in ("identity", "linear")]
    found.append(coefficient(codes, "kappa", "quadratic").value)
    assert found == near([0.220779, 0.538462, 0.777778], abs=1e-6)
    c = [4, 3, 4, np.nan, 5, 2, 2, 5, np.nan, 1]
    codes = codes_of(np.column_stack([a, b, c]), [1, 2, 3, 4, 5])
    found = [coefficient(codes, "alpha", name).value for name in ("ordinal", "interval", "nominal")]
    assert found == near([0.751134, 0.75, 0.15625], abs=1e-6)
    ratings = [4, 5, 3, 2, 2, 3, 5, 4, 5, 3, 3, 1]
    icc = intraclass(ratings, np.repeat(range(4), 3)).icc
    assert [icc, of_means(icc, 3)] == near([0.606796, 0.822368], abs=1e-6)
    assert [round(raters_needed(one)) for one in (0.025, 0.057, 0.063, 0.014)] == near(
        [156, 67, 60, 282], abs=1
    )


def test_gaps():
    scores = [0.52, 0.48, 0.61, 0.40, 0.60, 0.66, 0.58, 0.71, 0.63, 0.55]
    found = gap(scores, [True] * 4 + [False] * 6)
    assert [found.estimate, found.t, found.df, found.p, found.low, found.high] == near(
        [0.119167, 2.401480, 4.762510, 0.064027, -0.010328, 0.248662], abs=1e-6
    )
    assert gap([0.5] * 6, [True] * 3 + [False] * 3).note == "no_variance"
    assert gap(scores, [True] * 10).note == "group_too_small"
    assert np.isnan(gap(scores, [True] * 10).estimate)
    mean, low, high, p = random_gaps(scores, [True] * 4 + [False] * 6, 1000, 1)
    assert low < -0.05 < mean < 0.01 < high
    assert 0.01 < p < 0.1


def test_a_gap_that_a_stance_makes_is_gone_within_it():
    import statsmodels.api as sm

    rng = np.random.default_rng(4)
    stance = rng.integers(0, 3, 300)
    group = rng.random(300) < np.array([0.6, 0.2, 0.05])[stance]
    words = rng.integers(5, 60, 300)
    scores = np.array([0.4, 0.6, 0.7])[stance] + 0.001 * words + rng.normal(0, 0.05, 300)
    assert gap(scores, group).estimate > 0.08
    estimate, error, p = within(scores, group, stance, words)
    columns = [np.ones(300), group, stance == 1, stance == 2, words]
    fit = sm.OLS(scores, np.column_stack(columns).astype(float)).fit(cov_type="HC1", use_t=True)
    assert [estimate, error, p] == near([-fit.params[1], fit.bse[1], fit.pvalues[1]])
    assert abs(estimate) < 0.02


def test_overlaps():
    for given, expected in (
        ((1063, 121, 108, 19), [0.090476, 0.017874, 12.293509, 0.028232]),
        ((1044, 201, 107, 27), [0.096085, 0.025862, 20.600575, 0.066410]),
    ):  # the definitions say 0.066406; the sum of binomials in whole numbers is 0.0664101
        found = overlap(*given)
        assert [found.jaccard, found.rate, found.expected, found.p] == near(expected, abs=1e-6)
    with pytest.raises(ValueError, match="in common"):
        overlap(10, 3, 4, 5)


def test_partial_spearman():
    x = [0.60, 0.62, 0.55, 0.70, 0.66, 0.58, 0.64, 0.61]
    y = [3.6, 3.8, 3.2, 4.4, 4.0, 3.5, 3.7, 3.9]
    length = [180, 220, 150, 400, 330, 200, 260, 240]
    assert spearman(x, y).value == near(0.904762, abs=1e-6)
    assert partial_spearman(x, y, length).value == near(0.331754, abs=1e-6)


def test_order_and_topics():
    spots = range(1, 11)
    rep = [0.62, 0.60, 0.63, 0.59, 0.61, 0.60, 0.58, 0.61, 0.57, 0.59]
    assert [spearman(spots, rep).value, spearman(spots, rep).p] == near(
        [-0.611647, 0.060226], abs=1e-6
    )
    found = line(spots, rep)
    assert [found.slope, found.se, found.p] == near([-0.003758, 0.001667, 0.054276], abs=1e-6)
    differences = [0.03, 0.01, 0.05, 0.02, -0.01, 0.04, 0.03, 0.00, 0.02, 0.06]
    mean = t_mean(differences)
    assert [mean.mean, mean.low, mean.high] == near([0.025, 0.009455, 0.040545], abs=1e-6)
    assert sign_flip_p(differences) == 12 / 1024


def test_a_slope_within_opinions_is_that_of_least_squares_with_all_their_means():
    import statsmodels.api as sm

    rng = np.random.default_rng(2)
    units, blocks = np.repeat(range(40), 3), np.tile(range(3), 40)
    spots = rng.integers(1, 41, 120)
    values = rng.normal(size=40)[units] + 0.01 * spots + rng.normal(0, 0.1, 120)
    found = within_slope(values, spots, units, blocks)
    dummies = [(units == unit) for unit in range(40)] + [(blocks == b) for b in (1, 2)]
    x = np.column_stack([spots, *dummies]).astype(float)
    fit = sm.OLS(values, x).fit()
    assert found.slope == near(fit.params[0])
    others = []
    for unit in range(40):
        kept = units != unit
        own = np.delete(x[kept], 1 + unit, axis=1)
        others.append(sm.OLS(values[kept], own).fit().params[0])
    apart = np.array(others) - found.slope
    assert found.se == near(np.sqrt(39 / 40 * apart @ apart))
    assert within_slope([1.0, 2.0], [1, 2], [0, 1], [0, 0]).note == "no_replication"


SAID = [
    "tips should go to staff",
    "tips should go to the staff directly",
    "abolish tips and raise wages",
    "raise wages for all staff",
    "I like generous service",
]


def test_marginal_relevance():
    vectors = sentence_vectors(SAID)
    worth = relevance(vectors)
    assert worth == near([0.712868, 0.690495, 0.555180, 0.555180, 0.349283], abs=1e-6)
    dense = vectors.toarray()
    assert dense[0] @ dense[1] == near(0.766557, abs=1e-6)
    assert marginal_relevance(dense, worth, [1] * 5, longest=3) == [0, 2, 3]
    for balance, chosen in ((0.5, [0, 2, 4]), (0.7, [0, 2, 3]), (1.0, [0, 1, 2])):
        found = marginal_relevance(vectors, worth, [1] * 5, longest=3, balance=balance)
        assert found == chosen


def test_strengths_without_ties_are_those_of_a_logit():
    import statsmodels.api as sm

    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 4, (2, 600))
    a, b = a[a != b], b[a != b]
    ratio = rng.normal(0, 0.5, len(a))
    eta = np.array([0.6, 0.2, -0.3, -0.5])[a] - np.array([0.6, 0.2, -0.3, -0.5])[b]
    won = rng.random(len(a)) < 1 / (1 + np.exp(-(eta + 0.3 + 0.8 * ratio)))
    found = preferences(a, b, np.where(won, 1, -1), ratio, 4)
    x = (a[:, None] == range(3)).astype(float) - (b[:, None] == range(3))
    fit = sm.Logit(won.astype(float), np.column_stack([x, np.ones(len(a)), ratio])).fit(disp=0)
    assert [found.place, found.length] == near(list(fit.params[3:]), abs=1e-6)
    assert [found.place_error, found.length_error] == near(list(fit.bse[3:]), rel=1e-5)
    assert found.strengths - found.strengths[3] == near([*fit.params[:3], 0], abs=1e-6)
    assert found.tie == 0


def test_planted_strengths_and_ties_are_found_and_a_clean_sweep_is_undefined():
    rng = np.random.default_rng(6)
    a, b = rng.integers(0, 3, (2, 9000))
    a, b = a[a != b], b[a != b]
    ratio = rng.normal(0, 0.5, len(a))
    strength = np.array([0.5, 0.0, -0.5])
    eta = strength[a] - strength[b] + 0.25 + 0.6 * ratio
    weights = np.column_stack([np.exp(eta / 2), np.exp(-eta / 2), np.full(len(a), 0.7)])
    drawn = rng.random(len(a))[:, None] * weights.sum(axis=1, keepdims=True)
    said = np.array([1, -1, 0])[(drawn > weights.cumsum(axis=1)).sum(axis=1)]
    found = preferences(a, b, said, ratio, 3)
    assert (np.abs(found.strengths - strength) < 4 * found.errors).all()
    assert abs(found.place - 0.25) < 4 * found.place_error
    assert abs(found.length - 0.6) < 4 * found.length_error
    assert found.tie == near(0.7, rel=0.1)
    swept = preferences(a, b, np.where(a == 0, 1, np.where(b == 0, -1, 1)), ratio, 3)
    assert swept.note == "one_way"
    assert np.isnan(swept.strengths).all()
    assert preferences([0, 0], [1, 1], [1, -1], [0.1, 0.2], 3).note == "not_connected"
