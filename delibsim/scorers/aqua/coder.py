"""Coding texts: into German where they are not, then labels and probabilities from the adapters; nothing is worked on twice."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from delibsim.domain.errors import WrongInput
from delibsim.measures.aqua import INDICATORS
from delibsim.scorers.aqua.cache import Cache, key_of
from delibsim.scorers.aqua.language import german, parts
from delibsim.scorers.aqua.setup import Setup, unchanged
from delibsim.scorers.aqua.translation import signature, translator_of
from delibsim.scorers.aqua.weights import load, need_extra

Record = Mapping[str, Any]
Watch = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is to do now."""


class Coder:
    """Codes texts with what was set up; `folder` keeps what was translated and labelled before."""

    def __init__(self, setup: Setup, folder: Path, watch: Watch) -> None:
        self._setup, self._watch = setup, watch
        self._labels, self._translations = Cache(folder / "labels.jsonl"), Cache(folder / "translations.jsonl")
        self._model = f"{setup.model}.{setup.precision}"
        self._translator = signature(setup.translator) if setup.translator else ""
        self._faults: dict[str, str] = {}  # by text: not asked again by this coder, but by the next

    @property
    def name(self) -> str:
        """Who codes: adapters and translator with their versions."""
        return f"aqua@{self._model}" + (f" {self._translator}" if self._translator else "")

    def code(self, texts: Sequence[str], mostly_german: Sequence[bool]) -> list[Record]:
        """A record for each text: `text`, `german`, `translator`, `labels`, `probabilities`, `parts`; or `text`, `note` and `reason`.

        A text whose language does not show is taken for German where `mostly_german` says so of its surroundings.
        """
        foreign = [self._foreign(text, default) for text, default in zip(texts, mostly_german, strict=True)]
        self._translate(list(dict.fromkeys(text for text, other in zip(texts, foreign, strict=True) if other)), len(texts))
        in_german = [self._translation(text) if other else text for text, other in zip(texts, foreign, strict=True)]
        self._label(list(dict.fromkeys(text for text in in_german if text is not None)))
        return [
            {"text": text, "german": translated, "translator": self._translator if other else "", **self._coded(translated)}
            if translated is not None
            else {"text": text, "note": "not_translated", "reason": self._faults[text]}
            for text, translated, other in zip(texts, in_german, foreign, strict=True)
        ]

    def _foreign(self, text: str, mostly_german: bool) -> bool:
        if self._setup.language != "auto":
            return self._setup.language == "other"
        found = german(text)
        return not mostly_german if found is None else not found

    def _translation(self, text: str) -> str | None:
        """The German of a text, or None if it was not, or could not be, translated."""
        kept = self._translations.get(key_of(self._translator, text))
        return str(kept["german"]) if kept else None

    def _coded(self, text: str) -> Record:
        kept = self._labels.get(key_of(self._model, text)) or {}
        return {name: kept[name] for name in ("model", "parts", "labels", "probabilities")}

    def _translate(self, texts: Sequence[str], among: int) -> None:
        """Translate what is not yet, and note where that failed."""
        if texts and self._setup.translator is None:
            raise WrongInput(
                f"{len(texts)} of {among} texts are not German, such as '{texts[0][:60]}', and no translator is set up: delibsim aqua "
                "setup FOLDER --translator FOLDER, or --translator 'model=NAME'; if they are German after all: --language german"
            )
        new = [text for text in texts if self._translation(text) is None and text not in self._faults]
        done = 0

        def keep(text: str, translation: str) -> None:
            nonlocal done
            done += 1
            if translation.strip():
                key = key_of(self._translator, text)
                self._translations.keep(key, text=text, german=translation, translator=self._translator)
            else:
                self._faults[text] = "the translation is empty"
            self._watch("translated", done, len(new))

        if new:
            assert self._setup.translator is not None
            unchanged(self._setup)
            self._faults |= translator_of(self._setup.translator, self._device).translate(new, keep)

    def _label(self, texts: Sequence[str]) -> None:
        """Label what has no labels yet; a text longer than the encoder reads is labelled in parts, at sentences."""
        new = [text for text in texts if self._labels.get(key_of(self._model, text)) is None]
        if not new:
            return
        tokenizer, encoder = self._loaded
        pieces: list[tuple[int, list[int]]] = []
        for i, text in enumerate(new):
            fitting = parts(text, lambda part: len(tokenizer(part, verbose=False)["input_ids"]) <= encoder.longest)
            pieces += [(i, tokenizer(part)["input_ids"]) for part in fitting]
        places = defaultdict(list)
        for place, (i, _) in enumerate(pieces):
            places[i].append(place)
        logits: dict[int, Any] = {}
        done = 0
        for batch, found in encoder.logits([ids for _, ids in pieces]):
            logits |= zip(batch, found.double().numpy(), strict=True)
            for i in dict.fromkeys(pieces[place][0] for place in batch):
                if all(place in logits for place in places[i]):
                    labels, probabilities = combined([logits.pop(p) for p in places[i]], [len(pieces[p][1]) for p in places[i]])
                    coded = {"model": self._model, "parts": len(places[i]), "labels": labels, "probabilities": probabilities}
                    self._labels.keep(key_of(self._model, new[i]), **coded)
                    done += 1
            self._watch("labelled", done, len(new))

    @cached_property
    def _device(self) -> str:
        if self._setup.device != "auto":
            return self._setup.device
        need_extra()
        import torch

        return "cuda" if torch.cuda.is_available() else "cpu"

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """The tokeniser and the encoder."""
        unchanged(self._setup)
        tokenizer, model = load(Path(self._setup.base.path), {name: Path(part.path) for name, part in self._setup.adapters.items()})
        from delibsim.scorers.aqua.encoder import Encoder

        return tokenizer, Encoder(model, INDICATORS, self._device, self._setup.precision)


def combined(logits: Sequence[Any], tokens: Sequence[int]) -> tuple[dict[str, int], dict[str, list[float]]]:
    """Labels and probabilities by indicator from the logits (20 by 4) of the parts of a text.

    Of one part: argmax and softmax. Of several: of the means of the probabilities, weighted by tokens.
    """
    exponentials = [np.exp(part - part.max(axis=-1, keepdims=True)) for part in logits]
    means = np.average([part / part.sum(axis=-1, keepdims=True) for part in exponentials], axis=0, weights=tokens)
    best = logits[0].argmax(axis=-1) if len(logits) == 1 else means.argmax(axis=-1)
    labels = {name: int(label) for name, label in zip(INDICATORS, best, strict=True)}
    return labels, {name: [round(float(p), 6) for p in row] for name, row in zip(INDICATORS, means, strict=True)}


def mostly_german(texts: Iterable[str]) -> bool:
    """Whether more of these texts show to be German than not."""
    return sum({True: 1, False: -1, None: 0}[german(text)] for text in texts) > 0
