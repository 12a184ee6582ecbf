"""The method of Schulze: a winner from rankings, by the strongest paths of pairwise wins.

Source: Schulze (2011), https://doi.org/10.1007/s00355-010-0475-4.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Votes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Schulze:
    """The count of a vote: `preferred` (c, c) is how many voters rank row above column, `paths`
    (c, c) the strength of the strongest path, `order` the candidates from the winner on.

    Candidates that beat each other by no path are `tied` with the winner; `condorcet` is who beats
    all others one by one, None where nobody does.
    """

    preferred: Votes
    paths: Votes
    order: tuple[int, ...]
    tied: tuple[int, ...]
    condorcet: int | None


def schulze(rankings: ArrayLike, seed: int = 0) -> Schulze:
    """The count of rankings (voters, candidates): the place of each candidate, 1 the best; equal
    places are a tie of that voter.

    Ties of paths are broken by the ranking of a voter drawn by the seed, then by lot. ValueError
    without a voter or a candidate, and for a place that is missing.

    >>> found = schulze([[1, 2, 3], [1, 3, 2], [3, 1, 2]])
    >>> found.order, found.condorcet
    ((0, 1, 2), 0)
    """
    places = np.asarray(rankings, dtype=float)
    if places.ndim != 2 or 0 in places.shape or np.isnan(places).any():
        raise ValueError("every voter ranks every candidate, and there is one of each at least")
    preferred = (places[:, :, None] < places[:, None, :]).sum(axis=0).astype(np.int64)
    paths = strongest_paths(preferred)
    n = len(preferred)
    beats = paths > paths.T
    wins = (preferred > preferred.T) | np.eye(n, dtype=bool)
    alone = np.flatnonzero(wins.all(axis=1))
    best = np.flatnonzero(~beats.any(axis=0))
    order = _order(beats, places, np.random.default_rng(seed))
    return Schulze(
        preferred, paths, order, tuple(best.tolist()), int(alone[0]) if len(alone) else None
    )


def strongest_paths(preferred: ArrayLike) -> Votes:
    """The strength of the strongest path from row to column (c, c), by the widest path: that of its
    weakest link, where a link is a pairwise win and as strong as its votes.
    """
    votes = np.asarray(preferred, dtype=np.int64)
    paths = np.where(votes > votes.T, votes, 0)
    for middle in range(len(votes)):
        through = np.minimum(paths[:, middle, None], paths[None, middle, :])
        paths = np.maximum(paths, through)
    np.fill_diagonal(paths, 0)
    return paths


def _order(
    beats: NDArray[np.bool_], places: np.ndarray, rng: np.random.Generator
) -> tuple[int, ...]:
    """The candidates from the winner on: again and again one whom none of the rest beats."""
    ballot = places[rng.integers(len(places))]
    lot = rng.permutation(beats.shape[0])
    left = list(range(beats.shape[0]))
    found: list[int] = []
    while left:
        free = [one for one in left if not beats[left, one].any()]
        best = min(free, key=lambda one: (ballot[one], lot[one]))
        found.append(best)
        left.remove(best)
    return tuple(found)


def concordance(rankings: ArrayLike) -> float:
    """Kendall's W of rankings (voters, candidates) without ties: 1 where all rank alike, 0 where
    the mean ranks are equal; NaN below two voters or two candidates.

    Source: Kendall and Babington Smith (1939), https://doi.org/10.1214/aoms/1177732186.

    >>> concordance([[1, 2, 3], [1, 2, 3]]), concordance([[1, 2, 3], [3, 2, 1]])
    (1.0, 0.0)
    """
    ranks = np.asarray(rankings, dtype=float)
    voters, n = ranks.shape
    if voters < 2 or n < 2:
        return float("nan")
    sums = ranks.sum(axis=0)
    spread = ((sums - sums.mean()) ** 2).sum()
    return float(12 * spread / (voters**2 * (n**3 - n)))
