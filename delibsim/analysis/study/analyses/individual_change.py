"""Individual change: which participants moved between the surveys, on which items, and how far."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import pandas as pd

from delibsim.analysis.individual_change import rows_of
from delibsim.analysis.study.result import Result
from delibsim.domain.run import Run

MEANINGS = {
    "session": "name of the session",
    "topic": "id of the topic",
    "model": "model of this participant",
    "treatment": "name of the treatment",
    "participant": "id of the participant",
    "items": "items answered both before and after",
    "items_asked": "items of the survey",
    "items_changed": "items answered otherwise after than before, of those answered both times",
    "mean_change_c": "mean absolute change of a rating of a consideration, in points of the scale",
    "mean_change_p": "mean absolute change of a rank of a preference, in ranks",
    "tau": "Kendall's tau-b between own ranks before and after",
    "largest_item": "the first item that changed most; empty if none changed or one is missing",
    "largest_change": "change on this item, after less before, in points of the scale or ranks; 0"
    " if none changed",
    "dri_before": "individual DRI before: over the pairs that hold this participant",
    "dri_after": "individual DRI after",
    "note": "why a value is missing; empty otherwise",
}


def individual_change(runs: Iterable[Run]) -> Result:
    """One row a participant of every deliberation among the runs, which are read once."""
    return changes_told(map(changes_of, runs))


def changes_of(run: Run) -> list[dict[str, Any]]:
    """The rows of one run; none of a debate."""
    return [dict(vars(row)) for row in rows_of(run)]


def changes_told(runs: Iterable[Sequence[dict[str, Any]]]) -> Result:
    """The table of these rows of runs."""
    parts = list(runs)
    rows = list(chain.from_iterable(parts))
    debates = sum(not part for part in parts)
    why_not, detail = "", ""
    if not rows:
        why_not = "no_survey" if debates else "no_runs"
        detail = "No run has surveys before and after, so that nobody's change is known."
    notes = [f"Debates left out, which have no survey of participants: {debates}."]
    return Result(
        name="individual_change",
        title="Individual change: who moved, on what, how far",
        definition=(
            "A row is a participant of a run: how many items changed between the survey before and"
            " the one after, how far on average, which one most, and how consistent with the others"
            " the participant was before and after."
        ),
        source="docs/measures.md#agreement",
        rows=pd.DataFrame(rows, columns=list(MEANINGS)),
        meanings=MEANINGS,
        notes=tuple(notes if debates else []),
        why_not=why_not,
        detail=detail,
    )
