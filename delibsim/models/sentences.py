"""Texts as points by a model of the package sentence-transformers, which is never fetched; and
summarisers that copy sentences, without a language model, in every comparison.

The model is in a folder, or in the cache of the Hugging Face Hub on this machine. It runs on the
processor, so that the same texts have the same points wherever they are computed.

extractive   TF-IDF of the sentences of all opinions; sentences by maximal marginal relevance
             (0.7 relevance to the centroid, 0.3 novelty) up to 250 words
themes       k-means of the same vectors; of the largest clusters the sentence nearest the
             centre, with the share of the cluster in per cent, up to 250 words
"""

import functools
import hashlib
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.text import sentences
from delibsim.measures.summaries.texts import TFIDF, Embedding
from delibsim.models.base import NO_USE, Completion
from delibsim.plugins import NoPlugin, load
from delibsim.prompts.prompt import Prompt
from delibsim.prompts.verdict import opinions_in

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
            raise refused("no_folder_of_a_model", package=PACKAGE, folder=folder)
        if PACKAGE not in sys.modules and importlib.util.find_spec(PACKAGE) is None:
            raise refused("sentence_transformers_missing", package=PACKAGE)
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
        raise refused("model_not_in_cache", named=name, package=PACKAGE) from None


def _whole(folder: Path) -> Path:
    """The folder itself; WrongInput where it is no whole model of sentence-transformers."""
    if not (folder / MARKS[0]).is_file() or not any(folder.rglob("*.safetensors")):
        raise refused("no_whole_model", folder=folder, marks=MARKS[0])
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
            raise refused("embedding_misshapen", named=name, shape=found.shape, texts=len(texts))
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


VERSION = "1"
"""Raised when a summary of the same opinions changes."""


@dataclass(frozen=True)
class Copying:
    """A summariser of this name, "extractive" or "themes", with the protocol of a model."""

    name: str

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """Copy sentences of the opinions that the prompt shows."""
        shown = opinions_in(prompt.messages[0].content)
        text = by_themes(shown, seed) if self.name == "themes" else by_relevance(shown)
        return Completion(
            text=text,
            usage=NO_USE,
            model_requested=self.name,
            model_returned=f"delibsim.{self.name} {VERSION} (copies sentences)",
            finish_reason="stop",
        )


def by_relevance(opinions: list[str], jitter: "list[float] | None" = None) -> str:
    """The sentences that stand for most and repeat each other least; `jitter` is added to the worth
    of each sentence, in their order.

    >>> by_relevance(["Trams are quiet.", "Trams are quiet and clean.", "Rails are dear."])
    'Trams are quiet. Trams are quiet and clean. Rails are dear.'
    """
    from delibsim.measures.summaries.texts import marginal_relevance, relevance, sentence_vectors

    found = sentences_of(opinions)
    if not found:
        return ""
    vectors = sentence_vectors(found)
    worth = relevance(vectors)
    if jitter is not None:
        worth = worth + jitter[: len(worth)]
    words = [len(one.split()) for one in found]
    return " ".join(found[place] for place in marginal_relevance(vectors, worth, words))


def by_themes(opinions: list[str], seed: int) -> str:
    """The sentence nearest the centre of each theme, the largest first, with its share."""
    from delibsim.measures.summaries.texts import LONGEST, sentence_vectors, themes

    found = sentences_of(opinions)
    if not found:
        return ""
    said, words = [], 0
    for theme in themes(sentence_vectors(found), seed):
        bare = found[theme.sentence].rstrip(" .!?")
        line = f"{bare} ({100 * theme.share:.0f} % of what was said)."
        words += len(line.split())
        if said and words > LONGEST:
            break
        said.append(line)
    return " ".join(said)


def sentences_of(opinions: list[str]) -> list[str]:
    """The sentences of opinions that have a word, in their order."""
    found = []
    for opinion in opinions:
        for sentence in sentences(opinion):
            if any(map(str.isalnum, sentence)):
                found.append(sentence.strip())
    return found
