"""From opinions, summaries and judgments to the tables that analyses of summaries read."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from delibsim.analysis.texts_described import word_count
from delibsim.domain.judgment import DIMENSIONS, Judgment
from delibsim.domain.summary import OpinionSet, Slot, Summary
from delibsim.domain.training import TrainedScore
from delibsim.measures.summaries.prediction import label_of

RATED = ["judge", "people", "summary", "opinion", "control", "missing", *DIMENSIONS]
COMPARED = ["judge", "people", "a", "b", "opinion", "first", "missing", *DIMENSIONS]
Given = Sequence[tuple[Judgment, bool]]
"""Judgments, each with whether a person gave it."""


def ratings_table(given: Given, trained: Sequence[pd.DataFrame] = ()) -> pd.DataFrame:
    """A row a judgment of one summary, as `JudgedSet.ratings` has it; those of trained judges
    stand behind the others.
    """
    table = pd.DataFrame([_row(*one) for one in given], columns=RATED)
    if trained:
        parts = [table, *trained] if len(table) else list(trained)
        table = pd.concat(parts, ignore_index=True)
    return _once(table, ["judge", "summary", "opinion"])


def trained_table(
    judge: str, scores: Iterable[TrainedScore], sources: Mapping[str, Collection[str]]
) -> pd.DataFrame:
    """A row a score of a trained judge, on the scale of labels, where it need not be whole; a
    placebo where the summary was not written from the opinion (`sources`, by summary).
    """
    rows = []
    for one in scores:
        labels = label_of([one.values[name] for name in DIMENSIONS])
        control = one.opinion not in sources.get(one.summary, ())
        rows.append((judge, False, one.summary, one.opinion, control, "", *labels))
    table = pd.DataFrame(rows, columns=RATED)
    return table.drop_duplicates(["summary", "opinion"], keep="last")


def comparisons_table(given: Given) -> pd.DataFrame:
    """A row a judgment of two summaries, as `JudgedSet.comparisons` has it."""
    table = pd.DataFrame([_row(*one) for one in given], columns=COMPARED)
    return _once(table, ["judge", "a", "b", "opinion"])


def _row(one: Judgment, people: bool) -> tuple[Any, ...]:
    """A judgment as a row of its table."""
    sitting = one.sitting
    values = [float(one.values.get(name, "nan")) for name in DIMENSIONS]
    missing = "" if one.reason is None else one.reason.code
    if missing:  # what an inattentive rater gave is kept, and says nothing
        values = [float("nan")] * len(DIMENSIONS)
    if sitting.other:
        names = (one.judge, people, sitting.summary, sitting.other, sitting.opinion, one.first)
    else:
        names = (one.judge, people, sitting.summary, sitting.opinion, sitting.control)
    return (*names, missing, *values)


def _once(table: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Each judgment once, where two tasks asked the same; the first stands."""
    found = table.drop_duplicates(keys, ignore_index=True)
    for name in ("people", "control"):
        if name in found:
            found[name] = found[name].astype(bool)
    for name in DIMENSIONS:
        found[name] = found[name].astype(float)
    return found


def opinions_table(opinions: OpinionSet) -> pd.DataFrame:
    """A row an opinion."""
    rows = []
    for text in opinions.texts:
        row: dict[str, Any] = {name: value for name, value in text.facts.items() if name != "text"}
        row |= {"id": text.id, "text": text.text, "words": word_count(text.text)}
        rows.append(row | {"stance": text.stance, "minority": text.minority})
    return pd.DataFrame(rows).set_index("id").fillna("")


def summaries_table(slots: Mapping[str, Slot], every: Mapping[str, Summary]) -> pd.DataFrame:
    """A row a summary that was planned."""
    rows = []
    for id, slot in slots.items():
        one = every.get(id)
        text = one.text if one else ""
        missing = "not_asked" if one is None else ""
        if one is not None and one.reason is not None:
            missing = one.reason.code
        row = {"id": id, "model": slot.model, "size": slot.size, "draw": slot.draw}
        row |= {"run": slot.run, "group": slot.group, "cell": f"{slot.cell}", "text": text}
        row |= {"words": len(text.split()), "characters": len(text), "missing": missing}
        rows.append(row)
    return pd.DataFrame(rows).set_index("id")
