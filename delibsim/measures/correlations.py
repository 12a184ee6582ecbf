"""Agreement of two series of scores or labels, and tests between two that share a third."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Agreement:
    """How far two series of scores agree, over the `n` texts that have both.

    Pearson's r, Spearman's rho (mid-ranks) and Kendall's tau-b; `mae` and `rmse` are those of z
    scores (ddof 0), so that rmse is sqrt(2 (1 - r)). NaN below three texts, or where one does not
    vary.
    """

    n: int
    r: float
    rho: float
    tau: float
    mae: float
    rmse: float


def agreement_of_scores(one: ArrayLike, other: ArrayLike) -> Agreement:
    """The agreement of two series (n,); texts with NaN in one of them are left out.

    >>> agreement_of_scores([1, 2, 3, 4], [1, 2, 4, 3]).rho
    0.8
    """
    from scipy.stats import kendalltau, rankdata

    x, y = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    known = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[known], y[known]
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Agreement(len(x), *[math.nan] * 5)
    r = _pearson(x, y)
    rho = _pearson(rankdata(x), rankdata(y))
    tau = float(kendalltau(x, y).statistic)
    gaps = (x - x.mean()) / x.std() - (y - y.mean()) / y.std()
    return Agreement(
        len(x), r, rho, tau, float(np.abs(gaps).mean()), float(np.sqrt((gaps**2).mean()))
    )


def _pearson(x: np.ndarray, y: np.ndarray) -> float:
    a, b = x - x.mean(), y - y.mean()
    found = float((a @ b) / np.sqrt((a @ a) * (b @ b)))
    return round(found, 15)  # 1 and not the number after it


def spearman_brown(r: float) -> float:
    """The reliability of the whole from the correlation of its halves: 2r / (1 + r).

    Sources: Spearman (1910), Brown (1910). NaN for r of -1 or less.

    >>> round(spearman_brown(0.485), 2)
    0.65
    """
    return 2 * r / (1 + r) if r > -1 else math.nan


@dataclass(frozen=True)
class Williams:
    """Williams' test: t with its degrees of freedom and its two-sided p."""

    t: float
    df: int
    p: float


def williams(r12: float, r13: float, r23: float, n: int) -> Williams:
    """Whether two series correlate differently with a third: r12 against r13, over `n` texts.

    `r23` is the correlation of the two. Source: Williams (1959), in the form of Steiger (1980),
    https://doi.org/10.1037/0033-2909.87.2.245. NaN below four texts and where the three
    correlations contradict each other.

    >>> round(williams(0.474, 0.442, 0.892, 1269).t, 6)
    2.784342
    """
    from scipy.stats import t as student

    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    if n < 4 or determinant < 0:
        return Williams(math.nan, max(n - 3, 0), math.nan)
    mean = (r12 + r13) / 2
    spread = 2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - r23) ** 3
    if spread <= 0:
        return Williams(math.nan, n - 3, math.nan)
    t = (r12 - r13) * math.sqrt((n - 1) * (1 + r23) / spread)
    return Williams(t, n - 3, float(2 * student.sf(abs(t), n - 3)))


def mcnemar(only_one: int, only_other: int) -> float:
    """The exact two-sided p of McNemar's test, 1 where neither judge was right alone.

    `only_one` counts the labels that the first judge has right and the second wrong, `only_other`
    the other way round. Source: McNemar (1947), https://doi.org/10.1007/BF02295996.

    >>> round(mcnemar(8, 2), 6)
    0.109375
    """
    from scipy.stats import binomtest

    total = only_one + only_other
    return float(binomtest(only_one, total).pvalue) if total else 1.0


def kappa_max(first: ArrayLike, second: ArrayLike) -> float:
    """The largest Cohen's kappa that two coders with these shares of labels (q,) could have.

    Source: Cohen (1960), https://doi.org/10.1177/001316446002000104. NaN where chance alone gives
    full agreement. ValueError for shares that do not add up to 1.

    >>> round(kappa_max([0.5, 0.5], [0.7, 0.3]), 3)
    0.6
    """
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.shape != b.shape or (np.abs([a.sum() - 1, b.sum() - 1]) > 1e-6).any():
        raise ValueError("the shares of labels of each coder add up to 1")
    most, chance = float(np.minimum(a, b).sum()), float(a @ b)
    return (most - chance) / (1 - chance) if chance < 1 else math.nan
