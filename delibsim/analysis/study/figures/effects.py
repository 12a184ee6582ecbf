"""The effects of treatments as forest plots: over all, by model and by topic."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from delibsim.analysis.result import Result
from delibsim.analysis.study.figures.drawing import Drawing
from delibsim.analysis.study.figures.labels import (
    NULL_WORDS,
    contrast_name,
    contrasts_in,
    of_outcome,
    remark,
    rows_of,
)
from delibsim.analysis.study.figures.rows import Row, alternative, draw_rows, height_of
from delibsim.analysis.study.figures.style import ESTIMATE, INK, NULL, Mark, beside, number, panels
from delibsim.analysis.study.sample.populations import MODELS as LANGUAGE_MODELS
from delibsim.analysis.study.study_table import StudyTable
from delibsim.domain.text import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALONE = Mark(INK, "|")
MOST = 6
"""Contrasts that are drawn by model or by topic, each a panel."""
CHANGE = "Difference in the change of DRI"
INTERVAL = "Lines are 95% intervals"


def effects(study: StudyTable, results: Mapping[str, Result]) -> Drawing | None:
    """Every contrast of treatments: its estimate and interval, models and null citizen."""
    every = rows_of(results, "contrasts")
    rows = _drawn(every)
    if rows.empty:
        return None
    both = every["population"].nunique() > 1
    own = _of_models(rows)
    blocks, topics = int(own["blocks"].max()), int(own["topics"].max())
    units = _units(own)
    found = []
    for a, b in contrasts_in(rows):
        own = rows[(rows["a"] == a) & (rows["b"] == b)]
        for row in own.sort_values("population", key=lambda who: who == NULL_WORDS).itertuples():
            null = row.population == NULL_WORDS
            name = contrast_name(a, b)
            label, spoken = name, ""
            if null and both:
                label, spoken = NULL_WORDS, f"{name}, {NULL_WORDS}"
            found.append(
                Row(
                    label,
                    row.estimate,
                    row.low,
                    row.high,
                    mark=NULL if null else ESTIMATE,
                    spoken=spoken,
                )
            )
    caption = (
        f"{CHANGE} between treatments, absolute: unweighted mean over"
        f" {counted(blocks, 'block')} (topic by model) on {counted(topics, 'topic')}."
        f" {INTERVAL} by t over {units}{' of this topic' if topics == 1 else ''}."
    )
    if both:
        caption += " Circles: language models; crosses: the null citizen."

    def draw(columns: int) -> "Figure":
        figure, (axes,) = panels(1, columns, height_of(found))
        draw_rows(axes, found, ESTIMATE)
        axes.set_xlabel(CHANGE)
        return figure

    alt = f"Forest plot of {counted(len(found), 'contrast')}. {alternative(found)}."
    title = "Effects of treatments on the Deliberative Reason Index"
    return Drawing("effects", title, caption + remark(study), alt, draw, 1)


def effects_by_model(study: StudyTable, results: Mapping[str, Result]) -> Drawing | None:
    """Every contrast within every model, with the pooled estimate."""
    return _by("model", study, results)


def effects_by_topic(study: StudyTable, results: Mapping[str, Result]) -> Drawing | None:
    """Every contrast within every topic, the pooled estimate, and the range without one topic."""
    return _by("topic", study, results)


def _by(unit: str, study: StudyTable, results: Mapping[str, Result]) -> Drawing | None:
    rows = _drawn(rows_of(results, f"by_{unit}"))
    if rows.empty:
        return None
    every = contrasts_in(rows)
    drawn = every[:MOST]
    pooled = _drawn(_of_models(rows_of(results, "contrasts")))
    without = _drawn(rows_of(results, "leave_one_out")) if unit == "topic" else pd.DataFrame()
    order = _order(rows, unit, drawn)
    found = {pair: _rows(rows, unit, pair, order, pooled, without) for pair in drawn}

    def draw(columns: int) -> "Figure":
        tallest = max(found.values(), key=len)
        figure, axes = panels(len(drawn), columns, height_of(tallest), sharex=True)
        across = beside(len(drawn), columns)
        for place, pair in enumerate(drawn):
            one = len(drawn) == 1 or columns == 1
            draw_rows(axes[place], found[pair], ESTIMATE, values=one, names=place % across == 0)
            axes[place].set_title(contrast_name(*pair))
        figure.supxlabel(CHANGE, fontsize=7.5)
        return figure

    caption = _caption(unit, rows, without, drawn, every)
    told = [f"{contrast_name(*pair)}: {alternative(found[pair])}." for pair in drawn]
    alt = f"Forest plots by {unit}, {counted(len(order), unit)}. {' '.join(told)}"
    title = f"Effects of treatments by {unit}"
    return Drawing(f"effects_by_{unit}", title, caption + remark(study), alt, draw)


def _drawn(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of a result that are drawn: the change of the plain index, absolute."""
    if rows.empty:
        return rows
    own = of_outcome(rows, "dri")
    return own[(own["scale"] == "absolute") & own["estimate"].notna()]


