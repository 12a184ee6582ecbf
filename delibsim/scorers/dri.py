"""The Deliberative Reason Index of every run: the exemplar of a scorer, written to be read."""

from collections.abc import Iterator, Sequence

import numpy as np

from delibsim.domain.run import Run
from delibsim.domain.score import CATALOGUE, Score
from delibsim.measures.dri import dri, dri_adjusted, individual_dri, relative_change, why_undefined
from delibsim.scorers.arrays import considerations, preferences, surveyed


class DRI:
    """Plain and adjusted DRI of the group in every survey and in change, and of every participant.

    A scorer is a class with a name, a version, the measures it gives and one method. It takes what
    it needs out of the runs, calls a formula, and says for every number what it is about. Where the
    measure is undefined the value is NaN and the note says why. `by_run` says that no run bears on
    the scores of another, so that a large study may be shown to it run by run. Definitions and
    sources: docs/measures.md, "Deliberative Reason Index".
    """

    name = "dri"
    version = 1
    measures = CATALOGUE["dri"]
    by_run = True

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Scores of each run, one run after another."""
        return [score for run in surveyed(runs) for score in self._score(run)]

    def _score(self, run: Run) -> Iterator[Score]:
        target = run.session.id
        # The measures work on arrays, of one group or of several, and know nothing of runs; missing
        # answers reach them as NaN and make them undefined.
        waves = run.session.waves
        c = np.stack([considerations(run, phase) for phase in waves])
        p = np.stack([preferences(run, phase) for phase in waves])
        plain = np.asarray(dri(c, p)).tolist()
        adjusted = np.asarray(dri_adjusted(c, p)).tolist()
        individual = individual_dri(c, p)
        notes = []
        for i, phase in enumerate(waves):
            note = why_undefined(c[i], p[i]) if np.isnan(plain[i]) else ""
            notes.append(note)
            yield Score("dri", "run", target, plain[i], phase, note=note)
            yield Score("dri_adjusted", "run", target, adjusted[i], phase, note=note)
            for participant, value in zip(run.session.participants, individual[i], strict=True):
                person = f"{target}/{participant.id}"
                why = note if np.isnan(value) else ""
                yield Score("dri_individual", "participant", person, float(value), phase, note=why)
        note = notes[0] or notes[-1]
        for measure, values in (("dri", plain), ("dri_adjusted", adjusted)):
            yield Score(measure, "run", target, values[-1] - values[0], "change", note=note)
        relative = float(relative_change(plain[0], plain[-1]))
        if np.isnan(relative):
            note = note or "zero_denominator"
        yield Score("dri_relative", "run", target, relative, "change", note=note)
