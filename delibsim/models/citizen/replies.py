"""The replies of a citizen by the form that is asked for; how it mediates, votes and summarises.

    agreement    4 + 3 * a / 2,  a the mean attitude toward the sentences of the statement
                 + e ~ N(0, noise), rounded and kept from 1 to 7
    rank         statements ordered by a + e, the highest first

The mediator joins one sentence each of two positions that the seed draws: it knows no better, and
says so nowhere but here and in docs/citizen.md.

A summary copies sentences, whose worth the citizen misjudges a little:

    worth      relevance of a sentence to the centroid of all + N(0, SLIP * noise)
    summary    sentences by maximal marginal relevance, up to 250 words (models/extractive.py)
"""

import math
import random
import re
from collections.abc import Sequence
from string import Template

import numpy as np

from delibsim.domain.consensus import HIGHEST, LOWEST
from delibsim.domain.data import read_data
from delibsim.domain.seed import seed_of
from delibsim.domain.transcript import Statement
from delibsim.models.citizen.coding import STEPS, code_reply, quote, sentences
from delibsim.models.citizen.judging import SEVERITY, judge, judge_reply, verdict_reply, whole
from delibsim.models.citizen.opinion import (
    Attitude,
    Traits,
    attitude_of,
    question,
    start_of,
    statement,
    survey_reply,
)
from delibsim.models.sentences import by_relevance, sentences_of
from delibsim.prompts.blocks import read_block, read_items, read_transcript, unquoted
from delibsim.prompts.forms.ballot import Ballot, Stance
from delibsim.prompts.forms.choice import ChoiceForm, VerdictForm
from delibsim.prompts.forms.code import CodeForm
from delibsim.prompts.forms.survey import RankingForm, SurveyAnswers
from delibsim.prompts.forms.words import (
    Facilitation,
    Speech,
    StepsForm,
    SummaryForm,
    WitnessQuestion,
    Words,
)
from delibsim.prompts.prompt import Form, Prompt
from delibsim.prompts.verdict import opinions_in

POSITION = re.compile(r"^<position>\n(.*?)\n</position>$", re.MULTILINE | re.DOTALL)


def mediation(text: str, seed: int) -> str | None:
    """A statement from the positions in a prompt; None where there are none."""
    positions = [unquoted(found) for found in POSITION.findall(text)]
    if not positions:
        return None
    drawn = random.Random(seed)
    lines = []
    openings = ("We hold in common that", "We also heard that")
    chosen = drawn.sample(positions, min(len(openings), len(positions)))
    for opening, position in zip(openings, chosen, strict=False):
        said = sentences(position) or [" ".join(position.split())]
        lines.append(f"{opening} {quote(_plain(drawn.choice(said)))}.")
    return " ".join(lines)


def vote_reply(form: RankingForm, text: str, attitude: Attitude, noise: float, seed: int) -> str:
    """Ranks and agreement as text. Errors are drawn by statement, so that the order in which
    statements are shown changes no answer.
    """
    felt = {}
    for label, said in read_items("statements", text).items():
        error = np.random.default_rng(seed_of(seed, said)).normal(0, noise)
        felt[label] = _toward(said, attitude) + float(error)
    labels = [f"S{i}" for i in range(1, form.n + 1)]
    ordered = sorted(labels, key=lambda label: (-felt.get(label, 0.0), label))
    lines = []
    for i, label in enumerate(labels, 1):
        lines.append(f"R{i}: {ordered.index(label) + 1}")
        agreed = math.floor(4 + 3 * felt.get(label, 0.0) / 2 + 0.5)
        lines.append(f"A{i}: {min(max(agreed, LOWEST), HIGHEST)}")
    return "\n".join(lines)


def critique(text: str, attitude: Attitude) -> str | None:
    """What a citizen criticises in the statement of a prompt; None where there is none."""
    shown = read_block("statement", text)
    if shown is None:
        return None
    statement = unquoted(shown)
    said = sentences(statement) or [statement]
    worst = min(said, key=attitude)
    if attitude(worst) < 0:
        return f"I do not hold that {quote(_plain(worst))}."
    return f"I can live with it, but {quote(_plain(worst))} says too little."


def _toward(statement: str, attitude: Attitude) -> float:
    """The mean attitude toward the sentences of a statement."""
    said = sentences(statement) or [statement]
    return sum(map(attitude, said)) / len(said)


def _plain(sentence: str) -> str:
    """A sentence without quotation marks, so that it can be quoted."""
    return sentence.replace("“", "").replace("”", "")


SLIP = 0.1
"""The standard deviation of the error of a worth, times the noise of the citizen."""


def summary_reply(prompt: str, summariser: str, noise: float, seed: int) -> str:
    """The summary of the citizen of this name, from what the prompt shows."""
    shown = opinions_in(prompt)
    rng = np.random.default_rng(seed_of(seed, summariser))
    errors = rng.normal(0, SLIP * noise, len(sentences_of(shown)))
    return by_relevance(shown, errors.tolist())


class NoReply(Exception):
    """The citizen cannot reply to a prompt; the message says why."""


def reply_to(
    prompt: Prompt,
    seed: int,
    name: str,
    skill: float,
    traits: Traits,
    judging: tuple[float, float, float],
) -> str:
    """What the citizen of this name codes, judges, answers or says, from the messages and nothing
    else. `judging` is its place bias, threshold and share of coin flips as a judge of pairs.

    NoReply for a prompt that does not say who it is, and for a form that it does not know.
    """
    asked = (message.content for message in prompt.messages if message.role != "assistant")
    text = "\n".join(asked)
    if isinstance(prompt.reply, StepsForm):
        return STEPS
    if isinstance(prompt.reply, CodeForm):
        coder = f"{name}/{traits.population}"
        return code_reply(prompt.reply, text, coder, traits.noise, seed)
    if isinstance(prompt.reply, ChoiceForm):
        judge = f"{name}/{traits.population}"
        return judge_reply(prompt.reply, text, judge, (traits.noise, *judging), seed)
    if isinstance(prompt.reply, SummaryForm):
        return summary_reply(text, f"{name}/{traits.population}", traits.noise, seed)
    if isinstance(prompt.reply, Facilitation):
        return facilitation_reply(prompt.reply, seed)
    if isinstance(prompt.reply, VerdictForm):
        return verdict_reply(prompt.reply, text, f"{name}/{traits.population}", seed)
    me = read_block("you", text)
    if me is None and isinstance(prompt.reply, Words):
        mediated = mediation(text, seed_of(seed, name))
        if mediated is not None:
            return mediated
    if me is None:
        raise NoReply("the prompt has no <you> block, so the citizen does not know who it is")
    form, start = prompt.reply, start_of(traits, me, text)
    attitude = attitude_of(traits, me, text, start)
    if isinstance(form, SurveyAnswers):
        return survey_reply(form, text, attitude, start.answered, traits.noise, seed)
    if isinstance(form, RankingForm):
        return vote_reply(form, text, attitude, traits.noise, seed_of(seed, name))
    criticised = critique(text, attitude) if isinstance(form, Words) else None
    if criticised is not None:
        return criticised
    if isinstance(form, WitnessQuestion):
        return question(text, attitude)
    motion = read_block("motion", text)
    if motion is not None:
        own_seed = seed_of(seed, name)
        reply = contribution(me, motion, text, attitude, skill, form, own_seed)
    else:
        speaks = isinstance(form, Words | Speech)
        reply = statement(me, text, attitude) if speaks else None
    if reply is None:
        raise NoReply(f"the citizen has no reply in the form {type(form).__name__}")
    return reply


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
