"""What is drawn to be coded or compared: samples with known chances, and pairs of texts."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
RHO = 0.5
"""The share of a draw by doubt that is at random."""


def sizes_of(strata: Sequence[int], n: int) -> list[int]:
    """How many are drawn from each stratum: in proportion to its size, `n` in all.

    Largest remainders; of equal ones the first. ValueError where there are fewer than `n`.

    >>> sizes_of([60, 30, 10], 5)
    [3, 2, 0]
    """
    total = sum(strata)
    if n > total:
        raise ValueError(f"{n} cannot be drawn from {total}")
    if not total:
        return [0] * len(strata)
    sizes = [size * n // total for size in strata]
    remainders = [size * n % total for size in strata]
    order = sorted(range(len(strata)), key=lambda i: -remainders[i])
    for i in order[: n - sum(sizes)]:
        sizes[i] += 1
    return sizes


def even_sizes(strata: Sequence[int], n: int) -> list[int]:
    """How many are drawn from each stratum: the same number, as far as it holds so many.

    `n` in all, or all where there are fewer; small strata are thereby drawn more often.

    >>> even_sizes([60, 30, 1], 9)
    [4, 4, 1]
    """
    sizes = [0] * len(strata)
    left = min(n, sum(strata))
    while left:
        open_strata = [i for i, size in enumerate(strata) if sizes[i] < size]
        for i in open_strata[:left]:
            sizes[i] += 1
        left -= min(left, len(open_strata))
    return sizes


def spread_chances(groups: Sequence[int], n: int) -> Array:
    """The chance of a text of each group to be drawn where `n` texts are drawn from groups of these
    sizes in turn, one each round, with groups and texts in a drawn order; (groups,).

    The numbers of a group are those of `even_sizes`; which groups get one text more than others is
    drawn, so that a text's chance is the mean number of its group over the size of the group.

    >>> spread_chances([4, 4, 1], 4).tolist()
    [0.375, 0.375, 1.0]
    """
    size, drawn = np.asarray(groups, dtype=float), np.asarray(even_sizes(groups, n), dtype=float)
    left = size > drawn
    if not left.any():
        return np.ones(len(size))
    rounds = drawn[left].min()
    further = size > rounds
    more = (n - np.minimum(size, rounds).sum()) / further.sum()
    return np.where(further, (rounds + more) / size, 1.0)


def chances_by_doubt(doubt: ArrayLike, n: int, rho: float = RHO) -> Array:
    """The chance of each text to be drawn, (N,): pi = min(1, n ((1 - rho) u / sum u + rho / N)).

    `doubt` holds u, 0 or more, NaN nowhere. Where nothing is doubtful all is at random. The sum is
    `n` as long as no chance is cut at 1. ValueError for doubt below 0 or missing.
    Source: Horvitz and Thompson 1952 for the use of such chances.
    """
    u = np.asarray(doubt, dtype=float)
    if np.isnan(u).any() or (u < 0).any():
        raise ValueError("doubt is a number of 0 or more for each text")
    total = u.sum()
    share = u / total if total > 0 else np.full(len(u), 1 / max(len(u), 1))
    return np.minimum(1, n * ((1 - rho) * share + rho / max(len(u), 1)))


def drawn_by_doubt(
    chances: ArrayLike, n: int, start: float, rho: float = RHO
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places of one systematic draw with `chances_by_doubt`, and those of them at random.

    Each place takes as much of a line as its chance is large; drawn are those in which `start`,
    `start` + 1 and so on lie. So every place has exactly its chance where the start is drawn
    uniformly from 0 to 1, and the size of the draw is the sum of the chances, rounded up or down
    (Madow 1949). The first part of what a place takes, rho n / N long, is its chance to be drawn
    at random, which is the same for all: what is found on those places holds for all texts.

    >>> drawn, at_random = drawn_by_doubt([0.25, 0.5, 1.0, 0.25], 2, 0.2)
    >>> drawn.tolist(), at_random.tolist()
    ([0, 2], [0])
    """
    chance = np.asarray(chances, dtype=float)
    ends = np.cumsum(chance)
    begins = ends - chance
    behind = start + np.ceil(begins - start) - begins  # how far into its place the point lies
    drawn = behind < chance
    at_random = drawn & (behind < rho * n / max(len(chance), 1))
    return np.flatnonzero(drawn), np.flatnonzero(at_random)


