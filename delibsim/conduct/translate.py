"""Translations that a scorer needs of a language model: asked for before the scorer runs."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

from delibsim.asking.nouns import Question
from delibsim.asking.record import reply_to
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.run import Run
from delibsim.domain.seed import seed_of
from delibsim.domain.text import joined, parts
from delibsim.models.ask import wait
from delibsim.models.base import LanguageModel
from delibsim.models.limits import Limits
from delibsim.models.pool import ModelPool
from delibsim.planning.estimate import CostEstimate, estimate_loads
from delibsim.planning.load import Load, Range, tokens_of, tokens_of_prompt
from delibsim.prompts.prompt import Prompt
from delibsim.prompts.translation import AGAIN, translation_prompt

WORDS = 600
"""Words that a model is given at once; a longer statement is parted at sentences."""


def translation_question(name: str, text: str, reasks: int) -> Question:
    """The German of a statement, or of a part of it."""

    def seed(prompt: Prompt) -> int:
        return seed_of("translation", text, prompt.purpose.attempt)

    def again(fault: str) -> str:
        return AGAIN.format(fault=fault)

    return Question(name, partial(translation_prompt, text), seed, again, reasks)


def pieces_of(text: str) -> list[str]:
    """The parts of a text that are translated one by one."""
    return list(parts(text, lambda part: len(part.split()) <= WORDS))


async def translate(
    texts: Sequence[str],
    model: LanguageModel,
    reasks: int,
    keep: Callable[[str, str], None],
) -> dict[str, str]:
    """Translate texts, all at once as far as the limits of the model allow.

    `keep` takes each text with its translation as soon as there is one. Returned is, by text, why
    others could not be translated.
    """

    async def one(text: str) -> str:
        pieces = pieces_of(text)
        asked = [translation_question(f"part {n}", own, reasks) for n, own in enumerate(pieces, 1)]
        found = await asyncio.gather(*(reply_to(question, model) for question in asked))
        for annotation in found:
            if annotation.value is None:
                return str(annotation.reason)
        keep(text, joined(pieces, [annotation.value for annotation in found]))
        return ""

    reasons = await asyncio.gather(*(one(text) for text in texts))
    return {text: reason for text, reason in zip(texts, reasons, strict=True) if reason}


class Translator(Protocol):
    """The language model that a scorer has set up: what it is, and what it may use."""

    @property
    def name(self) -> str:
        """The name of the model."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings as in conf/model."""
        ...

    @property
    def address(self) -> str:
        """The base_url, "" for that of the settings."""
        ...

    @property
    def limits(self) -> Mapping[str, Any]:
        """The fields of `Limits`."""
        ...

    @property
    def reasks(self) -> int:
        """How often it is asked again after a reply that is no translation."""
        ...


@runtime_checkable
class ReadsTranslations(Protocol):
    """A scorer that reads texts in translation, and asks nobody itself."""

    watch: Callable[[str, int, int], None]

    @property
    def translator(self) -> Translator | None:
        """The language model that translates, if one does."""
        ...

    def untranslated(self, runs: Sequence[Run]) -> list[str]:
        """The statements of runs that wait for a translation."""
        ...

    def untranslated_texts(self, texts: Sequence[str]) -> list[str]:
        """Those of these texts that wait for a translation."""
        ...

    def keep_translation(self, text: str, german: str) -> None:
        """Keep the translation of a text."""
        ...

    def keep_fault(self, text: str, reason: str) -> None:
        """Note why a text could not be translated."""
        ...


def translate_runs(scorer: object, runs: Sequence[Run]) -> None:
    """Have the statements of runs translated that the scorer is to read in translation."""
    if runs and isinstance(scorer, ReadsTranslations) and scorer.translator is not None:
        _translate(scorer, scorer.translator, scorer.untranslated(runs))


def translate_texts(scorer: object, texts: Sequence[str]) -> None:
    """Have those texts translated that the scorer is to read in translation."""
    if texts and isinstance(scorer, ReadsTranslations) and scorer.translator is not None:
        _translate(scorer, scorer.translator, scorer.untranslated_texts(texts))


def estimate_translations(
    scorers: Iterable[object], runs: Sequence[Run], texts: Sequence[str] = ()
) -> tuple[Limits, CostEstimate]:
    """The limits of the last translator, and what the translations take that scorers wait for
    before they read runs, or single texts; nobody is asked.

    A translation is taken to have the tokens of its text, to twice as many.
    """
    loads: dict[str, Load] = {}
    settings: dict[str, Mapping[str, Any]] = {}
    limits = Limits()
    addresses: dict[str, str] = {}
    for scorer in scorers:
        if not isinstance(scorer, ReadsTranslations) or scorer.translator is None:
            continue
        translator = scorer.translator
        name, own = translator.name, Load()
        waiting = [*(scorer.untranslated(runs) if runs else ())]
        waiting += scorer.untranslated_texts(texts) if texts else ()
        for text in waiting:
            for piece in pieces_of(text):
                asked, said = tokens_of_prompt(translation_prompt(piece)), tokens_of(piece)
                own += Load(1, 1, asked, Range(), Range(said.low, 2 * said.high), 1)
        loads[name], settings[name] = own, translator.settings
        limits = Limits(**translator.limits)
        addresses |= {name: translator.address} if translator.address else {}
    asked_of = {name: load for name, load in loads.items() if load.calls}
    return limits, estimate_loads(asked_of, settings, limits, addresses)


def check_translator(translator: Translator) -> None:
    """WrongInput where this model cannot translate; nobody is asked."""
    _model(translator, _pool(translator))


def _translate(scorer: ReadsTranslations, translator: Translator, texts: Sequence[str]) -> None:
    if not texts:
        return
    done = 0

    def keep(text: str, german: str) -> None:
        nonlocal done
        done += 1
        scorer.keep_translation(text, german)
        scorer.watch("translated", done, len(texts))

    async def ask() -> dict[str, str]:
        pool = _pool(translator)
        try:
            return await translate(texts, _model(translator, pool), translator.reasks, keep)
        finally:
            await pool.close()

    for text, reason in wait(ask()).items():
        scorer.keep_fault(text, reason)


def _pool(translator: Translator) -> ModelPool:
    """A pool with the limits and the budget of the translator."""
    try:
        limits = Limits(**translator.limits)
    except (TypeError, ValueError) as error:
        raise WrongInput(f"translator '{translator.name}': {error}") from None
    addresses = {translator.name: translator.address} if translator.address else {}
    return ModelPool(limits, addresses=addresses)


def _model(translator: Translator, pool: ModelPool) -> LanguageModel:
    """The model of the translator; WrongInput where it cannot be made, or cannot translate."""
    kind = translator.settings.get("kind")
    if kind == "citizen":
        raise refused("no_language_model", named=translator.name, kind=kind)
    return pool.model(translator.name, translator.settings)
