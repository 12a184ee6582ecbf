"""What the figures of a study are drawn from, and which of them it can give."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from delibsim.analysis.figures.of_study import FIGURES, StudyFigure
from delibsim.analysis.result import Result
from delibsim.analysis.study.finding import ON_TEXTS
from delibsim.analysis.study.study_table import DrawCounts, StudyTable, selected
from delibsim.conduct.analysed import StudyPlace, table_of
from delibsim.conduct.answers import PEOPLE, tables_of_answers
from delibsim.conduct.code_report import by_models, effects_on_texts
from delibsim.domain.errors import unknown
from delibsim.store.runs import Runs

FEW = DrawCounts(permutations=200, resamples=200, parametric=20)
"""Draws with which it is found out which figures there are."""


@dataclass(frozen=True)
class FigureSource:
    """What is drawn from: the table of a study, and its runs where there are any."""

    study: StudyTable
    runs: Runs | None
    people: Path

    def results(
        self, kind: StudyFigure, draws: DrawCounts, watch: Any = None
    ) -> Mapping[str, Result]:
        """The tables that a figure is drawn from, by name."""
        found = kind.results(self.study, draws)
        if kind.name == ON_TEXTS:
            return found | {one.name: one for one in effects_on_texts(self.runs, self._coded)[0]}
        if kind.answers and self.runs is not None:
            rows = self.study.rows
            sessions, topics = set(rows["session"]), dict.fromkeys(rows["topic"])
            names = kind.answers
            read = tables_of_answers(self.runs, sessions, list(topics), names, self.people, watch)
            found |= {result.name: result for result in read}
        return found

    @property
    def _coded(self) -> StudyTable:
        """The table, which says what models said of texts."""
        return replace(self.study, by_models=by_models(self.runs, self.study))

    def why_not(self, kind: StudyFigure) -> str:
        """Why the study cannot give a figure, "" where it can; answers are not read for it."""
        if kind.name == ON_TEXTS:
            return "" if self._coded.by_models else kind.needs
        if kind.answers:
            answered = len(self.study.analysed("dri_pre")) > 0
            return "" if self.runs is not None and answered else kind.needs
        results = kind.results(self.study, FEW)
        return "" if kind.draw(self.study, results) is not None else kind.why_not(results)


def source_of(
    place: StudyPlace, conditions: Sequence[str], sessions: Sequence[str], watch: Any = None
) -> FigureSource:
    """The table of what lies at a place, with the chosen conditions and sessions alone."""
    table = table_of(place, watch)
    if conditions or sessions:
        table = selected(table, conditions, sessions)
    return FigureSource(table, place.runs, PEOPLE)


def figure_named(name: str) -> StudyFigure:
    """The figure of a name; WrongInput if there is none."""
    kinds = {kind.name: kind for kind in FIGURES}
    if name not in kinds:
        raise unknown("figure", name, kinds)
    return kinds[name]
