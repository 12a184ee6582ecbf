"""The mixed model against lme4, statsmodels and a dense likelihood; its parametric bootstrap."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from delibsim.measures.inference.mixed import crossed_mean, mixed_fit, simulated_fits
from delibsim.measures.inference.reml import Likelihood, estimable, independent, term

FOLDER = Path(__file__).parents[2] / "reference"
ORACLE = json.loads((FOLDER / "mixed_lme4.json").read_text())["fits"]
DATA = pd.read_csv(FOLDER / "mixed_lme4.csv")
NAMES = {
    ("topic", "(Intercept)"): "topic",
    ("model", "(Intercept)"): "model",
    ("model", "basic"): "basic",
    ("model", "normative"): "normative",
    ("topic.replicate", "(Intercept)"): "pair",
    ("Residual", None): "residual",
}


def model_of(name):
    """Values, fixed effects and terms of a case of the reference, such as "balanced paired"."""
    case, _, formula = name.partition(" ")
    data = DATA[DATA["case"] == case]
    basic, normative = data["treatment"] == "basic", data["treatment"] == "normative"
    fixed = np.column_stack([np.ones(len(data)), basic, normative]).astype(float)
    terms = [
        term("topic", data["topic"]),
        term("model", data["model"]),
        term("basic", data["model"], basic),
        term("normative", data["model"], normative),
    ]
    if formula == "paired":
        terms.append(term("pair", data["topic"] + data["replicate"].astype(str)))
    return data["y"].to_numpy(), fixed, terms


def named(oracle):
    """The variances of lme4 by our names; model.1 and such are model again."""
    groups = [group.partition(".")[0] if "model" in group else group for group in oracle["groups"]]
    keys = zip(groups, oracle["terms"], strict=True)
    return {NAMES[key]: value for key, value in zip(keys, oracle["variances"], strict=True)}


@pytest.mark.parametrize("name", ORACLE)
def test_estimates_errors_variances_and_likelihood_are_those_of_lme4(name):
    oracle = ORACLE[name]
    fit = mixed_fit(*model_of(name))
    assert fit.converged
    assert fit.n == oracle["n"]
    assert fit.deviance == pytest.approx(-2 * oracle["log_likelihood"], abs=1e-7)
    assert fit.effects == pytest.approx(oracle["estimates"], abs=1e-7)
    assert fit.errors == pytest.approx(oracle["errors"], rel=2e-5)
    variances = named(oracle)
    assert fit.variances == pytest.approx(variances, rel=2e-4, abs=1e-9)
    zeros = {name for name, variance in variances.items() if variance < 1e-9}
    assert set(fit.note.split()) == {f"{name}_variance_zero" for name in zeros}


def test_the_reference_has_zeros_and_none():
    zeros = [min(oracle["variances"]) < 1e-9 for oracle in ORACLE.values()]
    assert any(zeros)
    assert not all(zeros)


def test_values_far_from_zero_or_in_other_units_give_the_same_fit():
    y, fixed, terms = model_of("unbalanced paired")
    fit, moved = mixed_fit(y, fixed, terms), mixed_fit(1e4 + 500 * y, fixed, terms)
    assert moved.errors == pytest.approx(500 * fit.errors, rel=1e-4)
    assert moved.effects[1:] == pytest.approx(500 * fit.effects[1:], rel=1e-4)
    assert moved.variances["pair"] == pytest.approx(500**2 * fit.variances["pair"], rel=1e-3)


def test_the_gradient_is_that_of_the_dense_restricted_likelihood():
    y, fixed, terms = model_of("unbalanced paired")
    ratios = np.array([0.3, 0.1, 0.0, 0.2, 0.4])
    likelihood = Likelihood(fixed, terms)
    found = likelihood(ratios[None], likelihood.responses(y[:, None]))

    def dense(at):
        covariance = np.eye(len(y))
        for one, ratio in zip(terms, at, strict=True):
            design = one.matrix().toarray()
            covariance += ratio * design @ design.T
        inverse = np.linalg.inv(covariance)
        information = fixed.T @ inverse @ fixed
        effects = np.linalg.solve(information, fixed.T @ inverse @ y)
        rest = y - fixed @ effects
        free = len(y) - fixed.shape[1]
        logs = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(information)[1]
        return logs + free * (1 + np.log(2 * np.pi * (rest @ inverse @ rest) / free))

    assert found.deviance[0] == pytest.approx(dense(ratios), abs=1e-8)
    for k in range(5):
        step = 1e-5 * np.eye(5)[k]
        slope = (dense(ratios + step) - dense(ratios - step)) / 2e-5
        assert found.gradient[0, k] == pytest.approx(slope, abs=1e-3)


def test_a_small_model_is_that_of_statsmodels():
    import statsmodels.formula.api as smf

    rng = np.random.default_rng(8)
    t, m, _ = (part.ravel() for part in np.indices((6, 5, 3)))
    x = rng.integers(0, 2, len(t))
    y = 0.1 * x + rng.normal(0, 0.5, 6)[t] + rng.normal(0, 0.3, 5)[m] + rng.normal(0, 0.4, len(t))
    data = pd.DataFrame({"y": y, "x": x, "t": t, "m": m, "one": 1})
    parts = {"t": "0 + C(t)", "m": "0 + C(m)"}
    other = smf.mixedlm("y ~ x", data, groups="one", vc_formula=parts).fit(reml=True)
    fit = mixed_fit(y, np.column_stack([np.ones(len(t)), x]), [term("t", t), term("m", m)])
    assert fit.effects == pytest.approx(other.fe_params.to_numpy(), abs=1e-4)
    assert fit.errors == pytest.approx(other.bse_fe.to_numpy(), rel=1e-3)
    assert [fit.variances["m"], fit.variances["t"]] == pytest.approx(list(other.vcomp), rel=5e-3)
    assert fit.variances["residual"] == pytest.approx(other.scale, rel=1e-3)
    assert fit.p == pytest.approx(other.pvalues[:2].to_numpy(), rel=1e-2, abs=1e-6)


def test_one_term_alone_is_fitted_too():
    t = np.repeat(np.arange(6), 4)
    y = np.random.default_rng(3).normal(0, 1, 6)[t] + np.random.default_rng(4).normal(0, 1, 24)
    fit = mixed_fit(y, np.ones((24, 1)), [term("t", t)])
    means = y.reshape(6, 4).mean(axis=1)
    within = ((y.reshape(6, 4) - means[:, None]) ** 2).sum() / 18
    assert fit.variances["residual"] == pytest.approx(within, rel=1e-5)
    assert fit.variances["t"] == pytest.approx(means.var(ddof=1) - within / 4, rel=1e-4)


def test_intervals_of_the_bootstrap_are_those_of_boot_mer_up_to_monte_carlo_error():
    """Of 600 draws here and 1,000 there, an end of an interval has a Monte-Carlo error of about
    0.12 standard deviations of the draws, so 0.5 of them are four errors.
    """
    oracle = ORACLE["unbalanced paired"]["boot"]
    y, fixed, terms = model_of("unbalanced paired")
    again = simulated_fits(mixed_fit(y, fixed, terms), fixed, terms, 600, seed=1)
    assert again.failed == 0
    low, high = np.quantile(again.effects, [0.025, 0.975], axis=0)
    tolerance = 0.5 * again.effects.std(axis=0)
    assert (np.abs(low - oracle["low"][:3]) < tolerance).all()
    assert (np.abs(high - oracle["high"][:3]) < tolerance).all()
    spread = again.variances.std(axis=0)[-1]
    ends = np.quantile(again.variances[:, -1], [0.025, 0.975])
    assert ends == pytest.approx([oracle["low"][-1], oracle["high"][-1]], abs=0.5 * spread)


def test_a_draw_is_fitted_alike_alone_and_among_others():
    y, fixed, terms = model_of("unbalanced paired")
    likelihood = Likelihood(fixed, terms)
    ys = np.random.default_rng(2).normal(size=(len(y), 60)) + 0.5 * y[:, None]
    ratios = np.random.default_rng(3).uniform(0, 1, (60, len(terms)))
    together = likelihood(ratios, likelihood.responses(ys))
    for i in (0, 31, 59):
        alone = likelihood(ratios[[i]], likelihood.responses(ys[:, [i]]))
        for name, part in vars(together.of(np.array([i]))).items():
            assert part == pytest.approx(vars(alone)[name], rel=1e-8, abs=1e-10)


def test_rounding_that_leaves_no_covariance_gives_no_number_and_spares_the_others():
    y, fixed, terms = model_of("balanced plain")
    likelihood = Likelihood(fixed, terms)
    ratios = np.array([[0.1] * 4, [np.nan] * 4])
    found = likelihood(ratios, likelihood.responses(np.column_stack([y, y])))
    assert np.isfinite(found.deviance[0])
    assert np.isnan(found.deviance[1])


def test_values_without_variance_have_no_fit():
    t = np.repeat(np.arange(6), 4)
    fit = mixed_fit(np.full(24, 0.3), np.ones((24, 1)), [term("t", t)])
    assert (fit.converged, fit.note) == (False, "no_variance")
    assert np.isnan(fit.effects).all()


def exact(rng, n, variance):
    """Values (n,) whose mean is 0 and whose variance is exactly this."""
    drawn = rng.normal(size=n)
    return (drawn - drawn.mean()) / drawn.std(ddof=1) * variance**0.5


def balanced(plates, samples, of_plate, of_sample, residual, mean):
    """A balanced table on which REML estimates exactly these variances."""
    rng = np.random.default_rng(1)
    rest = rng.normal(size=(plates, samples))
    rest -= rest.mean(axis=0)
    rest -= rest.mean(axis=1, keepdims=True)
    rest *= np.sqrt(residual * (plates - 1) * (samples - 1) / (rest**2).sum())
    first = exact(rng, plates, of_plate + residual / samples)
    second = exact(rng, samples, of_sample + residual / plates)
    y = (mean + first[:, None] + second + rest).ravel()
    return y, np.repeat(np.arange(plates), samples), np.tile(np.arange(samples), plates)


def test_it_is_the_mean_of_lme4_and_lmertest():
    """Penicillin (24 plates, 6 samples) in Bates, lme4: Mixed-effects Modeling with R, chapter 2:
    variances .7149, 3.7309, .3024; mean 22.9722, standard error .8086. Satterthwaite 1946: V^2 by
    the mean squares.
    """
    y, plate, sample = balanced(24, 6, 0.7149, 3.7309, 0.3024, 22.9722)
    found = crossed_mean(y, plate, sample)
    assert found.kinds == (0, 1)
    assert (found.mean.estimate, found.mean.error) == pytest.approx((22.9722, 0.8086), abs=1e-4)
    of_plate, of_sample = 6 * 0.7149 + 0.3024, 24 * 3.7309 + 0.3024
    squares = of_plate**2 / 23 + of_sample**2 / 5 + 0.3024**2 / 115
    df = (of_plate + of_sample - 0.3024) ** 2 / squares
    assert found.mean.df == pytest.approx(df, rel=1e-6)


@pytest.mark.parametrize("variances", [(0.09, 0.09), (1, 1)])
def test_the_interval_holds_the_truth(variances):
    """150 studies of six topics and five models a case; the simulation error is .018."""
    rng = np.random.default_rng([7, *map(int, np.multiply(variances, 100))])
    topics, models, held = np.repeat(np.arange(6), 5), np.tile(np.arange(5), 6), []
    for _ in range(150):
        y = rng.normal(size=30) + rng.normal(0, variances[0] ** 0.5, 6)[topics]
        mean = crossed_mean(y + rng.normal(0, variances[1] ** 0.5, 5)[models], topics, models).mean
        held.append(mean.low <= 0 <= mean.high)
    assert 0.91 <= np.mean(held) <= 0.99


def test_a_kind_with_fewer_than_five_units_is_held_as_it_is():
    rng = np.random.default_rng(3)
    y, topics, models = rng.normal(size=24), np.repeat(np.arange(8), 3), np.tile(np.arange(3), 8)
    found = crossed_mean(y, topics, models)
    assert (found.kinds, found.mean.df) == ((0,), 7)
    assert crossed_mean(y, models, topics).kinds == (1,)
    few = crossed_mean(y[:9], topics[:9], models[:9])
    assert (few.note, few.kinds) == ("few_units", ())
    assert np.isnan(few.mean.error)
    assert few.mean.estimate == pytest.approx(y[:9].mean())


def test_equal_values_are_undecided():
    topics, models = np.repeat(np.arange(6), 5), np.tile(np.arange(5), 6)
    found = crossed_mean(np.full(30, 0.1), topics, models)
    assert found.note == "no_variance"
    assert np.isnan([found.mean.error, found.mean.p]).all()


TOPIC, REPLICATE, TREATMENT = (part.ravel() for part in np.indices((4, 3, 2)))
FIXED = np.column_stack([np.ones(24), TREATMENT]).astype(float)


def test_a_term_with_one_level_is_left_out():
    assert estimable(FIXED, [term("model", np.zeros(24))]) == ([], {"model": "one_level"})


def test_a_term_that_repeats_another_or_the_residual_is_left_out():
    again = term("again", TOPIC + 7)
    rows = term("row", np.arange(24))
    kept, left_out = estimable(FIXED, [term("topic", TOPIC), again, rows])
    assert [one.name for one in kept] == ["topic"]
    assert left_out == {"again": "not_identified", "row": "not_identified"}


def test_a_term_within_the_fixed_effects_is_left_out():
    assert estimable(FIXED, [term("treatment", TREATMENT)])[1] == {"treatment": "not_identified"}


def test_columns_without_anything_new_are_not_independent():
    columns = np.column_stack([FIXED, 1 - TREATMENT, np.zeros(24), TOPIC])
    assert independent(columns) == [0, 1, 4]
