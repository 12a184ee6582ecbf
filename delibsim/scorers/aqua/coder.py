"""Coding texts: into German where they are English, then labels and probabilities from the
adapters; nothing is worked on twice.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from delibsim.domain.errors import WrongInput
from delibsim.measures.aqua import INDICATORS, LABELS
from delibsim.scorers.aqua.cache import Cache, key_of
from delibsim.scorers.aqua.language import Language, language, parts, wordless
from delibsim.scorers.aqua.setup import Setup, unchanged
from delibsim.scorers.aqua.translation import signature, translator_of
from delibsim.scorers.aqua.weights import load, need_extra

UNKNOWN = (
    "neither German nor English by its words; if you know better: delibsim aqua setup FOLDER"
    " --language german, or english"
)
WORDLESS = "nothing but numbers, signs, links or codes"
Record = Mapping[str, Any]
Told = Language | Literal["wordless"]
Watch = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is to do now."""


class Coder:
    """Codes texts with what was set up; `folder` keeps what was translated and labelled before."""

    def __init__(self, setup: Setup, folder: Path, watch: Watch) -> None:
        self._setup, self._watch = setup, watch
        self._labels, self._translations = (
            Cache(folder / "labels.jsonl", labelled),
            Cache(folder / "translations.jsonl", translated),
        )
        self._model = f"{setup.model}.{setup.precision}"
        self._translator = (
            signature(setup.translator) if setup.translator and setup.language != "german" else ""
        )
        self._faults: dict[str, str] = {}  # by text: not asked again by this coder, but by the next

    def name(self, records: Sequence[Record]) -> str:
        """Who coded a value that rests on these records: adapters with version and scale, and the
        translator if one was translated.
        """
        translators = sorted(
            {record["translator"] for record in records if record.get("translator")}
        )
        return " ".join([f"aqua@{self._model}.scale{self._setup.scale:g}", *translators])

    def code(self, texts: Sequence[str], around: Sequence[Language]) -> list[Record]:
        """A record for each text: `text`, `german`, `translator`, `labels`, `probabilities`,
        `parts`; or `text`, `note` and `reason`.

        A text too short to say its language is taken to be in that of the texts `around` it.
        """
        unchanged(
            self._setup
        )  # also where every text was worked on before: what is written names these files
        found = [
            self._language(text, surroundings)
            for text, surroundings in zip(texts, around, strict=True)
        ]
        self._translate(
            list(
                dict.fromkeys(
                    text for text, told in zip(texts, found, strict=True) if told == "english"
                )
            ),
            len(texts),
        )
        german = {
            "german": lambda text: text,
            "english": self._translation,
            "unknown": lambda text: None,
            "wordless": lambda text: None,
        }
        in_german = [german[told](text) for text, told in zip(texts, found, strict=True)]
        self._label(list(dict.fromkeys(text for text in in_german if text is not None)))
        return [self._record(*of) for of in zip(texts, found, in_german, strict=True)]

    def _record(self, text: str, told: Told, german: str | None) -> Record:
        if told == "wordless":
            return {"text": text, "note": "no_words", "reason": WORDLESS}
        if told == "unknown":
            return {"text": text, "note": "language_unknown", "reason": UNKNOWN}
        if german is None:
            return {"text": text, "note": "not_translated", "reason": self._faults[text]}
        return {
            "text": text,
            "german": german,
            "translator": self._translator if told == "english" else "",
            **self._coded(german),
        }

    def _language(self, text: str, around: Language) -> Told:
        """What is done with a text: german passes, english is translated, unknown and wordless are
        not scored.
        """
        if wordless(text):
            return "wordless"
        if self._setup.language != "auto":
            return "german" if self._setup.language == "german" else "english"
        return language(text) or around

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
            raise WrongInput(self._no_translator(texts, among))
        new = [
            text for text in texts if self._translation(text) is None and text not in self._faults
        ]
        done = 0

        def keep(text: str, translation: str) -> None:
            nonlocal done
            done += 1
            if translation.strip():
                key = key_of(self._translator, text)
                self._translations.keep(
                    key, text=text, german=translation, translator=self._translator
                )
            else:
                self._faults[text] = "the translation is empty"
            self._watch("translated", done, len(new))

        if new:
            assert self._setup.translator is not None
            self._faults |= translator_of(self._setup.translator, self._device).translate(new, keep)

    def _no_translator(self, texts: Sequence[str], among: int) -> str:
        add = (
            "no translator is set up: delibsim aqua setup FOLDER --translator FOLDER, or"
            " --translator 'model=NAME'"
        )
        if self._setup.language == "auto":
            english = f"{len(texts)} of {among} texts are English, such as '{texts[0][:60]}'"
            return f"{english}, and {add}; if they are German after all: --language german"
        return (
            f"AQuA is set up with --language {self._setup.language}, under which every text is"
            f" translated, and {add}"
        )

    def _label(self, texts: Sequence[str]) -> None:
        """Label what has no labels yet; a text longer than the encoder reads is labelled in parts,
        at sentences.
        """
        new = [text for text in texts if self._labels.get(key_of(self._model, text)) is None]
        if not new:
            return
        tokenizer, encoder = self._loaded
        pieces: list[tuple[int, list[int]]] = []
        for i, text in enumerate(new):
            fitting = parts(
                text,
                lambda part: len(tokenizer(part, verbose=False)["input_ids"]) <= encoder.longest,
            )
            pieces += [(i, tokenizer(part)["input_ids"]) for part in fitting]
        places = defaultdict(list)
        for place, (i, _) in enumerate(pieces):
            places[i].append(place)
        logits: dict[int, Any] = {}
        done = 0
        for batch, found in encoder.logits([ids for _, ids in pieces]):
            if not found.isfinite().all():
                raise WrongInput(
                    "the adapters give what are no finite numbers, so there are no labels; get them"
                    " from their authors"
                )
            logits |= zip(batch, found.double().numpy(), strict=True)
            for i in dict.fromkeys(pieces[place][0] for place in batch):
                if all(place in logits for place in places[i]):
                    labels, probabilities = combined(
                        [logits.pop(p) for p in places[i]], [len(pieces[p][1]) for p in places[i]]
                    )
                    coded = {
                        "model": self._model,
                        "parts": len(places[i]),
                        "labels": labels,
                        "probabilities": probabilities,
                    }
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
        tokenizer, model = load(
            Path(self._setup.base.path),
            {name: Path(part.path) for name, part in self._setup.adapters.items()},
        )
        from delibsim.scorers.aqua.encoder import Encoder

        return tokenizer, Encoder(model, INDICATORS, self._device, self._setup.precision)


