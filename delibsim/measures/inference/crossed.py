"""A mean over two crossed kinds of units, such as topics and models, both drawn at random."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.inference.means import Mean, mean_of_units
from delibsim.measures.inference.mixed import mixed_fit
from delibsim.measures.inference.random_effects import Term, estimable, term

Array = NDArray[np.float64]


FEW = 5
"""Units of a kind below which nothing is said of units like these."""


@dataclass(frozen=True)
class Crossed:
    """The mean of all cells, and the kinds of units over which it speaks: 0, 1 or both.

    `note` is "few_units" where neither kind has five, "no_variance" or "not_fitted" where there is
    no error for one of these reasons, and else "".
    """

    mean: Mean
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
        return Crossed(Mean(float(y.mean()) if len(y) else np.nan), (), "few_units")
    longest = max([_mean_over(y, both[kind]) for kind in kinds], key=_length)
    if len(kinds) == 1 or np.isnan(longest.error):
        return Crossed(longest, kinds, "no_variance" if np.isnan(longest.error) else "")
    fixed = np.ones((len(y), 1))
    terms, left_out = estimable(fixed, [term(str(kind), both[kind]) for kind in kinds])
    fit = None if left_out else mixed_fit(y, fixed, terms)
    if fit is None or not fit.converged:
        return Crossed(Mean(float(y.mean())), kinds, "not_fitted")
    variances = [fit.variances[one.name] for one in terms]
    df = _satterthwaite(terms, variances, fit.variances["residual"])
    found = _by_t(float(fit.effects[0]), float(fit.errors[0]), df)
    if 0 in variances and _length(found) < _length(longest):
        found = _by_t(found.estimate, longest.error, longest.df)
    return Crossed(found, kinds)


def _mean_over(values: Array, units: NDArray[np.generic]) -> Mean:
    codes = np.unique(units, return_inverse=True)[1]
    return mean_of_units(np.bincount(codes, values) / np.bincount(codes))


def _length(found: Mean) -> float:
    return 0.0 if np.isnan(found.error) else found.high - found.low


def _by_t(estimate: float, error: float, df: float) -> Mean:
    from scipy.special import stdtr, stdtrit

    half = float(stdtrit(df, 0.975)) * error
    p = float(2 * stdtr(df, -abs(estimate / error)))
    return Mean(estimate, error, df, estimate - half, estimate + half, p)


def _satterthwaite(terms: list[Term], variances: list[float], residual: float) -> float:
    """The degrees of freedom of the mean, from the information of REML on the variances.

    A variance that is estimated at zero is no parameter.
    """
    n = len(terms[0].levels)
    parts = [np.eye(n)]
    whole = residual * np.eye(n)
    for one, variance in zip(terms, variances, strict=True):
        design = one.matrix().toarray()
        whole += variance * design @ design.T
        if variance > 0:
            parts.append(design @ design.T)
    inverse = np.linalg.inv(whole)
    weights = inverse.sum(axis=1)
    variance_of_mean = 1 / weights.sum()
    projector = inverse - np.outer(weights, weights) * variance_of_mean
    of_parts = [projector @ part for part in parts]
    rows, columns = np.array([one.ravel() for one in of_parts]), [one.T for one in of_parts]
    information = rows @ np.array([one.ravel() for one in columns]).T / 2
    gradient = np.array([weights @ part @ weights for part in parts]) * variance_of_mean**2
    return float(2 * variance_of_mean**2 / (gradient @ np.linalg.solve(information, gradient)))
