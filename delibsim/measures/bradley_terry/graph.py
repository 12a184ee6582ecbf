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

    def means(self, values: Array) -> Array:
        """The mean of `values` (n,) in the component of each text, (n,)."""
        totals = np.bincount(self.component, values, len(self.sizes))
        return (totals / self.sizes)[self.component]

    def centred(self, values: Array) -> Array:
        """The `values` (n,) less the mean of their component; NaN for texts that stand alone."""
        return np.where(self.alone, np.nan, values - self.means(values))


def graph_of(counts: Counts) -> Graph:
    """The graph of these votes, of all judges together."""
    n, low, high = counts.n, counts.pairs[:, 0], counts.pairs[:, 1]
    ahead = counts.direction > 0
    for_low = np.where(ahead, counts.a, counts.b) + counts.tie > 0
    for_high = np.where(ahead, counts.b, counts.a) + counts.tie > 0
    down, up = (np.bincount(counts.pair, part, len(low)) > 0 for part in (for_low, for_high))
    edges = _ascending(n, low[down], high[down]) + _ascending(n, low[up], high[up]).T.tocsr()
    strong = _components(edges, "strong")
    if n > 1 and not strong.any():  # one part: the usual case, and that of most bootstrap draws
        return Graph(strong, np.array([n]), np.array([True]), ("",) * n)
    component = _components(edges, "weak")
    winners = np.concatenate([low[down], high[up]])
    losers = np.concatenate([high[down], low[up]])
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
    n = counts.n
    edges = _ascending(n, low[ahead], high[ahead]) + _ascending(n, low[behind], high[behind]).T
    strong = _components(edges.tocsr(), "strong")
    return len(np.unique(strong)) == counts.n


def order_is_merit(counts: Counts) -> bool:
    """Whether strengths exist that act on every sheet as an advantage of the first text does.

    Then that advantage cannot be estimated at all.
    """
    from scipy.sparse.csgraph import breadth_first_order

    low, high = counts.pairs.T
    edges = _ascending(counts.n, low, high)
    strengths = np.full(counts.n, np.nan)
    larger = np.zeros(len(low))
    larger[counts.pair] = counts.direction
    gain = dict(zip(zip(low.tolist(), high.tolist(), strict=True), larger.tolist(), strict=True))
    for text in np.unique(low):
        if not np.isnan(strengths[text]):
            continue
        order, before = breadth_first_order(edges, text, directed=False)
        strengths[text] = 0.0
        for one in order[1:].tolist():
            other = int(before[one])
            ahead = -gain[other, one] if other < one else gain[one, other]
            strengths[one] = strengths[other] + ahead
    moved = strengths[counts.first] - strengths[counts.second]
    return bool(len(moved) == 0 or (moved == 1).all())


def _ascending(n: int, low: Places, high: Places):
    """Edges from lower to higher numbers, sorted, as a sparse matrix (n, n)."""
    from scipy.sparse import csr_array

    starts = np.concatenate([[0], np.cumsum(np.bincount(low, minlength=n))])
    return csr_array((np.ones(len(low)), np.ascontiguousarray(high), starts), shape=(n, n))


def _components(edges, connection: str) -> Places:
    """The number of the component of each text (n,), in the order of their first texts."""
    from scipy.sparse.csgraph import connected_components

    if not edges.shape[0]:
        return np.zeros(0, dtype=np.int64)
    found = connected_components(edges, directed=True, connection=connection)[1]
    _, firsts, numbers = np.unique(found, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(firsts))[numbers].astype(np.int64)
