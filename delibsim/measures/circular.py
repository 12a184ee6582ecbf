"""Circular triads: how often a beats b and b beats c, while c beats a.

Source: Kendall and Babington Smith (1940), https://doi.org/10.1093/biomet/31.3-4.324.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Triads:
    """Triangles of pairs that were all judged without a tie, and how many of them go round."""

    triangles: int
    circular: int

    @property
    def share(self) -> float:
        """The share that goes round, NaN without a triangle; judges who toss coins give 0.25."""
        return self.circular / self.triangles if self.triangles else float("nan")


def triads(n: int, winner: ArrayLike, loser: ArrayLike) -> Triads:
    """The triangles among `n` texts, where each pair has one outcome.

    `winner` and `loser` (pairs,) number the texts from 0; ties are left out before. ValueError for
    a pair that stands twice or holds one text twice.

    >>> triads(3, [0, 1, 2], [1, 2, 0])
    Triads(triangles=1, circular=1)
    """
    from scipy.sparse import csr_array

    won = np.asarray(winner, dtype=np.int64).ravel()
    lost = np.asarray(loser, dtype=np.int64).ravel()
    if (won == lost).any():
        raise ValueError("a text is compared with itself")
    keys = np.minimum(won, lost) * max(n, 1) + np.maximum(won, lost)
    if len(np.unique(keys)) < len(keys):
        raise ValueError("a pair stands twice; give its majority once")
    wins = csr_array((np.ones(len(won)), (won, lost)), shape=(n, n))
    met = wins + wins.T
    whole = (met @ met).multiply(met).sum() / 6
    round_about = (wins @ wins).multiply(wins.T).sum() / 3
    return Triads(round(float(whole)), round(float(round_about)))


def circular_triads(wins: ArrayLike) -> float:
    """The number d of circular triads in a complete tournament: n(n-1)(2n-1)/12 - sum(a^2)/2.

    `wins` (n,) are how many of the others each text beats. ValueError for numbers of wins that no
    complete tournament without ties has.

    >>> circular_triads([2, 2, 2, 2, 2]), circular_triads([4, 3, 2, 1, 0])
    (5.0, 0.0)
    """
    a = np.sort(np.asarray(wins, dtype=float))
    n = len(a)
    least = np.arange(n) * (np.arange(n) + 1) / 2  # the k weakest have met each other (Landau 1953)
    sums = np.cumsum(a)
    whole = bool((a == np.round(a)).all())
    if not whole or (sums < least).any() or (n > 0 and sums[-1] != least[-1]):
        raise ValueError("no complete tournament without ties has these numbers of wins")
    return float(n * (n - 1) * (2 * n - 1) / 12 - (a**2).sum() / 2)


def zeta(wins: ArrayLike) -> float:
    """The coefficient of consistence 1 - d / d_max of a complete tournament; NaN below 3 texts.

    d_max is (n^3 - n) / 24 for odd n and (n^3 - 4n) / 24 for even n. ValueError as that of
    `circular_triads`.

    >>> zeta([4, 3, 2, 1, 0]), zeta([2, 2, 2, 2, 2])
    (1.0, 0.0)
    """
    n = len(np.asarray(wins))
    found = circular_triads(wins)
    most = (n**3 - (n if n % 2 else 4 * n)) / 24
    return 1 - found / most if most > 0 else float("nan")
