"""Texts as points by a model of the package sentence-transformers; nothing is ever fetched.

The model is in a folder, or in the cache of the Hugging Face Hub on this machine. It runs on the
processor, so that the same texts have the same points wherever they are computed.
"""

import functools
import hashlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.domain.errors import WrongInput
from delibsim.measures.summaries.texts import TFIDF, Embedding
from delibsim.plugins import NoPlugin, load

PACKAGE = "sentence_transformers"
DEFAULT = "sentence-transformers/all-MiniLM-L6-v2"
"""The model of Zhu et al. (2025), 384 dimensions, Apache-2.0."""
MARKS = ("modules.json", "config.json")
"""Files of which a folder with a model has one; the first is of sentence-transformers itself."""
BATCH = 32


class SentenceTransformers:
    """The embedding `sentence_transformers`: a point of length 1 a text, by the model of a folder
    or, without one, by the default in the cache of the Hub on this machine.

    WrongInput when it is made and the package or the files of the model are not there.
    """

    def __init__(self, folder: str = "") -> None:
        if folder and not any((Path(folder) / mark).is_file() for mark in MARKS):
            raise WrongInput(
                f"embedding={PACKAGE}:{folder}: that is no folder with a model; copy one there, for"
                " nothing is fetched"
            )
        if PACKAGE not in sys.modules and importlib.util.find_spec(PACKAGE) is None:
            raise WrongInput(
                f"embedding={PACKAGE}: the package sentence-transformers is not installed:"
                " pip install 'sentence-transformers>=5.1,<6', or take embedding=tfidf"
            )
        self._folder = _whole(Path(folder) if folder else _in_the_cache(DEFAULT))

    @functools.cached_property
    def source(self) -> str:
        """The name of the model, and the beginning of the SHA-256 of its weights."""
        digest = hashlib.sha256()
        for file in sorted(self._folder.rglob("*.safetensors")):
            digest.update(file.read_bytes())
        return f"{_named(self._folder)}, SHA-256 {digest.hexdigest()[:12]}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """A row of numbers for each text (n, d); WrongInput where the model cannot be loaded."""
        found = self._model.encode(
            list(texts), batch_size=BATCH, show_progress_bar=False, normalize_embeddings=True
        )
        return np.asarray(found, dtype=float)

    @functools.cached_property
    def _model(self) -> Any:
        from sentence_transformers import SentenceTransformer

        try:
            return SentenceTransformer(
                str(self._folder),
                device="cpu",
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
            )
        except Exception as error:  # noqa: BLE001 damaged weights raise an error of their own library
            cause = " ".join(str(error).split())[:300]
            raise WrongInput(f"{self._folder}: this model cannot be loaded: {cause}") from None


def _in_the_cache(name: str) -> Path:
    """The folder of a model in the cache of the Hub, which is all that is looked up; WrongInput
    with what to do where it is not there.
    """
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (OSError, ValueError):
        raise WrongInput(
            f"the model '{name}' is not in the cache of the Hugging Face Hub on this machine, and"
            f" nothing is fetched; fetch it yourself (hf download {name}), or name the folder of a"
            f" model: embedding={PACKAGE}:FOLDER"
        ) from None


def _whole(folder: Path) -> Path:
    """The folder itself; WrongInput where it is no whole model of sentence-transformers."""
    if not (folder / MARKS[0]).is_file() or not any(folder.rglob("*.safetensors")):
        raise WrongInput(
            f"{folder}: this is no whole model of sentence-transformers: {MARKS[0]} or its"
            " *.safetensors is missing"
        )
    return folder


def _named(folder: Path) -> str:
    """The name of a model: that of its folder or, in the cache of the Hub, of its repository."""
    for above in folder.parents:
        if above.name.startswith("models--"):
            return above.name.removeprefix("models--").replace("--", "/")
    return folder.resolve().name


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
