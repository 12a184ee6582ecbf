"""How well a judge predicts what people gave: errors, order within an instance, calibration.

Scores are normalised, y = (r + 1) / 8 with r the label; errors are in labels, 8 times those of y.
Source: Zhu et al. (2025), https://arxiv.org/abs/2510.05154; calibration and intervals are ours.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.summaries.labels import SPAN

Array = NDArray[np.float64]
BINS = 10
FEWEST = 4
"""Records below which nothing is said of a calibration."""


@dataclass(frozen=True)
class Errors:
    """Mean absolute and root mean squared error over `n` records, in labels; NaN where n is 0."""

    n: int
    mae: float
    rmse: float


def errors(said: ArrayLike, predicted: ArrayLike) -> Errors:
    """The errors of predictions, over the records for which both are known.

    >>> errors([0.25, 0.5], [0.375, 0.5])
    Errors(n=2, mae=0.5, rmse=0.7071067811865476)
    """
    y, p = known_in_both(said, predicted)
    if not len(y):
        return Errors(0, float("nan"), float("nan"))
    off = SPAN * (p - y)
    return Errors(len(y), float(np.abs(off).mean()), float(np.sqrt((off**2).mean())))


@dataclass(frozen=True)
class Ordering:
    """Of instances with two records: `n` in which the person preferred one, `ties` in which not,
    the share of the n that is ordered as the person did, and the correlation of the differences.

    A predicted tie counts as half ordered. NaN where there is nothing to count.
    """

    n: int
    ties: int
    accuracy: float
    correlation: float


def ordering(said: ArrayLike, predicted: ArrayLike, instance: ArrayLike) -> Ordering:
    """Whether the two records of an instance are ordered as the person did; other instances, and
    records of which something is missing, are left out.

    >>> ordering([0.5, 0.25, 0.5, 0.75, 0.5, 0.5], [0.6, 0.5, 0.6, 0.5, 0.1, 0.2],
    ...          ["a", "a", "b", "b", "c", "c"])
    Ordering(n=2, ties=1, accuracy=0.5, correlation=0.0)
    """
    y, p = np.asarray(said, dtype=float), np.asarray(predicted, dtype=float)
    names = np.asarray(instance)
    there = ~(np.isnan(y) | np.isnan(p))
    y, p, names = y[there], p[there], names[there]
    order = np.argsort(names, kind="stable")
    starts = np.flatnonzero(np.r_[True, names[order][1:] != names[order][:-1]])
    sizes = np.diff(np.r_[starts, len(order)]) if len(order) else np.array([], dtype=int)
    first = starts[sizes == 2] if len(order) else starts[:0]
    a, b = order[first], order[first + 1] if len(first) else order[:0]
    theirs, ours = y[a] - y[b], p[a] - p[b]
    preferred = theirs != 0
    agreed = np.sign(theirs[preferred]) * np.sign(ours[preferred])
    accuracy = float(np.mean((agreed + 1) / 2)) if preferred.any() else float("nan")
    return Ordering(int(preferred.sum()), int((~preferred).sum()), accuracy, _r(theirs, ours))


@dataclass(frozen=True)
class Calibration:
    """How predictions are to be read: a person's y is about `intercept` + `slope` times them.

    `error` is the expected calibration error over ten bins of equal counts. `steps` is the isotonic
    map: predictions, and what people said there, both rising. NaN and empty where undefined.
    """

    n: int
    slope: float
    intercept: float
    error: float
    steps: tuple[tuple[float, float], ...] = ()


def calibration(said: ArrayLike, predicted: ArrayLike) -> Calibration:
    """The calibration of predictions by what people said.

    >>> found = calibration([0.2, 0.4, 0.6, 0.8], [0.1, 0.2, 0.3, 0.4])
    >>> round(found.slope, 6), abs(round(found.intercept, 6)), len(found.steps)
    (2.0, 0.0, 4)
    """
    y, p = known_in_both(said, predicted)
    nothing = float("nan")
    if len(y) < FEWEST or np.ptp(p) == 0:
        return Calibration(len(y), nothing, nothing, nothing)
    slope, intercept = np.polyfit(p, y, 1)
    bins = np.array_split(np.argsort(p, kind="stable"), min(BINS, len(p)))
    gaps = [len(own) * abs(y[own].mean() - p[own].mean()) for own in bins]
    return Calibration(len(y), float(slope), float(intercept), sum(gaps) / len(y), _isotonic(p, y))


def _isotonic(p: Array, y: Array) -> tuple[tuple[float, float], ...]:
    """The rising map that is nearest to what people said, by its corners."""
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression(out_of_bounds="clip").fit(p, y)
    corners = zip(fitted.X_thresholds_, fitted.y_thresholds_, strict=True)
    return tuple((float(x), float(value)) for x, value in corners)


def mean_defined(values: ArrayLike) -> tuple[float, int]:
    """The mean of the values that are defined, and how many are not; NaN where none is.

    >>> mean_defined([0.5, float("nan"), 0.25])
    (0.375, 1)
    """
    found = np.asarray(values, dtype=float)
    defined = found[~np.isnan(found)]
    mean = float(defined.mean()) if len(defined) else float("nan")
    return mean, int(len(found) - len(defined))


def known_in_both(said: ArrayLike, predicted: ArrayLike) -> tuple[Array, Array]:
    """Two series without the places at which one of them is missing."""
    y, p = np.asarray(said, dtype=float), np.asarray(predicted, dtype=float)
    there = ~(np.isnan(y) | np.isnan(p))
    return y[there], p[there]


def _r(x: Array, y: Array) -> float:
    if len(x) < FEWEST - 1 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])
