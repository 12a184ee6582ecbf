"""The words of sentences about numbers: treatments, measures, estimates, intervals, p values."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from delibsim.domain.measure import MEASURES

INSTRUCTIONS = ("basic", "normative", "procedural")
"""Treatments that are instructions, which the summary calls so."""


def short(value: float) -> str:
    """A number in a sentence: three decimals, no zero before the point, a true minus.

    >>> short(0.0286), short(-0.004), short(1.25), short(0.0)
    ('.029', '−.004', '1.250', '.000')
    """
    text = f"{abs(value):.3f}"
    text = text.removeprefix("0")
    return f"−{text}" if value < 0 and float(text) else text


def with_interval(estimate: float, low: Any, high: Any) -> str:
    """An estimate with its interval.

    >>> with_interval(0.029, -0.004, 0.076)
    '.029 [−.004, .076]'
    """
    if missing(low) or missing(high):
        return f"{short(estimate)} (no interval)"
    return f"{short(estimate)} [{short(low)}, {short(high)}]"


def p_in_words(p: float) -> str:
    """A p value in a sentence.

    >>> p_in_words(0.0001), p_in_words(0.0212)
    ('p < .001', 'p = .021')
    """
    if p < 0.001:
        return "p < .001"
    return f"p = {p:.3f}".replace("= 0", "= ")


def named(treatment: str) -> str:
    """A treatment as a sentence names it.

    >>> named("none"), named("normative"), named("my own")
    ('no deliberation', 'normative instructions', 'the treatment my own')
    """
    if treatment == "none":
        return "no deliberation"
    if treatment in INSTRUCTIONS:
        return f"{treatment} instructions"
    return f"the treatment {treatment}"


def measured(outcome: str) -> str:
    """The name of a measure for readers."""
    measure = MEASURES.get(outcome)
    return measure.label if measure else outcome.replace("_", " ")


def gloss(outcome: str) -> str:
    """What a measure is for readers outside the field, in brackets; "" where that is not known."""
    measure = MEASURES.get(outcome)
    told = (measure.plain or measure.definition).rstrip(".") if measure else ""
    return f" ({told})" if told else ""


def quantity(outcome: str, scale: str, label: str = "") -> str:
    """What an effect is a difference of; the measure by its name or by another `label`.

    >>> quantity("dri", "absolute"), quantity("pairs.logical", "value")
    ('change of the Deliberative Reason Index', 'pairs.logical')
    """
    words = {"absolute": "change of ", "relative": "relative change of "}.get(scale, "")
    return words + (label or f"{'the ' * bool(words)}{measured(outcome)}")


def listed(parts: Sequence[str], last: str = "and") -> str:
    """Parts as a sentence lists them.

    >>> listed(["a", "b", "c"]), listed(["a", "b"], "or"), listed(["a"])
    ('a, b and c', 'a or b', 'a')
    """
    *first, end = parts or [""]
    return f"{', '.join(first)} {last} {end}" if first else end


def sentence(text: str) -> str:
    """A text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def missing(value: Any) -> bool:
    """Whether there is no number."""
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))
