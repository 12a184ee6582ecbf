"""From runs to the arrays that measures take."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from delibsim.domain.run import Run
from delibsim.domain.survey import Phase

Array = NDArray[np.float64]


def surveyed(runs: Iterable[Run]) -> Iterator[Run]:
    """The runs whose survey has considerations and preferences: deliberations, and no debates."""
    return (run for run in runs if run.session.survey.preferences)


def considerations(run: Run, phase: Phase) -> Array:
    """Ratings (participants, considerations), in the orders of seats and of the survey.

    A missing rating is NaN.
    """
    return _answers(run, phase, [item.id for item in run.session.survey.considerations])


def preferences(run: Run, phase: Phase) -> Array:
    """Ranks, participants by preferences; missing is NaN."""
    return _answers(run, phase, [item.id for item in run.session.survey.preferences])


def _answers(run: Run, phase: Phase, items: list[str]) -> Array:
    rows = []
    for participant in run.session.participants:
        given = run.response(participant.id, phase).answers
        rows.append([given.get(item, np.nan) for item in items])
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(items))
