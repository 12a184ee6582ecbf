"""A share of units that are not independent: its interval by Wilson, for as many as they are worth.

Source: Korn and Graubard (1998), Survey Methodology 24, 193-201, for the effective number, with
Wilson's interval in the place of Clopper and Pearson's, which is too wide.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from delibsim.measures.inference.means import t_quantile, wilson

NAN = float("nan")


@dataclass(frozen=True)
class Share:
    """A share of `n` values, as many independent ones as they are worth, its 95% interval, and the
    two-sided p of one half. NaN without a value; but for the share with one cluster.
    """

    n: int
    share: float
    worth: float = NAN
    low: float = NAN
    high: float = NAN
    p: float = NAN


def share_of(values: ArrayLike, *clusters: ArrayLike) -> Share:
    """The share of values (n,) from 0 to 1, each of one cluster (n,) of each kind; without a kind
    the values are independent.

    Where there are several kinds, such as judges and texts, the one counts by which the values are
    worth least. Where all values of all clusters are alike they are worth as many as clusters.

    >>> found = share_of([1, 1, 0, 0, 1, 1], ["a", "a", "b", "b", "c", "c"])
    >>> round(found.worth, 2), round(found.low, 2), round(found.high, 2)
    (0.71, 0.07, 0.98)
    """
    own = np.asarray(values, dtype=float)
    if not len(own):
        return Share(0, NAN)
    share = float(own.mean())
    worth = min([_worth(own, np.asarray(kind)) for kind in clusters], default=float(len(own)))
    if not worth > 0:
        return Share(len(own), share)
    low, high = wilson(share * worth, worth)
    p = math.erfc(abs(share - 0.5) / math.sqrt(0.5 / worth))
    return Share(len(own), share, worth, low, high, p)


def _worth(values: np.ndarray, clusters: np.ndarray) -> float:
    """How many independent values these are worth; 0 with one cluster."""
    numbers = np.unique(clusters, return_inverse=True)[1]
    n, k = len(values), int(numbers.max()) + 1
    if k < 2 or n == k:
        return float(n) if n == k > 1 else 0.0
    share = values.mean()
    moved = np.bincount(numbers, values - share)
    variance = k / (k - 1) * float(moved @ moved) / n**2
    alone = float(share * (1 - share))
    if not variance > 0:
        return float(k)
    return min(float(n), alone / variance * (t_quantile(n - 1) / t_quantile(k - 1)) ** 2)
