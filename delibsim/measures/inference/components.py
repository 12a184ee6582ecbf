"""Intraclass correlation of clusters, and variance components of crossed targets and raters.

`intraclass` has the variances that make the mean squares equal to their expectation (Henderson's
method III; Searle, Casella and McCulloch 1992, section 5.5); without fixed effects it is ICC(1)
with Donner's mean size of a cluster (Donner 1986, https://doi.org/10.2307/1403259). The estimate
can be negative, which REML rules out. `crossed_components` is by REML, of a design that may be
incomplete; on complete data it is the analysis of variance, as long as no variance is negative.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from delibsim.measures.inference.mixed import mixed_fit
from delibsim.measures.inference.reml import Likelihood, Term, term

Array = NDArray[np.float64]

RANK = 1e-9
"""The share of the largest eigenvalue below which an eigenvalue is 0."""


@dataclass(frozen=True)
class Intraclass:
    """An intraclass correlation with its 95% interval from the F distribution, and the variances
    `within` clusters and `between` them, which can be negative.

    `note` is "" or why it is NaN: "one_cluster", "no_replication" (no degree of freedom within
    clusters) or "no_variance".
    """

    icc: float
    low: float
    high: float
    clusters: int
    n: int
    note: str = ""
    within: float = float("nan")
    between: float = float("nan")


def intraclass(
    values: ArrayLike,
    clusters: ArrayLike,
    fixed: ArrayLike | None = None,
    level: float = 0.95,
) -> Intraclass:
    """The correlation of values of one cluster, and its interval.

    `values` (n,) have no NaN, `clusters` (n,) names the cluster of each. `fixed` (n, k) are
    predictors that are taken out first, such as indicators of model and treatment; a constant is
    understood, and predictors that follow from others do no harm.

    The ratio of both mean squares, divided by its expectation, has the distribution of F where
    clusters are of one size (Searle 1971, Linear Models, section 9.9; Shrout and Fleiss 1979). With
    unequal sizes, and after fixed effects, the size of a cluster is n0, the factor of the variance
    of clusters in the expectation of their mean square, and the interval is an approximation.

    >>> ratings = [9, 2, 5, 8, 6, 1, 3, 2, 8, 4, 6, 8, 7, 1, 2, 6, 10, 5, 6, 9, 6, 2, 4, 7]
    >>> found = intraclass(ratings, np.repeat(range(6), 4))  # Shrout and Fleiss 1979, table 4
    >>> round(found.icc, 2), round(found.low, 2), round(found.high, 2)
    (0.17, -0.13, 0.72)
    """
    from scipy.stats import f as fisher

    found = np.asarray(values, dtype=float)
    names, codes = np.unique(np.asarray(clusters), return_inverse=True)
    nan, n = float("nan"), len(found)
    if len(names) < 2:
        return Intraclass(nan, nan, nan, len(names), n, "one_cluster")
    y = found - found.mean()
    given = np.empty((n, 0)) if fixed is None else np.asarray(fixed, dtype=float)
    x = np.column_stack([np.ones(n), given])
    left, basis = _taken_out(y, x)
    residual, within = _taken_out(_centred(y, codes), _centred(x, codes))
    rank, within_rank = basis.shape[1], within.shape[1]
    # Of the space that clusters and predictors span together, clusters beyond predictors.
    between_df = len(names) + within_rank - rank
    residual_df = n - len(names) - within_rank
    if not (residual_df > 0 and between_df > 0 and left > RANK * float(y @ y)):
        note = "no_variance" if np.ptp(found) == 0 else "no_replication"
        return Intraclass(nan, nan, nan, len(names), n, note)
    sums = np.zeros((len(names), rank))
    np.add.at(sums, codes, basis)
    size = (n - float((sums**2).sum())) / between_df
    error, between = residual / residual_df, (left - residual) / between_df
    icc = (between - error) / (between + (size - 1) * error)
    ends = fisher.ppf([(1 + level) / 2, (1 - level) / 2], between_df, residual_df) * error
    low, high = (between - ends) / (between + (size - 1) * ends)
    ends = float(low), float(high)
    variances = float(error), float((between - error) / size)
    return Intraclass(float(icc), *ends, len(names), n, "", *variances)


def _centred(values: Array, codes: NDArray[np.intp]) -> Array:
    """Values about the mean of their cluster."""
    sums = np.zeros((codes.max() + 1, *values.shape[1:]))
    np.add.at(sums, codes, values)
    sizes = np.bincount(codes).reshape(-1, *[1] * (values.ndim - 1))
    return values - (sums / sizes)[codes]


def _taken_out(y: Array, x: Array) -> tuple[float, Array]:
    """The sum of squares of y without what x explains, and an orthonormal basis of x."""
    vectors, sizes, _ = np.linalg.svd(x, full_matrices=False)
    basis = vectors[:, sizes > RANK * max(float(sizes.max(initial=0)), RANK)]
    rest = y - basis @ (basis.T @ y)
    return float(rest @ rest), basis


def of_means(icc: float, k: float) -> float:
    """The reliability of the mean of k values, by Spearman (1910) and Brown (1910).

    >>> round(of_means(0.606796, 3), 6)
    0.822368
    """
    below = 1 + (k - 1) * icc
    return k * icc / below if below > 0 else float("nan")


def raters_needed(icc: float, wanted: float = 0.8) -> float:
    """How many raters a unit must have for a mean of this reliability; NaN where single ratings
    have none.

    >>> round(raters_needed(0.025))
    156
    """
    return wanted * (1 - icc) / (icc * (1 - wanted)) if icc > 0 else float("nan")


LEVEL = 0.95
"""The level of the intervals."""
WIDEST = 33.0
"""How far from the estimate an end of an interval is looked for, on the scale of log odds."""
NEAR = 5.0
"""How far from its estimate the logarithm of the ratio of raters to residual is looked for."""
SMALLEST = -14.0
"""The logarithm of a ratio of variances that is taken for none."""
GRID = 17
"""Points of a grid over the variance of raters."""


@dataclass(frozen=True)
class Components:
    """The variances of targets, raters and residual, in squared points of the scale.

    `k` is the harmonic mean of the number of ratings of a target. `odds_low` and `odds_high` are
    the ends of an interval of target / (rater + residual), by the profile of the restricted
    likelihood; NaN where there is none, infinity where nothing bounds it. `note` is "" or why the
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
    odds_low: float = float("nan")
    odds_high: float = float("nan")

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

    @property
    def interval_21(self) -> tuple[float, float]:
        """The 95% interval of ICC(2,1)."""
        return self._interval(1.0)

    @property
    def interval_2k(self) -> tuple[float, float]:
        """The 95% interval of ICC(2,k).

        A test simulates panels of 5 and 6 raters and counts how often it holds the truth.
        """
        return self._interval(self.k)

    def _agreement(self, k: float) -> float:
        total = self.target + (self.rater + self.residual) / k
        return self.target / total if total > 0 else float("nan")

    def _interval(self, k: float) -> tuple[float, float]:
        low, high = (1 - 1 / (1 + k * odds) for odds in (self.odds_low, self.odds_high))
        return low, high


