"""What the citizen says when the prompt holds a motion: notes, a speech, a stance, or a ballot."""

import re
from collections.abc import Callable

import numpy as np

from delibsim.domain.seed import seed_of
from delibsim.models.citizen.rating import SEVERITY, judge, whole
from delibsim.models.citizen.speaking import orate
from delibsim.prompts.blocks import read_block, read_transcript
from delibsim.prompts.forms.ballot import Ballot, Stance
from delibsim.prompts.forms.speech import Speech
from delibsim.prompts.prompt import Form

NOTES = (
    "open with the principle, keep the example short, and answer the strongest thing the other side"
    " can say."
)


def contribution(
    me: str,
    motion: str,
    text: str,
    attitude: Callable[[str], float],
    skill: float,
    form: Form,
    seed: int,
) -> str:
    """The reply of the citizen `me` to a prompt on a motion, in the form it asks for."""
    speeches = read_transcript(text)
    if isinstance(form, Speech):
        return orate(
            me.lower(), motion, speeches, skill, seed_of(seed, *(said.text for said in speeches))
        )
    if isinstance(form, Stance):
        return f"S1: {whole(50 + 25 * attitude(motion))}"
    if isinstance(form, Ballot):
        severity = float(np.random.default_rng(seed_of("severity", me)).normal(0, SEVERITY))
        return judge(speeches, _told("stance", text, 50), _told("check", text, 0), seed, severity)
    return f"{me}: {NOTES}"


def _told(tag: str, text: str, otherwise: int) -> int:
    """A number that the prompt holds in a block."""
    match = re.search(r"\d+", read_block(tag, text) or "")
    return int(match[0]) if match else otherwise
