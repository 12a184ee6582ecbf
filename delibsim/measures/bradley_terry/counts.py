"""Counts of equal votes on pairs, and what they say without a model: outcomes, circular triads.

Source: Kendall and Babington Smith (1940), https://doi.org/10.1093/biomet/31.3-4.324.
"""

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


Marks = NDArray[np.bool_]

WON_ALL, LOST_ALL, ONE_WAY = "won_all", "lost_all", "one_way"
NOT_CONNECTED = "not_connected"


@dataclass(frozen=True, eq=False)
class Graph:
    """The graph of wins among n texts.

    `component` (n,) numbers the parts between which nobody voted; `sizes` (c,) counts their texts.
    `connected` (c,) is True for parts that are strongly connected, and have more than one text.
    `notes` (n,) are "", or why a text has no strength without a penalty.
    """

    component: Places
    sizes: Places
    connected: Marks
    notes: tuple[str, ...]

    @property
    def alone(self) -> Marks:
        """The texts (n,) that nobody compared with another."""
        return self.sizes[self.component] == 1

    @property
    def estimable(self) -> Marks:
        """The texts (n,) that have a strength without a penalty."""
        return self.connected[self.component]

    def centred(self, values: Array) -> Array:
        """The `values` (n,) less the mean of their component; NaN for texts that stand alone."""
        return np.where(self.alone, np.nan, centred(values, self.component))


def centred(values: Array, component: Places) -> Array:
    """Values (n,) or (n, r) less the mean of their component, among what is not NaN.

    >>> centred(np.array([1.0, 3.0, np.nan, 5.0]), np.array([0, 0, 0, 1]))
    array([-1.,  1., nan,  0.])
    """
    known = ~np.isnan(values)
    shape = (component.max(initial=-1) + 1, *values.shape[1:])
    sums, sizes = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, component, np.where(known, values, 0.0))
    np.add.at(sizes, component, known)
    return values - (sums / np.maximum(sizes, 1))[component]


def graph_of(counts: Counts) -> Graph:
    """The graph of these votes, of all judges together."""
    n, low, high = counts.n, counts.pairs[:, 0], counts.pairs[:, 1]
    ahead = counts.direction > 0
    for_low = np.where(ahead, counts.a, counts.b) + counts.tie > 0
    for_high = np.where(ahead, counts.b, counts.a) + counts.tie > 0
    down, up = (np.bincount(counts.pair, part, len(low)) > 0 for part in (for_low, for_high))
    winners = np.concatenate([low[down], high[up]])
    losers = np.concatenate([high[down], low[up]])
    edges = _edges(n, winners, losers)
    strong = _components(edges, "strong")
    if n > 1 and not strong.any():  # one part: the usual case, and that of most bootstrap draws
        return Graph(strong, np.array([n]), np.array([True]), ("",) * n)
    component = _components(edges, "weak")
    sizes = np.bincount(component, minlength=component.max(initial=-1) + 1)
    parts = np.unique(np.column_stack([component, strong]), axis=0)[:, 0]
    connected = (np.bincount(parts, minlength=len(sizes)) == 1) & (sizes > 1)
    between = strong[winners] != strong[losers]
    won = np.bincount(winners[between], minlength=n) > 0
    lost = np.bincount(losers[between], minlength=n) > 0
    single = np.bincount(strong)[strong] == 1 if n else np.zeros(0, dtype=bool)
    notes = np.full(n, "", dtype=object)
    notes[~connected[component]] = ONE_WAY
    notes[single & won & ~lost] = WON_ALL
    notes[single & lost & ~won] = LOST_ALL
    notes[sizes[component] == 1] = NOT_CONNECTED
    return Graph(component, sizes, connected, tuple(notes))


def sorted_order(counts: Counts) -> bool:
    """Whether all pairs were shown in the order of some sorted list of the texts.

    Then an advantage of the text shown first is hardly told from merit: what is early in the list
    is both.
    """
    if not len(counts.first):
        return True
    low, high = counts.pairs.T
    ahead = np.bincount(counts.pair, counts.direction > 0, len(low)) > 0
    behind = np.bincount(counts.pair, counts.direction < 0, len(low)) > 0
    if (ahead & behind).any():
        return False
    begin = np.concatenate([low[ahead], high[behind]])
    end = np.concatenate([high[ahead], low[behind]])
    return len(np.unique(_components(_edges(counts.n, begin, end), "strong"))) == counts.n


def order_is_merit(counts: Counts) -> bool:
    """Whether strengths exist that act on every sheet as an advantage of the first text does.

    Then that advantage cannot be estimated at all.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import NegativeCycleError, bellman_ford

    n, (low, high) = counts.n, counts.pairs.T
    ahead = np.zeros(len(low))
    ahead[counts.pair] = counts.direction
    # Steps of one from loser to winner contradict each other where some way round is no 0. All
    # ways begin at a place of its own, number n.
    steps = np.concatenate([ahead, -ahead, np.ones(n)])
    begin = np.concatenate([low, high, np.full(n, n)])
    end = np.concatenate([high, low, np.arange(n)])
    try:
        bellman_ford(csr_array((steps, (begin, end)), shape=(n + 1, n + 1)), indices=n)
    except NegativeCycleError:
        return False
    return True


def _edges(n: int, begin: Places, end: Places):
    """Edges between texts, as a sparse matrix (n, n)."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(begin)), (begin, end)), shape=(n, n))


def _components(edges, connection: str) -> Places:
    """The number of the component of each text (n,), in the order of their first texts."""
    from scipy.sparse.csgraph import connected_components

    if not edges.shape[0]:
        return np.zeros(0, dtype=np.int64)
    found = connected_components(edges, directed=True, connection=connection)[1]
    _, firsts, numbers = np.unique(found, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(firsts))[numbers].astype(np.int64)
