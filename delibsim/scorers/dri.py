"""The Deliberative Reason Index of every run: the exemplar of a scorer, written to be read."""

from collections.abc import Sequence

import numpy as np

from delibsim.domain.measure import CATALOGUE
from delibsim.domain.run import Run
from delibsim.domain.score import Score
from delibsim.domain.survey import PHASES
from delibsim.measures.dri import dri, dri_adjusted, individual_dri, relative_change, why_undefined
from delibsim.scorers.arrays import considerations, preferences, surveyed


class DRI:
    """Plain and adjusted DRI of the group before, after and in change, and of every participant
    (DEFINITIONS 1).

    A scorer is a class with a name, a version, the measures it gives and one method. It takes what
    it needs out of the runs, calls a formula, and says for every number what it is about. Where the
    measure is undefined the value is NaN and the note says why.
    """

    name = "dri"
    version = 1
    measures = CATALOGUE["dri"]

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Scores of each run, one run after another: no run bears on the scores of another."""
        return [score for run in surveyed(runs) for score in self._score(run)]

    def _score(self, run: Run) -> list[Score]:
        target = run.session.id
        scores: list[Score] = []
        values: dict[str, list[float]] = {"dri": [], "dri_adjusted": []}
        notes = []
        for phase in PHASES:
            # The measure works on arrays and knows nothing of runs; missing answers reach it as NaN
            # and make it undefined.
            c, p = considerations(run, phase), preferences(run, phase)
            notes.append(why_undefined(c, p))
            for measure, formula in (("dri", dri), ("dri_adjusted", dri_adjusted)):
                values[measure].append(float(formula(c, p)))
                scores.append(
                    Score(measure, "run", target, values[measure][-1], phase, note=notes[-1])
                )
            for participant, value in zip(
                run.session.participants, individual_dri(c, p), strict=True
            ):
                note = notes[-1] if np.isnan(value) else ""
                scores.append(
                    Score(
                        "dri_individual",
                        "participant",
                        f"{target}/{participant.id}",
                        float(value),
                        phase,
                        note=note,
                    )
                )
        note = notes[0] or notes[1]
        for measure, (pre, post) in values.items():
            scores.append(Score(measure, "run", target, post - pre, "change", note=note))
        relative = float(relative_change(*values["dri"]))
        scores.append(
            Score(
                "dri_relative",
                "run",
                target,
                relative,
                "change",
                note=note or ("zero_denominator" if np.isnan(relative) else ""),
            )
        )
        return scores
