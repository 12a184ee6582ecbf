"""Coding texts: German as it is, English in translation by a MarianMT model on this machine, labels
from the adapters, each once.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from delibsim.domain.errors import WrongInput, phrase, refused
from delibsim.domain.text import Language, joined, language, parts, sentences, wordless
from delibsim.measures.aqua import INDICATORS, LABELS
from delibsim.prompts.translation import AGAIN, INSTRUCTIONS
from delibsim.scorers.aqua.setup import ModelFiles, Setup, TranslatingModel, digest, unchanged
from delibsim.scorers.aqua.weights import check_form, load, need_extra
from delibsim.scorers.neural import (
    Cache,
    batches,
    key_of,
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


WORDLESS = "nothing but numbers, signs, links or codes"
NOT_ASKED = "no language model was asked for a translation; delibsim score does that first"
Record = Mapping[str, Any]
Known = Language | Literal["wordless"]
Watch = Callable[[str, int, int], None]
"""Takes what is being done, how much of it is done, and how much there is to do now."""


class AquaCoder:
    """Codes texts with what was set up; `folder` keeps what was translated and labelled before.

    Where a language model translates, it is asked before (delibsim/conduct/translate.py): what it
    gave is handed over by `keep_translation`, and why it gave nothing by `keep_fault`.
    """

    def __init__(self, setup: Setup, folder: Path, watch: Watch) -> None:
        self._setup, self._watch = setup, watch
        self._labels = Cache(folder / "labels.jsonl", labelled)
        self._translations = Cache(folder / "translations.jsonl", translated)
        self._model = f"{setup.model}.{setup.precision}"
        translates = setup.translator is not None and setup.language != "german"
        self._translator = signature(setup.translator) if translates and setup.translator else ""
        self._faults: dict[str, str] = {}  # by text: not asked again by this coder, but by the next

    def name(self, records: Sequence[Record]) -> str:
        """Who coded a value that rests on these records: adapters with version and scale, and the
        translator if one was translated.
        """
        translators = {record["translator"] for record in records if record.get("translator")}
        return " ".join([f"aqua@{self._model}.scale{self._setup.scale:g}", *sorted(translators)])

    def untranslated(self, texts: Sequence[str], around: Sequence[Language]) -> list[str]:
        """The texts that a language model is to translate before they are coded.

        WrongInput where a text is English and there is no translator.
        """
        unchanged(self._setup)
        return self._untranslated(texts, self._languages(texts, around))

    def keep_translation(self, text: str, german: str) -> None:
        """Keep a translation, on disk when this returns; an empty one is a fault."""
        if german.strip():
            key = key_of(self._translator, text)
            self._translations.keep(key, text=text, german=german, translator=self._translator)
        else:
            self.keep_fault(text, "the translation is empty")

    def keep_fault(self, text: str, reason: str) -> None:
        """Note why a text could not be translated, for as long as this coder lives."""
        self._faults[text] = reason

    def code(self, texts: Sequence[str], around: Sequence[Language]) -> list[Record]:
        """A record for each text: `text`, `german`, `translator`, `labels`, `probabilities`,
        `parts`; or `text`, `note` and `reason`.

        A text too short to say its language is taken to be in that of the texts `around` it.
        """
        unchanged(self._setup)  # even if all is kept from before: the scores name these files
        known = self._languages(texts, around)
        missing = self._untranslated(texts, known)
        if missing and isinstance(self._setup.translator, ModelFiles):
            self._translate(missing, self._setup.translator)
        german = []
        for text, language_of in zip(texts, known, strict=True):
            german.append(self._german(text, language_of))
        self._label(list(dict.fromkeys(text for text in german if text is not None)))
        return [self._record(*of) for of in zip(texts, known, german, strict=True)]

    def _languages(self, texts: Sequence[str], around: Sequence[Language]) -> list[Known]:
        return [self._language(*of) for of in zip(texts, around, strict=True)]

    def _language(self, text: str, around: Language) -> Known:
        """What is done with a text: german passes, english is translated, unknown and wordless are
        not scored.
        """
        if wordless(text):
            return "wordless"
        if self._setup.language != "auto":
            return "german" if self._setup.language == "german" else "english"
        return language(text) or around

    def _german(self, text: str, known: Known) -> str | None:
        """The German of a text; None if there is none."""
        if known == "german":
            return text
        return self._translation(text) if known == "english" else None

    def _record(self, text: str, known: Known, german: str | None) -> Record:
        if known == "wordless":
            return {"text": text, "note": "no_words", "reason": WORDLESS}
        if known == "unknown":
            return {"text": text, "note": "language_unknown", "reason": phrase("language_unknown")}
        if german is None:
            reason = self._faults.get(text, NOT_ASKED)
            return {"text": text, "note": "not_translated", "reason": reason}
        translator = self._translator if known == "english" else ""
        return {"text": text, "german": german, "translator": translator, **self._coded(german)}

    def _translation(self, text: str) -> str | None:
        """The German of a text, or None if it was not, or could not be, translated."""
        kept = self._translations.get(key_of(self._translator, text))
        return str(kept["german"]) if kept else None

    def _coded(self, text: str) -> Record:
        kept = self._labels.get(key_of(self._model, text)) or {}
        return {name: kept[name] for name in ("model", "parts", "labels", "probabilities")}

    def _untranslated(self, texts: Sequence[str], known: Sequence[Known]) -> list[str]:
        """The English texts, each once, that have neither a translation nor a fault."""
        pairs = zip(texts, known, strict=True)
        english = list(dict.fromkeys(text for text, own in pairs if own == "english"))
        if english and self._setup.translator is None:
            raise WrongInput(self._no_translator(english, len(texts)))
        missing = [text for text in english if self._translation(text) is None]
        return [text for text in missing if text not in self._faults]

    def _translate(self, texts: Sequence[str], translator: ModelFiles) -> None:
        """Translate on this machine, and note where that failed."""
        done = 0

        def keep(text: str, german: str) -> None:
            nonlocal done
            done += 1
            self.keep_translation(text, german)
            self._watch("translated", done, len(texts))

        self._faults |= Marian(translator, self._device).translate(texts, keep)

    def _no_translator(self, texts: Sequence[str], among: int) -> str:
        add = phrase("no_translator")
        if self._setup.language == "auto":
            english = f"{len(texts)} of {among} texts are English, such as '{texts[0][:60]}'"
            return f"{english}, and {add}; if they are German after all: language=german"
        return phrase("aqua_translates_all", language=self._setup.language, add=add)

    def _label(self, texts: Sequence[str]) -> None:
        """Label what has no labels yet; a text longer than the encoder reads is labelled in parts,
        at sentences.
        """
        new = [text for text in texts if self._labels.get(key_of(self._model, text)) is None]
        if not new:
            return
        tokenizer, encoder = self._loaded

        def fits(part: str) -> bool:
            return len(tokenizer(part, verbose=False)["input_ids"]) <= encoder.longest

        ids: list[list[int]] = []
        places: list[range] = []
        for text in new:
            own = [tokenizer(part)["input_ids"] for part in parts(text, fits)]
            places.append(range(len(ids), len(ids) + len(own)))
            ids += own
        text_of = {place: i for i, own in enumerate(places) for place in own}
        logits: dict[int, Any] = {}
        done = 0
        for batch, found in encoder.logits(ids):
            if not found.isfinite().all():
                raise refused("adapters_not_finite")
            logits |= zip(batch, found.double().numpy(), strict=True)
            for i in dict.fromkeys(text_of[place] for place in batch):
                if all(place in logits for place in places[i]):
                    lengths = [len(ids[place]) for place in places[i]]
                    self._keep_labels(new[i], [logits.pop(place) for place in places[i]], lengths)
                    done += 1
            self._watch("labelled", done, len(new))

    def _keep_labels(self, text: str, logits: Sequence[Any], lengths: Sequence[int]) -> None:
        """Keep what the parts of a text come to together."""
        labels, probabilities = combined(logits, lengths)
        coded = {"labels": labels, "probabilities": probabilities}
        key = key_of(self._model, text)
        self._labels.keep(key, model=self._model, parts=len(logits), **coded)

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
        adapters = {name: Path(part.path) for name, part in self._setup.adapters.items()}
        tokenizer, model = load(Path(self._setup.base.path), adapters)
        from delibsim.scorers.aqua.encoder import Encoder

        return tokenizer, Encoder(model, INDICATORS, self._device, self._setup.precision)


def labelled(record: Record) -> bool:
    """Whether a kept record has a label and four probabilities for each indicator, and says of what
    and of how many parts.
    """
    labels, given = record.get("labels"), record.get("probabilities")
    if not isinstance(labels, dict) or not isinstance(given, dict):
        return False
    if not isinstance(record.get("model"), str) or type(record.get("parts")) is not int:
        return False
    return all(_coded_whole(labels.get(name), given.get(name)) for name in INDICATORS)


def _coded_whole(label: Any, probabilities: Any) -> bool:
    """Whether these are a label and the probabilities of the four labels."""
    if type(label) is not int or label not in LABELS:
        return False
    if not isinstance(probabilities, list) or len(probabilities) != len(LABELS):
        return False
    return all(type(p) in (int, float) and 0 <= p <= 1 for p in probabilities)


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
    shares = [part / part.sum(axis=-1, keepdims=True) for part in exponentials]
    means = np.average(shares, axis=0, weights=tokens)
    best = logits[0].argmax(axis=-1) if len(logits) == 1 else means.argmax(axis=-1)
    labels, probabilities = {}, {}
    for name, label, row in zip(INDICATORS, best, means, strict=True):
        labels[name] = int(label)
        probabilities[name] = [round(float(p), 6) for p in row]
    return labels, probabilities