def _of_models(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of language models; of the null citizen where a study holds nobody else."""
    if rows.empty:
        return rows
    models = rows["population"] == LANGUAGE_MODELS
    return rows[models] if models.any() else rows


def _order(rows: pd.DataFrame, unit: str, drawn: Sequence[tuple[str, str]]) -> list[str]:
    """The models or topics from the largest effect of the first contrast to the smallest."""
    a, b = drawn[0]
    first = rows[(rows["a"] == a) & (rows["b"] == b)].sort_values("estimate", ascending=False)
    names = first[unit].astype(str).tolist()
    others = sorted(set(rows[unit].astype(str)) - set(names))
    return names + others


def _rows(
    rows: pd.DataFrame,
    unit: str,
    pair: tuple[str, str],
    order: Sequence[str],
    pooled: pd.DataFrame,
    without: pd.DataFrame,
) -> list[Row]:
    own = _of(rows, pair).drop_duplicates(unit).set_index(unit)
    own.index = own.index.astype(str)
    found = []
    for name in order:
        if name in own.index:
            row = own.loc[name]
            found.append(Row(name, row["estimate"], row["low"], row["high"]))
        else:
            found.append(Row(name, float("nan")))
    together = _of(pooled, pair)
    if len(together):
        first = together.iloc[0]
        found.append(Row("pooled", first["estimate"], first["low"], first["high"], pooled=True))
    left = _of(without, pair)
    for which, label in (("idxmin", "lowest"), ("idxmax", "highest")):
        if len(left):
            row = left.loc[getattr(left["estimate"], which)()]
            name = f"{label} without a topic"
            own: dict[str, Any] = {"mark": ALONE, "aside": f"without {row['left_out']}"}
            found.append(Row(name, row["estimate"], row["low"], row["high"], **own))
    return found


def _of(rows: pd.DataFrame, pair: tuple[str, str]) -> pd.DataFrame:
    if rows.empty:
        return rows
    return rows[(rows["a"] == pair[0]) & (rows["b"] == pair[1])]


def _units(rows: pd.DataFrame) -> str:
    """What the intervals of these rows rest on."""
    named = {
        "topic": "topics",
        "draw": "draws (replicates, averaged over models)",
        "session": "sessions",
    }
    return " or ".join(named[unit] for unit in rows["unit"].unique())


def _caption(
    unit: str,
    rows: pd.DataFrame,
    without: pd.DataFrame,
    drawn: Sequence[tuple[str, str]],
    every: Sequence[tuple[str, str]],
) -> str:
    over = "topics" if unit == "model" else "models"
    units = "topics" if unit == "model" else _units(rows)
    caption = (
        f"{CHANGE} between treatments within every {unit}, averaged over {over}, sorted by the"
        f" first contrast. {INTERVAL} by t over {units}. Diamond: the pooled estimate with its"
        " interval over topics."
    )
    if "n" in rows.columns and rows["n"].notna().any():
        low, high = int(rows["n"].min()), int(rows["n"].max())
        count = number(low, 0) if low == high else f"{low} to {high}"
        caption += f" Each row averages {count} {over}."
    if len(without):
        caption += " Below it: the lowest and the highest pooled estimate with one topic left out."
    if len(every) > len(drawn):
        names = ", ".join(contrast_name(*pair) for pair in every[len(drawn) :])
        caption += f" Not drawn, but in the table: {names}."
    return caption
