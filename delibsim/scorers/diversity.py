"""Perspective diversity of every run: raw, standardised, and normalised by the range."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

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
        # What is needed of a run is taken out of it at once: runs may be read from disk one by one.
        groups = [_group(run) for run in surveyed(runs)]
        populations = _populations(groups)
        return [score for group in groups for score in _scores(group, populations)]


@dataclass(frozen=True, eq=False)
class _Group:
    """The answers of one run by phase, considerations and ranks side by side."""

    target: str
    survey: Survey
    answers: Mapping[Phase, Array]


Populations = Mapping[tuple[Survey, Phase], Array]
"""The complete answers of all participants, by survey and phase."""


def _group(run: Run) -> _Group:
    answers = {}
    for phase in PHASES:
        answers[phase] = np.hstack([considerations(run, phase), preferences(run, phase)])
    return _Group(run.session.id, run.session.survey, answers)


def _populations(groups: Iterable[_Group]) -> Populations:
    given: dict[tuple[Survey, Phase], list[Array]] = {}
    for group in groups:
        for phase, answers in group.answers.items():
            given.setdefault((group.survey, phase), []).append(answers)
    populations = {}
    for key, answers in given.items():
        rows = np.vstack(answers)
        populations[key] = rows[~np.isnan(rows).any(axis=1)]
    return populations


def _scores(group: _Group, populations: Populations) -> Iterator[Score]:
    c, p = len(group.survey.considerations), len(group.survey.preferences)
    lows = np.array([group.survey.scale_min] * c + [1] * p, dtype=float)
    highs = np.array([group.survey.scale_max] * c + [p] * p, dtype=float)
    raw: dict[Phase, float] = {}
    normalised: dict[Phase, float] = {}
    notes = []
    for phase in PHASES:
        x, population = group.answers[phase], populations[group.survey, phase]
        note = why_undefined(x)
        notes.append(note)
        raw[phase] = float(diversity(x))
        normalised[phase] = float(diversity_range_normalised(x, lows, highs))
        standardised = float(diversity_standardised(x, population))
        found = (
            ("diversity", raw[phase], note),
            ("diversity_range_normalised", normalised[phase], note),
            ("diversity_standardised", standardised, why_undefined(x, population)),
        )
        for measure, value, why in found:
            yield Score(measure, "run", group.target, value, phase, note=why)
    # Standardised, before and after are measured by populations of their own: their difference
    # would be no change of the group.
    note = notes[0] or notes[1]
    for measure, values in (("diversity", raw), ("diversity_range_normalised", normalised)):
        change = values["post"] - values["pre"]
        yield Score(measure, "run", group.target, change, "change", note=note)
