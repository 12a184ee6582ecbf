"""Perspective diversity of every run: raw, standardised, and normalised by the range."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from delibsim.domain.run import Run
from delibsim.domain.score import CATALOGUE, Score, compared
from delibsim.domain.survey import Phase, Survey
from delibsim.measures.agreement import (
    diversity,
    diversity_range_normalised,
    spreads,
    why_diversity_undefined,
)
from delibsim.scorers.arrays import Array, considerations, preferences, surveyed


class Diversity:
    """Mean distance between the perspectives of a group.

    The population of the standardised measure is every participant with complete answers, in all
    runs given, who answered that survey in that phase; so its values belong to the set of runs that
    were scored together. Definitions and sources: docs/measures.md, "Perspective diversity".
    """

    name = "diversity"
    version = 2
    measures = CATALOGUE["diversity"]

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Scores of each run; runs of one survey are each other's reference population."""
        return compared(self.compare(), runs)

    def compare(self) -> "_Populations":
        """What is remembered of the runs: the answers of all participants."""
        return _Populations()


class _Populations:
    """The complete answers of all participants, by survey and phase."""

    def __init__(self) -> None:
        self._answers: dict[tuple[Survey, Phase], array[float]] = {}
        self._spreads: dict[tuple[Survey, Phase], Array] = {}

    def note(self, run: Run) -> "_Noted":
        """Add the answers of a run."""
        survey = run.session.survey
        found: dict[Phase, Array | int] = {}
        for phase in run.session.waves if list(surveyed([run])) else ():
            answers = _answers(run, phase)
            complete = answers[~np.isnan(answers).any(axis=1)]
            known = self._answers.setdefault((survey, phase), array("d"))
            # The answers of a whole group are among those of all, and are not kept once more.
            found[phase] = len(known) if len(complete) == len(answers) else answers
            known.frombytes(complete.tobytes())
        return _Noted(run.session.id, survey, len(run.session.participants), found)

    def score(self, noted: "_Noted") -> Iterator[Score]:
        """Scores of a run that was noted."""
        target, survey = noted.session, noted.survey
        if not noted.answers:
            return
        lows, highs = _ends(survey)
        raw: dict[Phase, float] = {}
        normalised: dict[Phase, float] = {}
        notes = []
        for phase in noted.answers:
            x, spread = self._group(noted, phase), self._spread(survey, phase)
            note = why_diversity_undefined(x)
            notes.append(note)
            raw[phase] = float(diversity(x))
            normalised[phase] = float(diversity_range_normalised(x, lows, highs))
            standardised = float(diversity(x / spread))
            why = note or ("constant_item" if np.isnan(spread).any() else "")
            found = (
                ("diversity", raw[phase], note),
                ("diversity_range_normalised", normalised[phase], note),
                ("diversity_standardised", standardised, why),
            )
            for measure, value, reason in found:
                yield Score(measure, "run", target, value, phase, note=reason)
        # Standardised, before and after are measured by populations of their own: their difference
        # would be no change of the group.
        note = notes[0] or notes[-1]
        for measure, values in (("diversity", raw), ("diversity_range_normalised", normalised)):
            change = values["post"] - values["pre"]
            yield Score(measure, "run", target, change, "change", note=note)

    def _group(self, noted: "_Noted", phase: Phase) -> Array:
        """The answers of a run that was noted."""
        found = noted.answers[phase]
        if not isinstance(found, int):
            return found
        known, items = self._answers[noted.survey, phase], _items(noted.survey)
        return np.array(known[found : found + noted.people * items]).reshape(-1, items)

    def _spread(self, survey: Survey, phase: Phase) -> Array:
        """The standard deviation of every item, computed when all runs were noted."""
        key = survey, phase
        if key not in self._spreads:
            population = np.array(self._answers[key]).reshape(-1, _items(survey))
            # Sorted, so that the order of runs does not matter to the last digit.
            self._spreads[key] = spreads(np.sort(population, axis=0))
        return self._spreads[key]


@dataclass(frozen=True, slots=True)
class _Noted:
    """A run as it was noted: of each phase its answers, or where they begin among those of all."""

    session: str
    survey: Survey
    people: int
    answers: Mapping[Phase, Array | int]


def _items(survey: Survey) -> int:
    return len(survey.considerations) + len(survey.preferences)


def _answers(run: Run, phase: Phase) -> Array:
    """The answers of one run, considerations and ranks side by side."""
    return np.hstack([considerations(run, phase), preferences(run, phase)])


def _ends(survey: Survey) -> tuple[Array, Array]:
    """The lowest and the highest answer to every item."""
    c, p = len(survey.considerations), len(survey.preferences)
    lows = np.array([survey.scale_min] * c + [1] * p, dtype=float)
    highs = np.array([survey.scale_max] * c + [p] * p, dtype=float)
    return lows, highs
