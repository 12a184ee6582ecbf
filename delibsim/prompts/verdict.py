"""What judges of summaries are asked: one summary rated, or two compared, beside an opinion.

The system message (setting, scales, form of the reply) is the same for every sitting, and the user
message begins with question and summaries, so that providers can reuse both over opinions.
"""

import functools
from collections.abc import Sequence

from delibsim.domain.summary import Role
from delibsim.domain.treatment import Wording
from delibsim.prompts.blocks import (
    TEXTS,
    block,
    quoted,
    read_block,
    refuse_unfilled,
    unquoted,
    worded,
)
from delibsim.prompts.forms.choice import NUMBERED, VerdictForm
from delibsim.prompts.forms.words import SummaryForm
from delibsim.prompts.prompt import Message, Prompt, Purpose

VERDICT_TEXTS = TEXTS["verdicts"]
FIELDS = {"reask": ("fault",)}
QUESTION, OPINION = "question", "opinion"
ONE, TWO = ("summary",), ("summary_a", "summary_b")
"""The blocks of one summary, and of two."""


def verdict_prompt(
    question: str,
    opinion: str,
    summaries: tuple[str, ...],
    role: Role,
    wording: Wording,
    purpose: Purpose,
) -> Prompt:
    """Ask for a rating of one summary or a comparison of two by who holds the opinion; every line
    of a text is quoted, so that none can answer for the judge.
    """
    two = len(summaries) > 1
    form = VerdictForm(two)
    parts = [worded(wording, "verdict_texts"), block(QUESTION, quoted(question))]
    for tag, text in zip(TWO if two else ONE, summaries, strict=True):
        parts.append(block(tag, quoted(text)))
    shown = block(OPINION, quoted(opinion))
    parts.append(f"{worded(wording, f'verdict_{role}')}\n{shown}")
    system = Message("system", _setting(tuple(sorted(wording.texts.items())), two))
    return Prompt((system, Message("user", "\n\n".join(parts))), form, purpose)


@functools.lru_cache(maxsize=64)  # the same for all sittings of a task
def _setting(texts: tuple[tuple[str, str], ...], two: bool) -> str:
    wording = Wording("", dict(texts))
    parts = [worded(wording, "verdict_setting")]
    parts.append(worded(wording, "verdict_compare" if two else "verdict_rate"))
    lines = []
    for label, name in NUMBERED.items():
        said = worded(wording, f"verdict_{name}")
        question, _, scale = said.partition("|")
        lines.append(f"{label}: {question.strip()}" + ("" if two else f" {scale.strip()}"))
    parts.append("\n".join(lines))
    if two:
        parts.append(worded(wording, "verdict_scale"))
    parts.append(VerdictForm(two).describe())
    return "\n\n".join(parts)


def verdict_reask(wording: Wording, fault: str) -> str:
    """What a judge is told after an unreadable reply, with the concrete fault."""
    return worded(wording, "reask", fault=fault)


def check_verdict_texts(wording: Wording) -> None:
    """Refuse a wording that lacks what judges of summaries read; WrongInput."""
    refuse_unfilled(wording, VERDICT_TEXTS, FIELDS)


SUMMARY_TEXTS = ("summary_setting", "summary_opinions", "summary_ask", "reask")
OPINIONS = "opinions"
"""The blocks of the question and of the opinions."""


def summary_prompt(
    question: str, opinions: Sequence[str], wording: Wording, purpose: Purpose
) -> Prompt:
    """Ask for one summary of all opinions. Each stands in one line, which is quoted, so that none
    can give an instruction or open a block.
    """
    lines = "\n".join(quoted(in_one_line(text)) for text in opinions)
    parts = [
        worded(wording, "summary_setting"),
        block(QUESTION, quoted(in_one_line(question))),
        f"{worded(wording, 'summary_opinions')}\n{block(OPINIONS, lines)}",
        worded(wording, "summary_ask"),
        SummaryForm().describe(),
    ]
    return Prompt((Message("user", "\n\n".join(parts)),), SummaryForm(), purpose)


def summary_reask(wording: Wording, fault: str) -> str:
    """What a summariser is told after an unreadable reply, with the concrete fault."""
    return worded(wording, "reask", fault=fault)


def opinions_in(prompt: str) -> list[str]:
    """The opinions that a prompt shows, in their order."""
    shown = read_block(OPINIONS, prompt)
    return unquoted(shown).split("\n") if shown else []


def in_one_line(text: str) -> str:
    """A text without line ends; white space becomes single blanks."""
    return " ".join(text.split())


def check_summary_texts(wording: Wording) -> None:
    """Refuse a wording that lacks what summarisers read; WrongInput."""
    refuse_unfilled(wording, SUMMARY_TEXTS, FIELDS)
