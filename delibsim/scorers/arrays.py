"""From runs to the arrays that measures take."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from delibsim.domain.run import Run
from delibsim.domain.survey import Phase

Array = NDArray[np.float64]


def surveyed(runs: Iterable[Run]) -> Iterator[Run]:
    """The runs whose survey has considerations and preferences and was answered: no debates, and no
    conversations without answers.
    """
    return (run for run in runs if run.session.survey.preferences and run.responses)


def considerations(run: Run, phase: Phase) -> Array:
    """Ratings (participants, considerations), in the orders of seats and of the survey.

    A missing rating is NaN.
    """
    return _known(run, phase, "consideration")


def preferences(run: Run, phase: Phase) -> Array:
    """Ranks, participants by preferences; missing is NaN."""
    return _known(run, phase, "preference")


class _Last:
    """The answers of the run that was last asked for, which every scorer asks for again."""

    def __init__(self) -> None:
        self.of: tuple[Run | None, dict[tuple[Phase, str], Array]] = (None, {})


LAST = _Last()


def _known(run: Run, phase: Phase, kind: str) -> Array:
    last, arrays = LAST.of
    if last is not run:
        arrays = {}
        LAST.of = run, arrays
    if (phase, kind) not in arrays:
        arrays[phase, kind] = _answers(run, phase, kind)
    return arrays[phase, kind]


def _answers(run: Run, phase: Phase, kind: str) -> Array:
    items = [item.id for item in run.session.survey.items if item.kind == kind]
    rows = []
    for participant in run.session.participants:
        given = run.response(participant.id, phase).answers
        rows.append([given.get(item, np.nan) for item in items])
    answers = np.array(rows, dtype=np.float64).reshape(len(rows), len(items))
    answers.flags.writeable = False  # all callers get the same
    return answers
