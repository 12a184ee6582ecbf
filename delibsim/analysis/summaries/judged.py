"""What is known of the summaries of sets of opinions, as tables that analyses read."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.result import with_holm
from delibsim.analysis.texts_described import word_count
from delibsim.domain.summary import DIMENSIONS, Judgment, OpinionSet, Slot, Summary, TrainedScore
from delibsim.measures.summaries.gaps import t_mean
from delibsim.measures.summaries.prediction import label_of, normalised

Row = dict[str, Any]
OVERALL = "overall"
SCORED = (OVERALL, *DIMENSIONS)
CELL = ["model", "topic", "kind", "size"]
"""What runs and draws are averaged into."""


@dataclass(frozen=True, eq=False)
class JudgedSet:
    """One set of opinions, its summaries and their judgments.

    `opinions` has a row an opinion (index: id; text, words, stance, minority, and the other columns
    of its file); `summaries` a row a summary that was planned (index: id; model, size, draw, run,
    group, text, words, characters, missing), `sources` the opinions of each in the order of its
    prompt. `ratings` has a row a judgment of one summary (judge, people, summary, opinion, control,
    missing, and 1..5 by dimension, NaN where missing), `comparisons` one of two (judge, people, a,
    b, opinion, first, missing, and 1..5 by dimension). `planned` counts ratings that were planned
    by judge and summary.
    """

    study: str
    question: str
    kind: str
    opinions: pd.DataFrame
    summaries: pd.DataFrame
    sources: Mapping[str, Sequence[str]]
    ratings: pd.DataFrame
    comparisons: pd.DataFrame
    planned: Mapping[str, int]
    models: Mapping[str, Mapping[str, Any]]
    judges: Mapping[str, Mapping[str, Any]]

    @property
    def scored(self) -> pd.DataFrame:
        """The ratings of summaries by models beside opinions that they were written from, on 0..1;
        those of people where no model judged. People stand beside models in the tables of judges.
        """
        own = self.ratings[~self.ratings["control"]]
        by_models = own[~own["people"]]
        return _normalised(by_models if len(by_models) else own)

    @property
    def every(self) -> pd.DataFrame:
        """The ratings of models and people that are no placebos, on 0..1."""
        return _normalised(self.ratings[~self.ratings["control"]])

    @property
    def placebo(self) -> pd.DataFrame:
        """The ratings of summaries by opinions that they were not written from, on 0..1."""
        return _normalised(self.ratings[self.ratings["control"]])


def _normalised(ratings: pd.DataFrame) -> pd.DataFrame:
    found = ratings.copy()
    for name in DIMENSIONS:
        found[name] = normalised(found[name].to_numpy(dtype=float))
    found[OVERALL] = found[list(DIMENSIONS)].mean(axis=1, skipna=False)
    return found


def scores_of(sets: Sequence[JudgedSet]) -> pd.DataFrame:
    """A row a summary of a whole set: model, topic, kind, size, draw, run, words, characters, how
    many judgments are behind it, and its scores on 0..1: for each judge the mean over opinions,
    then the mean over judges. A summary that nobody judged has NaN.
    """
    parts = []
    for one in sets:
        known = one.scored
        columns = list(DIMENSIONS)
        by_judge = known.groupby(["judge", "summary"], sort=False)[columns].mean()
        means = by_judge.groupby(level="summary", sort=False).mean()
        counts = known.groupby("summary", sort=False)["rep"].count()
        rows = one.summaries[one.summaries["group"] == ""].copy()
        rows["topic"], rows["kind"] = one.study, one.kind
        rows["judged"] = counts.reindex(rows.index).fillna(0).astype(int)
        for name in columns:
            rows[name] = means[name].reindex(rows.index)
        parts.append(rows)
    return with_overall(pd.concat(parts, ignore_index=True))


def with_overall(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores with the mean of the four dimensions, NaN where one is missing."""
    found = scores.copy()
    found[OVERALL] = found[list(DIMENSIONS)].mean(axis=1, skipna=False)
    return found


