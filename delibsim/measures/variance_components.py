"""Variance components of ratings: targets and raters as crossed random effects, by REML.

The design may be incomplete: each rater rates some of the targets only. The model is

    value = mean + target + rater + residual,

the last three normal and independent of each other. On complete data the estimates are those of
the analysis of variance, as long as these are not negative (Searle, Casella and McCulloch 1992).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
BOUND = 1e3
"""The largest standard deviation of targets or raters, in those of the residual."""
ZERO = 1e-4
"""A smaller one, in standard deviations of the residual, is zero if the likelihood is no lower."""


@dataclass(frozen=True)
class Components:
    """The variances of targets, raters and residual, in squared points of the scale.

    `k` is the harmonic mean of the number of ratings of a target. `note` is "" or why the
    variances are NaN: "too_few_ratings" (fewer than two targets or raters, no target rated twice,
    or no rater who rated twice), "no_variance", "no_residual_variance" (targets and raters explain
    every rating, and nothing says how much is whose) or "not_converged". A variance of 0, at the
    boundary, is a value, and the note says so: "rater_variance_zero", for instance.
    """

    target: float
    rater: float
    residual: float
    k: float
    note: str = ""

    @property
    def icc_21(self) -> float:
        """ICC(2,1): absolute agreement of one rater (Shrout and Fleiss 1979)."""
        return self._agreement(1.0)

    @property
    def icc_2k(self) -> float:
        """ICC(2,k): absolute agreement of the mean of `k` raters (Shrout and Fleiss 1979).

        Targets that are rated by different numbers of raters have the mean error variance of
        targets rated by the harmonic mean of these numbers (Putka, Le, McCloy and Diaz 2008).
        """
        return self._agreement(self.k)

    def _agreement(self, k: float) -> float:
        total = self.target + (self.rater + self.residual) / k
        return self.target / total if total > 0 else float("nan")


def crossed_components(ratings: ArrayLike) -> Components:
    """Variances of targets and raters by REML; `ratings` is targets by raters, NaN where missing.

    The likelihood is profiled over mean and residual variance, and evaluated by Woodbury's
    identity on a matrix of raters by raters, so that hundreds of targets take milliseconds.

    >>> found = crossed_components([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6],
    ...                             [10, 5, 6, 9], [6, 2, 4, 7]])
    >>> round(found.icc_21, 2), round(found.icc_2k, 2)  # Shrout and Fleiss 1979, table 4
    (0.29, 0.62)
    """
    from scipy.optimize import minimize

    table = np.asarray(ratings, dtype=float)
    if table.ndim != 2:
        raise ValueError(f"ratings are targets by raters, not of shape {table.shape}")
    table = table[~np.isnan(table).all(axis=1)]
    table = table[:, ~np.isnan(table).all(axis=0)]
    given = ~np.isnan(table)
    reason = _why_undefined(table, given)
    if reason:
        return Components(*[float("nan")] * 4, note=reason)
    k = float(1 / np.mean(1 / given.sum(axis=1)))
    if not np.nanstd(table, axis=1).any():
        note = "rater_variance_zero residual_variance_zero"
        return Components(float(np.nanmean(table, axis=1).var(ddof=1)), 0.0, 0.0, k, note)
    profile = _Profile(table, given)
    start = np.ones(2)
    settings = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 2000}
    bounds = [(0.0, BOUND)] * 2
    found = minimize(profile, start, method="Nelder-Mead", bounds=bounds, options=settings)
    if not found.success:
        return Components(*[float("nan")] * 4, note="not_converged")
    if found.x.max() > 0.9 * BOUND:
        return Components(*[float("nan")] * 4, note="no_residual_variance")
    target, rater = profile.settled(found.x)
    residual = profile.residual(np.array([target, rater]))
    zero = [name for name, sd in (("target", target), ("rater", rater)) if sd == 0]
    return Components(
        target=target**2 * residual,
        rater=rater**2 * residual,
        residual=residual,
        k=k,
        note=" ".join(f"{name}_variance_zero" for name in zero),
    )


class _Profile:
    """Minus twice the REML log likelihood (less a constant) at two relative standard deviations."""

    def __init__(self, table: Array, given: NDArray[np.bool_]) -> None:
        self.filled = np.where(given, table - table[given].mean(), 0.0)
        self.given = given.astype(float)
        self.of_target = self.given.sum(axis=1)
        self.of_rater = self.given.sum(axis=0)
        self.n = float(self.given.sum())

    def __call__(self, sds: Array) -> float:
        quadratic, logs = self._parts(sds)
        return (self.n - 1) * float(np.log(quadratic)) + logs

    def residual(self, sds: Array) -> float:
        """The variance of the residual at which the likelihood is highest, given the others."""
        return self._parts(sds)[0] / (self.n - 1)

    def settled(self, sds: Array) -> tuple[float, float]:
        """Standard deviations with those at the boundary put to zero."""
        for i in range(2):
            lower = np.array(sds, dtype=float)
            lower[i] = 0.0
            if sds[i] < ZERO and self(lower) <= self(sds) + 1e-9:
                sds = lower
        return float(sds[0]), float(sds[1])

    def _parts(self, sds: Array) -> tuple[float, float]:
        """The quadratic form of the values about their mean, and the logarithms of determinants."""
        target, rater = sds**2
        # Of the inverse of I + target * Z Z', Z being the targets' indicators, this is the part
        # that every pair of ratings of one target shares.
        shared = target / (1 + target * self.of_target)
        weighted = self.given.T * shared
        inner = np.diag(self.of_rater) - weighted @ self.given
        matrix = np.eye(len(self.of_rater)) + rater * inner
        ones, values = self.given, self.filled
        right = np.column_stack([self._by_rater(ones, shared), self._by_rater(values, shared)])
        solved = rater * np.linalg.solve(matrix, right)
        plain = self._products(ones, values, shared)
        products = plain - right.T @ solved
        quadratic = products[1, 1] - products[0, 1] ** 2 / products[0, 0]
        logs = np.log1p(target * self.of_target).sum() + np.linalg.slogdet(matrix)[1]
        return float(quadratic), float(logs + np.log(products[0, 0]))

    def _by_rater(self, values: Array, shared: Array) -> Array:
        """Z_r' W values, W being the inverse of I + target * Z Z'."""
        return values.sum(axis=0) - self.given.T @ (shared * values.sum(axis=1))

    def _products(self, ones: Array, values: Array, shared: Array) -> Array:
        """The products of the mean's column and the values under W, two by two."""
        sums = np.column_stack([ones.sum(axis=1), values.sum(axis=1)])
        flat = np.column_stack([ones.ravel(), values.ravel()])
        return flat.T @ flat - (sums.T * shared) @ sums


def _why_undefined(table: Array, given: NDArray[np.bool_]) -> str:
    if min(table.shape, default=0) < 2:
        return "too_few_ratings"
    if given.sum(axis=1).max() < 2 or given.sum(axis=0).max() < 2:
        return "too_few_ratings"
    return "no_variance" if np.ptp(table[given]) == 0 else ""
