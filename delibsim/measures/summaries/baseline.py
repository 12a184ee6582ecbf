"""What a trained judge must beat: ridge regression on words, lengths and the question.

Features: the cosine of opinion and summary (TF-IDF), the logarithms of their words, the question,
and 30 TF-IDF components of each and of their product; penalty 300, mean of three seeds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
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