def cells_of(scores: pd.DataFrame) -> pd.DataFrame:
    """Runs and draws averaged into cells: a row a model, topic and size."""
    columns = [*SCORED, "characters"]
    return scores.groupby(CELL, sort=False)[columns].mean().reset_index()


def by_topic(scores: pd.DataFrame, name: str) -> pd.DataFrame:
    """The mean over the summaries of each topic (topics x models) of a score."""
    return scores.pivot_table(index="topic", columns="model", values=name, sort=False)


def ranked(cells: pd.DataFrame) -> list[str]:
    """The models from the highest overall score to the lowest; those without one come last."""
    means = cells.groupby("model")[OVERALL].mean()
    return means.sort_values(ascending=False, na_position="last", kind="stable").index.tolist()


def finite(values: Any) -> np.ndarray:
    """Values without those that are NaN."""
    found = np.asarray(values, dtype=float)
    return found[~np.isnan(found)]


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
    missing = "" if one.missing is None else one.missing.code
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
        if one is not None and one.missing is not None:
            missing = one.missing.code
        row = {"id": id, "model": slot.model, "size": slot.size, "draw": slot.draw}
        row |= {"run": slot.run, "group": slot.group, "cell": f"{slot.cell}", "text": text}
        row |= {"words": len(text.split()), "characters": len(text), "missing": missing}
        rows.append(row)
    return pd.DataFrame(rows).set_index("id")


def by_judge(table: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """The rows of each judge that have a value on a dimension, by judge and dimension."""
    for judge, own in table.groupby("judge", sort=False):
        for name in DIMENSIONS:
            known = own[own[name].notna()]
            if len(known):
                yield str(judge), name, known


def counts(sets: Sequence[JudgedSet]) -> Iterator[Row]:
    """A row a summariser and a judge of every set."""
    for one in sets:
        for model, own in one.summaries.groupby("model", sort=False):
            row = {"study": one.study, "who": model, "what": "summaries", "planned": len(own)}
            yield row | _missing(own["missing"])
        table = pd.concat([one.ratings, one.comparisons], ignore_index=True)
        for judge, n in one.planned.items():
            missing = table.loc[table["judge"] == judge, "missing"]
            row = {"study": one.study, "who": judge, "what": "judgments", "planned": n}
            yield row | _missing(missing, max(n - len(missing), 0))
        people = table.loc[table["judge"].isin(table.loc[table["people"], "judge"]), "missing"]
        if len(people):
            row = {"study": one.study, "who": "people", "what": "judgments", "planned": len(people)}
            yield row | _missing(people)


def _missing(missing: pd.Series, left: int = 0) -> Row:
    """How many are there, and the reasons of those that are not."""
    reasons = missing[missing != ""].value_counts().to_dict()
    if left:
        reasons["not_asked"] = reasons.get("not_asked", 0) + left
    told = ", ".join(f"{code} {n:,}" for code, n in reasons.items())
    made = int((missing == "").sum())
    return {"made": made, "missing": sum(reasons.values()), "reasons": told}


def pairs_by_opinion(sets: Sequence[JudgedSet]) -> list[Row]:
    """Differences of models paired by opinion, in every set for itself."""
    rows = []
    for one in sets:
        models = one.summaries["model"]
        whole = one.summaries.index[one.summaries["group"] == ""]
        known = one.scored[one.scored["summary"].isin(whole)]
        summaries = known["summary"]
        known = known.assign(model=summaries.map(models), cell=summaries.map(one.summaries["cell"]))
        for name in (OVERALL, "rep"):
            wide = known.pivot_table(
                index=["judge", "opinion", "cell"], columns="model", values=name
            )
            for a, b in combinations([m for m in models.unique() if m in wide], 2):
                difference = (wide[a] - wide[b]).dropna().groupby(level="opinion").mean()
                found = t_mean(difference)
                row = {"study": one.study, "dimension": name, "a": a, "b": b}
                rows.append(row | {"estimate": found.mean, **vars(found)})
    return with_holm(rows, "study", "dimension")
