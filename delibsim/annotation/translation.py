"""Translating statements into German by a language model, for scorers that read German."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from delibsim.annotation.ask import ask_all
from delibsim.domain.annotation import Text, Unit
from delibsim.domain.language import joined, parts
from delibsim.domain.seed import seed_of
from delibsim.models.base import LanguageModel
from delibsim.prompts.prompt import Prompt
from delibsim.prompts.translation import AGAIN, translation_prompt

WORDS = 600
"""Words that a model is given at once; a longer statement is parted at sentences."""


@dataclass(frozen=True)
class TranslationTask:
    """The German of a statement, or of a part of it; the unit is that text."""

    reasks: int
    name: str = "translation"

    def prompt(self, unit: Unit) -> Prompt:
        """The prompt with the text."""
        return translation_prompt(unit.text)

    def again(self, fault: str) -> str:
        """What is said to a reply that is no translation."""
        return AGAIN.format(fault=fault)

    def seed(self, unit: Unit, prompt: Prompt) -> int:
        """The seed of a call, from the text and the attempt."""
        return seed_of("translation", unit.text, prompt.purpose.attempt)


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
    task = TranslationTask(reasks)

    async def one(text: str) -> str:
        pieces = pieces_of(text)
        units = [Text(f"part {n}", piece) for n, piece in enumerate(pieces, 1)]
        found = await ask_all(task, units, model)
        for annotation in found:
            if annotation.value is None:
                return str(annotation.reason)
        keep(text, joined(pieces, [annotation.value for annotation in found]))
        return ""

    reasons = await asyncio.gather(*(one(text) for text in texts))
    return {text: reason for text, reason in zip(texts, reasons, strict=True) if reason}
