"""The scores of the statements of one run, and the flags that they bear."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from delibsim.analysis.run_summary import FLAG
from delibsim.analysis.table import number
from delibsim.domain.measure import Measure
from delibsim.domain.reason import in_words
from delibsim.domain.score import Score


@dataclass(frozen=True)
class Shown:
    """One score for reading: the measure in words, its value, or why there is none, the coder."""

    label: str
    value: str
    coder: str = ""


@dataclass(frozen=True)
class StatementScores:
    """The scores and the flags (in words) of one statement."""

    scores: tuple[Shown, ...] = ()
    flags: tuple[str, ...] = ()


def of_statements(
    scores: Iterable[Score], measures: Mapping[str, Measure]
) -> dict[int, StatementScores]:
    """The scores of statements by the index of their turn; those of other units are left out."""
    found: dict[int, list[Shown]] = {}
    flags: dict[int, list[str]] = {}
    for score in scores:
        turn = score.target.rpartition("/")[2]
        if score.unit != "statement" or not turn.isdecimal():
            continue
        if score.measure.startswith(FLAG):
            kind = score.measure.removeprefix(FLAG).replace("_", " ")
            flags.setdefault(int(turn), []).append(kind)
            continue
        known = measures.get(score.measure)
        label = score.measure if known is None else known.label
        found.setdefault(int(turn), []).append(Shown(label, _value(score), score.coder))
    turns = sorted({*found, *flags})
    return {turn: _both(found.get(turn, ()), flags.get(turn, ())) for turn in turns}


def _both(scores: Iterable[Shown], flags: Iterable[str]) -> StatementScores:
    return StatementScores(tuple(scores), tuple(dict.fromkeys(flags)))


def _value(score: Score) -> str:
    if math.isnan(score.value):
        return f"none ({in_words(score.note)})" if score.note else "none"
    if float(score.value).is_integer():
        return f"{score.value:.0f}"
    return number(score.value)
