"""How the citizen judges summaries: by shared words, which is a null model and no judgment.

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
from collections.abc import Mapping

import numpy as np

from delibsim.domain.judgment import DIMENSIONS, SCALE
from delibsim.domain.language import sentences
from delibsim.domain.seed import seed_of
from delibsim.prompts.blocks import read_block, unquoted
from delibsim.prompts.forms.verdict import NUMBERED, VerdictForm
from delibsim.prompts.verdict import ONE, OPINION, TWO

SEVERITY, ERROR = 0.5, 0.4
"""Standard deviations between judges, and of one number."""
FULL = 12
"""Distinct words a sentence at which a summary counts as fully informative."""
WORD = re.compile(r"[^\W\d_]{4,}")
FOR = re.compile(
    r"\b(?:for it|in favour|support\w*|welcom\w*|agree\w*|good|better|benefit\w*|yes|useful)\b",
    re.IGNORECASE,
)
AGAINST = re.compile(
    r"\b(?:against|oppos\w*|reject\w*|disagree\w*|bad|worse|cost\w*|expensive|danger\w*|no)\b",
    re.IGNORECASE,
)


def verdict_reply(form: VerdictForm, prompt: str, judge: str, seed: int) -> str:
    """The reply of the citizen of this name, from what the prompt shows."""
    opinion = unquoted(read_block(OPINION, prompt) or "")
    tags = TWO if form.two else ONE
    seen = [_seen(unquoted(read_block(tag, prompt) or ""), opinion) for tag in tags]
    rng = np.random.default_rng(seed_of(seed, judge))
    errors = dict(zip(DIMENSIONS, rng.normal(0, ERROR, len(DIMENSIONS)).tolist(), strict=True))
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
    return float(own.normal(0, SEVERITY))


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
