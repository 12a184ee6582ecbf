"""What the change of the index is made of: gains of agreement on considerations and preferences."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from delibsim.analysis.result import Result
from delibsim.analysis.study.figures.drawing import Drawing
from delibsim.analysis.study.figures.labels import NULL_WORDS, label_of, remark, rows_of
from delibsim.analysis.study.figures.rows import Row, alternative, draw_rows, height_of
from delibsim.analysis.study.figures.style import ESTIMATE, INK, NULL, PEOPLE, Mark, marks, panels
from delibsim.analysis.study.study_table import StudyTable
from delibsim.domain.text import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURES = ("consideration_agreement", "preference_agreement")
WHOLE = Mark(INK, "o")


def decomposition(study: StudyTable, results: Mapping[str, Result]) -> Drawing | None:
    """The gains of both agreements by population, with their intervals."""
    rows = rows_of(results, "decomposition")
    rows = rows[rows["gain"].notna()] if len(rows) else rows
    if rows.empty:
        return None
    names = rows["population"].astype(str).unique().tolist()
    looks = marks([name for name in names if name not in _FIXED])
    shown = [measure for measure in MEASURES if (rows["measure"] == measure).any()]
    found = {}
    for measure in shown:
        own = rows[rows["measure"] == measure].drop_duplicates("population")
        own = own.set_index("population").reindex(names)
        found[measure] = [
            Row(name, row["gain"], row["low"], row["high"], mark=_FIXED.get(name) or looks[name])
            for name, row in own.iterrows()
        ]

    def draw(columns: int) -> "Figure":
        tallest = max(found.values(), key=len)
        figure, axes = panels(len(shown), columns, height_of(tallest), sharex=True)
        for place, measure in enumerate(shown):
            names_here = columns == 1 or place == 0
            draw_rows(axes[place], found[measure], WHOLE, names=names_here)
            label = label_of(measure)
            axes[place].set_title(label[:1].upper() + label[1:])
        figure.supxlabel("Gain: mean correlation of pairs after, less before", fontsize=7.5)
        return figure

    topics = int(rows["topics"].max())
    caption = (
        "Gain of the mean rank correlation between participants, from before to after; lines are"
        f" 95% intervals over at most {counted(topics, 'topic')}."
    )
    told = [f"{label_of(measure)}: {alternative(found[measure])}." for measure in shown]
    alt = f"Gains of agreement. {' '.join(told)}"
    title = "Gains of agreement on considerations and preferences"
    return Drawing("decomposition", title, caption + remark(study), alt, draw)


_FIXED = {
    "all models": ESTIMATE,
    NULL_WORDS: NULL,
    "people": PEOPLE,
    "people in groups of five": PEOPLE,
}
