"""How the citizen debates: speeches of sentences that do what a good speech does, or do nothing.

A speech has a place for each thing a good speech does: it says where it stands, gives a principle
and a practical reason, supports them, answers the other side, weighs. `skill` is the chance that a
place is filled with a sentence that does it, and not with one that only takes up room. The words
are drawn from the seed of the call; nothing is known of the motion but its sentence.
"""

import random
import re
from collections.abc import Sequence
from string import Template

import numpy as np

from delibsim.domain.data import read_data
from delibsim.domain.seed import seed_of
from delibsim.domain.transcript import Statement
from delibsim.models.citizen.judging import SEVERITY, judge, whole
from delibsim.models.citizen.opinion import Attitude
from delibsim.prompts.blocks import read_block, read_transcript
from delibsim.prompts.forms.ballot import Ballot, Stance
from delibsim.prompts.forms.facilitation import Facilitation
from delibsim.prompts.forms.words import Speech, Words
from delibsim.prompts.prompt import Form

Value = tuple[str, str, str]

_WORDS = read_data("citizen.yaml")
VALUES: tuple[Value, ...] = _WORDS["values"]
"""What can be argued from: the name of a value, a principle that follows from it, and a practical
truth that goes with it.
"""
PLAIN: tuple[str, ...] = _WORDS["plain"]
"""Sentences that take up room."""
SPEECHES: tuple[tuple[str, ...], ...] = _WORDS["speeches"]
"""The places of the first, the second and the last speech of a side, each filled with a sentence
that does its work.
"""


def orate(side: str, motion: str, speeches: Sequence[Statement], skill: float, seed: int) -> str:
    """The next speech of a side, after the speeches given so far: an opening, a rebuttal or a
    closing of 100 to 150 words.
    """
    own = [said for said in speeches if said.turn.speaker.lower() == side]
    other = [said for said in speeches if said.turn.speaker.lower() != side]
    rng = random.Random(seed)
    drawn = random.Random(seed_of("values", motion, len(own))).sample(VALUES, 6)
    proposes = side == "proposition"
    (one, principle, own_practice), (two, _, practice), (frame, _, _) = (
        drawn[:3] if proposes else drawn[3:]
    )
    said = {
        "one": one,
        "two": two,
        "frame": frame,
        "principle": principle,
        "practice": own_practice if len(own) == 1 else practice,
        "claim": _claim(other, rng),
        "stand": "support" if proposes else "oppose",
        "demand": "Carry" if proposes else "Reject",
        "motion": " ".join(motion.split()).rstrip("."),
    }
    places = [Template(place).substitute(said) for place in SPEECHES[min(len(own), 2)]]
    spare = rng.sample(PLAIN, len(PLAIN))
    sentences = [sentence if rng.random() < skill else spare.pop() for sentence in places]
    while len(" ".join(sentences).split()) < 104:
        sentences.insert(-1, spare.pop())
    while len(" ".join(sentences).split()) > 148:
        sentences.pop(-2)
    return " ".join(sentences)


def _claim(other: Sequence[Statement], rng: random.Random) -> str:
    """A sentence of the other side's last speech, quoted."""
    if not other:
        return "that there is nothing to be said against it."
    parts = re.split(r"(?<=[.!?])\s+", other[-1].text.strip())
    sentences = [part for part in parts if 4 <= len(part.split()) <= 24 and "“" not in part]
    return f"“{rng.choice(sentences)}”" if sentences else "that its own case needs no reasons."


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


def facilitation_reply(form: Facilitation, seed: int) -> str:
    """What a citizen says that facilitates: always the same, as it has no view and sums up nothing;
    the one that it would like to hear next is drawn.
    """
    said = _WORDS["facilitator"][form.task]
    if not form.waiting:
        return said
    return f"{said}\nNext: {random.Random(seed).choice(form.waiting)}"


def _number(tag: str, text: str, otherwise: int) -> int:
    """A number that the prompt holds in a block."""
    match = re.search(r"\d+", read_block(tag, text) or "")
    return int(match[0]) if match else otherwise