def crossed_components(ratings: ArrayLike) -> Components:
    """Variances of targets and raters by REML; `ratings` is targets by raters, NaN where missing.

    Hundreds of both take about a second. ValueError for another shape.

    >>> found = crossed_components([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6],
    ...                             [10, 5, 6, 9], [6, 2, 4, 7]])
    >>> round(found.icc_21, 2), round(found.icc_2k, 2)  # Shrout and Fleiss 1979, table 4
    (0.29, 0.62)
    """
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
    of_target, of_rater = np.nonzero(given)
    terms = [term("target", of_target), term("rater", of_rater)]
    values = table[given]
    fixed = np.ones((len(values), 1))
    fit = mixed_fit(values, fixed, terms)
    if not fit.converged:
        note = "no_residual_variance" if _explained(values, terms) else fit.note
        return Components(*[float("nan")] * 4, note=note)
    target, rater, residual = (fit.variances[name] for name in ("target", "rater", "residual"))
    with threadpool_limits(1):  # threads cost more than they save on matrices this small
        low, high = _odds_interval(
            _Profile(values, fixed, terms), target / residual, rater / residual
        )
    return Components(target, rater, residual, k, fit.note, low, high)


def _explained(values: Array, terms: Sequence[Term]) -> bool:
    """Whether targets and raters explain every rating."""
    design = np.hstack([one.matrix().toarray() for one in terms])
    rest = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
    return bool(np.abs(rest).max() <= RANK * np.abs(values).max())


class _Profile:
    """Minus twice the REML log likelihood, less a constant, of the variances of targets and raters
    in those of the residual.
    """

    def __init__(self, values: Array, fixed: Array, terms: Sequence[Term]) -> None:
        self._likelihood = Likelihood(fixed, terms)
        self._responses = self._likelihood.responses((values - values.mean())[:, None])

    def __call__(self, targets: ArrayLike, raters: ArrayLike) -> Array:
        """At several variances at once, (d,)."""
        ratios = np.column_stack([targets, raters])
        alike = self._responses.of(np.zeros(len(ratios), dtype=np.intp))
        return self._likelihood(ratios, alike).deviance

    def lowest(self, odds: float, around: float) -> float:
        """Its lowest value at these odds, over the variance of raters.

        The logarithm of the variance is looked for near `around`, on a grid and on two finer ones.
        """
        found, reach = around, NEAR
        for _ in range(3):
            logs = np.linspace(found - reach, found + reach, GRID)
            raters = np.exp([*logs, SMALLEST])
            values = self(odds * (1 + raters), raters)
            found, reach = float(logs[values[:-1].argmin()]), 2 * reach / (GRID - 1)
        return float(values.min())


def _odds_interval(profile: _Profile, target: float, rater: float) -> tuple[float, float]:
    """The interval of target / (rater + residual), at `LEVEL`.

    Its ends are the odds at which minus twice the restricted log likelihood, at its lowest over the
    variance of raters, lies above the minimum by the quantile of chi-squared with one degree of
    freedom.
    """
    from scipy.optimize import brentq
    from scipy.special import chdtri

    def above(log_odds: float) -> float:
        return profile.lowest(float(np.exp(log_odds)), around) - limit

    limit = float(profile([target], [rater])[0] + chdtri(1, 1 - LEVEL))
    around = float(np.log(max(rater, np.exp(-NEAR))))
    centre = float(np.log(max(target / (1 + rater), np.exp(SMALLEST))))
    ends = []
    for sign, unbounded in ((-1.0, 0.0), (1.0, np.inf)):
        within, beyond = 0.0, 0.5
        while beyond < WIDEST and above(centre + sign * beyond) < 0:
            within, beyond = beyond, 2 * beyond
        if beyond >= WIDEST:
            ends.append(unbounded)
            continue
        bracket = sorted((centre + sign * within, centre + sign * beyond))
        ends.append(float(np.exp(brentq(above, *bracket, xtol=1e-3))))
    return ends[0], ends[1]


def _why_undefined(table: Array, given: NDArray[np.bool_]) -> str:
    if min(table.shape, default=0) < 2:
        return "too_few_ratings"
    if given.sum(axis=1).max() < 2 or given.sum(axis=0).max() < 2:
        return "too_few_ratings"
    return "no_variance" if np.ptp(table[given]) == 0 else ""
