"""AQuA: twenty indicators of deliberative quality, each from 0 to 3, and their weighted sum.

Behrendt, M., Wagner, S. S., Ziegele, M., Wilms, L., Stoll, A., Heinbach, D. and Harmeling, S.
(2024). AQuA: Combining Experts' and Non-Experts' Views To Assess Deliberation Quality in Online
Discussions Using LLMs. Proceedings of DELITE at LREC-COLING 2024,
https://aclanthology.org/2024.delite-1.1.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

WEIGHTS: Mapping[str, float] = {
    "anrede": 0.01482095,
    "begründung": 0.29000763,
    "beleidigung": -0.05884586,
    "bezugform": -0.02674237,
    "bezuginhalt": -0.02847408,
    "bezugmedium": 0.07019062,
    "bezugnutzer": -0.03768367,
    "bezugpersönlich": 0.21126469,
    "diskriminierung": 0.02934227,
    "frage": -0.07331445,
    "lösungsvorschlag": 0.39535126,
    "meinung": -0.11069402,
    "respekt": 0.00732909,
    "sarkasmus": -0.15170863,
    "schreien": -0.01900971,
    "storytelling": 0.10628146,
    "tatsache": 0.18285757,
    "themenbezug": 0.20908452,
    "vulgär": -0.04995486,
    "zusatzwissen": 0.14655912,
}
"""The published weight of each indicator, by its published name, in the published order."""

INDICATORS = tuple(WEIGHTS)
LABELS = (0, 1, 2, 3)
LOWEST, HIGHEST = -1.66928295, 4.98926754
"""The sums of 3 times the negative and of 3 times the positive weights: the ends of the scale."""


@dataclass(frozen=True)
class Published:
    """The mean and standard deviation of the published scores of `n` speeches."""

    what: str
    mean: float
    sd: float
    n: int


PEOPLE = Published("speeches of citizens at Europolis", 2.980, 0.431, 910)
"""The human reference of the score, on the scale of 0 to 5 (docs/aqua.md)."""


def score(labels: Mapping[str, int], scale: float = 5) -> float:
    """The score of one statement, from 0 to `scale`.

    ValueError unless there is a label from 0 to 3 for each indicator and no other.

    >>> round(score(dict.fromkeys(INDICATORS, 0)), 3)
    1.253
    """
    absent = [name for name in INDICATORS if name not in labels]
    extra = [name for name in labels if name not in WEIGHTS]
    given = [(name, labels[name]) for name in INDICATORS if name in labels]
    wrong = [f"{name} {label!r}" for name, label in given if label not in LABELS]
    faults = (
        ("no label for", absent),
        ("unknown indicators:", extra),
        ("labels other than 0, 1, 2, 3:", wrong),
    )
    for fault, names in faults:
        if names:
            raise ValueError(f"{fault} {', '.join(names)}")
    return float(scores([labels[name] for name in INDICATORS], scale))


def scores(labels: ArrayLike, scale: float = 5) -> NDArray[np.float64]:
    """Scores (...) of many statements from their labels (..., 20), in the order of INDICATORS.

    A missing label (NaN) gives NaN.
    """
    return (sums(labels) - LOWEST) / (HIGHEST - LOWEST) * scale


def sums(labels: ArrayLike) -> NDArray[np.float64]:
    """Weighted sums of labels (..., 20), from LOWEST to HIGHEST; ValueError for another number."""
    values = np.asarray(labels, dtype=float)
    if values.shape[-1:] != (len(INDICATORS),):
        raise ValueError(
            f"labels have {len(INDICATORS)} columns, one for each indicator; these have the shape"
            f" {values.shape}"
        )
    return values @ np.array(list(WEIGHTS.values()))
