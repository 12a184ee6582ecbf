"""Texts as points: TF-IDF, reduced by a singular value decomposition, of unit length."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
