"""Of every participant of a session the items that changed, and how far: computed, and as rows."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from delibsim.domain.reason import IN_GROUP
from delibsim.domain.run import Run
from delibsim.domain.score import IndividualChange
from delibsim.domain.survey import PHASES, Item
from delibsim.measures.agreement import (
    opinion_change,
    rank_stability,
    why_opinion_change_undefined,
    why_rank_stability_undefined,
)
from delibsim.measures.dri import individual_dri
from delibsim.measures.dri import why_undefined as why_dri_undefined
from delibsim.scorers.arrays import Array, considerations, preferences, surveyed

if TYPE_CHECKING:
    from delibsim.analysis.result import Result


def rows_of(run: Run) -> list[IndividualChange]:
    """How each participant of a deliberation changed, in the order of seats; [] for a debate."""
    if not list(surveyed([run])):
        return []
    c = [considerations(run, phase) for phase in PHASES]
    p = [preferences(run, phase) for phase in PHASES]
    alone_c = [answers[:, None] for answers in c]  # groups of one: a value for each participant
    alone_p = [answers[:, None] for answers in p]
    values = {
        "mean_change_c": opinion_change(*alone_c),
        "mean_change_p": opinion_change(*alone_p),
        "tau": rank_stability(*alone_p),
        "dri_before": individual_dri(c[0], p[0]),
        "dri_after": individual_dri(c[1], p[1]),
    }
    changes = np.concatenate([c[1] - c[0], p[1] - p[0]], axis=1)
    why_group = _why_dri(c, p)
    items = [*run.session.survey.considerations, *run.session.survey.preferences]
    rows = []
    for i, participant in enumerate(run.session.participants):
        own = {name: float(np.asarray(of_all)[i]) for name, of_all in values.items()}
        item, largest = _largest(changes[i], items)
        notes = _notes([part[i] for part in alone_c], [part[i] for part in alone_p], why_group)
        row = IndividualChange(
            session=run.session.id,
            topic=run.session.topic.id,
            model=participant.model,
            treatment=run.session.treatment.name,
            participant=participant.id,
            items=int((~np.isnan(changes[i])).sum()),
            items_asked=len(items),
            items_changed=int((np.abs(changes[i]) > 0).sum()),
            largest_item=item,
            largest_change=largest,
            note="; ".join(notes),
            **own,
        )
        rows.append(row)
    return rows


def _largest(changes: Array, items: Sequence[Item]) -> tuple[str, float]:
    """The item whose answer changed most, and how far; see `IndividualChange`."""
    if np.isnan(changes).any():
        return "", nan
    first = int(np.argmax(np.abs(changes)))
    change = float(changes[first])
    return (items[first].id, change) if change else ("", 0.0)


def _why_dri(c: Sequence[Array], p: Sequence[Array]) -> str:
    """Why the index of the group is undefined before, or else after; "" where it is defined."""
    reasons = [why_dri_undefined(*answers) for answers in zip(c, p, strict=True)]
    return reasons[0] or reasons[1]


def _notes(own_c: Sequence[Array], own_p: Sequence[Array], why_group: str) -> Iterator[str]:
    """The codes of what is undefined of one participant, each once: own reasons, the group's."""
    own = [
        why_opinion_change_undefined(*own_c),
        why_opinion_change_undefined(*own_p),
        why_rank_stability_undefined(*own_p),
    ]
    yield from dict.fromkeys(filter(None, own))
    if why_group:
        yield f"{why_group}{IN_GROUP}"


def individual_change(runs: Iterable[Run]) -> "Result":
    """One row a participant of every deliberation among the runs, which are read once."""
    return changes_told(map(changes_of, runs))


def changes_of(run: Run) -> list[dict[str, Any]]:
    """The rows of one run; none of a debate."""
    return [dict(vars(row)) for row in rows_of(run)]


def changes_told(runs: Iterable[Sequence[dict[str, Any]]]) -> "Result":
    """The table of these rows of runs."""
    parts = list(runs)
    rows = list(chain.from_iterable(parts))
    debates = sum(not part for part in parts)
    told = f"Debates left out, which have no survey of participants: {debates}."
    absent = "no_survey" if debates else "no_runs"
    why = "" if rows else absent
    notes = [told] if debates else []
    from delibsim.analysis.result import make_table  # imports pandas, which a single run needs not

    return make_table("study/individual_change", rows, notes, why, told=told)
