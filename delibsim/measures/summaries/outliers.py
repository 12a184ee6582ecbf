"""Opinions far from those around them: local outlier factors within groups.

Source: Breunig et al. (2000), https://doi.org/10.1145/342009.335388, by scikit-learn.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
NEIGHBOURS = 20
SMALLEST = 10
"""Distinct opinions of a group below which nobody is flagged."""
SHARE = 0.1
CLUSTERS = 8
TOO_SMALL = "group_too_small"
EQUAL = 12
"""Decimal places in which the coordinates of equal opinions agree."""


@dataclass(frozen=True, eq=False)
class Outliers:
    """Factors (n,) of the opinions, NaN in a group that is too small, and who is flagged (n,).

    `neighbours` are those of each group by name, `notes` the groups in which nobody is flagged.
    """

    factors: Array
    flagged: NDArray[np.bool_]
    neighbours: dict[str, int]
    notes: dict[str, str]


def factors(points: ArrayLike, k: int = NEIGHBOURS) -> tuple[Array, NDArray[np.bool_]]:
    """Local outlier factors of points (n, d) by Euclidean distance with min(k, n - 1) neighbours,
    and who is flagged: those strictly above the 90th percentile, interpolated.

    Equal points count once, since k of them or more would make the factors of others explode.
    """
    from sklearn.neighbors import LocalOutlierFactor

    table = np.asarray(points, dtype=float)
    _, first, place = np.unique(table.round(EQUAL), axis=0, return_index=True, return_inverse=True)
    order = np.sort(first)  # as they came, which decides between neighbours at one distance
    rank = np.argsort(np.argsort(first))
    distinct = table[order]
    finder = LocalOutlierFactor(n_neighbors=min(k, len(distinct) - 1), contamination=SHARE)
    out = finder.fit_predict(distinct) == -1
    own = rank[place.ravel()]
    return -finder.negative_outlier_factor_[own], out[own]


def local_outliers(points: ArrayLike, groups: ArrayLike, k: int = NEIGHBOURS) -> Outliers:
    """Local outliers within groups; `groups` (n,) names the group of each point (n, d)."""
    table, named = np.asarray(points, dtype=float), np.asarray(groups)
    found = np.full(len(table), np.nan)
    flagged = np.zeros(len(table), dtype=bool)
    neighbours, notes = {}, {}
    for name in np.unique(named):
        own = named == name
        distinct = len(np.unique(table[own].round(EQUAL), axis=0))
        if distinct < SMALLEST:
            notes[str(name)] = TOO_SMALL
            continue
        neighbours[str(name)] = min(k, distinct - 1)
        found[own], flagged[own] = factors(table[own], k)
    return Outliers(found, flagged, neighbours, notes)


def clusters(points: ArrayLike, seed: int, k: int = CLUSTERS) -> NDArray[np.int64]:
    """k-means clusters (n,) of standardised points (n, d); fewer where there are fewer distinct
    points.
    """
    from sklearn.cluster import KMeans

    table = np.asarray(points, dtype=float)
    spread = table.std(axis=0)
    scaled = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1)
    distinct = len(np.unique(scaled.round(EQUAL), axis=0))
    model = KMeans(min(k, distinct), n_init=10, random_state=seed % 2**32)
    return model.fit_predict(scaled).astype(np.int64)


def stability(points: ArrayLike, seeds: ArrayLike, k: int = CLUSTERS) -> float:
    """The mean adjusted Rand index of the clusterings of all pairs of seeds; 1 where all agree."""
    from sklearn.metrics import adjusted_rand_score

    found = [clusters(points, int(seed), k) for seed in np.asarray(seeds)]
    scores = []
    for i, one in enumerate(found):
        scores += [adjusted_rand_score(one, other) for other in found[i + 1 :]]
    return float(np.mean(scores)) if scores else float("nan")
