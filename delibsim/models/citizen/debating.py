"""What the citizen says when the prompt holds a motion: notes, a speech, a stance, or a ballot."""

import re

import numpy as np

from delibsim.domain.seed import seed_of
from delibsim.models.citizen.opinion import Attitude
from delibsim.models.citizen.rating import SEVERITY, judge, whole
from delibsim.models.citizen.speaking import orate
from delibsim.prompts.blocks import read_block, read_transcript
from delibsim.prompts.forms.ballot import Ballot, Stance
from delibsim.prompts.forms.speech import Speech
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Form

NOTES = (
    "open with the principle, keep the example short, and answer the strongest thing the other side"
    " can say."
)
NEITHER = 50
"""The stance of who is neither for nor against the motion, on the scale from 0 to 100."""
PER_ATTITUDE = 25
"""What an attitude of 1 adds to the stance: attitudes of -2 and 2 stand for its two ends, as in the
ratings of a survey.
"""


def contribution(
    me: str,
    motion: str,
    text: str,
    attitude: Attitude,
    skill: float,
    form: Form,
    seed: int,
) -> str | None:
    """The reply of the citizen `me` to a prompt on a motion, in the form it asks for; None where it
    does not know the form.
    """
    speeches = read_transcript(text)
    if isinstance(form, Speech):
        own_seed = seed_of(seed, *(said.text for said in speeches))
        return orate(me.lower(), motion, speeches, skill, own_seed)
    if isinstance(form, Stance):
        return f"S1: {whole(NEITHER + PER_ATTITUDE * attitude(motion))}"
    if isinstance(form, Ballot):
        severity = float(np.random.default_rng(seed_of("severity", me)).normal(0, SEVERITY))
        before, check = _number("stance", text, NEITHER), _number("check", text, 0)
        return judge(speeches, before, check, seed, severity)
    return f"{me}: {NOTES}" if isinstance(form, Words) else None


def _number(tag: str, text: str, otherwise: int) -> int:
    """A number that the prompt holds in a block."""
    match = re.search(r"\d+", read_block(tag, text) or "")
    return int(match[0]) if match else otherwise
