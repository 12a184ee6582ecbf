"""The slope of a change on the true value before, corrected for error of measurement.

A value before that was measured with error stands in the change with the opposite sign, so that
the plain slope is negative even where nothing depends on where a group began.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.inference.ratio import Ratio, ratio

Array = NDArray[np.float64]
RANK = 1e-12
"""The share of the variance of values below which conditions do not differ."""


@dataclass(frozen=True)
class TrueSlope:
    """The corrected slope, and the reliability: the share of variance before between conditions.

    `note` of the slope is "" or why there is none: "no_replication" (no condition was held twice,
    so that the error of measurement is unknown), "no_variance" (conditions differ by no more than
    their replicates), or why it has no interval, as of `Ratio`.
    """

    slope: Ratio
    reliability: float


def true_slope(
    before: ArrayLike, change: ArrayLike, conditions: ArrayLike, clusters: ArrayLike
) -> TrueSlope:
    """The slope of the change on the true value before, over conditions.

    `before` and `change` (n,) are of sessions and have no NaN, `conditions` (n,) names the
    condition of each (such as topic, model, setting and treatment) and `clusters` (n,) the unit
    over which the slope is to hold (the topic). The model is before = condition + e, change =
    condition's change + f: the true value of a condition is its mean over all replicates that could
    be held, and the error of measurement e is all in which replicates of a condition differ: the
    answers that a model gives when it is asked again, the order of speakers, and the people who
    were drawn. Both errors of a session go together: e enters the change with a minus, and people
    who were drawn before are still there afterwards. So the covariance of both errors is estimated
    from replicates, as their variances are, and taken out:

        slope = (MSB(before, change) - MSW(before, change)) / (MSB(before) - MSW(before))

    with the mean squares and products between and within conditions (Fuller 1987, Measurement
    Error Models, section 2.2). The interval is Fieller's, with the jackknife covariance of
    numerator and denominator over clusters and t with one degree of freedom less than clusters.
    Where people are the same in all replicates and both surveys err independently, cov(e, f) is
    -var(e) and this is (b + 1 - r) / r with the plain slope b and the reliability r (Blomqvist
    1977, On the relation between change and initial value, J. Am. Stat. Assoc. 72, 746-749).

    >>> change = [0.1, -0.1, 0.1, -0.1]
    >>> found = true_slope([0, 0.2, 1, 1.2], change, [0, 0, 1, 1], [0, 0, 1, 1])
    >>> round(found.reliability, 2), round(found.slope.estimate, 2)
    (0.96, 0.02)
    """
    x, d = np.asarray(before, dtype=float), np.asarray(change, dtype=float)
    codes = np.unique(np.asarray(conditions), return_inverse=True)[1]
    groups = np.unique(np.asarray(clusters), return_inverse=True)[1]
    nan = float("nan")
    shared, variance, error, note = _parts(x, d, codes)
    if note:
        return TrueSlope(Ratio(nan, nan, nan, nan, note), nan)
    reliability = variance / (variance + error)
    count = int(groups.max()) + 1
    kept = [groups != group for group in range(count)]
    parts = [_parts(x[one], d[one], codes[one]) for one in kept]
    others = np.array([part[:2] for part in parts]) - [shared, variance]
    if count < 2 or not np.isfinite(others).all():
        return TrueSlope(Ratio(shared / variance, nan, nan, nan, "no_error"), reliability)
    covariance = (count - 1) / count * others.T @ others
    return TrueSlope(ratio(shared, variance, covariance, count - 1), reliability)


def _parts(x: Array, d: Array, codes: NDArray[np.intp]) -> tuple[float, float, float, str]:
    """The covariance of both between conditions, the variance before between conditions, that
    within them, and why there is no slope.
    """
    nan = float("nan")
    own = np.unique(codes, return_inverse=True)[1]
    sizes = np.bincount(own)
    n, count = len(own), len(sizes)
    if n == count:
        return nan, nan, nan, "no_replication"
    if count < 2:
        return nan, nan, nan, "no_variance"
    of_x, of_d = (np.bincount(own, values) / sizes for values in (x, d))
    within_x, within_d = x - of_x[own], d - of_d[own]
    between = sizes * (of_x - x.mean())
    size = (n - (sizes**2).sum() / n) / (count - 1)
    error = within_x @ within_x / (n - count)
    variance = (between @ of_x / (count - 1) - error) / size
    shared = (between @ of_d / (count - 1) - within_x @ within_d / (n - count)) / size
    note = "" if variance > RANK * x.var() else "no_variance"
    return float(shared), float(variance), float(error), note
