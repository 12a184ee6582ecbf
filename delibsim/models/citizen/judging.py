"""How the citizen rates a debate, compares two texts and judges summaries, and understands nothing.

It rates a debate by what a speech does, and knows nothing of who speaks.

    heard_ds     for each dimension d, the mean over the speeches of side s of what was heard, in
                 [0, 1]: marks of that art (see MARKS), each counted up to the number that fills it;
                 `performance` is the mean of the other ten
    rating_ds    25 + 60 * heard_ds + severity of the rater ~ N(0, SEVERITY) + N(0, 7), rounded and
                 kept between 0 and 100
    winner       the sign of  performance_A - performance_B + 0.05 * (own stance toward A's side)
                 + N(0, 4)
    stance after before + 0.25 * (performance for - performance against) + N(0, 3)

The rater's stance before is 50 + 25 times its attitude toward the motion (opinion.py). Who opens
the debate is for the motion.

It compares two texts by counting marks of what a dimension asks.

    strength     s = STEP * the number of marks that are heard in a text, up to MOST
    advantage    d = s_A - s_B + place + noise * L,   L ~ logistic(0, 1), drawn anew for every call
    reply        A if d > threshold, B if d < -threshold, else Tie; where no tie may be said, the
                 sign of d
    coin         with this probability A or B by a fair coin instead

These are votes of the model of Rao and Kupper (1967) with strengths s / noise, place bias
place / noise and threshold threshold / noise, so that what a fit must find is known. A dimension is
known by its name: reasons are counted for logical quality, replies to objections for dialectical
quality, clear and engaging speech for rhetorical quality, and all of them for any other.

It judges summaries by shared words, which is a null model and no judgment.

rep    1 + 4 m, with m the highest cosine of the opinion with a sentence of the summary, over
       counts of words of four letters or more
inf    1 + 4 min(1, distinct such words a sentence / FULL)
neu    1 + 4 (1 - |f - a| / (f + a)), with f and a the words for and against; 3 without any
pol    the mean of the three
each   + severity of the judge ~ N(0, SEVERITY) + N(0, ERROR), rounded and kept in 1..5
two    3 + (B - A) on each dimension, both without severity, + N(0, ERROR), rounded, in 1..5
"""

import functools
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from delibsim.domain.annotation import DIMENSIONS
from delibsim.domain.data import read_data
from delibsim.domain.seed import seed_of
from delibsim.domain.summary import DIMENSIONS as JUDGED
from delibsim.domain.summary import SCALE
from delibsim.domain.text import sentences
from delibsim.domain.transcript import Statement
from delibsim.models.citizen.coding import MARKS as CODED
from delibsim.prompts.blocks import read_block, unquoted
from delibsim.prompts.compare import TEXT_A, TEXT_B
from delibsim.prompts.forms.ballot import SPEAKERS
from delibsim.prompts.forms.choice import NUMBERED, ChoiceForm, VerdictForm
from delibsim.prompts.verdict import ONE, OPINION, TWO

SEVERITY = 6.0
"""The standard deviation between raters of how severe they are, in points."""
_WORDS = read_data("citizen.yaml")
MARKS: Mapping[str, tuple[str, int]] = _WORDS["rated"]
"""What is listened for, and how often it must be heard in one speech to count in full."""
VAGUE, CASUAL, FOR, AGAINST = (
    re.compile(_WORDS[name], re.IGNORECASE) for name in ("vague", "casual", "for", "against")
)


def heard(speech: str) -> dict[str, float]:
    """What is heard in one speech, by dimension without the overall one; each in [0, 1]."""
    found = {
        name: min(len(re.findall(pattern, speech, re.IGNORECASE)) / full, 1.0)
        for name, (pattern, full) in MARKS.items()
    }
    vague = min(len(VAGUE.findall(speech)) / 4, 1.0)
    words = re.findall(r"\w+", speech.lower())
    found["confidence"] = max(found["confidence"] - vague / 2, 0.0)
    found["formality"] = 1 - min(len(CASUAL.findall(speech)) / 3, 1.0) / 2 - vague / 2
    found["originality"] = min(len(set(words)) / max(len(words), 1), 1.0) * (1 - vague / 2)
    return found


