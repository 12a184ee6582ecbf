"""What a judge says of each pair, by the majority of its votes, in the order another saw it in."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.domain.comparison import Pair, Vote
from delibsim.measures.reliability.ratings import LabelAgreement, agreement_of_labels

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Said:
    """What one judge says of pairs: 1 for the text whose id sorts first, -1 for the other, 0 for a
    tie or no majority; and whether it first saw the pair in that order (1) or turned round (-1).
    """

    outcome: Mapping[Pair, int]
    shown: Mapping[Pair, int]


def said(votes: Sequence[Vote], left_out: frozenset[Pair] = frozenset()) -> Said:
    """The majority of votes on each pair, all runs and orders together."""
    tallies: dict[Pair, list[int]] = defaultdict(list)
    shown: dict[Pair, int] = {}
    for vote in votes:
        pair = vote.sheet.pair
        if vote.outcome is None or pair in left_out:
            continue
        turned = 1 if vote.sheet.a == pair.one else -1
        shown.setdefault(pair, turned)
        tallies[pair].append(turned * {"a": 1, "b": -1, "tie": 0}[vote.outcome])
    outcome = {}
    for pair, given in tallies.items():
        half = len(given) / 2
        outcome[pair] = (given.count(1) > half) - (given.count(-1) > half)
    return Said(outcome, shown)


def aligned(one: Said, other: Said) -> tuple[list[Pair], Labels, Labels]:
    """The pairs that both judged, and what each says, in the order in which `one` saw each pair."""
    pairs = [pair for pair in one.outcome if pair in other.outcome]
    turned = np.array([one.shown[pair] for pair in pairs], dtype=np.int64)
    first = np.array([one.outcome[pair] for pair in pairs], dtype=np.int64)
    second = np.array([other.outcome[pair] for pair in pairs], dtype=np.int64)
    return pairs, first * turned, second * turned


LABELS = {
    "pairs": "pairs that both judged",
    "agreement": "share of pairs with the same label, by majority of votes: A, B or a tie",
    "kappa": "Cohen's kappa of the three labels, nominal",
    "kappa_max": "the largest kappa that these shares of labels allow",
    "alpha": "Krippendorff's alpha, nominal",
    "always_a": "agreement of one who always names the text shown first",
    "always_tie": "agreement of one who always gives a tie",
    "chance": "agreement of one who draws labels with the second judge's shares",
}


def label_columns(found: LabelAgreement) -> dict[str, Any]:
    """The agreement of labels as columns of a table."""
    return {
        "pairs": found.n,
        "agreement": found.agreement,
        "kappa": found.kappa,
        "kappa_max": found.most,
        "alpha": found.alpha,
        "always_a": found.always_a,
        "always_tie": found.always_tie,
        "chance": found.chance,
    }


def compared_labels(one: Said, other: Said) -> LabelAgreement:
    """How far two judges agree on the pairs that both judged; `one` is what is measured by."""
    _, first, second = aligned(one, other)
    return agreement_of_labels(first, second)
