"""Reasoning models against the others of their family, under normative instructions."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from delibsim.analysis.result import Result
from delibsim.analysis.study.figures.drawing import Drawing
from delibsim.analysis.study.figures.labels import of_outcome, remark, rows_of
from delibsim.analysis.study.figures.rows import Row, alternative, draw_rows, height_of
from delibsim.analysis.study.figures.style import ESTIMATE, panels
from delibsim.analysis.study.study_table import StudyTable
from delibsim.domain.text import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AXIS = "Change of DRI, reasoning less the others"


def reasoning(study: StudyTable, results: Mapping[str, Result]) -> Drawing | None:
    """The difference within every family of models, and over all families."""
    rows = rows_of(results, "reasoning")
    if rows.empty:
        return None
    rows = of_outcome(rows, "dri").dropna(subset=["estimate"])
    families = rows[rows["family"] != "all"].sort_values("estimate", ascending=False)
    if families.empty:
        return None
    ordered = [*families.itertuples(), *rows[rows["family"] == "all"].itertuples()]
    found = []
    for row in ordered:
        pooled = row.family == "all"
        label = "all families" if pooled else str(row.family)
        found.append(Row(label, row.estimate, row.low, row.high, pooled))

    def draw(columns: int) -> "Figure":
        figure, (axes,) = panels(1, columns, height_of(found))
        draw_rows(axes, found, ESTIMATE)
        axes.set_xlabel(AXIS)
        return figure

    caption = (
        f"Difference in the change of the index between reasoning models and others of the same"
        " family, topic by topic, normative instructions only;"
        f" {counted(len(families), 'family', 'families')}."
        " Lines are 95% intervals by t over topics; diamond: all families."
    )
    alt = f"Forest plot by family. {alternative(found)}."
    title = "Reasoning against other models within families"
    return Drawing("reasoning", title, caption + remark(study), alt, draw, 1)
