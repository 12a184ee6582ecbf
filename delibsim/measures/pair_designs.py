"""Which pairs of texts are judged, and in which order they are shown, drawn before any vote."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
