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
DENSE = 20_000
"""Cells of a table up to which it is quicker to multiply it with its zeros."""


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
    identity on a square matrix of as many rows as there are raters, or targets if these are fewer,
    so that hundreds of both take less than a second. ValueError for another shape.

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
    # The model does not tell targets from raters: the fewer of the two are the columns.
    turned = table.shape[1] > table.shape[0]
    profile = _Profile(table.T, given.T) if turned else _Profile(table, given)
    settings = {"xatol": 1e-7, "fatol": 1e-8, "maxiter": 2000}
    bounds = [(0.0, BOUND)] * 2
    found = minimize(profile, np.ones(2), method="Nelder-Mead", bounds=bounds, options=settings)
    if not found.success:
        return Components(*[float("nan")] * 4, note="not_converged")
    if found.x.max() > 0.9 * BOUND:
        return Components(*[float("nan")] * 4, note="no_residual_variance")
    sds = profile.settled(found.x)
    residual = profile.residual(sds)
    target, rater = map(float, sds[::-1] if turned else sds)
    zero = [name for name, sd in (("target", target), ("rater", rater)) if sd == 0]
    return Components(
        target=target**2 * residual,
        rater=rater**2 * residual,
        residual=residual,
        k=k,
        note=" ".join(f"{name}_variance_zero" for name in zero),
    )


class _Profile:
    """Minus twice the REML log likelihood, less a constant, of two relative standard deviations.

    They are those of the rows and of the columns of the table, in residual standard deviations.
    """

    def __init__(self, table: Array, given: NDArray[np.bool_]) -> None:
        from scipy.sparse import csr_array

        values = np.where(given, table - table[given].mean(), 0.0)
        ones = given.astype(float)
        self.n = float(ones.sum())
        self.given = ones if ones.size <= DENSE else csr_array(ones)
        # Of the mean's column and the values: their sums by row and by column, and products.
        self.by_row = np.column_stack([ones.sum(axis=1), values.sum(axis=1)])
        self.by_column = np.column_stack([ones.sum(axis=0), values.sum(axis=0)])
        self.products = np.diag([self.n, float((values**2).sum())])

    def __call__(self, sds: Array) -> float:
        quadratic, logs = self._parts(sds)
        return (self.n - 1) * float(np.log(quadratic)) + logs

    def residual(self, sds: Array) -> float:
        """The variance of the residual at which the likelihood is highest, given the others."""
        return self._parts(sds)[0] / (self.n - 1)

    def settled(self, sds: Array) -> Array:
        """Standard deviations with those at the boundary put to zero."""
        for i in range(2):
            lower = np.array(sds, dtype=float)
            lower[i] = 0.0
            if sds[i] < ZERO and self(lower) <= self(sds) + 1e-9:
                sds = lower
        return sds

    def _parts(self, sds: Array) -> tuple[float, float]:
        """The quadratic form of the values about their mean, and the logarithms of determinants."""
        from scipy.linalg import cho_factor, cho_solve

        row, column = sds**2
        # Of the inverse of I + row * Z Z', Z being the indicators of the rows, this is the part
        # that every pair of ratings in one row shares.
        shared = row / (1 + row * self.by_row[:, 0])
        matrix = column * (np.diag(self.by_column[:, 0]) - self._pairs(shared))
        factor = cho_factor(matrix + np.eye(len(matrix)))
        right = self.by_column - self.given.T @ (shared[:, None] * self.by_row)
        left = self.products - (self.by_row.T * shared) @ self.by_row
        products = left - column * right.T @ cho_solve(factor, right)
        quadratic = products[1, 1] - products[0, 1] ** 2 / products[0, 0]
        determinant = 2 * np.log(np.diag(factor[0])).sum()
        logs = np.log1p(row * self.by_row[:, 0]).sum() + determinant
        return float(quadratic), float(logs + np.log(products[0, 0]))

    def _pairs(self, weights: Array) -> Array:
        """For each pair of columns, the sum of the weights of the rows with a value in both."""
        if isinstance(self.given, np.ndarray):
            return (self.given.T * weights) @ self.given
        return (self.given.T.multiply(weights) @ self.given).toarray()


def _why_undefined(table: Array, given: NDArray[np.bool_]) -> str:
    if min(table.shape, default=0) < 2:
        return "too_few_ratings"
    if given.sum(axis=1).max() < 2 or given.sum(axis=0).max() < 2:
        return "too_few_ratings"
    return "no_variance" if np.ptp(table[given]) == 0 else ""
