"""Bootstrap over clusters: whole topics are drawn with replacement, and all their values with them.

Values of one topic are not independent of each other, so the topic is what is resampled (Davison
and Hinkley 1997, section 3.8, https://doi.org/10.1017/CBO9780511802843).
"""

from collections.abc import Generator
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

KEPT, AT_ONCE = 4_000_000, 1_000_000
"""The most numbers that are kept for the next interval, and that a step of a bootstrap holds."""


def resampled_counts(clusters: int, resamples: int, seed: int) -> Generator[Array]:
    """How often each cluster was drawn, in parts (m, clusters) that have `resamples` rows in all.

    As many clusters are drawn as there are, with replacement and with equal probabilities. The
    parts are not to be written to.
    """
    if clusters * resamples <= KEPT:
        yield _all_at_once(clusters, resamples, seed)
        return
    rng = np.random.default_rng(seed)
    step = max(1, AT_ONCE // clusters)
    for start in range(0, resamples, step):
        yield _drawn(clusters, min(step, resamples - start), rng)


@lru_cache(maxsize=4)  # hundreds of intervals of one study resample the same topics
def _all_at_once(clusters: int, resamples: int, seed: int) -> Array:
    return _drawn(clusters, resamples, np.random.default_rng(seed))


def _drawn(clusters: int, rows: int, rng: np.random.Generator) -> Array:
    equal = np.full(clusters, 1 / clusters)
    return rng.multinomial(clusters, equal, size=rows).astype(float)


def resampled_means(
    values: ArrayLike,
    clusters: ArrayLike,
    resamples: int,
    seed: int,
) -> Array:
    """The mean of all values in each of `resamples` samples of clusters.

    `values` (n,) have no NaN; `clusters` (n,) says of each which cluster it is of.
    """
    codes = np.unique(np.asarray(clusters), return_inverse=True)[1]
    sums = _sums(np.asarray(values, dtype=float), codes)
    parts = []
    for counts in resampled_counts(len(sums), resamples, seed):
        totals, sizes = (counts @ sums).T
        parts.append(totals / sizes)
    return np.concatenate(parts)


def _sums(values: Array, codes: NDArray[np.intp]) -> Array:
    """The sum and the number of the values of each cluster, of shape (clusters, 2)."""
    sizes = np.bincount(codes).astype(np.float64)
    return np.column_stack([np.bincount(codes, values).astype(np.float64), sizes])


def cluster_interval(
    values: ArrayLike,
    clusters: ArrayLike,
    resamples: int,
    seed: int,
    level: float = 0.95,
) -> tuple[float, float]:
    """The percentile interval of a mean, by resampling clusters; NaN with fewer than two clusters.

    With few clusters it is too short: bench/validity.py measures how often it holds the truth.

    >>> low, high = cluster_interval([1, 2, 3, 4], ["a", "a", "b", "b"], 1000, seed=1)
    >>> low, high
    (1.5, 3.5)
    """
    found = np.asarray(clusters)
    if len(np.unique(found)) < 2:
        return float("nan"), float("nan")
    means = resampled_means(values, found, resamples, seed)
    return percentile_interval(means, level)


def percentile_interval(draws: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """The middle `level` of bootstrap draws; draws that are NaN are left out."""
    found = np.asarray(draws, dtype=float)
    known = found[~np.isnan(found)]
    if not known.size:
        return float("nan"), float("nan")
    outside = 100 * (1 - level) / 2
    low, high = np.percentile(known, [outside, 100 - outside])
    return float(low), float(high)
