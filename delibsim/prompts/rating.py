"""What the raters of debates are asked: their stance before, then the ballot on a blinded debate.

All raters of a debate share the system message, and the user message of a ballot begins with the
debate, so that providers can reuse the beginning of the prompt. docs/debates.md describes the
ballot.
"""

from collections.abc import Sequence

from delibsim.domain.annotation import DIMENSIONS, Coder, Panel, Text
from delibsim.domain.transcript import Statement, Turn
from delibsim.domain.treatment import Wording
from delibsim.prompts.blocks import TEXTS, block, refuse_unfilled, transcript_block, worded
from delibsim.prompts.forms.ballot import Ballot, Stance
from delibsim.prompts.prompt import Message, Prompt, Purpose

RATER_TEXTS = TEXTS["raters"]
"""The texts of a wording that raters of debates read."""
RATER_YOU = "rater_you"
"""The text before the neutral name of a rater. A wording without it says `you`, and the name with
that of the panel.
"""


def stance_prompt(panel: Panel, rater: Coder, motion: Text) -> Prompt:
    """Ask a rater for its stance on the motion before it has read anything of the debate.

    `motion` bears the name of the debate.
    """
    form = Stance()
    parts = [_particulars(panel, rater), worded(panel.wording, "rater_before"), form.describe()]
    purpose = Purpose(rater.id, f"{motion.id} before")
    return Prompt(_messages(panel, motion.text, parts), form, purpose)


def ballot_prompt(
    panel: Panel,
    rater: Coder,
    motion: str,
    transcript: Text,
    before: int | None,
    check: int,
) -> Prompt:
    """Ask a rater for its ballot on a debate that is blinded already.

    `transcript` bears the name of the debate, `before` is the rater's earlier stance (None if it
    gave none), `check` the number of the attention check.
    """
    form = Ballot()
    speeches = f"{worded(panel.wording, 'rater_speeches')}\n\n{transcript.text}"
    parts = [speeches, _particulars(panel, rater)]
    if before is not None:
        parts.append(f"{worded(panel.wording, 'rater_earlier')}\n{block('stance', str(before))}")
    parts.append(f"{worded(panel.wording, 'rater_ballot')}\n{block('points', _points(panel))}")
    parts += [worded(panel.wording, "rater_winner"), worded(panel.wording, "rater_after")]
    parts.append(f"{worded(panel.wording, 'rater_check')}\n{block('check', str(check))}")
    parts.append(form.describe())
    purpose = Purpose(rater.id, f"{transcript.id} ballot")
    return Prompt(_messages(panel, motion, parts), form, purpose)


def longest_rating_prompt(panel: Panel, motion: Text, words: int) -> Prompt:
    """The longest prompt of a panel if every speech has so many words: a ballot."""
    rater = max(panel.coders, key=lambda coder: len(coder.persona))
    speeches = []
    for i in range(6):
        turn = Turn(i + 1, i // 2 + 1, f"Speaker {'AB'[i % 2]}")
        speeches.append(Statement(turn, "speech " * words))
    transcript = Text(motion.id, transcript_block(speeches))
    return ballot_prompt(panel, rater, motion.text, transcript, before=50, check=50)


def rating_reask(panel: Panel, fault: str) -> str:
    """What a rater is told after an unreadable reply, with the concrete fault."""
    return worded(panel.wording, "reask", fault=fault)


def check_rater_texts(wording: Wording) -> None:
    """Refuse a wording that lacks what raters read; WrongInput."""
    named = {RATER_YOU} & set(wording.texts)
    refuse_unfilled(wording, (*RATER_TEXTS, *named), {"reask": ("fault",)})


def _points(panel: Panel) -> str:
    """The dimensions of the ballot, numbered, one a line."""
    lines = []
    for i, name in enumerate(DIMENSIONS, 1):
        lines.append(f"{i}. {name}: {worded(panel.wording, f'rater_{name}')}")
    return "\n".join(lines)


def _particulars(panel: Panel, rater: Coder) -> str:
    """What is particular to one rater: its name and its persona."""
    if RATER_YOU in panel.wording.texts:
        said, name = RATER_YOU, rater.neutral_name
    else:
        said, name = "you", rater.id
    # The name first: a persona may hold anything, and must not pass for the name.
    parts = [worded(panel.wording, said), block("you", name)]
    persona = rater.persona.strip()
    if persona:
        parts += [worded(panel.wording, "persona"), block("persona", persona)]
    return "\n\n".join(parts)


def _messages(panel: Panel, motion: str, parts: Sequence[str]) -> tuple[Message, ...]:
    """What all raters of a debate share, and what follows."""
    setting = [worded(panel.wording, "rater_setting"), block("motion", motion)]
    return (
        Message("system", "\n\n".join(setting)),
        Message("user", "\n\n".join(part for part in parts if part)),
    )
