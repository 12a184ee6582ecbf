"""Linear mixed models by REML: Wald tests, a parametric bootstrap, means over crossed units.

The optimum is sought over the standard deviations of the terms in those of the residual (theta of
Bates, Maechler, Bolker and Walker 2015, doi:10.18637/jss.v067.i01) and checked afterwards over the
variances, where a zero is a proper boundary: a term of variance zero must not raise the likelihood
by growing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.inference.means import MeanEstimate, by_t, mean_of_units
from delibsim.measures.inference.reml import (
    Evaluations,
    Likelihood,
    Responses,
    Term,
    estimable,
    term,
)

Array = NDArray[np.float64]
Chosen = NDArray[np.intp]
Marks = NDArray[np.bool_]
BOUND = 1e3
"""The largest standard deviation of a term, in those of the residual."""
ZERO = 1e-3
"""A smaller one is tried at zero; a likelihood that rises from there shows that it is not."""
FLAT, NEAR = 1e-3, 1e-6
"""The largest derivatives of the deviance by the logarithm of a variance that count as zero: of a
fit that converged, and of one that needs no further step."""
SMALL = 1e-2
"""The ratio by whose growth from zero the deviance must not fall."""
STEPS = 60
"""The most Newton steps."""
AT_ONCE = 4_000_000
"""The most simulated values held in memory at a time."""


@dataclass(frozen=True)
class MixedFit:
    """A mixed model that was fitted.

    `effects` are the fixed effects in the order of their columns, `covariance` their covariance.
    `variances` are those of the terms by name and of the `residual`. `deviance` is minus twice the
    restricted log likelihood. `note` is "" or has the codes, separated by spaces, of
    "not_converged", "no_variance", "no_residual_variance" (the terms explain every value), and
    "NAME_variance_zero" for a variance at the boundary, which is a value.
    """

    effects: Array
    covariance: Array
    variances: Mapping[str, float]
    deviance: float
    n: int
    converged: bool
    note: str = ""

    @property
    def errors(self) -> Array:
        """Standard errors of the fixed effects."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def z(self) -> Array:
        """Wald's z of the fixed effects."""
        return self.effects / self.errors

    @property
    def p(self) -> Array:
        """Two-sided p values of Wald's z."""
        from scipy.stats import norm

        return 2 * norm.sf(np.abs(self.z))


@dataclass(frozen=True)
class Simulated:
    """Refits of data that were simulated from a fit: one row a draw that converged.

    `variances` has the terms in their order and the residual last; `failed` counts the draws whose
    refit did not converge and that are left out.
    """

    effects: Array
    variances: Array
    failed: int


def mixed_fit(y: ArrayLike, fixed: ArrayLike, terms: Sequence[Term]) -> MixedFit:
    """The model y = fixed effects + terms + residual, by REML.

    `fixed` is rows by columns, of full rank, the intercept among them; at least one term, each of
    which the design can tell apart (`random_effects.estimable`).
    """
    from threadpoolctl import threadpool_limits

    values, columns = np.asarray(y, dtype=float), np.asarray(fixed, dtype=float)
    with threadpool_limits(1):  # threads cost more than they save on matrices this small
        return _fitted(values, Likelihood(columns, terms))


