"""What the citizen finds in a text: its sentences, its words of content, what it negates, and the
direction that stands for it.
"""

import functools
import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from delibsim.domain.seed import seed_of

Vector = NDArray[np.float64]

NEGATIONS = frozenset(
    "not no never nor without neither cannot doubt against oppose reject disagree".split()
)
SINGLE = str.maketrans("“”", "‘’")
FILLER = frozenset(
    "about also another around because been being between both could does each even every first"
    " from have into just like made make many mind more most much must only option options other"
    " others ought over people place policy position really right said same say seen seems should"
    " since some still such than that their them then there these they thing think this those"
    " though through under until upon very want well were what when where which while will with"
    " would your yours agree believe consider convinced participant persuaded prefer what's don't"
    " can't isn't".split()
)
"""Words without meaning of their own."""


def sentences(text: str) -> list[str]:
    """The sentences of a text that say enough to be heard: three words of content or more.

    >>> sentences("I see. Rivers need wide banks with trees.")
    ['Rivers need wide banks with trees.']
    """
    found = (part.strip() for part in re.split(r"(?<=[.!?])\s+|\n+", text))
    return [part for part in found if len(_content(part)) >= 3]


def quoted_stances(persona: str) -> dict[str, int]:
    """What a persona quotes in “ ”, without its final stop: 1, or -1 where the words before it in
    its sentence say less, or negate.

    >>> quoted_stances("You agree more with “Rivers flood.” You agree less with “Walls hold.”")
    {'Rivers flood': 1, 'Walls hold': -1}
    """
    stances = {}
    for match in re.finditer(r"([^“”.!?]*)“([^“”]+)”", persona):
        before = words(match[1])
        stances[bare(match[2])] = -1 if "less" in before or NEGATIONS & set(before) else 1
    return stances


def bare(text: str) -> str:
    """A text as it can be quoted: in one line, without its final stop, its own quotation marks made
    single ones.
    """
    return " ".join(text.split()).rstrip(".").translate(SINGLE)


def quote(sentence: str) -> str:
    """A sentence in quotation marks, without its final stop."""
    return f"“{' '.join(sentence.split()).rstrip('.')}”"


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", text.lower())


def leaning(stances: Mapping[str, int], dimensions: int) -> Vector:
    """The direction of several texts one is for (1) or against (-1): the unit sum of theirs."""
    total = np.sum([sign * meaning(text, dimensions) for text, sign in stances.items()], axis=0)
    length = float(np.linalg.norm(total))
    return total / length if length else total


@functools.lru_cache(maxsize=20_000)
def meaning(text: str, dimensions: int) -> Vector:
    """The direction of a text: the unit sum of its words' fixed random directions, reversed by an
    odd number of negations.

    A text without content words has the zero vector. Shape (dimensions,).
    """
    total = np.zeros(dimensions)
    for stem in _content(text):
        total = total + _direction(stem, dimensions)
    negated = sum(word in NEGATIONS for word in words(text)) % 2
    length = float(np.linalg.norm(total))
    sign = -1 if negated else 1
    vector = total / length * sign if length else total
    vector.setflags(write=False)
    return vector


@functools.lru_cache(maxsize=50_000)
def _direction(stem: str, dimensions: int) -> Vector:
    return np.random.default_rng(seed_of("word", stem)).standard_normal(dimensions)


def _content(text: str) -> list[str]:
    """Stems (first six letters) of the words that carry meaning; short words, filler and negations
    do not.
    """
    return [
        word[:6]
        for word in words(text)
        if len(word) > 3 and word not in FILLER and word not in NEGATIONS
    ]
