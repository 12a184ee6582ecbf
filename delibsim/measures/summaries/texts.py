"""Texts as points: embedding, outliers, extracts and themes, and a baseline for judges.

Sources: Breunig et al. (2000), https://doi.org/10.1145/342009.335388, for local outlier factors;
Carbonell and Goldstein (1998), https://doi.org/10.1145/290941.291025, for marginal relevance;
scikit-learn for these, TF-IDF, k-means and ridge regression. The baseline, which a trained judge
must beat, has the cosine of opinion and summary (TF-IDF), the logarithms of their words, the
question, and 30 TF-IDF components of each and of their product; penalty 300, mean of three seeds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
DIMENSIONS = 100
REPEATED = 2
"""In how many texts a word stands that is kept."""


class NoSharedWord(ValueError):
    """No two texts share a word, so that they cannot be told apart by words."""


def tfidf_points(texts: Sequence[str], dimensions: int = DIMENSIONS) -> Array:
    """Texts as points (n, d) of unit length: sublinear TF-IDF over words that stand in two texts or
    more, the largest singular directions of it.

    A text that shares no word with another lies at 0. NoSharedWord where no two texts share a word.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        weights = TfidfVectorizer(sublinear_tf=True, min_df=REPEATED).fit_transform(texts)
    except ValueError:
        raise NoSharedWord("no two texts share a word") from None
    most = min(weights.shape) - 1
    points = weights.toarray()
    if most > 0:
        kept = min(dimensions, most)
        with np.errstate(invalid="ignore", divide="ignore"):  # shares of a variance that is 0
            points = TruncatedSVD(kept, random_state=0).fit_transform(weights)
    length = np.linalg.norm(points, axis=1, keepdims=True)
    return points / np.where(length > 1e-12, length, 1)


@dataclass(frozen=True)
class Embedding:
    """How texts become points (n, d): `points` makes them, `source` names the model behind it, ""
    where there is none.
    """

    points: Callable[[Sequence[str]], Array]
    source: str = ""


TFIDF = Embedding(tfidf_points)
"""The default, which needs no model."""
NEIGHBOURS = 20
SMALLEST = 10
"""Distinct opinions of a group below which nobody is flagged."""
SHARE = 0.1
CLUSTERS = 8
TOO_SMALL = "group_too_small"
EQUAL = 12
"""Decimal places in which the coordinates of equal opinions agree."""


@dataclass(frozen=True, eq=False)
class Outliers:
    """Factors (n,) of the opinions, NaN in a group that is too small, and who is flagged (n,).

    `neighbours` are those of each group by name, `notes` the groups in which nobody is flagged.
    """

    factors: Array
    flagged: NDArray[np.bool_]
    neighbours: dict[str, int]
    notes: dict[str, str]


def factors(points: ArrayLike, k: int = NEIGHBOURS) -> tuple[Array, NDArray[np.bool_]]:
    """Local outlier factors of points (n, d) by Euclidean distance with min(k, n - 1) neighbours,
    and who is flagged: those strictly above the 90th percentile, interpolated.

    Equal points count once, since k of them or more would make the factors of others explode.
    """
    from sklearn.neighbors import LocalOutlierFactor

    table = np.asarray(points, dtype=float)
    _, first, place = np.unique(table.round(EQUAL), axis=0, return_index=True, return_inverse=True)
    order = np.sort(first)  # as they came, which decides between neighbours at one distance
    rank = np.argsort(np.argsort(first))
    distinct = table[order]
    finder = LocalOutlierFactor(n_neighbors=min(k, len(distinct) - 1), contamination=SHARE)
    out = finder.fit_predict(distinct) == -1
    own = rank[place.ravel()]
    return -finder.negative_outlier_factor_[own], out[own]


def local_outliers(points: ArrayLike, groups: ArrayLike, k: int = NEIGHBOURS) -> Outliers:
    """Local outliers within groups; `groups` (n,) names the group of each point (n, d)."""
    table, named = np.asarray(points, dtype=float), np.asarray(groups)
    found = np.full(len(table), np.nan)
    flagged = np.zeros(len(table), dtype=bool)
    neighbours, notes = {}, {}
    for name in np.unique(named):
        own = named == name
        distinct = len(np.unique(table[own].round(EQUAL), axis=0))
        if distinct < SMALLEST:
            notes[str(name)] = TOO_SMALL
            continue
        neighbours[str(name)] = min(k, distinct - 1)
        found[own], flagged[own] = factors(table[own], k)
    return Outliers(found, flagged, neighbours, notes)


