"""How a conversation went by its words: who spoke how much, in what turn, and how alike.

Turns are lists of words, in lower case and in the order of the conversation.
"""

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike

from delibsim.measures.dri import has_missing

EQUAL = 1e-9
"""What rounding leaves of a difference."""


WINDOW = 50
"""Words of a window of MATTR, which a text must have."""
Words = Sequence[str]


def gini(amounts: ArrayLike) -> float:
    """Gini coefficient of amounts (n,) that are 0 or more: 0 where all are equal, (n - 1) / n where
    one has everything; NaN where nobody has anything. Source: Gini 1912; the form with ranks is
    that of Dorfman 1979, doi:10.2307/1924845.

    >>> gini([1, 1, 1]), gini([0, 0, 3])
    (0.0, 0.6666666666666666)
    """
    found = np.sort(np.asarray(amounts, dtype=float))
    n, total = len(found), found.sum()
    if not total:
        return float("nan")
    ranks = np.arange(1, n + 1)
    return float((2 * ranks - n - 1) @ found / (n * total))


def returns(speakers: Sequence[str]) -> float:
    """The share of turns from the third on whose speaker spoke two turns before, another having
    spoken between (A-B-A); NaN with fewer than three turns.

    After the turns A-B that follow each other of Gibson 2003, doi:10.1353/sof.2003.0055.

    >>> returns(["a", "b", "a", "c"])
    0.5
    """
    if len(speakers) < 3:
        return float("nan")
    triples = zip(speakers, speakers[1:], speakers[2:], strict=False)
    again = [first == third != second for first, second, third in triples]
    return sum(again) / len(again)


def mattr(words: Words, window: int = WINDOW) -> float:
    """Moving-average type-token ratio: the mean share of different words over all windows of so
    many words, which does not fall with length; NaN for a shorter text.

    Source: Covington and McFall 2010, doi:10.1080/09296171003643098.

    >>> mattr("a b a b c".split(), 3)
    0.7777777777777778
    """
    if len(words) < window:
        return float("nan")
    counts = Counter(words[:window])
    total = len(counts)
    for gone, come in zip(words, words[window:], strict=False):
        counts[gone] -= 1
        if not counts[gone]:
            del counts[gone]
        counts[come] += 1
        total += len(counts)
    return total / (window * (len(words) - window + 1))


def cosine(first: Words, second: Words) -> float:
    """Cosine of the counts of words of two texts, from 0 to 1; NaN where one has none. Source:
    Salton and McGill 1983, Introduction to Modern Information Retrieval.

    >>> round(cosine(["a", "b"], ["a", "c"]), 3)
    0.5
    """
    a, b = Counter(first), Counter(second)
    lengths = sum(n * n for n in a.values()) * sum(n * n for n in b.values())
    if not lengths:
        return float("nan")
    return sum(n * b[word] for word, n in a.items()) / lengths**0.5


def adjacent(turns: Sequence[Words], speakers: Sequence[str]) -> float:
    """Mean cosine of turns that follow each other and have different speakers; NaN without any."""
    pairs = zip(turns, turns[1:], speakers, speakers[1:], strict=False)
    found = [cosine(one, next_) for one, next_, who, other in pairs if who != other]
    return _mean([value for value in found if not np.isnan(value)])


def echo(turns: Sequence[Words], speakers: Sequence[str]) -> float:
    """Mean over turns of the share of their different words that the turn took over: somebody else
    had said them before, the speaker had not. Turns before which nobody else spoke have none.

    After the repeated words of alignment (Fusaroli et al. 2012, doi:10.1177/0956797612436816).

    >>> echo([["tram"], ["tram", "tax"]], ["a", "b"])
    0.5
    """
    said: dict[str, set[str]] = {}
    found = []
    for words, speaker in zip(turns, speakers, strict=True):
        different, own = set(words), said.get(speaker, set())
        others = set[str]().union(*(known for name, known in said.items() if name != speaker))
        if different and len(said) > (speaker in said):
            found.append(len(different & others - own) / len(different))
        said[speaker] = own | different
    return _mean(found)


def _mean(values: Collection[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def drift(pre: ArrayLike, post: ArrayLike) -> float:
    """Mean over items of how far the mean of the group moved, whatever its direction."""
    return float(np.abs(_change(pre, post).mean(axis=0)).mean())


def moved(pre: ArrayLike, post: ArrayLike) -> float:
    """The share of answers that are others after than before."""
    return float((np.abs(_change(pre, post)) > EQUAL).mean())


def toward(pre: ArrayLike, post: ArrayLike) -> float:
    """Of all movement the part towards what the others had answered before on average, less the
    part away from it: 1 where all of it went there, -1 where all went away; NaN where nobody moved.

    Answers that come back from a chance extreme count too (regression to the mean), so that the
    value says something beside others only.

    >>> toward([[0.0], [1.0]], [[0.5], [1.0]])
    1.0
    """
    before, change = np.asarray(pre, dtype=float), _change(pre, post)
    size = np.abs(change).sum()
    if not size > EQUAL:
        return float("nan")
    others = (before.sum(axis=0) - before) / (len(before) - 1)
    return float((np.sign(others - before) * change).sum() / size)


def spread(answers: ArrayLike) -> float:
    """Mean over items of the standard deviation (n - 1) of answers within the group."""
    return float(np.asarray(answers, dtype=float).std(axis=0, ddof=1).mean())


def why_undefined(pre: ArrayLike, post: ArrayLike) -> str:
    """Why a group has no value: '' where it has, else 'too_few_participants', 'missing_answer'."""
    before, after = np.asarray(pre, dtype=float), np.asarray(post, dtype=float)
    if len(before) < 2:
        return "too_few_participants"
    return "missing_answer" if has_missing(before) or has_missing(after) else ""


def _change(pre: ArrayLike, post: ArrayLike) -> np.ndarray:
    return np.asarray(post, dtype=float) - np.asarray(pre, dtype=float)
