"""Translating statements into German by a language model, for scorers that read German."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from delibsim.asking.nouns import Question
from delibsim.asking.record import reply_to
from delibsim.domain.language import joined, parts
from delibsim.domain.seed import seed_of
from delibsim.models.base import LanguageModel
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
