"""Words for the size of a coefficient of agreement, by probability and not by its point alone.

Sources: Landis and Koch (1977), https://doi.org/10.2307/2529310, for the words; Gwet (2014),
Handbook of Inter-Rater Reliability, 4th ed., ch. 6, for the probabilities.
"""

import math

WORDS = (
    ("almost perfect", 0.8),
    ("substantial", 0.6),
    ("moderate", 0.4),
    ("fair", 0.2),
    ("slight", 0.0),
    ("poor", -1.0),
)
"""The words, from the highest down, each with the lower end of its band."""
PROBABILITY = 0.95
"""So probable it must be that a coefficient lies in a band or above."""


def probabilities(value: float, error: float) -> dict[str, float]:
    """The probability of each word that the coefficient lies in its band or above, given that it
    lies between -1 and 1. NaN without a standard error above 0.

    >>> {word: round(p, 5) for word, p in probabilities(0.77544, 0.14295).items()}["substantial"]
    0.88336
    """
    if not error > 0 or math.isnan(value):
        return dict.fromkeys([word for word, _ in WORDS], math.nan)
    least, most = _phi((value - 1) / error), _phi((value + 1) / error)
    found = {}
    for word, low in WORDS:
        found[word] = (_phi((value - low) / error) - least) / (most - least)
    return found


def word_of(value: float, error: float, probability: float = PROBABILITY) -> str:
    """The highest word whose probability is at least `probability`; "" without a standard error.

    >>> word_of(0.77544, 0.14295), word_of(0.77544, 0.01)
    ('moderate', 'substantial')
    """
    for word, p in probabilities(value, error).items():
        if p >= probability:
            return word
    return ""


def _phi(z: float) -> float:
    """The distribution function of the standard normal."""
    return math.erfc(-z / math.sqrt(2)) / 2
