"""What treatments are compared on: the outcomes that a study has, or those chosen by name;
and the words of sentences about treatments, measures, estimates, intervals, p values.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.score import MEASURES

CHANGE, RELATIVE, VALUE = "absolute", "relative", "value"
OF_TEXTS = frozenset({"aqua.score"})
"""Built-in measures without phases that are outcomes of a study unless others are chosen."""


@dataclass(frozen=True)
class OutcomeMeasure:
    """A measure's change on a scale: absolute, or relative to the room there was for it; on the
    scale `value` the measure itself, or any column with numbers.
    """

    measure: str
    scale: str = CHANGE

    @property
    def column(self) -> str:
        """Its column in the table of a study."""
        if self.scale == VALUE:
            return self.measure
        relative = "_relative" if self.scale == RELATIVE else ""
        return f"{self.measure}{relative}_change"

    def __str__(self) -> str:
        """As it is named in notes."""
        return f"{self.measure} ({self.scale})"


OUTCOMES = (
    OutcomeMeasure("dri"),
    OutcomeMeasure("dri", RELATIVE),
    OutcomeMeasure("dri_adjusted"),
    OutcomeMeasure("dri_adjusted", RELATIVE),
    OutcomeMeasure("diversity"),
)
"""What every study is compared on. A change of diversity has no bound and so no relative scale."""


def usual_outcomes(rows: pd.DataFrame) -> tuple[OutcomeMeasure, ...]:
    """Index and diversity, and what else was measured: codes, AQuA, strengths from pairs, measures
    of plug-ins. Lengths, flags and the like are outcomes only where they are chosen.
    """
    further = []
    usual = {outcome.column for outcome in OUTCOMES}
    for outcome in _measured(rows):
        ours = outcome.measure in MEASURES and outcome.measure not in OF_TEXTS
        if not ours and outcome.column not in usual:
            further.append(outcome)
    return (*OUTCOMES, *further)


def chosen_outcomes(rows: pd.DataFrame, names: Sequence[str]) -> tuple[OutcomeMeasure, ...]:
    """The outcomes of these names: a measure, the last part of its name, or a column of numbers.

    WrongInput for a name that the table has not, or that fits several.
    """
    found: dict[OutcomeMeasure, None] = {}
    for name in names:
        found |= dict.fromkeys(_named(rows, name))
    return tuple(found)


def with_means(rows: pd.DataFrame, means: Mapping[str, Sequence]) -> pd.DataFrame:
    """The rows of a study with the means of further measures within sessions: columns measure,
    phase, session and value; the change where both surveys have a value.
    """
    table = pd.DataFrame(dict(means))
    if table.empty:
        return rows
    added = {}
    for measure, own in table.groupby("measure"):
        wide = own.pivot(index="session", columns="phase", values="value")
        if {"pre", "post"} <= set(wide) and "change" not in wide:
            wide["change"] = wide["post"] - wide["pre"]
        for phase in wide:
            name = f"{measure}_{phase}" if phase else str(measure)
            added[name] = rows["session"].map(wide[phase])
        change = "change" if "change" in wide else wide.columns[0]
        lacking = rows["session"].map(wide[change]).isna()
        added[f"{measure}_note"] = lacking.map({True: "not_scored", False: None})
    return rows.assign(**added)


def _named(rows: pd.DataFrame, name: str) -> Sequence[OutcomeMeasure]:
    measured = _measured(rows)
    own = [one for one in OUTCOMES if one.measure == name and one.column in rows.columns]
    own = own or [one for one in measured if one.measure == name]
    if own:
        return own
    if name in rows.columns:
        if not pd.api.types.is_numeric_dtype(rows[name]):
            raise WrongInput(f"column {name} holds texts; an outcome needs numbers")
        return [OutcomeMeasure(name, VALUE)]
    numbers = [str(one) for one in rows.columns if pd.api.types.is_numeric_dtype(rows[one])]
    measures = {one.measure: one for one in measured}
    ending = []
    for one in dict.fromkeys([*measures, *numbers]):
        if one.endswith(f".{name}"):
            ending.append(measures.get(one, OutcomeMeasure(one, VALUE)))
    if not ending:
        raise unknown("outcome", name, [*measures, *numbers])
    if len(ending) > 1:
        several = ", ".join(one.measure for one in ending)
        raise WrongInput(f"outcome '{name}' may be each of {several}; give the whole name")
    return ending


def _measured(rows: pd.DataFrame) -> list[OutcomeMeasure]:
    """Every measure of the table that a session has a value of."""
    names = set(map(str, rows.columns))
    found: dict[OutcomeMeasure, None] = {}
    for name in map(str, rows.columns):
        measure = name.removesuffix("_note")
        known = MEASURES.get(name)
        noted = measure != name
        if measure in names and (noted or (known is not None and not known.phases)):
            found.setdefault(OutcomeMeasure(measure, VALUE))
        elif noted and f"{measure}_change" in names:
            found.setdefault(OutcomeMeasure(measure))
    return list(found)


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
    """A treatment, or the level of a factor, as a sentence names it.

    >>> named("none"), named("normative"), named("my own")
    ('no deliberation', 'normative instructions', 'the treatment my own')
    >>> named("small_groups=none"), named("facilitation=rounds")
    ('no small groups', 'facilitation (rounds)')
    """
    factor, _, level = treatment.partition("=")
    if level:
        noun = factor.replace("_", " ")
        usual = "the usual" if factor == "phases" else "no"
        return f"{usual} {noun}" if level == "none" else f"{noun} ({level})"
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
