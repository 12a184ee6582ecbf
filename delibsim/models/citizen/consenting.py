"""How a citizen mediates, votes on statements and criticises one.

    agreement    4 + 3 * a / 2,  a the mean attitude toward the sentences of the statement
                 + e ~ N(0, noise), rounded and kept from 1 to 7
    rank         statements ordered by a + e, the highest first

The mediator joins one sentence each of two positions that the seed draws: it knows no better, and
says so nowhere but here and in docs/citizen.md.
"""

import math
import random
import re

import numpy as np

from delibsim.domain.consensus import HIGHEST, LOWEST
from delibsim.domain.seed import seed_of
from delibsim.models.citizen.meaning import quote, sentences
from delibsim.models.citizen.opinion import Attitude
from delibsim.prompts.blocks import read_block, read_items, unquoted
from delibsim.prompts.forms.ranking import RankingForm

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
    for label, statement in read_items("statements", text).items():
        error = np.random.default_rng(seed_of(seed, statement)).normal(0, noise)
        felt[label] = _toward(statement, attitude) + float(error)
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
