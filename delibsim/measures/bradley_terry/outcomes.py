"""One outcome from several votes: by majority over runs, strictly over both orders of a pair."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.bradley_terry.counts import Counts, Places

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Repeats:
    """How the votes of several runs on each sheet agree: sheets with equal votes, with some that
    are equal, and with all different.

    `identical` is True where all votes of every sheet are equal: at a temperature above 0 the
    replies are then no draws.
    """

    equal: int
    some: int
    different: int

    @property
    def identical(self) -> bool:
        """Whether the runs never differ."""
        return self.equal > 0 and self.some == self.different == 0


def majority(counts: Counts) -> Places:
    """The outcome of each row (m,): 1 where more than half of its votes name the first text, -1
    where more than half name the second, else 0.
    """
    half = counts.votes / 2
    return np.where(counts.a > half, 1, np.where(counts.b > half, -1, 0))


def repeats(votes: ArrayLike) -> Repeats:
    """How runs agree; `votes` (sheets, runs) are 1, 0, -1, of sheets with a vote in every run.

    >>> repeats([[1, 1, 1], [1, 0, 1], [1, 0, -1]])
    Repeats(equal=1, some=1, different=1)
    """
    table = np.asarray(votes)
    kinds = np.array([len(np.unique(row)) for row in table], dtype=int)
    equal, different = kinds == 1, kinds == table.shape[-1]
    different &= ~equal
    return Repeats(int(equal.sum()), int((~equal & ~different).sum()), int(different.sum()))


@dataclass(frozen=True, eq=False)
class BothOrders:
    """The pairs (p, 2) that a judge saw in both orders, and what both say together.

    `outcome` (p,) is 1 where both name the text with the smaller number, -1 where both name the
    other, else 0. `agree` (p,) is True where both name one text, or both are ties.
    """

    pairs: Places
    outcome: Places
    agree: NDArray[np.bool_]

    @property
    def consistency(self) -> float:
        """The share of pairs on which both orders agree; NaN without a pair in both orders."""
        return float(self.agree.mean()) if len(self.agree) else float("nan")


def both_orders(counts: Counts) -> BothOrders:
    """What both orders of each pair say, each by majority, all judges together."""
    votes = counts.pooled()
    for_low = majority(votes) * votes.direction.astype(np.int64)
    seen = np.full((len(votes.pairs), 2), np.nan)
    seen[votes.pair, (votes.direction < 0).astype(int)] = for_low
    known = ~np.isnan(seen).any(axis=1)
    one, other = seen[known].astype(np.int64).T
    agree = one == other
    return BothOrders(votes.pairs[known], np.where(agree, one, 0), agree)
