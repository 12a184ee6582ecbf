"""Individual change: which participants moved between the surveys, on which items, and how far."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from delibsim.analysis.individual_change import rows_of
from delibsim.analysis.result import Result, make_table
from delibsim.domain.run import Run


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
    told = f"Debates left out, which have no survey of participants: {debates}."
    absent = "no_survey" if debates else "no_runs"
    why = "" if rows else absent
    notes = [told] if debates else []
    return make_table("study/individual_change", rows, notes, why, told=told)
