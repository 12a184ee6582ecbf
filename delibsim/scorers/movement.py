"""How the ratings of every group moved: as a whole, how many, towards each other or not."""

import math
from collections.abc import Iterator, Sequence

from delibsim.domain.run import Run
from delibsim.domain.score import CATALOGUE, Score
from delibsim.domain.survey import PHASES
from delibsim.measures.talk import drift, moved, spread, toward, why_undefined
from delibsim.scorers.arrays import considerations

OF_CHANGE = {"drift": drift, "moved": moved, "toward": toward}


class MovementScorer:
    """Drift of the group, share of ratings that moved, movement towards the others, spread within
    the group, and the mean rating; of considerations, as shares of the scale.

    It needs no model, and is scored where an analysis asks for it. Definitions and sources:
    docs/measures.md, "Movement".
    """

    name = "movement"
    version = 1
    measures = CATALOGUE["movement"]
    by_run = True
    on_request = True
    when_analysed = True

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Scores of each run whose participants rated considerations; debates have none."""
        found = []
        for run in runs:
            surveyed = run.responses and not run.session.kind.sides
            if surveyed and run.session.survey.considerations:
                found += self._score(run)
        return found

    def _score(self, run: Run) -> Iterator[Score]:
        target, survey = run.session.id, run.session.survey
        width = survey.scale_max - survey.scale_min
        pre, post = [(considerations(run, one) - survey.scale_min) / width for one in PHASES]
        why = why_undefined(pre, post)
        for measure, formula in OF_CHANGE.items():
            value = math.nan if why else formula(pre, post)
            note = why or ("no_movement" if math.isnan(value) else "")
            yield Score(f"movement.{measure}", "run", target, value, "change", note=note)
        for measure, formula in (("spread", spread), ("level", lambda own: float(own.mean()))):
            values = []
            for phase in run.session.waves:
                own = (considerations(run, phase) - survey.scale_min) / width
                lacking = why_undefined(own, own)
                values.append(math.nan if lacking else formula(own))
                yield Score(f"movement.{measure}", "run", target, values[-1], phase, note=lacking)
            change = values[-1] - values[0]
            yield Score(f"movement.{measure}", "run", target, change, "change", note=why)