def simulated_fits(
    fit: MixedFit,
    fixed: ArrayLike,
    terms: Sequence[Term],
    draws: int,
    seed: int,
) -> Simulated:
    """Parametric bootstrap: data simulated from a fit, new random effects each time, and refitted.

    This is what lme4's bootMer does with use.u = FALSE and type = "parametric" (Davison and Hinkley
    1997, chapter 2).
    """
    from threadpoolctl import threadpool_limits

    columns = np.asarray(fixed, dtype=float)
    likelihood = Likelihood(columns, terms)
    residual = fit.variances["residual"]
    ratios = np.array([fit.variances[one.name] for one in terms]) / residual
    start = np.maximum(np.sqrt(ratios), 0.05)
    rng = np.random.default_rng(seed)
    effects, variances, failed = [], [], 0
    size = max(1, AT_ONCE // len(columns))
    for begin in range(0, draws, size):
        count = min(size, draws - begin)
        ys = _simulated(terms, ratios, len(columns), count, rng)
        with threadpool_limits(1):
            starts = np.broadcast_to(start, (count, len(start)))
            refits = _optima(likelihood, likelihood.responses(ys), starts)
        kept = np.flatnonzero(refits.found)
        failed += count - len(kept)
        found, at = refits.evaluations.of(kept), refits.ratios[kept]
        effects.append(fit.effects + np.sqrt(residual) * found.effects)
        own = np.column_stack([at, np.ones(len(at))])
        variances.append(residual * found.residual[:, None] * own)
    width = len(terms) + 1
    return Simulated(
        np.concatenate([np.empty((0, columns.shape[1])), *effects]),
        np.concatenate([np.empty((0, width)), *variances]),
        failed,
    )


def _simulated(
    terms: Sequence[Term],
    ratios: Array,
    n: int,
    count: int,
    rng: np.random.Generator,
) -> Array:
    """Random effects and residuals, rows by draws, in standard deviations of the residual."""
    ys = np.empty((n, count))
    for i in range(count):
        y = rng.standard_normal(n)
        for one, ratio in zip(terms, ratios, strict=True):
            drawn = np.sqrt(ratio) * rng.standard_normal(one.count)
            y += one.values * drawn[one.levels]
        ys[:, i] = y
    return ys


def _fitted(values: Array, likelihood: Likelihood) -> MixedFit:
    names = [one.name for one in likelihood.terms]
    n, p = likelihood.fixed.shape
    # About the least-squares fit, so that products of large values cost no digits.
    base = np.linalg.lstsq(likelihood.fixed, values, rcond=None)[0]
    rest = values - likelihood.fixed @ base
    scale = float(np.sqrt(rest @ rest / max(n - p, 1)))
    if n <= p or scale <= 1e-12 * max(1.0, float(np.abs(values).max(initial=0))):
        return _undefined(names, n, p, "no_variance")
    responses = likelihood.responses((rest / scale)[:, None])
    for first in (0.3, 1.0, 0.05):
        refit = _optima(likelihood, responses, np.full((1, len(names)), first))
        if refit.found[0]:
            break
    else:
        return _undefined(names, n, p, "not_converged")
    found, ratios = refit.evaluations, refit.ratios[0]
    if ratios.max() > (0.9 * BOUND) ** 2:
        return _undefined(names, n, p, "no_residual_variance")
    residual = float(found.residual[0]) * scale**2
    variances = dict(zip(names, map(float, ratios * residual), strict=True))
    zeros = [name for name, variance in variances.items() if variance == 0]
    return MixedFit(
        effects=base + scale * found.effects[0],
        covariance=scale**2 * found.covariance[0],
        variances={**variances, "residual": residual},
        deviance=float(found.deviance[0]) + 2 * (n - p) * float(np.log(scale)),
        n=n,
        converged=True,
        note=" ".join(f"{name}_variance_zero" for name in zeros),
    )


def _undefined(names: Sequence[str], n: int, p: int, note: str) -> MixedFit:
    variances = dict.fromkeys([*names, "residual"], float("nan"))
    nothing = np.full((p, p), np.nan)
    return MixedFit(nothing[0], nothing, variances, float("nan"), n, converged=False, note=note)


@dataclass(frozen=True)
class _Optima:
    """Likelihoods of d responses where a search ended, the ratios (d, terms) there, and which of
    them are maxima.
    """

    evaluations: Evaluations
    ratios: Array
    found: Marks


def _optima(likelihood: Likelihood, responses: Responses, starts: Array) -> _Optima:
    """The likelihoods at their maxima, sought from these standard deviations (d, terms).

    Newton's method with the average information takes a few steps from a good start; where it does
    not end at a maximum, a quasi-Newton method is tried from the start and from another.
    """
    all_of_them = _newton(likelihood, responses, starts**2)
    for row in np.flatnonzero(~all_of_them.found):
        own = responses.of(np.array([row]))
        for begin in (starts[row], np.full(starts.shape[1], 0.3)):
            at = _quasi_newton(likelihood, own, begin)
            again = _newton(likelihood, own, at[None])
            if again.found[0]:
                all_of_them.ratios[row], all_of_them.found[row] = again.ratios[0], True
                found = all_of_them.evaluations.replaced(np.array([row]), again.evaluations)
                all_of_them = replace(all_of_them, evaluations=found)
                break
    return all_of_them


def _newton(likelihood: Likelihood, responses: Responses, ratios: Array) -> _Optima:
    """Projected Newton steps over the ratios, each halved until the deviance falls."""
    at = np.array(ratios, dtype=float)
    now = likelihood(at, responses)
    rows = np.arange(len(at))
    for _ in range(STEPS):
        here = now.of(rows)
        rows = rows[np.isfinite(here.deviance) & ~_flat(here, at[rows], NEAR)]
        if not rows.size:
            break
        fell, ahead, further = _stepped(likelihood, responses.of(rows), now.of(rows), at[rows])
        rows = rows[fell]
        at[rows] = further
        now = now.replaced(rows, ahead)
    return _Optima(now, at, _flat(now, at, FLAT))


def _stepped(
    likelihood: Likelihood,
    responses: Responses,
    now: Evaluations,
    ratios: Array,
) -> tuple[Chosen, Evaluations, Array]:
    """One step of each: which of them found a lower deviance, by number, its likelihood there, and
    the ratios.
    """
    free = (ratios > 0) | (now.gradient < 0)
    both = free[:, :, None] & free[:, None, :]
    own = now.information.diagonal(axis1=1, axis2=2)
    # What is not free has a row of the identity, and so does not move.
    ridge = np.where(free, 1e-8 * own + 1e-12, 1.0)
    inner = np.where(both, now.information, 0.0) + ridge[:, :, None] * np.eye(free.shape[1])
    slopes = np.where(free, now.gradient, 0.0)
    step = -np.linalg.solve(inner, slopes[:, :, None])[:, :, 0]
    further, ahead = ratios.copy(), now
    left = np.arange(len(ratios))
    for halved in range(12):
        tried = np.clip(ratios[left] + step[left] / 2**halved, 0.0, BOUND**2)
        here = likelihood(tried, responses.of(left))
        lower = here.deviance < now.deviance[left]
        fell = left[lower]
        further[fell] = tried[lower]
        ahead = ahead.replaced(fell, here.of(np.flatnonzero(lower)))
        left = left[~lower]
        if not left.size:
            break
    fell = np.setdiff1d(np.arange(len(ratios)), left)
    return fell, ahead.of(fell), further[fell]


def _flat(found: Evaluations, ratios: Array, tolerance: float) -> Marks:
    """Whether the deviance is flat in every variance above zero and rises from every zero."""
    slopes = np.where(ratios > 0, np.abs(ratios * found.gradient), -found.gradient * SMALL)
    finite = np.isfinite(found.deviance) & np.isfinite(found.covariance).all(axis=(1, 2))
    return finite & (slopes.max(axis=1) <= tolerance)


def _quasi_newton(likelihood: Likelihood, response: Responses, start: Array) -> Array:
    """The ratios of one response where L-BFGS-B ends, over standard deviations of the terms."""
    from scipy.optimize import minimize

    def deviance(sds: Array) -> tuple[float, Array]:
        found = likelihood(sds[None] ** 2, response)
        return float(found.deviance[0]), 2 * sds * found.gradient[0]

    bounds = [(0.0, BOUND)] * len(start)
    settings = {"ftol": 1e-13, "gtol": 1e-6, "maxiter": 300}
    found = minimize(deviance, start, jac=True, method="L-BFGS-B", bounds=bounds, options=settings)
    return np.where(found.x < ZERO, 0.0, found.x) ** 2


FEW = 5
"""Units of a kind below which nothing is said of units like these."""


@dataclass(frozen=True)
class Crossed:
    """The mean of all cells, and the kinds of units over which it speaks: 0, 1 or both.

    `note` is "few_units" where neither kind has five, "no_variance" or "not_fitted" where there is
    no error for one of these reasons, and else "".
    """

    mean: MeanEstimate
    kinds: tuple[int, ...]
    note: str = ""


def crossed_mean(values: ArrayLike, first: ArrayLike, second: ArrayLike) -> Crossed:
    """The mean of values (n,), one a cell, where units of both kinds are drawn anew.

    `first` and `second` (n,) name the unit of each kind. The model is value = mean + unit of the
    first kind + unit of the second + residual, by REML. Of differences between two treatments these
    are slopes of the treatment by both kinds of units. A kind with fewer than five units is held as
    it is. t has Satterthwaite's degrees of freedom, 2 V^2 / var(V), V being the variance of the
    mean (Giesbrecht and Burns 1985, doi:10.2307/2530872), as lmerTest has; where the variance
    of a kind is estimated at zero, and the interval would be shorter than that over one kind alone,
    error and degrees of freedom are those of that kind.
    """
    y = np.asarray(values, dtype=float)
    both = np.asarray(first), np.asarray(second)
    kinds = tuple(kind for kind in (0, 1) if len(np.unique(both[kind])) >= FEW)
    if not kinds:
        return Crossed(MeanEstimate(float(y.mean()) if len(y) else np.nan), (), "few_units")
    longest = max([_mean_over(y, both[kind]) for kind in kinds], key=_length)
    if len(kinds) == 1 or np.isnan(longest.error):
        return Crossed(longest, kinds, "no_variance" if np.isnan(longest.error) else "")
    fixed = np.ones((len(y), 1))
    terms, left_out = estimable(fixed, [term(str(kind), both[kind]) for kind in kinds])
    fit = None if left_out else mixed_fit(y, fixed, terms)
    if fit is None or not fit.converged:
        return Crossed(MeanEstimate(float(y.mean())), kinds, "not_fitted")
    variances = [fit.variances[one.name] for one in terms]
    df = _satterthwaite(terms, variances, fit.variances["residual"])
    found = by_t(float(fit.effects[0]), float(fit.errors[0]), df)
    if 0 in variances and _length(found) < _length(longest):
        found = by_t(found.estimate, longest.error, longest.df)
    return Crossed(found, kinds)


def _mean_over(values: Array, units: NDArray[np.generic]) -> MeanEstimate:
    codes = np.unique(units, return_inverse=True)[1]
    return mean_of_units(np.bincount(codes, values) / np.bincount(codes))


def _length(found: MeanEstimate) -> float:
    return 0.0 if np.isnan(found.error) else found.high - found.low


def _satterthwaite(terms: list[Term], variances: list[float], residual: float) -> float:
    """The degrees of freedom of the mean, from the information of REML on the variances.

    A variance that is estimated at zero is no parameter.
    """
    n = len(terms[0].levels)
    designs = [one.matrix().toarray() for one in terms]
    whole = residual * np.eye(n)
    for design, variance in zip(designs, variances, strict=True):
        whole += variance * design @ design.T
    inverse = np.linalg.inv(whole)
    weights = inverse.sum(axis=1)
    variance_of_mean = 1 / weights.sum()
    projector = inverse - np.outer(weights, weights) * variance_of_mean
    kept = [np.eye(n)]
    kept += [one for one, variance in zip(designs, variances, strict=True) if variance > 0]
    information = np.empty((len(kept), len(kept)))
    for i, one in enumerate(kept):
        for j, other in enumerate(kept):
            information[i, j] = ((one.T @ projector @ other) ** 2).sum() / 2
    gradient = np.array([((weights @ one) ** 2).sum() for one in kept]) * variance_of_mean**2
    return float(2 * variance_of_mean**2 / (gradient @ np.linalg.solve(information, gradient)))
