"""Whether ranks are less stable the longer a group deliberates."""

from typing import Any

import pandas as pd

from delibsim.analysis.result import Result, make_table
from delibsim.analysis.study.analyses.topic_means import HOW, over_topics
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.sample.factors import WITHOUT_INTERACTION, levels_of, varied
from delibsim.analysis.study.sample.populations import (
    complete,
    main_population,
    why_no_value,
    without_value,
)
from delibsim.analysis.study.study_table import StudyTable

COLUMN = "rank_stability_change"
PUBLISHED = "Published for language models: 0.74 to 0.60 over two, four and six rounds."
SILENT = (
    "The row of 0 rounds holds other treatments than the rows below it, those in which nobody"
    " speaks, so that it differs from them in more than rounds."
)


def rank_stability(study: StudyTable, draws: Draws) -> Result:
    """The table `rank_stability`: a row a number of rounds."""
    code, detail = why_no_value(study, (COLUMN,))
    table: list[dict[str, Any]] = []
    notes: list[str] = []
    if not code and "rounds" not in study.rows.columns:
        code, detail = "no_rounds", "The table of the study has no column rounds."
    if not code:
        table, notes = _by_rounds(study, draws)
    return make_table(
        "study/rank_stability",
        table,
        notes=notes,
        why=code,
        detail=detail,
        how=HOW.format(n=draws.resamples),
    )


def _by_rounds(study: StudyTable, draws: Draws) -> tuple[list[dict[str, Any]], list[str]]:
    rows, notes = main_population(study, copies=True)
    rows = rows.reset_index(drop=True)
    silent = rows[levels_of(rows)["rounds"] == WITHOUT_INTERACTION]
    spoken = varied(rows, "rounds")
    notes += [*spoken.notes, *without_value(rows, (COLUMN,))]
    table = []
    if len(silent):
        alike = silent["topic"].isin(spoken.rows["topic"]) & silent["model"].isin(
            spoken.rows["model"]
        )
        kept = silent[alike] if len(spoken.rows) else silent
        table.append({"rounds": 0, **_mean(kept, draws)})
        notes.append(SILENT)
    for level in spoken.levels:
        own = spoken.rows[spoken.rows["level"] == level]
        mean = _mean(own, draws)
        if spoken.why_not == "no_common_block":
            mean["note"] = spoken.why_not
        table.append({"rounds": int(float(level)), **mean})
    return table, [*notes, PUBLISHED]


def _mean(rows: pd.DataFrame, draws: Draws) -> dict[str, Any]:
    known = rows[complete(rows, (COLUMN,))]
    return over_topics(known[COLUMN], known["topic"], draws)
