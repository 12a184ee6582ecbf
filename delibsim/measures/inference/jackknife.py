"""The jackknife over clusters: the error of any estimate from its values without each cluster."""

import numpy as np
from numpy.typing import ArrayLike

from delibsim.measures.inference.means import ALIKE, Mean


def jackknifed(estimate: float, without_each: ArrayLike, level: float = 0.95) -> Mean:
    """An estimate over clusters, given its values without each of them in turn (n,).

    The deviations are those from the estimate itself, and t has n - 1 degrees of freedom. Of a
    slope this is the cluster-robust error CV3, which is too small less often than the sandwich
    where clusters are few (MacKinnon, Nielsen and Webb 2023, doi:10.1016/j.jeconom.2022.04.001); of
    a mean of clusters it is Student's. There is no error with fewer than two clusters, where the
    estimate is undefined without one of them, and where none changes it.

    >>> found = jackknifed(2.0, [2.5, 2.0, 1.5])  # the mean of 1, 2, 3
    >>> round(found.low, 3), round(found.high, 3)
    (-0.484, 4.484)
    """
    from scipy.special import stdtr, stdtrit

    others = np.asarray(without_each, dtype=float)
    n = len(others)
    if n < 2 or not np.isfinite(others).all() or not np.isfinite(estimate):
        return Mean(estimate)
    error = float(np.sqrt((n - 1) / n * ((others - estimate) ** 2).sum()))
    if error <= ALIKE * max(abs(estimate), float(np.abs(others).max())):
        return Mean(estimate, df=n - 1)
    half = float(stdtrit(n - 1, (1 + level) / 2)) * error
    p = float(2 * stdtr(n - 1, -abs(estimate / error)))
    return Mean(estimate, error, n - 1, estimate - half, estimate + half, p)
