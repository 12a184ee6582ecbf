"""Agreement in a group, and how its opinions and rankings changed."""

from collections.abc import Sequence

from delibsim.domain.measure import CATALOGUE
from delibsim.domain.run import Run
from delibsim.domain.score import Score
from delibsim.domain.survey import PHASES
from delibsim.measures.agreement import (
    agreement,
    opinion_change,
    rank_stability,
    why_opinion_change_undefined,
    why_rank_stability_undefined,
    why_undefined,
)
from delibsim.scorers.arrays import considerations, preferences, surveyed


class Agreement:
    """Agreement on considerations and on preferences, opinion change, and stability of ranks
    (DEFINITIONS 2).
    """

    name = "agreement"
    version = 1
    measures = CATALOGUE["agreement"]

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Scores of each run."""
        return [score for run in surveyed(runs) for score in self._score(run)]

    def _score(self, run: Run) -> list[Score]:
        target = run.session.id
        scores: list[Score] = []
        for measure, of in (
            ("consideration_agreement", considerations),
            ("preference_agreement", preferences),
        ):
            ratings = {phase: of(run, phase) for phase in PHASES}
            values = {phase: float(agreement(ratings[phase])) for phase in PHASES}
            notes = {phase: why_undefined(ratings[phase]) for phase in PHASES}
            scores += [
                Score(measure, "run", target, values[phase], phase, note=notes[phase])
                for phase in PHASES
            ]
            scores.append(
                Score(
                    measure,
                    "run",
                    target,
                    values["post"] - values["pre"],
                    "change",
                    note=notes["pre"] or notes["post"],
                )
            )
        c, p = ([of(run, phase) for phase in PHASES] for of in (considerations, preferences))
        changes = [
            ("opinion_change_c", opinion_change(*c), why_opinion_change_undefined(*c)),
            ("opinion_change_p", opinion_change(*p), why_opinion_change_undefined(*p)),
            ("rank_stability", rank_stability(*p), why_rank_stability_undefined(*p)),
        ]
        return scores + [
            Score(measure, "run", target, float(value), "change", note=note)
            for measure, value, note in changes
        ]
