"""What summarisers are asked: one message with a question and the opinions, quoted, one a line."""

from collections.abc import Sequence
from string import Template

from delibsim.domain.treatment import Wording
from delibsim.prompts.blocks import block, quoted, read_block, unquoted
from delibsim.prompts.forms.summary import SummaryForm
from delibsim.prompts.prompt import Message, Prompt, Purpose
from delibsim.prompts.wording import refuse_unfilled

SUMMARY_TEXTS = ("summary_setting", "summary_opinions", "summary_ask", "reask")
FIELDS = {"reask": ("fault",)}
QUESTION, OPINIONS = "question", "opinions"
"""The blocks of the question and of the opinions."""


def summary_prompt(
    question: str, opinions: Sequence[str], wording: Wording, purpose: Purpose
) -> Prompt:
    """Ask for one summary of all opinions. Each stands in one line, which is quoted, so that none
    can give an instruction or open a block.
    """
    lines = "\n".join(quoted(in_one_line(text)) for text in opinions)
    parts = [
        _say(wording, "summary_setting"),
        block(QUESTION, quoted(in_one_line(question))),
        f"{_say(wording, 'summary_opinions')}\n{block(OPINIONS, lines)}",
        _say(wording, "summary_ask"),
        SummaryForm().describe(),
    ]
    return Prompt((Message("user", "\n\n".join(parts)),), SummaryForm(), purpose)


def summary_reask(wording: Wording, fault: str) -> str:
    """What a summariser is told after an unreadable reply, with the concrete fault."""
    return _say(wording, "reask", fault=fault)


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


def _say(wording: Wording, name: str, **fields: str) -> str:
    """One text of the wording, filled in once."""
    return Template(wording.texts[name]).substitute(fields).strip()
