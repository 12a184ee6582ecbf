"""Intraclass correlations and variance components against published and refitted values."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from delibsim.measures.inference.components import crossed_components, intraclass

ORACLE = json.loads((Path(__file__).parents[2] / "reference" / "intraclass.json").read_text())


def dummies(*columns):
    return pd.concat(
        [pd.get_dummies(pd.Series(column), dtype=float) for column in columns], axis=1
    ).to_numpy()  # none left out: what follows from others must do no harm


@pytest.mark.parametrize("name", ["balanced", "unequal", "below_zero"])
def test_without_fixed_effects_it_is_that_of_r(name):
    case = ORACLE[name]
    found = intraclass(case["value"], case["cluster"])
    assert found.icc == pytest.approx(case["icc"], abs=1e-9)
    assert found.note == ""


def test_it_can_be_negative():
    assert ORACLE["below_zero"]["icc"] < -0.9


def test_after_fixed_effects_it_is_that_of_r():
    case = ORACLE["crossed"]
    fixed = dummies(case["model"], case["treatment"])
    found = intraclass(case["value"], case["cluster"], fixed)
    assert found.icc == pytest.approx(case["icc"], abs=1e-9)
    raw = intraclass(case["value"], case["cluster"])
    assert raw.icc == pytest.approx(case["raw"], abs=1e-9)
    assert raw.n == len(case["value"])


def test_the_interval_is_that_of_psych():
    """Revelle's psych prints -0.133 and 0.72 for ICC1 of table 2 of Shrout and Fleiss (1979)."""
    case = ORACLE["balanced"]
    found = intraclass(case["value"], case["cluster"])
    assert found.low == pytest.approx(-0.133, abs=0.0005)
    assert found.high == pytest.approx(0.72, abs=0.005)


@pytest.mark.parametrize("topics", [5, 6, 12])
@pytest.mark.parametrize("equal", [True, False])
def test_the_interval_holds_the_truth(topics, equal):
    """1,000 studies a case: a nominal .95, with a simulation error of .007."""
    rng, held = np.random.default_rng([topics, equal]), []
    sizes = np.full(topics, 20) if equal else rng.integers(8, 40, topics)
    clusters = np.repeat(np.arange(topics), sizes)
    fixed = (np.arange(len(clusters)) % 3 == 0)[:, None]
    for _ in range(1000):
        values = rng.normal(size=len(clusters)) + rng.normal(0, 0.5, topics)[clusters]
        found = intraclass(values + fixed[:, 0], clusters, fixed)
        held.append(found.low <= 0.2 <= found.high)
    assert 0.93 <= np.mean(held) <= 0.97


def test_the_truth_is_recovered():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(400, 10)) + rng.normal(0, 0.5, (400, 1))
    found = intraclass(values.ravel(), np.repeat(range(400), 10))
    assert found.icc == pytest.approx(0.2, abs=0.04)
    assert found.low < 0.2 < found.high


@pytest.mark.parametrize(
    ("values", "clusters", "note"),
    [
        ([1.0, 2.0], ["a", "a"], "one_cluster"),
        ([], [], "one_cluster"),
        ([1.0, 2.0], ["a", "b"], "no_replication"),
        ([0.1, 0.1, 0.1, 0.1], ["a", "a", "b", "b"], "no_variance"),
    ],
)
def test_what_is_undefined_says_why(values, clusters, note):
    found = intraclass(values, clusters)
    assert np.isnan([found.icc, found.low, found.high]).all()
    assert (found.note, found.n) == (note, len(values))


REFITTED = json.loads((Path(__file__).parents[2] / "reference" / "debate.json").read_text())
NA = math.nan


def incomplete(seed, targets=200, raters=50, each=5, sds=(6.0, 5.0, 8.0)):
    """Ratings of which every target has `each`, by raters drawn anew."""
    rng = np.random.default_rng(seed)
    target, rater, residual = sds
    table = rng.normal(60, target, (targets, 1)) + rng.normal(0, rater, (1, raters))
    table = table + rng.normal(0, residual, (targets, raters))
    given = np.zeros((targets, raters), dtype=bool)
    for i in range(targets):
        given[i, rng.choice(raters, each, replace=False)] = True
    return np.where(given, table, NA)


