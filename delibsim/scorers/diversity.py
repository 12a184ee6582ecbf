"""Perspective diversity of every run: raw, standardised over a population, and normalised by the
range of the format.
"""

from collections.abc import Sequence

import numpy as np

from delibsim.domain.measure import CATALOGUE
from delibsim.domain.run import Run
from delibsim.domain.score import Score
from delibsim.domain.survey import PHASES, Phase, Survey
from delibsim.measures.diversity import (
    diversity,
    diversity_range_normalised,
    diversity_standardised,
    why_undefined,
)
from delibsim.scorers.arrays import Array, considerations, preferences, surveyed


class Diversity:
    """Mean distance between the perspectives of a group (DEFINITIONS 3).

    The population of the standardised measure is every participant with complete answers, in all
    runs given, who answered that survey in that phase; so its values belong to the set of runs that
    were scored together.
    """

    name = "diversity"
    version = 2
    measures = CATALOGUE["diversity"]

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Scores of each run; runs of one survey are each other's reference population."""
        # What is needed of a run is taken out of it at once: runs may be read from disk one by one.
        given = [
            (run.session.id, run.session.survey, {phase: _answers(run, phase) for phase in PHASES})
            for run in surveyed(runs)
        ]
        populations: dict[tuple[Survey, Phase], Array] = {}
        for phase in PHASES:
            by_survey: dict[Survey, list[Array]] = {}
            for _, survey, answers in given:
                by_survey.setdefault(survey, []).append(answers[phase])
            for survey, groups in by_survey.items():
                rows = np.vstack(groups)
                populations[survey, phase] = rows[~np.isnan(rows).any(axis=1)]
        return [
            score
            for target, survey, answers in given
            for score in self._score(target, survey, answers, populations)
        ]

    def _score(
        self,
        target: str,
        survey: Survey,
        answers: dict[Phase, Array],
        populations: dict[tuple[Survey, Phase], Array],
    ) -> list[Score]:
        c, p = len(survey.considerations), len(survey.preferences)
        lows = np.array([survey.scale_min] * c + [1] * p, dtype=float)
        highs = np.array([survey.scale_max] * c + [p] * p, dtype=float)
        scores: list[Score] = []
        for phase in PHASES:
            x, population = answers[phase], populations[survey, phase]
            note = why_undefined(x)
            values = [
                ("diversity", float(diversity(x)), note),
                (
                    "diversity_range_normalised",
                    float(diversity_range_normalised(x, lows, highs)),
                    note,
                ),
                (
                    "diversity_standardised",
                    float(diversity_standardised(x, population)),
                    why_undefined(x, population),
                ),
            ]
            scores += [
                Score(measure, "run", target, value, phase, note=why)
                for measure, value, why in values
            ]
        by_measure = {(s.measure, s.phase): s for s in scores}
        # Standardised, before and after are measured by populations of their own: their difference
        # would be no change of the group.
        for measure in ("diversity", "diversity_range_normalised"):
            pre, post = by_measure[measure, "pre"], by_measure[measure, "post"]
            scores.append(
                Score(
                    measure,
                    "run",
                    target,
                    post.value - pre.value,
                    "change",
                    note=pre.note or post.note,
                )
            )
        return scores


def _answers(run: Run, phase: Phase) -> Array:
    return np.hstack([considerations(run, phase), preferences(run, phase)])
