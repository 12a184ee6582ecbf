"""What the citizen finds in a text: its sentences, its words of content, what it negates, and the
direction that stands for it.
"""

import functools
import json
import math
import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from delibsim.domain.data import read_data
from delibsim.domain.scheme import LevelValue
from delibsim.domain.seed import seed_of
from delibsim.prompts.blocks import read_block, unquoted
from delibsim.prompts.forms.code import APPLIES, RATIONALE, SCORE, CodeForm

Vector = NDArray[np.float64]

_WORDS = read_data("citizen.yaml")
NEGATIONS = frozenset(_WORDS["negations"].split())
SINGLE = str.maketrans("“”", "‘’")
FILLER = frozenset(_WORDS["filler"].split())
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


SEVERITY = 0.3
"""The standard deviation between coders of how severe they are, in levels."""
KINDS: Mapping[str, str] = _WORDS["dimensions"]
"""What is counted on a dimension, by words of its name or, if that has none, of its definition."""
MARKS: Mapping[str, tuple[str, int]] = _WORDS["coded"]
"""What is listened for, and how often it must be heard in a text to count in full."""
AFFIRMED, DEROGATED, CLAIM = (_WORDS[name] for name in ("affirmed", "derogated", "claim"))
STEPS: str = _WORDS["steps"]
"""The procedure of every citizen; it says what it does, and that it reads no anchor."""


def code_reply(form: CodeForm, prompt: str, coder: str, noise: float, seed: int) -> str:
    """The reply of the citizen of this name, as the form wants it, from what the prompt shows."""
    text = unquoted(read_block("text", prompt) or "")
    rng = np.random.default_rng(seed_of(seed, coder))
    if form.filtered and not re.search(CLAIM, text, re.IGNORECASE):
        why = "Rule-based and no evidence: the text has no verb of claiming or demanding."
        return json.dumps({APPLIES: "no", RATIONALE: why, SCORE: None})
    kind = _kind(prompt)
    named = isinstance(form.levels[0], str)
    if named or not kind:
        level, heard = _by_words(form.levels, prompt, text, noise, rng)
    else:
        share, heard = _heard(kind, text)
        name = read_block("dimension", prompt) or ""
        severity = np.random.default_rng(seed_of("coder", coder, name)).normal(0, SEVERITY)
        place = share * (len(form.levels) - 1) + severity + rng.normal(0, noise)
        level = form.levels[min(max(math.floor(place + 0.5), 0), len(form.levels) - 1)]
    rationale = f"Rule-based and no evidence: {heard}. The anchors were not read."
    first = {APPLIES: "yes"} if form.filtered else {}
    return json.dumps({**first, RATIONALE: rationale, SCORE: level}, ensure_ascii=False)


def _kind(prompt: str) -> str:
    """What is counted on the dimension of a prompt; "" where it names none of the kinds."""
    for tag in ("dimension", "definition"):
        entry = read_block(tag, prompt) or ""
        for kind, pattern in KINDS.items():
            if re.search(pattern, entry, re.IGNORECASE):
                return kind
    return ""


def _heard(kind: str, text: str) -> tuple[float, str]:
    """The share of a kind that is heard in a text, and what was counted, in words."""
    if kind == "groups":
        good = len(re.findall(AFFIRMED, text, re.IGNORECASE))
        bad = len(re.findall(DEROGATED, text, re.IGNORECASE))
        share = 0.5 + 0.5 * (good - bad) / max(good + bad, 1)
        return share, f"{good} words that affirm and {bad} that derogate were counted"
    pattern, full = MARKS[kind]
    count = len(re.findall(pattern, text, re.IGNORECASE))
    return min(count / full, 1.0), f"{count} marks of {kind} were counted"


def _by_words(
    levels: Sequence[LevelValue],
    prompt: str,
    text: str,
    noise: float,
    rng: np.random.Generator,
) -> tuple[LevelValue, str]:
    """The level whose line in the prompt shares most words with a text, and that in words."""
    lines = (read_block("levels", prompt) or "").split("\n")
    said = _said(text)
    shared = [len(said & _said(line)) for line in lines][: len(levels)]
    felt = np.array(shared) + rng.normal(0, noise, len(shared))
    best = int(np.argmax(felt)) if len(shared) else 0
    return levels[best], f"{shared[best] if shared else 0} words of the anchor stand in the text"


def _said(text: str) -> set[str]:
    """The words of a text that say something."""
    return {word for word in words(text) if len(word) > 3 and word not in FILLER}