@pytest.mark.parametrize("case", range(2))
def test_on_complete_data_they_are_those_of_pingouin(case):
    oracle = REFITTED["balanced"][case]
    found = crossed_components(oracle["ratings"])
    assert found.note == ""
    assert found.icc_21 == pytest.approx(oracle["icc_21"], abs=1e-6)
    assert found.icc_2k == pytest.approx(oracle["icc_2k"], abs=1e-6)


@pytest.mark.parametrize("seed", [2, 11, 14, 20])
def test_on_complete_data_they_are_those_of_the_analysis_of_variance(seed):
    """Also where raters differ by little, so that the boundary is near."""
    rng = np.random.default_rng(seed)
    n, k = 12, 4
    table = rng.normal(60, 5, (n, 1)) + rng.normal(0, 2, (1, k)) + rng.normal(0, 2.4, (n, k))
    table = np.round(table)
    rows, columns, mean = table.mean(axis=1), table.mean(axis=0), table.mean()
    rest = ((table - rows[:, None] - columns + mean) ** 2).sum() / ((n - 1) * (k - 1))
    targets = k * ((rows - mean) ** 2).sum() / (n - 1)
    raters = n * ((columns - mean) ** 2).sum() / (k - 1)
    found = crossed_components(table)
    expected = ((targets - rest) / k, max(raters - rest, 0.0) / n, rest)
    assert raters > rest
    assert (found.target, found.rater, found.residual) == pytest.approx(expected, rel=1e-6)


def test_on_complete_data_of_the_older_reference_too():
    found = crossed_components(REFITTED["icc"]["ratings"])
    assert found.icc_2k == pytest.approx(REFITTED["icc"]["icc_2k"], abs=1e-6)


def test_on_incomplete_data_they_are_those_of_the_mixed_model_of_statsmodels():
    import statsmodels.formula.api as smf

    table = incomplete(3, targets=40, raters=12, each=4)
    table[0, np.flatnonzero(~np.isnan(table[0]))[:2]] = NA
    rows = [{"t": t, "r": r, "y": y} for (t, r), y in np.ndenumerate(table) if y == y]
    data = pd.DataFrame(rows).assign(one=1)
    parts = {"t": "0 + C(t)", "r": "0 + C(r)"}
    fit = smf.mixedlm("y ~ 1", data, groups="one", vc_formula=parts).fit(reml=True)
    rater, target = fit.vcomp
    found = crossed_components(table)
    assert found.target == pytest.approx(target, rel=1e-3)
    assert found.rater == pytest.approx(rater, rel=1e-3)
    assert found.residual == pytest.approx(fit.scale, rel=1e-3)
    assert found.k == pytest.approx(40 / (39 / 4 + 1 / 2))


def restricted(table, target, rater, residual):
    """The REML log likelihood with every matrix written out (Searle, Casella and McCulloch)."""
    places = [(t, r) for (t, r), y in np.ndenumerate(table) if y == y]
    y = np.array([table[place] for place in places])
    t, r = np.array(places).T
    v = target * (t[:, None] == t) + rater * (r[:, None] == r) + residual * np.eye(len(y))
    x = np.ones((len(y), 1))
    w = np.linalg.inv(v)
    xwx = x.T @ w @ x
    p = w - w @ x @ np.linalg.inv(xwx) @ x.T @ w
    return -(np.linalg.slogdet(v)[1] + np.linalg.slogdet(xwx)[1] + y @ p @ y) / 2


