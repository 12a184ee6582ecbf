"""Coefficients of agreement where texts are of clusters, such as sessions: t over clusters.

Texts of one session resemble each other in their levels, and in how hard they are to code, so that
the cluster is what is left out, with all its texts. Source: Miller (1974),
https://doi.org/10.1093/biomet/61.1.1, for the jackknife and the scale on which it is taken; the
scale is Fisher's z (bench/coverage_agreement.py).
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.inference.means import jackknifed
from delibsim.measures.reliability.codes import CodeMatrix, Patterns, Weighting
from delibsim.measures.reliability.coefficients import Estimate, coefficient, patterns_for, values

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ClusteredEstimate(Estimate):
    """A coefficient with its standard error over clusters; `others` (clusters,) is what it is
    without each of them.
    """

    others: Array = field(default_factory=lambda: np.empty(0), repr=False)

    @property
    def df(self) -> int:
        """The degrees of freedom of the interval."""
        return len(self.others) - 1

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval by t on Fisher's z or, where a coefficient of 1 has none, as it is; cut
        where the coefficient ends. NaN with one cluster, and where it is the same without each, but
        for agreement in every text, which has no width.
        """
        if self.error == 0:
            return self.value, self.value
        least = 0.0 if self.coefficient == "percent" else -1.0
        if (np.abs([self.value, *self.others]) < 1).all():
            found = jackknifed(np.arctanh(self.value), np.arctanh(self.others), level)
            low, high = float(np.tanh(found.low)), float(np.tanh(found.high))
        else:
            found = jackknifed(self.value, self.others, level)
            low, high = found.low, found.high
        return float(np.maximum(low, least)), float(np.minimum(high, 1.0))


def over_clusters(
    codes: CodeMatrix, name: str, weighting: Weighting, clusters: ArrayLike | None
) -> Estimate:
    """A coefficient with its error over the clusters (texts,) of the texts of `codes`; that of
    `coefficient`, over texts, where they are None.

    >>> from delibsim.measures.reliability.codes import codes_of
    >>> given = codes_of([[0, 0], [1, 1], [1, 0], [0, 0], [1, 1], [0, 1]], [0, 1])
    >>> found = over_clusters(given, "ac", "identity", ["a", "a", "b", "b", "c", "c"])
    >>> round(found.value, 4), found.df, round(found.error, 4)
    (0.3333, 2, 0.354)
    """
    found = coefficient(codes, name, weighting)
    if clusters is None or found.reason:
        return found
    patterns = patterns_for(codes, [name])
    without = patterns.times - by_cluster(patterns, clusters)
    several = len(without) > 1
    others = values(without, patterns, name, weighting) if several else np.full(1, np.nan)
    error = jackknifed(found.value, others).error
    if several and found.value == 1 and (others == 1).all():
        error = 0.0
    own = {key: value for key, value in vars(found).items() if key != "error"}
    return ClusteredEstimate(**own, error=error, others=others)


def by_cluster(patterns: Patterns, clusters: ArrayLike) -> Array:
    """How often each pattern occurs in each cluster (clusters, patterns); `clusters` (texts,)."""
    names, numbers = np.unique(np.asarray(clusters), return_inverse=True)
    size = len(patterns.times)
    cells = np.bincount(numbers * size + patterns.which, minlength=len(names) * size)
    return cells.reshape(len(names), size).astype(float)
