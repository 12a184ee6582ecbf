"""How large the error of a corrected effect will be if people code more texts, or more sessions."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.corrected_effect import Array


@dataclass(frozen=True)
class Planned:
    """What the codes there are tell of the error of a contrast under another draw.

    `complete` is the variance of the contrast if people had coded all `units` of `clusters`, and
    `drawing` what a draw of half of the units adds to it.
    """

    complete: float
    drawing: float
    units: int
    clusters: int

    def error(self, share: float, more: float = 1.0) -> float:
        """The standard error if people code this share (0 to 1] of the units, drawn at random;
        `more` says how many times as many sessions there are.
        """
        return math.sqrt((self.complete + (1 - share) / share * self.drawing) / more)

    def share(self, error: float, more: float = 1.0) -> float:
        """The share of units that people must code for this error; NaN where all are too few."""
        left = more * error**2 - self.complete
        return self.drawing / (self.drawing + left) if left >= 0 else math.nan


def planned(
    x: ArrayLike,
    proxies: ArrayLike,
    people: ArrayLike,
    chances: ArrayLike,
    clusters: ArrayLike,
    contrast: ArrayLike,
) -> Planned:
    """What codes tell of other draws; the arguments are those of `corrected_effect.units`.

    A draw adds the sum of squared influences of people less weighted proxies, over the units that
    it left out; what the draw that was made added is taken off the variance there is. Both are
    made larger by G/(G - coefficients - proxies), for what was fitted to G clusters.
    """
    design, codes = np.asarray(x, dtype=float), np.asarray(people, dtype=float)
    known = np.asarray(proxies, dtype=float).reshape(len(codes), -1)
    drawn = ~np.isnan(codes)
    weight = np.zeros(len(codes))
    weight[drawn] = 1 / np.asarray(chances, dtype=float)[drawn]
    values = np.column_stack([np.where(drawn, codes, 0.0), known])
    reach = design @ np.linalg.solve(design.T @ design, np.asarray(contrast, dtype=float))
    coded = reach[:, None] * _residuals(design, values, weight)
    everywhere = reach[:, None] * _residuals(design, known, np.ones(len(codes)))
    products = coded.T @ (coded * weight[:, None])
    weights = np.linalg.lstsq(products[1:, 1:], products[1:, 0], rcond=None)[0]
    left = coded[:, 0] - coded[:, 1:] @ weights
    _, place = np.unique(np.asarray(clusters), return_inverse=True)
    sums = np.bincount(place, weights=weight * left + everywhere @ weights)
    g = len(sums)
    added = float((weight * (weight - 1) * left**2).sum())
    scale = g / max(g - design.shape[1] - known.shape[1], 1)
    return Planned(
        complete=max(scale * (float((sums**2).sum()) - added), 0.0),
        drawing=scale * float((weight * left**2).sum()),
        units=len(codes),
        clusters=g,
    )


def _residuals(design: Array, values: Array, weight: NDArray[np.float64]) -> Array:
    """What weighted least squares on the design leaves of values (n, k); (n, k)."""
    wide = design * weight[:, None]
    return values - design @ np.linalg.solve(wide.T @ design, wide.T @ values)
