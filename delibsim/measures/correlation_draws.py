"""Bootstrap of correlations: texts, or topics with all their texts, are drawn with replacement.

Source: Davison and Hinkley (1997), section 3.8, https://doi.org/10.1017/CBO9780511802843.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.inference.resampling import resampled_counts

Array = NDArray[np.float64]


def resampled_correlations(
    one: ArrayLike,
    other: ArrayLike,
    clusters: ArrayLike,
    resamples: int,
    seed: int,
) -> Array:
    """Pearson's r (resamples,) of two series (n,) without NaN in each sample of clusters (n,).

    The same seed draws the same samples for other series over the same clusters, so that
    differences of r can be taken draw by draw. NaN in samples in which a series does not vary, and
    with fewer than two clusters. Given mid-ranks, it is Spearman's rho of the ranks in all texts.
    """
    x, y = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    codes = np.unique(np.asarray(clusters), return_inverse=True)[1]
    count = int(codes.max(initial=-1)) + 1
    if count < 2:
        return np.full(resamples, np.nan)
    x, y = x - x.mean(), y - y.mean()  # the sums below lose no digits to a large mean
    parts = (np.ones_like(x), x, y, x * x, y * y, x * y)
    sums = np.column_stack([np.bincount(codes, part, count) for part in parts])
    found = [_correlations(drawn @ sums) for drawn in resampled_counts(count, resamples, seed)]
    return np.concatenate(found)


def _correlations(sums: Array) -> Array:
    """Correlations from sums of 1, x, y, x squared, y squared and xy (rows, 6)."""
    n, x, y, xx, yy, xy = sums.T
    spread = np.maximum(xx - x * x / n, 0.0) * np.maximum(yy - y * y / n, 0.0)
    # What rounding leaves of a series that does not vary is no variance.
    flat = spread <= 1e-20 * (xx * yy)
    return np.where(flat, np.nan, (xy - x * y / n) / np.sqrt(np.where(flat, 1.0, spread)))