def clusters(points: ArrayLike, seed: int, k: int = CLUSTERS) -> NDArray[np.int64]:
    """k-means clusters (n,) of standardised points (n, d); fewer where there are fewer distinct
    points.
    """
    from sklearn.cluster import KMeans

    table = np.asarray(points, dtype=float)
    spread = table.std(axis=0)
    scaled = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1)
    distinct = len(np.unique(scaled.round(EQUAL), axis=0))
    model = KMeans(min(k, distinct), n_init=10, random_state=seed % 2**32)
    return model.fit_predict(scaled).astype(np.int64)


def stability(points: ArrayLike, seeds: ArrayLike, k: int = CLUSTERS) -> float:
    """The mean adjusted Rand index of the clusterings of all pairs of seeds; 1 where all agree."""
    from sklearn.metrics import adjusted_rand_score

    found = [clusters(points, int(seed), k) for seed in np.asarray(seeds)]
    scores = []
    for i, one in enumerate(found):
        scores += [adjusted_rand_score(one, other) for other in found[i + 1 :]]
    return float(np.mean(scores)) if scores else float("nan")


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


Triple = tuple[str, str, str]
"""Question, opinion, summary."""
PENALTY = 300.0
COMPONENTS = 30
SEEDS = (1, 2, 3)


@dataclass(eq=False)
class Ridge:
    """A fitted baseline; `predict` gives a column a dimension."""

    questions: tuple[str, ...]
    words: Any
    fits: list[tuple[Any, Array, Array, list[Any]]] = field(default_factory=list)

    def predict(self, triples: Sequence[Triple]) -> Array:
        """Scores (triples x dimensions); NaN in a dimension that nothing was known of."""
        found = []
        for reduced, mean, scale, models in self.fits:
            x = (self.features(triples, reduced) - mean) / scale
            columns = [model.predict(x) if model else np.full(len(x), np.nan) for model in models]
            found.append(np.column_stack(columns))
        return np.mean(found, axis=0)

    def features(self, triples: Sequence[Triple], reduced: Any) -> Array:
        """The features of triples, before they are brought to one scale."""
        opinions = self.words.transform([opinion for _, opinion, _ in triples])
        summaries = self.words.transform([summary for _, _, summary in triples])
        cosine = np.asarray(opinions.multiply(summaries).sum(axis=1)).reshape(-1, 1)
        lengths = [
            [np.log1p(len(opinion.split())), np.log1p(len(summary.split()))]
            for _, opinion, summary in triples
        ]
        asked = np.column_stack([_is(triples, question) for question in self.questions])
        a, b = reduced.transform(opinions), reduced.transform(summaries)
        return np.hstack([cosine, lengths, asked, a, b, a * b])


def _is(triples: Sequence[Triple], question: str) -> Array:
    """1 where a triple is on this question, 0 elsewhere."""
    return np.array([one[0] == question for one in triples], dtype=float)


def fit_ridge(triples: Sequence[Triple], scores: Array) -> Ridge:
    """The baseline fitted to scores (triples x dimensions, NaN where missing).

    ValueError where there are fewer than two triples, or no word in them.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import Ridge as Regression

    texts = sorted({text for _, *both in triples for text in both})
    words = TfidfVectorizer().fit(texts)
    found = Ridge(tuple(sorted({one[0] for one in triples})), words)
    matrix = words.transform(texts)
    most = min(COMPONENTS, matrix.shape[1] - 1, matrix.shape[0] - 1)
    for seed in SEEDS:
        reduced = TruncatedSVD(max(most, 1), random_state=seed).fit(matrix)
        x = found.features(triples, reduced)
        mean, scale = x.mean(axis=0), x.std(axis=0)
        scale[scale == 0] = 1.0
        models: list[Any] = []
        for column in scores.T:
            there = ~np.isnan(column)
            own = (x[there] - mean) / scale
            models.append(Regression(PENALTY).fit(own, column[there]) if there.any() else None)
        found.fits.append((reduced, mean, scale, models))
    return found
