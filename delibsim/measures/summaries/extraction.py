"""Summaries made of the sentences of the opinions themselves: maximal marginal relevance, themes.

Sources: Carbonell and Goldstein (1998), https://doi.org/10.1145/290941.291025; scikit-learn for
TF-IDF and k-means.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
BALANCE = 0.7
"""How much of the choice is relevance; the rest is novelty."""
LONGEST = 250
"""Words of a summary."""
THEMES = 8


def sentence_vectors(sentences: Sequence[str]) -> Any:
    """TF-IDF of sentences as a sparse array (n, words), each of unit length; zeros where no
    sentence has a word.
    """
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        return csr_array(TfidfVectorizer().fit_transform(sentences))
    except ValueError:  # nothing but words of one letter
        return csr_array((len(sentences), 1))


def relevance(vectors: Any) -> Array:
    """The cosine of each vector (n, d) of unit length with their centroid, 0 of one that is 0."""
    centre = np.asarray(vectors.mean(axis=0)).ravel()
    length = float(np.linalg.norm(centre))
    return np.asarray(vectors @ centre).ravel() / length if length else np.zeros(vectors.shape[0])


def marginal_relevance(
    vectors: Any,
    worth: ArrayLike,
    words: ArrayLike,
    longest: int = LONGEST,
    balance: float = BALANCE,
) -> list[int]:
    """The places of the sentences chosen, in the order of choice: each has the most of balance *
    worth - (1 - balance) * its greatest cosine with those chosen; ties to the earlier.

    `vectors` (n, d) are of unit length, dense or sparse. Sentences are added while they fit into
    `longest` words (`words` (n,) is the length of each); the first is taken whatever its length.
    """
    value, lengths = np.asarray(worth, dtype=float), np.asarray(words)
    nearest = np.zeros(len(value))
    left = np.ones(len(value), dtype=bool)
    chosen: list[int] = []
    room = longest
    while left.any():
        fits = left & (lengths <= room) if chosen else left
        if not fits.any():
            break
        score = np.where(fits, balance * value - (1 - balance) * nearest, -np.inf)
        best = int(np.flatnonzero(score >= score.max() - 1e-12)[0])
        chosen.append(best)
        left[best] = False
        room -= int(lengths[best])
        nearest = np.maximum(nearest, _cosines(vectors, best))
    return chosen


def _cosines(vectors: Any, place: int) -> Array:
    """The cosines of all vectors with that at a place."""
    row = vectors[[place]]
    found = vectors @ row.T
    dense = found.toarray() if hasattr(found, "toarray") else found
    return np.asarray(dense, dtype=float).ravel()


@dataclass(frozen=True)
class Theme:
    """A cluster of sentences: the place of the one nearest its centre, and its share of all."""

    sentence: int
    share: float
    members: NDArray[np.int64]


def themes(vectors: Any, seed: int, k: int = THEMES) -> list[Theme]:
    """The clusters of vectors (n, d), dense or sparse, by k-means, the largest first; ties to the
    earlier sentence.

    Clusters without a member are left out, as where fewer than `k` vectors differ.
    """
    import warnings

    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    n = vectors.shape[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer vectors differ than asked for
        model = KMeans(min(k, n), n_init=4, random_state=seed % 2**32).fit(vectors)
    apart = model.transform(vectors)
    found = []
    for code in range(model.n_clusters):
        members = np.flatnonzero(model.labels_ == code)
        if not len(members):
            continue
        own = apart[members, code]
        nearest = int(members[np.flatnonzero(own <= own.min() + 1e-9)[0]])
        found.append(Theme(nearest, len(members) / n, members))
    return sorted(found, key=lambda theme: (-len(theme.members), theme.sentence))


def nearest(vectors: ArrayLike, others: ArrayLike) -> tuple[NDArray[np.int64], Array]:
    """For each vector (n, d) of unit length the place of the other (m, d) with the highest cosine,
    and that cosine.
    """
    cosines = np.asarray(vectors, dtype=float) @ np.asarray(others, dtype=float).T
    places = cosines.argmax(axis=1)
    return places.astype(np.int64), cosines[np.arange(len(cosines)), places]
