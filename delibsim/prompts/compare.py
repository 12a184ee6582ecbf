"""What judges are asked who compare two texts on one dimension of argument quality.

The system message (setting, question, definition or criteria, form of the reply) is the same for
every pair, so that providers can reuse it; the user message holds the two quoted texts.
"""

import functools
from dataclasses import dataclass
from typing import Literal

from delibsim.domain.scheme import PairExample, QualityDimension
from delibsim.domain.treatment import Wording
from delibsim.prompts.blocks import TEXTS, block, quoted, refuse_unfilled, worded
from delibsim.prompts.forms.choice import ChoiceForm
from delibsim.prompts.prompt import Message, Prompt, Purpose

JUDGE_TEXTS = TEXTS["judges"]
"""The texts of a wording that judges of pairs read."""
EXAMPLES = "judge_examples"
"""The text that stands before examples; a wording may be without it where none are shown."""
FIELDS = {"reask": ("fault",), "judge_question": ("adverb",)}
Criteria = Literal["none", "definition", "criteria"]
TEXT_A, TEXT_B = "text_a", "text_b"
"""The blocks of the two texts."""


@dataclass(frozen=True)
class Manner:
    """How judges are asked: with nothing but the adverb, the definition of the dimension or its
    criteria; whether a tie may be said, whether a reason is asked for, and whether the examples of
    the dimension are shown.
    """

    criteria: Criteria = "none"
    ties: bool = True
    reasons: bool = False
    examples: bool = False

    @property
    def form(self) -> ChoiceForm:
        """The form of the reply."""
        return ChoiceForm(self.ties, self.reasons)


def compare_prompt(
    dimension: QualityDimension,
    manner: Manner,
    wording: Wording,
    texts: tuple[str, str],
    topic: str,
    purpose: Purpose,
) -> Prompt:
    """Ask which of two texts is the stronger; every line of a text is quoted, so that none can
    answer for the judge. `topic` is shown unless it is "".
    """
    parts = []
    if topic:
        said = block("topic", quoted(topic))
        parts.append(f"{worded(wording, 'judge_topic')}\n{said}")
    shown = [block(tag, quoted(text)) for tag, text in zip((TEXT_A, TEXT_B), texts, strict=True)]
    parts.append("\n\n".join([worded(wording, "judge_texts"), *shown]))
    system = Message("system", compare_setting(dimension, manner, wording))
    return Prompt((system, Message("user", "\n\n".join(parts))), manner.form, purpose)


def compare_setting(dimension: QualityDimension, manner: Manner, wording: Wording) -> str:
    """What is alike in the prompts of all pairs: the part that providers can cache."""
    return _setting(dimension, manner, tuple(sorted(wording.texts.items())))


@functools.lru_cache(maxsize=256)  # thousands of pairs are judged on the same few dimensions
def _setting(
    dimension: QualityDimension, manner: Manner, texts: tuple[tuple[str, str], ...]
) -> str:
    wording = Wording("", dict(texts))
    named = block("dimension", " ".join(dimension.name.split()))
    question = worded(wording, "judge_question", adverb=dimension.adverb)
    parts = [worded(wording, "judge_setting"), f"{question}\n{named}"]
    if manner.criteria == "definition":
        said = block("definition", dimension.definition)
        parts.append(f"{worded(wording, 'judge_definition')}\n{said}")
    if manner.criteria == "criteria":
        numbered = [f"{number}. {asked}" for number, asked in enumerate(dimension.criteria, 1)]
        said = block("criteria", "\n".join(numbered))
        parts.append(f"{worded(wording, 'judge_criteria')}\n{said}")
    parts.append(worded(wording, "judge_ties" if manner.ties else "judge_no_ties"))
    parts.append(manner.form.describe())
    if manner.examples:
        parts.append(worded(wording, EXAMPLES))
        parts += [_example(one, n, manner) for n, one in enumerate(dimension.examples, 1)]
    return "\n\n".join(parts)


def _example(example: PairExample, number: int, manner: Manner) -> str:
    """An example as a judge reads it: two quoted texts, and the reply that is right."""
    reply = manner.form.reply(example.answer, example.why)
    shown = zip(("a", "b"), (example.a, example.b), strict=True)
    parts = [block(f"example_{number}_{letter}", quoted(text)) for letter, text in shown]
    return "\n".join([*parts, block(f"example_{number}_reply", quoted(reply))])


def compare_reask(wording: Wording, fault: str) -> str:
    """What a judge is told after an unreadable reply, with the concrete fault."""
    return worded(wording, "reask", fault=fault)


def check_judge_texts(wording: Wording, examples: bool = False) -> None:
    """Refuse a wording that lacks what judges of pairs read; WrongInput."""
    texts = (*JUDGE_TEXTS, EXAMPLES) if examples else JUDGE_TEXTS
    refuse_unfilled(wording, texts, FIELDS)
