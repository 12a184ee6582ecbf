"""How the citizen compares two texts: it counts marks of what a dimension asks, and understands
nothing.

    strength     s = STEP * the number of marks that are heard in a text, up to MOST
    advantage    d = s_A - s_B + place + noise * L,   L ~ logistic(0, 1), drawn anew for every call
    reply        A if d > threshold, B if d < -threshold, else Tie; where no tie may be said, the
                 sign of d
    coin         with this probability A or B by a fair coin instead

These are votes of the model of Rao and Kupper (1967) with strengths s / noise, place bias
place / noise and threshold threshold / noise, so that what a fit must find is known. A dimension is
known by its name: reasons are counted for logical quality, replies to objections for dialectical
quality, clear and engaging speech for rhetorical quality, and all of them for any other.
"""

import re

import numpy as np

from delibsim.domain.seed import seed_of
from delibsim.models.citizen.coding import MARKS as CODED
from delibsim.models.citizen.rating import MARKS as RATED
from delibsim.prompts.blocks import read_block, unquoted
from delibsim.prompts.compare import TEXT_A, TEXT_B
from delibsim.prompts.forms.choice import ChoiceForm

STEP = 0.5
"""What one mark adds to the strength of a text."""
MOST = 12
"""How many marks count at most."""
SPOKEN = ("clarity", "engaging", "confidence", "convincing")
"""What of a rating is listened for as rhetorical quality."""
HEARD = {
    "logic": (CODED["reasons"][0],),
    "dialectic": (CODED["objections"][0],),
    "rhetoric": tuple(RATED[name][0] for name in SPOKEN),
}
"""The marks of each dimension, by what its name begins with."""


def strength(text: str, dimension: str) -> float:
    """The strength of a text on the dimension of this name.

    >>> strength("We need trees because they cool, since towns are hot.", "Logical quality")
    1.0
    """
    patterns = [own for start, own in HEARD.items() if dimension.casefold().startswith(start)]
    chosen = patterns[0] if patterns else sum(HEARD.values(), ())
    marks = sum(len(re.findall(pattern, text, re.IGNORECASE)) for pattern in chosen)
    return STEP * min(marks, MOST)


def judge_reply(
    form: ChoiceForm,
    prompt: str,
    judge: str,
    traits: tuple[float, float, float, float],
    seed: int,
) -> str:
    """The reply of the citizen of this name, as the form wants it, from what the prompt shows.

    `traits` are its noise, place bias, threshold and share of coin flips.
    """
    noise, place, threshold, coin = traits
    dimension = read_block("dimension", prompt) or ""
    shown = [unquoted(read_block(tag, prompt) or "") for tag in (TEXT_A, TEXT_B)]
    a, b = (strength(text, dimension) for text in shown)
    rng = np.random.default_rng(seed_of(seed, judge))
    error, flipped, heads = rng.logistic(), rng.random() < coin, rng.random() < 0.5
    d = a - b + place + noise * error
    width = threshold if form.ties else 0.0
    label = "A" if d > width or (not form.ties and d >= 0) else "Tie"
    label = "B" if d < -width else label
    why = f"text A has {a / STEP:.0f} marks and text B {b / STEP:.0f}"
    if flipped:
        label, why = ("A" if heads else "B"), "a coin was tossed"
    if not form.reasons:
        return label
    return f"Reason: Rule-based and no evidence, {why}.\nAnswer: {label}"
