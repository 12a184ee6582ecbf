"""Texts as points by a model of the package sentence-transformers; nothing is ever fetched.

The model is a folder on this disk, or a model that the cache of the Hugging Face Hub holds. It runs
on the processor, so that the same texts have the same points wherever they are computed.
"""

import functools
import hashlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.domain.errors import WrongInput

PACKAGE = "sentence_transformers"
PLACE = "DELIBSIM_SENTENCE_MODEL"
"""The environment variable that names a folder, or a model in the cache of the Hub."""
DEFAULT = "sentence-transformers/all-MiniLM-L6-v2"
"""The model of Zhu et al. (2025), 384 dimensions, Apache-2.0."""
MARK = "modules.json"
"""The file that tells a folder of sentence-transformers from others."""
BATCH = 32


class SentenceTransformers:
    """The embedding `sentence_transformers`: one point a text, of unit length where the model says
    so.

    WrongInput when it is made and the package or the files of the model are not there.
    """

    def __init__(self) -> None:
        if PACKAGE not in sys.modules and importlib.util.find_spec(PACKAGE) is None:
            raise WrongInput(
                "embedding=sentence_transformers needs the package sentence-transformers, which is"
                " not installed: pip install sentence-transformers, or take embedding=tfidf"
            )
        self._folder = _folder_of(os.environ.get(PLACE) or DEFAULT)

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
            list(texts), batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True
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


def _folder_of(place: str) -> Path:
    """The folder of a model that is on this disk; WrongInput with what to do where there is none.

    A name is looked up in the cache of the Hub, and nowhere else.
    """
    folder = Path(place).expanduser()
    if not folder.is_dir():
        from huggingface_hub import snapshot_download

        try:
            folder = Path(snapshot_download(place, local_files_only=True))
        except (OSError, ValueError):
            raise WrongInput(
                f"the model '{place}' is no folder and not in the cache of the Hugging Face Hub on"
                f" this machine, and nothing is fetched; set {PLACE} to the folder of the model,"
                f" or fetch it yourself: hf download {DEFAULT}"
            ) from None
    if not (folder / MARK).is_file() or not any(folder.rglob("*.safetensors")):
        raise WrongInput(
            f"{folder}: this is no whole model of sentence-transformers: {MARK} or its"
            f" *.safetensors is missing; set {PLACE} to a folder that has both"
        )
    return folder


def _named(folder: Path) -> str:
    """The name of a model: that of its folder or, in the cache of the Hub, of its repository."""
    for above in folder.parents:
        if above.name.startswith("models--"):
            return above.name.removeprefix("models--").replace("--", "/")
    return folder.resolve().name