def labelled(record: Record) -> bool:
    """Whether a kept record has a label and four probabilities for each indicator, and says of what
    and of how many parts.
    """
    labels, given = record.get("labels"), record.get("probabilities")
    if not (isinstance(labels, dict) and isinstance(given, dict)):
        return False
    rows = [given.get(name) for name in INDICATORS]
    return (
        isinstance(record.get("model"), str)
        and type(record.get("parts")) is int
        and all(type(labels.get(name)) is int and labels[name] in LABELS for name in INDICATORS)
        and all(isinstance(row, list) and len(row) == len(LABELS) for row in rows)
        and all(type(p) in (int, float) and 0 <= p <= 1 for row in rows if row for p in row)
    )


def translated(record: Record) -> bool:
    """Whether a kept record has a translation."""
    return isinstance(record.get("german"), str) and bool(record["german"].strip())


def combined(
    logits: Sequence[Any], tokens: Sequence[int]
) -> tuple[dict[str, int], dict[str, list[float]]]:
    """Labels and probabilities by indicator from the logits (20 by 4) of the parts of a text.

    Of one part: argmax and softmax. Of several: of the means of the probabilities, weighted by
    tokens.
    """
    exponentials = [np.exp(part - part.max(axis=-1, keepdims=True)) for part in logits]
    means = np.average(
        [part / part.sum(axis=-1, keepdims=True) for part in exponentials], axis=0, weights=tokens
    )
    best = logits[0].argmax(axis=-1) if len(logits) == 1 else means.argmax(axis=-1)
    labels = {name: int(label) for name, label in zip(INDICATORS, best, strict=True)}
    return labels, {
        name: [round(float(p), 6) for p in row] for name, row in zip(INDICATORS, means, strict=True)
    }
