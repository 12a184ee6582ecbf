"""Votes of a known judge on pairs of texts, as a comparison."""

import random

import numpy as np

from delibsim.analysis.pairs.fitted import Compared
from delibsim.domain.comparison import Sheet, Vote
from delibsim.domain.reason import Reason

STRENGTHS = {f"t{n}": (n - 11.5) / 6 for n in range(24)}


def vote(a, b, outcome, judge="j", run=1):
    reason = None if outcome else Reason("refusal")
    return Vote(Sheet(a, b), judge, "logical", outcome, run, reason)


def compared(votes, planned=None):
    texts = {id: "" for one in votes for id in (one.sheet.a, one.sheet.b)}
    return Compared("s", "main", tuple(votes), planned or {}, texts, False, 1)


def drawn(strengths, place, theta, judge="j", seed=3):
    """Votes of the model of Rao and Kupper on both orders of all pairs."""
    draw = random.Random(seed)
    found = []
    for a in strengths:
        for b in strengths:
            if a != b:
                share = draw.random()
                error = np.log(share / (1 - share))
                d = strengths[a] - strengths[b] + place + error
                found.append(vote(a, b, "a" if d > theta else "b" if d < -theta else "tie", judge))
    return found
