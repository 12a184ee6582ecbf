"""Who met whom and who won: which strengths exist, and why others do not.

Without a penalty the likelihood has a maximum where the graph of wins is strongly connected: an
edge leads from winner to loser, a tie leads both ways (Ford 1957,
https://doi.org/10.2307/2308513).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from delibsim.measures.bradley_terry.counts import Counts

Array = NDArray[np.float64]
Places = NDArray[np.int64]
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
