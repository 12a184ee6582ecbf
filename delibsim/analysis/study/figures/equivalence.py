"""Equivalence: 90% intervals of contrasts against the smallest effect of interest."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from delibsim.analysis.result import Result
from delibsim.analysis.study.figures.drawing import Drawing
from delibsim.analysis.study.figures.labels import contrast_name, label_of, remark, rows_of
from delibsim.analysis.study.figures.rows import Row, draw_rows, height_of
from delibsim.analysis.study.figures.style import ESTIMATE, GREY, OPEN, number, panels
from delibsim.analysis.study.study_table import StudyTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def equivalence(study: StudyTable, results: Mapping[str, Result]) -> Drawing | None:
    """A panel an outcome and scale: 90% intervals of contrasts, and the margin as a band."""
    rows = rows_of(results, "equivalence")
    rows = rows[rows["estimate"].notna()] if len(rows) else rows
    if rows.empty:
        return None
    kinds = list(dict.fromkeys(zip(rows["outcome"], rows["scale"], strict=True)))
    groups = {kind: _of(rows, kind) for kind in kinds}
    found = {kind: list(map(_row, own.itertuples())) for kind, own in groups.items()}

    def draw(columns: int) -> "Figure":
        tallest = max(found.values(), key=len)
        figure, axes = panels(len(kinds), columns, height_of(tallest, 0.8), most=2)
        for panel, kind in zip(axes, kinds, strict=True):
            margin = float(groups[kind]["margin"].iloc[0])
            panel.axvspan(-margin, margin, color="#eef3f0", zorder=0)
            for end in (-margin, margin):
                panel.axvline(end, color=GREY, linewidth=0.8, linestyle=(0, (3, 2)))
            draw_rows(panel, found[kind], OPEN)
            panel.set_title(_heading(kind))
        figure.supxlabel("Difference between treatments", fontsize=7.5)
        return figure

    told = []
    for kind in kinds:
        told += [f"{_heading(kind)}: {_sentence(row)}" for row in groups[kind].itertuples()]
    caption = (
        "Contrasts with 90% intervals. The band is the margin within which an effect counts as"
        " none; filled: equivalent, both one-sided tests reject at .05; open: not shown to be"
        " equivalent, which does not say that there is an effect."
    )
    alt = f"Equivalence. {'; '.join(told)}."
    title = "Equivalence against a smallest effect of interest"
    return Drawing("equivalence", title, caption + remark(study), alt, draw)


def _of(rows: pd.DataFrame, kind: tuple[str, str]) -> pd.DataFrame:
    return rows[(rows["outcome"] == kind[0]) & (rows["scale"] == kind[1])]


def _heading(kind: tuple[str, str]) -> str:
    label = label_of(str(kind[0]))
    return f"{label[:1].upper()}{label[1:]}, {kind[1]}"


def _row(row: Any) -> Row:
    label = contrast_name(row.a, row.b)
    mark = ESTIMATE if row.equivalent is True or row.equivalent == 1 else OPEN
    return Row(label, row.estimate, row.low_90, row.high_90, mark=mark)


def _sentence(row: Any) -> str:
    made = _row(row)
    verdict = "equivalent" if made.mark is ESTIMATE else "not shown to be equivalent"
    return f"{made.sentence()}, margin {number(row.margin)}, {verdict}"
