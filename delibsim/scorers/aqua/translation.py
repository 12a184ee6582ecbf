"""Statements into German by a MarianMT model on this machine, and who translated what."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.text import joined, parts, sentences
from delibsim.prompts.translation import AGAIN, INSTRUCTIONS
from delibsim.scorers.aqua.setup import ModelFiles, TranslatingModel, digest
from delibsim.scorers.aqua.weights import check_form
from delibsim.scorers.neural import (
    batches,
    missing_files,
    plain_json,
    quiet,
    readable,
    refuse_not_finite,
    tokeniser,
)

Keep = Callable[[str, str], None]
"""Takes a text and its translation as soon as there is one."""

PIECES = {"source.spm": (), "target.spm": (), "vocab.json": ()}
CHUNK = 16
"""Statements that are translated before the first of them is kept."""
SENTENCES = 256
"""Tokens in one batch of sentences."""
LONGER = 3
"""Times as long as a sentence its translation may be; beyond that the model has lost its way."""


def signature(translator: ModelFiles | TranslatingModel) -> str:
    """Who translates, and a version that changes with whatever could change a translation."""
    if isinstance(translator, ModelFiles):
        return f"marian:{translator.name}@{translator.hash}"
    settings = json.dumps(dict(translator.settings), sort_keys=True, default=dict)
    return f"model:{translator.name}@{digest([INSTRUCTIONS, AGAIN, settings])}"


class Marian:
    """A MarianMT model of transformers.

    It is given one sentence at a time, as it was trained to; a sentence too long is parted.
    """

    def __init__(self, part: ModelFiles, device: str) -> None:
        from transformers import MarianMTModel, MarianTokenizer

        self._device = device
        folder = Path(part.path)
        config = folder / "config.json"
        check_form(config, plain_json(config), {"model_type": "marian"})
        _check_pieces(folder)
        with quiet(), readable(folder):
            made = MarianTokenizer.from_pretrained(folder, local_files_only=True)
            self._tokenizer = tokeniser(made)
            self._model, info = MarianMTModel.from_pretrained(
                folder, local_files_only=True, output_loading_info=True
            )
        # Positions are computed, not learnt, and embeddings may be shared under one name.
        missing = [key for key in info["missing_keys"] if "embed_positions" not in key]
        if missing:
            raise WrongInput(
                f"{folder} has no weights for {', '.join(missing[:8])}. Nothing was translated"
            )
        refuse_not_finite(folder, self._model.state_dict())
        self._model.eval().to(device)
        self._most = self._model.config.max_position_embeddings - 2

    def translate(self, texts: Sequence[str], keep: Keep) -> dict[str, str]:
        """Sentence by sentence, in batches of like length."""
        faults = {}
        for begin in range(0, len(texts), CHUNK):
            pieces = {text: self._pieces(text) for text in texts[begin : begin + CHUNK]}
            german = self._translated(set().union(*pieces.values()))
            for text, own in pieces.items():
                translated = [german[piece] for piece in own]
                whole = [piece for piece in translated if piece is not None]
                if len(whole) == len(own):
                    keep(text, joined(own, whole))
                else:
                    faults[text] = "the translation did not come to an end"
        return faults

    def _pieces(self, text: str) -> list[str]:
        """The sentences of a text, in parts where they are too long for the model."""
        return [part for sentence in sentences(text) for part in parts(sentence, self._fits)]

    def _fits(self, text: str) -> bool:
        return len(self._tokenizer(text)["input_ids"]) <= self._most

    def _translated(self, pieces: Iterable[str]) -> dict[str, str | None]:
        """German by piece; None where generation stopped at its limit, so that the end of the piece
        may be missing.
        """
        ordered = sorted(pieces)
        ids = [self._tokenizer(piece)["input_ids"] for piece in ordered]
        found: dict[str, str | None] = {}
        for batch in batches([len(one) for one in ids], SENTENCES):
            made = self._generated([ids[i] for i in batch])
            for i, tokens in zip(batch, made, strict=True):
                ended = self._model.config.eos_token_id in tokens[1:]
                text = self._tokenizer.decode(tokens, skip_special_tokens=True).strip()
                found[ordered[i]] = text if ended else None
        return found

    def _generated(self, ids: Sequence[Sequence[int]]) -> Any:
        """The tokens that the model generates for a batch of pieces, given as token ids."""
        import torch

        padded = self._tokenizer.pad({"input_ids": ids}, return_tensors="pt").to(self._device)
        longest = min(self._most, LONGER * (padded["input_ids"].shape[1] + 5))
        with torch.inference_mode(), quiet():
            return self._model.generate(**padded, max_length=None, max_new_tokens=max(longest, 1))


def _check_pieces(folder: Path) -> None:
    """WrongInput unless a folder holds the vocabulary of a MarianMT model."""
    if lacking := missing_files(folder, PIECES):
        raise WrongInput(f"{folder} lacks {', '.join(lacking)}")
    vocabulary = plain_json(folder / "vocab.json")
    if lacking := [token for token in ("</s>", "<unk>", "<pad>") if token not in vocabulary]:
        raise refused("no_marian_vocabulary", path=folder / "vocab.json", listed=", ".join(lacking))
