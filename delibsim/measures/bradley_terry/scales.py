"""Other scales for strengths: z, unit, and the share of comparisons that a text would win."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.bradley_terry.fit import Fit
from delibsim.measures.bradley_terry.likelihood import probabilities

Array = NDArray[np.float64]
AT_ONCE = 1_000
"""How many texts are compared with all others in one step."""


def z_scale(strengths: ArrayLike) -> Array:
    """Strengths with mean 0 and standard deviation 1 (ddof 0) over all texts that have one.

    NaN where all are equal. Taken of `raw` strengths over several components it is the scale of
    Gienapp et al. (2020), in which a penalty alone places components beside each other.

    >>> z_scale([1.0, 3.0])
    array([-1.,  1.])
    """
    values = np.asarray(strengths, dtype=float)
    known = values[~np.isnan(values)]
    spread = known.std() if known.size else 0.0
    return (values - known.mean()) / spread if spread > 0 else np.full(values.shape, np.nan)


def unit_scale(strengths: ArrayLike) -> Array:
    """Strengths from 0 (the smallest) to 1 (the largest); NaN where all are equal.

    >>> unit_scale([1.0, 2.0, 5.0])
    array([0.  , 0.25, 1.  ])
    """
    values = np.asarray(strengths, dtype=float)
    known = values[~np.isnan(values)]
    extent = np.ptp(known) if known.size else 0.0
    return (values - known.min()) / extent if extent > 0 else np.full(values.shape, np.nan)


def win_scale(fit: Fit) -> Array:
    """The mean over the other texts of a component of P(beats it) + P(tie) / 2, (n,).

    It needs no anchor and no order: neither text has the advantage of being shown first. With
    judges who differ, it is that of a judge with alpha 1 and the geometric mean of their
    thresholds. NaN where a text has no score.
    """
    found = np.full(len(fit.scores), np.nan)
    threshold = _threshold(fit)
    for part in np.flatnonzero(fit.graph.sizes > 1):
        texts = np.flatnonzero((fit.graph.component == part) & ~np.isnan(fit.scores))
        own = fit.scores[texts]
        for start in range(0, len(texts), AT_ONCE):
            block = own[start : start + AT_ONCE]
            d = block[:, None] - own
            won, tied, _ = probabilities(fit.model.kind, d, np.full_like(d, threshold))
            totals = (won + tied / 2).sum(axis=1) - 0.5  # the text itself counts one half
            found[texts[start : start + AT_ONCE]] = totals / (len(texts) - 1)
    return found


def _threshold(fit: Fit) -> float:
    """The mean over judges of the logarithm of theta, among those above 0."""
    logs = fit.point.judges[1]
    known = logs[np.isfinite(logs) & ~np.isnan(fit.theta)]
    return float(known.mean()) if known.size else -np.inf
