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

import numpy as np

from delibsim.domain.consensus import HIGHEST, LOWEST
from delibsim.domain.seed import seed_of
from delibsim.models.citizen.coding import STEPS, code_reply, quote, sentences
from delibsim.models.citizen.judging import judge_reply, verdict_reply
from delibsim.models.citizen.opinion import (
    Attitude,
    Traits,
    attitude_of,
    question,
    start_of,
    statement,
    survey_reply,
)
from delibsim.models.citizen.speaking import contribution, facilitation_reply
from delibsim.models.extractive import by_relevance, sentences_of
from delibsim.prompts.blocks import read_block, read_items, unquoted
from delibsim.prompts.forms.choice import ChoiceForm, VerdictForm
from delibsim.prompts.forms.code import CodeForm
from delibsim.prompts.forms.facilitation import Facilitation
from delibsim.prompts.forms.survey import RankingForm, SurveyAnswers
from delibsim.prompts.forms.words import Question, Speech, StepsForm, SummaryForm, Words
from delibsim.prompts.prompt import Prompt
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
    if isinstance(form, Question):
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