def effective_size(weights: ArrayLike, sizes: ArrayLike) -> float:
    """How many independent draws a stratified sample is worth: 1 / sum(W^2 / n) (Kish 1965).

    `weights` are the shares W of the strata, which add up to 1; `sizes` how many were drawn of
    each. NaN where nothing was drawn.
    """
    w, n = np.asarray(weights, dtype=float), np.asarray(sizes, dtype=float)
    if not len(n) or (n <= 0).any():
        return math.nan
    return float(1 / (w**2 / n).sum())


Places = NDArray[np.int64]


def all_pairs(n: int) -> Places:
    """Every pair of `n` texts (n(n-1)/2, 2): round robin. ValueError below two texts.

    >>> all_pairs(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    _refuse_few(n)
    return np.column_stack(np.triu_indices(n, 1)).astype(np.int64)


def ring(n: int, k: int, seed: int) -> Places:
    """Texts in a drawn order on a circle, each with its k/2 neighbours either way (n k/2, 2).

    ValueError for a k that is odd, below 2 or above n - 1; the message names the nearest that can
    be.
    """
    _refuse_few(n)
    most = (n - 1) - (n - 1) % 2
    if n == 2 or k % 2 or not 2 <= k <= most:
        nearest = min(max(k - k % 2, 2), most)
        instead = f"the nearest is {nearest}" if most >= 2 else "take the design all"
        raise ValueError(f"a ring of {n} texts has an even k from 2 to {most}, not {k}; {instead}")
    return _sorted(_ring(np.random.default_rng(seed).permutation(n), k))


def directed_ring(n: int, k: int = 6, total: int | None = None) -> Places:
    """Each text, in the order that they are in, is shown first with the k that follow it on a
    circle (n k, 2); texts are thus second as often.

    With a `total` instead of k, total // n offsets are whole and the rest takes the first texts.
    Source: Zhu et al. (2025), https://arxiv.org/abs/2510.05154. ValueError where a text would meet
    itself. With k above (n - 1) / 2 some pairs stand in both directions.

    >>> directed_ring(5, 1).tolist()
    [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]]
    """
    _refuse_few(n)
    whole, rest = (k, 0) if total is None else divmod(total, n)
    if not 0 < whole + (rest > 0) < n:
        raise ValueError(
            f"{n} texts have 1 to {n - 1} comparisons each on a directed ring, not"
            f" {whole + (rest > 0)}"
        )
    first = np.repeat(np.arange(n), whole)
    offsets = np.tile(np.arange(1, whole + 1), n)
    extra = np.arange(rest)
    starts = np.concatenate([first, extra])
    steps = np.concatenate([offsets, np.full(rest, whole + 1)])
    return np.column_stack([starts, (starts + steps) % n]).astype(np.int64)


def mirrored(pairs: ArrayLike) -> int:
    """How many pairs of texts stand in both directions.

    >>> mirrored([[0, 1], [1, 0], [1, 2]])
    1
    """
    known = {(i, j) for i, j in np.asarray(pairs).tolist()}
    return sum((j, i) in known for i, j in known) // 2


def groups(n: int, g: int, seed: int) -> Places:
    """Texts in groups of `g` on a ring, in a drawn order: all pairs within a group and with the
    next.

    The last group may be smaller. With two groups, the pairs between them stand once. Source:
    Gienapp et al. (2020), https://doi.org/10.18653/v1/2020.acl-main.511. ValueError for a g below 2
    or above n.
    """
    _refuse_few(n)
    if not 2 <= g <= n:
        nearest = min(max(g, 2), n)
        raise ValueError(f"groups of {n} texts have 2 to {n}, not {g}; the nearest is {nearest}")
    order = np.random.default_rng(seed).permutation(n)
    parts = [order[start : start + g] for start in range(0, n, g)]
    found = []
    for place, own in enumerate(parts):
        found.append(own[all_pairs(len(own))] if len(own) > 1 else np.empty((0, 2), dtype=int))
        following = parts[(place + 1) % len(parts)]
        if len(parts) > 2 or (len(parts) == 2 and place == 0):
            found.append(np.stack(np.meshgrid(own, following), axis=-1).reshape(-1, 2))
    return _sorted(np.concatenate(found))


def random_pairs(n: int, m: int, seed: int) -> Places:
    """`m` pairs without replacement (m, 2), connected, the counts of texts as equal as can be.

    A drawn ring comes first; after it, each pair joins texts that have the fewest so far.
    ValueError for fewer pairs than connect the texts (n - 1), and for more than there are.
    """
    _refuse_few(n)
    most = n * (n - 1) // 2
    if not n - 1 <= m <= most:
        nearest = min(max(m, n - 1), most)
        raise ValueError(
            f"{n} texts have {n - 1} to {most} pairs that connect them, not {m};"
            f" the nearest is {nearest}"
        )
    rng = np.random.default_rng(seed)
    start = _ring(rng.permutation(n), 2)[:m] if n > 2 else np.array([[0, 1]])
    chosen = {(min(i, j), max(i, j)) for i, j in start.tolist()}
    taken = np.bincount(start.ravel(), minlength=n)
    neighbours: list[set[int]] = [set() for _ in range(n)]
    for i, j in chosen:
        neighbours[i].add(j)
        neighbours[j].add(i)
    while len(chosen) < m:
        i, j = _next(taken, neighbours, rng)
        chosen.add((min(i, j), max(i, j)))
        neighbours[i].add(j)
        neighbours[j].add(i)
        taken[[i, j]] += 1
    return _sorted(np.array(sorted(chosen)))


def shown(pairs: ArrayLike, n: int, seed: int) -> Places:
    """Each pair in the order in which it is shown (p, 2), drawn and balanced.

    Each text is shown first in half of its sheets, one more or less: the pairs are walked along
    closed ways (Euler), after texts with an odd number of pairs have been joined by way of one that
    does not exist.
    """
    texts = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    rng = np.random.default_rng(seed)
    odd = np.flatnonzero(np.bincount(texts.ravel(), minlength=n) % 2)
    extra = np.column_stack([odd, np.full(len(odd), n)])
    edges = rng.permutation(np.concatenate([texts, extra]))
    number = {(min(i, j), max(i, j)): k for k, (i, j) in enumerate(texts.tolist())}
    near: list[list[int]] = [[] for _ in range(n + 1)]
    for edge, (i, j) in enumerate(edges.tolist()):
        near[i].append(edge)
        near[j].append(edge)
    used = np.zeros(len(edges), dtype=bool)
    found = texts.copy()
    flips = rng.integers(0, 2, n + 1)
    for start in rng.permutation(n + 1).tolist():
        at = start
        while True:
            while near[at] and used[near[at][-1]]:
                near[at].pop()
            if not near[at]:
                break
            edge = near[at].pop()
            used[edge] = True
            i, j = edges[edge].tolist()
            to = j if i == at else i
            if n not in (at, to):
                found[number[min(i, j), max(i, j)]] = (at, to) if flips[start] else (to, at)
            at = to
    return found


def both_orders(pairs: ArrayLike) -> Places:
    """Each pair in either order (2p, 2)."""
    texts = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    return np.concatenate([texts, texts[:, ::-1]])


def _next(taken: Places, neighbours: list[set[int]], rng: np.random.Generator) -> tuple[int, int]:
    """A new pair of texts that have the fewest; chance decides between equals."""
    order = np.lexsort((rng.random(len(taken)), taken)).tolist()
    for i in order:
        for j in order:
            if i != j and j not in neighbours[i]:
                return i, j
    raise ValueError("there is no further pair")


def _ring(order: Places, k: int) -> Places:
    parts = [np.column_stack([order, np.roll(order, -step)]) for step in range(1, k // 2 + 1)]
    return np.concatenate(parts)


def _sorted(pairs: Places) -> Places:
    """Each pair in ascending order, and pairs in ascending order."""
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    found = np.column_stack([low, high]).astype(np.int64)
    return found[np.lexsort((high, low))]


def _refuse_few(n: int) -> None:
    if n < 2:
        raise ValueError(f"pairs need two texts at least, not {n}")
