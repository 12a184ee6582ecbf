"""What models coded beside what people coded: calibration."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.inference.means import wilson

Array = NDArray[np.float64]


FEWEST = 50
"""Texts with which a calibration is more than chance; with fewer that is said."""
BINS = 5


@dataclass(frozen=True)
class Bin:
    """The texts whose confidence lies in one range (`above` left out, `to` included).

    `n` texts of mean confidence `confidence`, of which the share `agrees` has the interval `low`
    to `high`; all NaN where n is 0. The first bin holds its lower end as well.
    """

    above: float
    to: float
    n: int
    confidence: float
    agrees: float
    low: float
    high: float


def bins(confidence: ArrayLike, agrees: ArrayLike, number: int = BINS) -> list[Bin]:
    """Texts in bins of equal width over 0 to 1 by confidence; `agrees` is 0 or 1, both (n,).

    Texts of which one is NaN are left out. ValueError for a confidence outside 0 to 1.
    """
    sure, right = _both(confidence, agrees)
    edges = np.linspace(0, 1, number + 1)
    place = np.clip(np.ceil(sure * number - 1e-9).astype(int) - 1, 0, number - 1)
    found = []
    for i in range(number):
        own, given = right[place == i], sure[place == i]
        low, high = wilson(int(own.sum()), len(own))
        means = (float(values.mean()) if len(own) else np.nan for values in (given, own))
        found.append(Bin(float(edges[i]), float(edges[i + 1]), len(own), *means, low, high))
    return found


def brier(confidence: ArrayLike, agrees: ArrayLike) -> float:
    """The mean squared difference of confidence and agreement; NaN without a text.

    Source: Brier (1950). 0 is best; always saying 0.5 gives 0.25.

    >>> brier([1.0, 0.5], [1, 0])
    0.125
    """
    sure, right = _both(confidence, agrees)
    return float(((sure - right) ** 2).mean()) if len(sure) else np.nan


def calibration_error(confidence: ArrayLike, agrees: ArrayLike, number: int = BINS) -> float:
    """The expected calibration error: |agreement - confidence| of the bins, weighted by texts.

    Source: Naeini, Cooper and Hauskrecht (2015). NaN without a text.

    >>> calibration_error([1.0, 1.0, 0.5, 0.5], [1, 0, 1, 0])
    0.25
    """
    found = [one for one in bins(confidence, agrees, number) if one.n]
    n = sum(one.n for one in found)
    gaps = [one.n * abs(one.agrees - one.confidence) for one in found]
    return float(sum(gaps) / n) if n else np.nan


def _both(confidence: ArrayLike, agrees: ArrayLike) -> tuple[Array, Array]:
    """Confidence and agreement where neither is NaN."""
    sure, right = np.asarray(confidence, dtype=float), np.asarray(agrees, dtype=float)
    known = ~np.isnan(sure) & ~np.isnan(right)
    sure, right = sure[known], right[known]
    if sure.size and not (sure.min() >= -1e-9 and sure.max() <= 1 + 1e-9):
        raise ValueError("a confidence lies between 0 and 1")
    return np.clip(sure, 0, 1), right
