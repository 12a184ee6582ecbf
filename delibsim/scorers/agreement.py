"""Agreement within every run, how far its participants moved, and how stable their ranks were."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from delibsim.domain.run import Run
from delibsim.domain.score import CATALOGUE, Score
from delibsim.domain.survey import PHASES, Phase
from delibsim.measures.agreement import (
    agreement,
    opinion_change,
    rank_stability,
    why_opinion_change_undefined,
    why_rank_stability_undefined,
    why_undefined,
)
from delibsim.scorers.arrays import Array, considerations, preferences, surveyed


class Agreement:
    """Agreement on considerations and on preferences, opinion change, and stability of ranks.

    Definitions and sources: docs/measures.md, "Agreement".
    """

    name = "agreement"
    version = 1
    measures = CATALOGUE["agreement"]
    by_run = True

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Scores of each run."""
        return [score for run in surveyed(runs) for score in self._score(run)]

    def _score(self, run: Run) -> Iterator[Score]:
        target = run.session.id
        waves = run.session.waves
        yield from _agreement("consideration_agreement", run, waves, considerations)
        yield from _agreement("preference_agreement", run, waves, preferences)
        c = [considerations(run, phase) for phase in PHASES]
        p = [preferences(run, phase) for phase in PHASES]
        changes = (
            ("opinion_change_c", opinion_change(*c), lambda: why_opinion_change_undefined(*c)),
            ("opinion_change_p", opinion_change(*p), lambda: why_opinion_change_undefined(*p)),
            ("rank_stability", rank_stability(*p), lambda: why_rank_stability_undefined(*p)),
        )
        for measure, value, why in changes:
            note = why() if np.isnan(value) else ""
            yield Score(measure, "run", target, float(value), "change", note=note)


def _agreement(
    measure: str, run: Run, waves: Sequence[Phase], answers: Callable[[Run, Phase], Array]
) -> Iterator[Score]:
    """Agreement on ratings or ranks in every survey, and in change."""
    target, given = run.session.id, [answers(run, phase) for phase in waves]
    values = list(map(float, np.asarray(agreement(np.stack(given)))))
    notes = []
    for phase, value, own in zip(waves, values, given, strict=True):
        notes.append(why_undefined(own) if np.isnan(value) else "")
        yield Score(measure, "run", target, value, phase, note=notes[-1])
    change, note = values[-1] - values[0], notes[0] or notes[-1]
    yield Score(measure, "run", target, change, "change", note=note)