def judge(
    speeches: Sequence[Statement], before: int, check: int, seed: int, severity: float
) -> str:
    """A ballot on the speeches of A and B, as text; who opens the debate is for the motion."""
    rng = np.random.default_rng(seed)
    lines, overall = [], []
    for speaker in SPEAKERS:
        quality = _quality([said for said in speeches if said.turn.speaker == f"Speaker {speaker}"])
        points = {
            name: 25 + 60 * quality[name] + severity + rng.normal(0, 7) for name in DIMENSIONS
        }
        lines += [f"{speaker}{i}: {whole(points[name])}" for i, name in enumerate(DIMENSIONS, 1)]
        overall.append(points["performance"])
    favours = 1 if speeches and speeches[0].turn.speaker == "Speaker A" else -1
    lead = overall[0] - overall[1]
    verdict = lead + 0.05 * (before - 50) * favours + rng.normal(0, 4)
    after = before + 0.25 * lead * favours + rng.normal(0, 3)
    lines.append(f"WINNER: {SPEAKERS[0] if verdict > 0 else SPEAKERS[1]}")
    lines.append(f"S1: {whole(after)}")
    lines.append(f"C1: {check}")
    return "\n".join(lines)


def _quality(speeches: Sequence[Statement]) -> dict[str, float]:
    """What is heard in the speeches of one side, by dimension; each in [0, 1]."""
    found = [heard(said.text) for said in speeches]
    quality = {name: _mean(name, found) for name in DIMENSIONS[:-1]}
    quality["performance"] = float(np.mean(list(quality.values())))
    return quality


def _mean(name: str, found: Sequence[Mapping[str, float]]) -> float:
    return float(np.mean([one[name] for one in found])) if found else 0.0


def whole(value: float) -> int:
    """A value as a whole number from 0 to 100."""
    return min(max(math.floor(value + 0.5), 0), 100)


STEP = 0.5
"""What one mark adds to the strength of a text."""
MOST = 12
"""How many marks count at most."""
SPOKEN = ("clarity", "engaging", "confidence", "convincing")
"""What of a rating is listened for as rhetorical quality."""
HEARD = {
    "logic": (CODED["reasons"][0],),
    "dialectic": (CODED["objections"][0],),
    "rhetoric": tuple(MARKS[name][0] for name in SPOKEN),
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


JUDGE_SEVERITY, ERROR = 0.5, 0.4
"""Standard deviations between judges, and of one number."""
FULL = 12
"""Distinct words a sentence at which a summary counts as fully informative."""
WORD = re.compile(r"[^\W\d_]{4,}")


def verdict_reply(form: VerdictForm, prompt: str, judge: str, seed: int) -> str:
    """The reply of the citizen of this name, from what the prompt shows."""
    opinion = unquoted(read_block(OPINION, prompt) or "")
    tags = TWO if form.two else ONE
    seen = [_seen(unquoted(read_block(tag, prompt) or ""), opinion) for tag in tags]
    rng = np.random.default_rng(seed_of(seed, judge))
    errors = dict(zip(JUDGED, rng.normal(0, ERROR, len(JUDGED)).tolist(), strict=True))
    lines = []
    for label, name in NUMBERED.items():
        if form.two:
            value = 3 + seen[1][name] - seen[0][name]
        else:
            value = seen[0][name] + _severity(judge, name)
        lines.append(f"{label}: {_kept(value + errors[name])}")
    return "\n".join(lines)


@functools.lru_cache(maxsize=4096)
def _severity(judge: str, dimension: str) -> float:
    """How severe a judge is on a dimension, in points; the same at every sitting."""
    own = np.random.default_rng(seed_of("verdict", judge, dimension))
    return float(own.normal(0, JUDGE_SEVERITY))


def _seen(summary: str, opinion: str) -> Mapping[str, float]:
    """What is seen in a summary, by dimension, on the scale from 1 to 5."""
    vectors, inf, neu = _read(summary)
    own = _counts(opinion)
    nearest = max((_cosine(own, vector) for vector in vectors), default=0.0)
    rep = 1 + 4 * nearest
    return {"rep": rep, "inf": inf, "neu": neu, "pol": (rep + inf + neu) / 3}


@functools.lru_cache(maxsize=2048)  # a summary comes before hundreds of opinions
def _read(summary: str) -> tuple[list[Counter[str]], float, float]:
    """The words of the sentences of a summary, how much it tells, and how even-handed it is."""
    found = [counts for counts in map(_counts, sentences(summary)) if counts]
    distinct = len(set().union(*found)) if found else 0
    inf = 1 + 4 * min(1.0, distinct / max(len(found), 1) / FULL)
    good, bad = len(FOR.findall(summary)), len(AGAINST.findall(summary))
    lean = abs(good - bad) / (good + bad) if good + bad else 0.5
    return found, inf, 1 + 4 * (1 - lean)


@functools.lru_cache(maxsize=8192)
def _counts(text: str) -> Counter[str]:
    return Counter(WORD.findall(text.casefold()))


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    shared = sum(n * other[word] for word, n in one.items() if word in other)
    if not shared:
        return 0.0
    return shared / (_length(one) * _length(other))


def _length(counts: Counter[str]) -> float:
    return math.sqrt(sum(n * n for n in counts.values()))


def _kept(value: float) -> int:
    low, high = SCALE
    return min(max(math.floor(value + 0.5), low), high)
