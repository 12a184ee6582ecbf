"""Opinions as points by a model of sentence_transformers, from files on this machine."""

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from delibsim.domain.errors import WrongInput

PREFIX = "sentence_transformers:"
"""What names a folder with such a model: embedding=sentence_transformers:FOLDER."""


class SentenceTransformers:
    """The model in a folder; nothing is ever fetched. WrongInput where it cannot be used."""

    def __init__(self, folder: str) -> None:
        place = Path(folder)
        if not (place / "config.json").is_file() and not (place / "modules.json").is_file():
            raise WrongInput(
                f"embedding={PREFIX}{folder}: that is no folder with a model; copy one there, for"
                " nothing is fetched"
            )
        if importlib.util.find_spec("sentence_transformers") is None:
            raise WrongInput(
                f"embedding={PREFIX}{folder}: the package sentence-transformers is not installed:"
                " pip install 'sentence-transformers>=5.1,<6'"
            )
        package = importlib.import_module("sentence_transformers")
        try:
            self._model = package.SentenceTransformer(
                str(place), device="cpu", local_files_only=True, trust_remote_code=False
            )
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            fault = " ".join(str(error).split())[:300]
            raise WrongInput(f"embedding={PREFIX}{folder} cannot be read: {fault}") from None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """A point of length 1 a text."""
        points = self._model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(points, dtype=float)
