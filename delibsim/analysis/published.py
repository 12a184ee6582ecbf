"""Coefficients as others have published them, for comparison with their figures alone.

`chance_shrunk` was published as a "linear-weighted AC1" (Liu 2026, TU Delft) and is not Gwet's: its
chance is divided once more by the number of levels, so that it is higher throughout.
"""

import numpy as np
from numpy.typing import ArrayLike

from delibsim.measures.reliability.codes import Weighting, weights_of


def chance_shrunk(
    observed: float,
    shares: ArrayLike,
    weighting: Weighting = "linear",
) -> float:
    """The variant, from what both coders' margins and their weighted agreement give.

    `observed` is the weighted share of agreement, `shares` (levels,) the share of each level over
    both coders. Its chance is mean(w) sum p (1 - p) / (q - 1).

    >>> round(chance_shrunk(0.895, [0.0325, 0.85, 0.1175]), 3)
    0.887
    """
    return _corrected(observed, _chance(shares, weighting, shrunk=True))


def gwet_from_margins(
    observed: float,
    shares: ArrayLike,
    weighting: Weighting = "linear",
) -> float:
    """Gwet's AC2 from the same; its chance is sum(w) sum p (1 - p) / (q (q - 1)).

    >>> round(gwet_from_margins(0.895, [0.0325, 0.85, 0.1175]), 3)
    0.866
    """
    return _corrected(observed, _chance(shares, weighting, shrunk=False))


def observed_behind(
    published: float,
    shares: ArrayLike,
    weighting: Weighting = "linear",
) -> float:
    """The weighted share of agreement with which the variant has a published value.

    >>> round(observed_behind(0.887, [0.0325, 0.85, 0.1175]), 3)
    0.895
    """
    chance = _chance(shares, weighting, shrunk=True)
    return published * (1 - chance) + chance


def _chance(shares: ArrayLike, weighting: Weighting, shrunk: bool) -> float:
    own = np.asarray(shares, dtype=float)
    q = len(own)
    spread = float((own * (1 - own)).sum()) / (q - 1)
    weights = weights_of(weighting, q)
    return spread * float(weights.mean()) * (1 if shrunk else q)


def _corrected(observed: float, chance: float) -> float:
    return (observed - chance) / (1 - chance)
