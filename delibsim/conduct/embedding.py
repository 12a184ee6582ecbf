"""Opinions as points: by TF-IDF, or by an embedding that is installed as a plug-in."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.conduct.sentence_embedding import PREFIX, SentenceTransformers
from delibsim.domain.errors import WrongInput
from delibsim.measures.summaries.embedding import tfidf_points
from delibsim.plugins import NoPlugin, load

GROUP = "delibsim.embeddings"
"""The group of entry points: classes without arguments, with the method `embed`."""
BUILT_IN = "tfidf"
Points = Callable[[Sequence[str]], NDArray[np.float64]]
"""From texts to points (n, d)."""


def _made(name: str) -> Any:
    """The embedding of this name."""
    if name.startswith(PREFIX):
        return SentenceTransformers(name.removeprefix(PREFIX))
    try:
        return load(GROUP, name)
    except NoPlugin as fault:
        built_in = f"{BUILT_IN} and {PREFIX}FOLDER"
        raise WrongInput(f"embedding={name}: {fault}; built in are {built_in}") from None


def points_by(name: str) -> Points:
    """How texts become points: `tfidf`, or the method `embed` of a plug-in of this name.

    WrongInput for an embedding that is not installed. What it gives is checked: a row of finite
    numbers a text.
    """
    if name in ("", BUILT_IN):
        return tfidf_points
    made = _made(name)

    def points(texts: Sequence[str]) -> NDArray[np.float64]:
        found = np.asarray(made.embed(list(texts)), dtype=float)
        if found.ndim != 2 or len(found) != len(texts) or not np.isfinite(found).all():
            raise WrongInput(
                f"embedding {name} gave an array of shape {found.shape} for {len(texts):,} texts;"
                " it must give a row of finite numbers a text"
            )
        return found

    return points
