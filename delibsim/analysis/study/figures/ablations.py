"""Differences between the levels of a factor that varies, such as rounds or group size."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from delibsim.analysis.result import Result
from delibsim.analysis.study.figures.drawing import Drawing
from delibsim.analysis.study.figures.labels import contrast_name, label_of, remark, rows_of
from delibsim.analysis.study.figures.rows import Row, alternative, draw_rows, height_of
from delibsim.analysis.study.figures.style import ESTIMATE, beside, panels, shortened
from delibsim.analysis.study.study_table import StudyTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDS = {"_change": "change of {}", "_pre": "{} before", "_post": "{} after"}


def ablations(study: StudyTable, results: Mapping[str, Result]) -> Drawing | None:
    """Every difference between two levels of a factor: a panel an outcome, a row a difference."""
    rows = rows_of(results, "ablations")
    rows = rows[rows["difference"].notna()] if len(rows) else rows
    if rows.empty:
        return None
    outcomes = rows["outcome"].astype(str).unique().tolist()
    found = {outcome: _rows(rows, outcome) for outcome in outcomes}

    def draw(columns: int) -> "Figure":
        tallest = max(found.values(), key=len)
        figure, axes = panels(len(outcomes), columns, height_of(tallest, above=0.7))
        for place, outcome in enumerate(outcomes):
            first = place % beside(len(outcomes), columns) == 0
            draw_rows(axes[place], found[outcome], ESTIMATE, values=columns == 1, names=first)
            axes[place].set_title(shortened(_words(outcome), 34, 1))
        figure.supxlabel("Difference between levels", fontsize=7.5)
        return figure

    low, high = int(rows[["n_a", "n_b"]].min().min()), int(rows[["n_a", "n_b"]].max().max())
    caption = (
        "Differences between two levels of one factor, the others held at their common level, with"
        " 95% intervals by t over topics."
        f" {low:,} to {high:,} sessions a level."
    )
    told = [f"{_words(outcome)}: {alternative(found[outcome])}." for outcome in outcomes]
    alt = f"Differences between levels. {' '.join(told)}"
    title = "Ablations: differences between levels of a factor"
    return Drawing("ablations", title, caption + remark(study), alt, draw)


def _rows(rows: pd.DataFrame, outcome: str) -> list[Row]:
    keys = rows[["factor", "a", "b"]].astype(str).drop_duplicates()
    own = rows[rows["outcome"] == outcome].astype({"factor": str, "a": str, "b": str})
    own = own.drop_duplicates(["factor", "a", "b"]).set_index(["factor", "a", "b"])
    found = []
    for key in keys.itertuples(index=False, name=None):
        factor, a, b = key
        label = f"{factor}: {contrast_name(_level(a), _level(b))}"
        if key in own.index:
            row = own.loc[key]
            found.append(Row(label, row["difference"], row["low"], row["high"]))
        else:
            found.append(Row(label, float("nan")))
    return found


def _level(level: str) -> str:
    """A level as it is typed: 2, not 2.0."""
    return level.removesuffix(".0")


def _words(outcome: str) -> str:
    """The outcome in words, such as "change of DRI"."""
    for end, words in ENDS.items():
        if outcome.endswith(end):
            return words.format(label_of(outcome))
    return label_of(outcome)