@pytest.mark.parametrize("turned", [False, True])
def test_an_interval_ends_where_the_dense_likelihood_has_fallen_by_half_of_chi_squared(turned):
    from scipy.optimize import minimize
    from scipy.stats import chi2

    table = incomplete(6, targets=24, raters=9, each=4)
    if turned:  # more raters than targets
        table = incomplete(6, targets=12, raters=20, each=8)
    found = crossed_components(table)
    highest = restricted(table, found.target, found.rater, found.residual)
    for low_or_high in (found.odds_low, found.odds_high):

        def at(logs, odds=low_or_high):
            rater, residual = np.exp(logs)
            return -restricted(table, odds * (rater + residual), rater, residual)

        start = np.log([max(found.rater, 1.0), found.residual])
        best = minimize(at, start, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-8})
        assert highest + best.fun == pytest.approx(chi2.ppf(0.95, 1) / 2, abs=0.01)
    low, high = found.interval_2k
    assert low == pytest.approx(found.k * found.odds_low / (1 + found.k * found.odds_low))
    assert low < found.icc_2k < high


@pytest.mark.parametrize(("targets", "raters", "each"), [(60, 6, 6), (40, 5, 3)])
def test_intervals_hold_the_truth_as_often_as_they_say(targets, raters, each):
    """A seeded panel whose ICC is known."""
    truth = 36 / (36 + (25 + 64) / each)
    held = 0
    for seed in range(120):
        low, high = crossed_components(incomplete(seed, targets, raters, each)).interval_2k
        held += low <= truth <= high
    # Of 120 intervals of 95% between 108 and 119 hold the truth, but for 2 in 100 such cases.
    assert 108 <= held <= 119


def test_an_interval_reaches_zero_where_targets_may_not_differ():
    drawn = np.random.default_rng(0).normal(0, 1, (30, 4))
    low, high = crossed_components(drawn).interval_2k
    assert low == 0
    assert 0 < high < 0.7


def test_a_known_agreement_is_recovered_from_raters_who_rate_a_part_of_the_targets():
    truth = np.array([36, 36 / 125, 36 / (36 + (25 + 64) / 5)])
    runs = []
    for seed in range(40):
        found = crossed_components(incomplete(seed))
        runs.append([found.target, found.icc_21, found.icc_2k])
    mean, error = np.mean(runs, axis=0), np.std(runs, axis=0, ddof=1) / np.sqrt(len(runs))
    # Three standard errors of the mean of forty simulations, and the bias of a ratio (below .01).
    assert (np.abs(mean - truth) < 3 * error + [0, 0.01, 0.01]).all()
    assert (error < [1.2, 0.01, 0.01]).all()


def test_a_variance_of_zero_is_a_value_and_the_note_says_so():
    drawn = np.random.default_rng(0).normal(0, 1, (30, 4))
    found = crossed_components(drawn - drawn.mean(axis=1, keepdims=True))
    assert (found.target, found.icc_2k) == (0, 0)
    assert "target_variance_zero" in found.note
    alike = drawn + np.linspace(0, 5, 30)[:, None]
    found = crossed_components(alike - alike.mean(axis=0))
    assert (found.rater, found.note) == (0, "rater_variance_zero")
    assert found.icc_2k == pytest.approx(found.target / (found.target + found.residual / 4))


def test_raters_who_always_agree_agree_perfectly():
    found = crossed_components([[1, 1, NA], [5, 5, 5], [3, NA, 3]])
    assert (found.target, found.rater, found.residual) == (pytest.approx(4), 0, 0)
    assert found.icc_21 == found.icc_2k == 1
    assert found.note == "rater_variance_zero residual_variance_zero"
    assert np.isnan(found.interval_2k).all()


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (np.empty((0, 0)), "too_few_ratings"),
        ([[1, 2, 3]], "too_few_ratings"),
        ([[1], [2]], "too_few_ratings"),
        ([[1, NA], [NA, 2]], "too_few_ratings"),
        ([[1, 2, NA, NA], [NA, NA, 3, 4]], "too_few_ratings"),
        ([[4, 4], [4, 4]], "no_variance"),
        ([[1, 2], [3, 4], [2, 3]], "no_residual_variance"),
    ],
)
def test_what_has_no_components_says_why(table, reason):
    found = crossed_components(table)
    assert found.note == reason
    assert np.isnan([found.target, found.icc_21, found.icc_2k, found.k]).all()
    assert np.isnan(found.interval_2k).all()


def test_a_table_has_two_dimensions():
    with pytest.raises(ValueError, match="shape"):
        crossed_components([1, 2, 3])
