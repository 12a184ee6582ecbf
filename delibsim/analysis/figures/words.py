"""Sentences and labels of figures, filled in from the rows of a table.

A template names columns in braces. Besides the formats of Python a value may be shown as `level` (2
for 2.0), `outcome` (the label of a measure), `Outcome` (the same, with a capital), `signed` or
`number` (as figures print numbers), `p`; a noun says how many there are: {topics:topic}.
"""

from collections.abc import Callable, Mapping
from string import Formatter
from typing import Any

import pandas as pd

from delibsim.analysis.figures.labels import label_of
from delibsim.analysis.figures.style import number
from delibsim.analysis.pages.cells import cell
from delibsim.domain.text import counted

ENDS = {"_change": "change of {}", "_pre": "{} before", "_post": "{} after"}


def _outcome(name: object) -> str:
    """An outcome in words, such as "change of DRI"."""
    text = str(name)
    for end, words in ENDS.items():
        if text.endswith(end):
            return words.format(label_of(text))
    return label_of(text)


def _label(name: object) -> str:
    label = label_of(str(name))
    return f"{label[:1].upper()}{label[1:]}"


KINDS: Mapping[str, Callable[[Any], str]] = {
    "level": lambda value: str(value).removesuffix(".0"),
    "outcome": _outcome,
    "Label": _label,
    "number": number,
    "hundredths": lambda value: number(value, 2),
    "tenths": lambda value: number(value, 1),
    "p": lambda value: cell(value, "p_control_holm"),
    "capital": lambda value: str(value)[:1].upper() + str(value)[1:],
}


class _Words(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec in KINDS:
            return KINDS[format_spec](value)
        one, _, many = format_spec.partition("/")
        if format_spec.replace("/", "").isalpha() and len(format_spec) > 1:
            return counted(int(value), one, many or f"{one}s")
        return super().format_field(value, format_spec)


def filled_in(template: str, values: Mapping[str, Any]) -> str:
    """A template with these values; KeyError for a name that is not among them.

    >>> filled_in("{a} − {b}, {topics:topic}", {"a": "x", "b": "y", "topics": 2})
    'x − y, 2 topics'
    """
    return _Words().vformat(template, (), values)


def fields_of(template: str) -> list[str]:
    """The columns that a template names."""
    return list(dict.fromkeys(name for _, name, _, _ in Formatter().parse(template) if name))


def told_of(rows: pd.DataFrame) -> dict[str, Any]:
    """What a caption may say of a table: how many `rows` it has, and of each numeric column the
    largest value by its name, the others after `least_` and `median_`.
    """
    numeric = rows.select_dtypes("number")
    found: dict[str, Any] = {"rows": len(rows)}
    for name in numeric:
        own = numeric[name]
        found |= {str(name): own.max(), f"least_{name}": own.min(), f"median_{name}": own.median()}
    return found
