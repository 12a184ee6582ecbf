"""What is known of the summaries of one set of opinions, as tables that analyses read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from delibsim.domain.judgment import DIMENSIONS
from delibsim.measures.summaries.prediction import normalised

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


def frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Rows as a table that has these columns even where there is no row."""
    return pd.DataFrame(list(rows), columns=list(columns))


def finite(values: Any) -> np.ndarray:
    """Values without those that are NaN."""
    found = np.asarray(values, dtype=float)
    return found[~np.isnan(found)]
