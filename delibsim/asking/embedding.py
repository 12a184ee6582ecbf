"""Opinions as points: by TF-IDF, or by an embedding that is installed as a plug-in."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.domain.errors import WrongInput
from delibsim.measures.summaries.texts import TFIDF, Embedding
from delibsim.models.sentences import PACKAGE, SentenceTransformers
from delibsim.plugins import NoPlugin, load

GROUP = "delibsim.embeddings"
"""The group of entry points: classes without arguments, with the method `embed`."""
BUILT_IN = "tfidf"
FOLDER = f"{PACKAGE}:"
"""What names a folder with a model: embedding=sentence_transformers:FOLDER."""


def embedding_named(name: str) -> Embedding:
    """How texts become points: `tfidf`, or the method `embed` of a plug-in of this name, whose
    `source`, where it has one, names its model.

    WrongInput for an embedding that is not installed. What it gives is checked: a row of finite
    numbers a text; `sentence_transformers:FOLDER` is the model of a folder.
    """
    if name in ("", BUILT_IN):
        return TFIDF
    made = _made(name)

    def points(texts: Sequence[str]) -> NDArray[np.float64]:
        found = np.asarray(made.embed(list(texts)), dtype=float)
        if found.ndim != 2 or len(found) != len(texts) or not np.isfinite(found).all():
            raise WrongInput(
                f"embedding {name} gave an array of shape {found.shape} for {len(texts):,} texts;"
                " it must give a row of finite numbers a text"
            )
        return found

    source = getattr(made, "source", "")
    return Embedding(points, f"{name} ({source})" if source else name)


def _made(name: str) -> Any:
    """The embedding of this name; WrongInput where there is none."""
    if name.startswith(FOLDER):
        return SentenceTransformers(name.removeprefix(FOLDER))
    try:
        return load(GROUP, name)
    except NoPlugin as fault:
        built_in = f"{BUILT_IN} and {FOLDER}FOLDER"
        raise WrongInput(f"embedding={name}: {fault}; built in are {built_in}") from None
