"""Counts of equal votes: what is compared, which text was shown first, and what was answered."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Places = NDArray[np.int64]
Ties = Literal["dropped", "half", "each"]

A, TIE, B = 1, 0, -1
"""Outcomes of a vote: for the text shown first, for neither, for the text shown second."""


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each judge answered each sheet in each way.

    A row (m,) is a sheet and a judge: texts `first` and `second` and the `judge`, all numbered from
    0, and the number of votes for the first (`a`), for neither (`tie`) and for the second (`b`);
    the numbers need not be whole. `pair` (m,) numbers the pair of each row, and `pairs` (p, 2) are
    the two texts of each pair in ascending order. There are `n` texts and `judges` judges. Made by
    `counted` and `tabled`.
    """

    n: int
    first: Places
    second: Places
    judge: Places
    a: Array
    tie: Array
    b: Array
    pair: Places
    pairs: Places
    judges: int = 1

    @property
    def votes(self) -> Array:
        """The votes of each row (m,)."""
        return self.a + self.tie + self.b

    @cached_property
    def direction(self) -> Array:
        """+1 for rows that show the text with the smaller number first, otherwise -1."""
        return np.where(self.first < self.second, 1.0, -1.0)

    def weighted(self, weights: ArrayLike) -> "Counts":
        """The same rows, each with `weights` (m,) times as many votes; those of 0 are left out."""
        factor = np.asarray(weights, dtype=float)
        kept = factor > 0
        found = self if kept.all() else self.only(kept)
        factor = factor[kept]
        return replace(found, a=found.a * factor, tie=found.tie * factor, b=found.b * factor)

    def only(self, kept: ArrayLike) -> "Counts":
        """Some of the rows: those where `kept` (m,) is True, or those of these places."""
        which = np.asarray(kept)
        present = np.zeros(len(self.pairs), dtype=bool)
        present[self.pair[which]] = True
        return replace(
            self,
            first=self.first[which],
            second=self.second[which],
            judge=self.judge[which],
            a=self.a[which],
            tie=self.tie[which],
            b=self.b[which],
            pair=(np.cumsum(present) - 1)[self.pair[which]],
            pairs=self.pairs[present],
        )

    def renumbered(self, numbers: ArrayLike, n: int) -> "Counts":
        """The same votes about texts with other numbers: `numbers` holds, in ascending order, the
        new number of each text that was compared, of `n` in all.
        """
        new = np.asarray(numbers, dtype=np.int64)
        first, second = new[self.first], new[self.second]
        return replace(self, n=n, first=first, second=second, pairs=new[self.pairs])

    def pooled(self) -> "Counts":
        """The same votes as those of one judge."""
        if self.judges == 1:
            return self
        sheets = (self.first, self.second, np.zeros_like(self.judge))
        return _merged(self.n, sheets, (self.a, self.tie, self.b), 1)

    def without_ties(self, ties: Ties) -> "Counts":
        """Votes of two kinds: ties dropped, or half a vote to each text, or a vote to each."""
        share = {"dropped": 0.0, "half": 0.5, "each": 1.0}[ties]
        nothing = np.zeros_like(self.tie)
        a, b = self.a + share * self.tie, self.b + share * self.tie
        found = replace(self, a=a, tie=nothing, b=b)
        return found.only(found.votes > 0)


def added(places: Places, values: Array, count: int) -> Array:
    """The sum of the values (m,) at each of `count` places (count,).

    >>> added(np.array([0, 2, 0]), np.array([1.0, 5.0, 2.0]), 3)
    array([3., 0., 5.])
    """
    return np.bincount(places, values, count).astype(np.float64, copy=False)


def counted(
    n: int,
    first: ArrayLike,
    second: ArrayLike,
    outcome: ArrayLike,
    judge: ArrayLike | None = None,
) -> Counts:
    """Counts of votes: one entry (votes,) a vote in each array, which has an outcome.

    `outcome` is 1 for the text shown first, -1 for the second, 0 for a tie; missing votes are left
    out before. ValueError for a text that is none of the `n`, for a text compared with itself, for
    another outcome, and for arrays of unequal lengths.

    >>> found = counted(2, [0, 0, 1], [1, 1, 0], [1, 0, -1])
    >>> found.first.tolist(), found.a.tolist(), found.tie.tolist(), found.b.tolist()
    ([0, 1], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0])
    """
    votes = np.asarray(outcome)
    if votes.size and not np.isin(votes, (A, TIE, B)).all():
        raise ValueError("an outcome is 1 (first), 0 (tie) or -1 (second)")
    own = np.zeros(votes.shape, dtype=np.int64) if judge is None else judge
    ones = [(votes == one).astype(float) for one in (A, TIE, B)]
    return tabled(n, first, second, *ones, judge=own)


def tabled(
    n: int,
    first: ArrayLike,
    second: ArrayLike,
    a: ArrayLike,
    tie: ArrayLike,
    b: ArrayLike,
    judge: ArrayLike | None = None,
) -> Counts:
    """Counts of a table: the arrays of `Counts`; rows of one sheet and judge are added up.

    ValueError as that of `counted`, and for a number of votes that is below 0 or missing.
    """
    one = np.asarray(first, dtype=np.int64).ravel()
    other = np.asarray(second, dtype=np.int64).ravel()
    by = np.zeros(len(one), dtype=np.int64) if judge is None else np.asarray(judge, dtype=np.int64)
    numbers = [np.asarray(part, dtype=float).ravel() for part in (a, tie, b)]
    if len({len(part) for part in (one, other, by, *numbers)}) != 1:
        raise ValueError("first, second, judge and votes have unequal lengths")
    texts = np.concatenate([one, other])
    if texts.size and not 0 <= texts.min() <= texts.max() < n:
        raise ValueError(f"texts are numbered from 0 to {n - 1}")
    if by.size and by.min() < 0:
        raise ValueError("judges are numbered from 0")
    if (one == other).any():
        raise ValueError("a text is compared with itself")
    if any(not (part >= 0).all() for part in numbers):
        raise ValueError("a number of votes is 0 or more")
    votes = (numbers[0], numbers[1], numbers[2])
    return _merged(n, (one, other, by), votes, int(by.max(initial=0)) + 1)


def _merged(
    n: int,
    sheets: tuple[Places, Places, Places],
    votes: tuple[Array, Array, Array],
    judges: int,
) -> Counts:
    """Votes on sheets (first, second, judge), those of one sheet and judge added up."""
    given = votes[0] + votes[1] + votes[2] > 0
    first, second, judge = (part[given] for part in sheets)
    size = max(n, 1)
    keys, rows = np.unique((judge * size + first) * size + second, return_inverse=True)
    parts = [added(rows, part[given], len(keys)) for part in votes]
    judge, sheet = np.divmod(keys, size**2)
    first, second = np.divmod(sheet, size)
    low, high = np.minimum(first, second), np.maximum(first, second)
    pairs, pair = np.unique(low * size + high, return_inverse=True)
    both = np.column_stack(np.divmod(pairs, size))
    return Counts(n, first, second, judge, parts[0], parts[1], parts[2], pair, both, judges)
