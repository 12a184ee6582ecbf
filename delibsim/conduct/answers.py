"""Tables that need the answers of a study's runs: pairs of participants, who moved, and people; and
what the figures of a study are drawn from.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from delibsim.analysis.figures.of_study import FIGURES, StudyFigure
from delibsim.analysis.individual_change import changes_of, changes_told
from delibsim.analysis.result import Result
from delibsim.analysis.study.finding import ON_TEXTS
from delibsim.analysis.study.like import answers_of
from delibsim.analysis.study.people import (
    OF_PEOPLE,
    PAIRS,
    pairs_of,
    pairs_told,
    people_pair_correlations,
    why_not_people,
)
from delibsim.analysis.study.study_table import DrawCounts, StudyTable, selected
from delibsim.conduct.analysed import StudyPlace, table_of
from delibsim.conduct.code_report import by_models, effects_on_texts
from delibsim.conduct.score import Watch
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.run import Run
from delibsim.store.codec import Damaged
from delibsim.store.instruments.imported import read_people
from delibsim.store.places import branches_of
from delibsim.store.runs import Runs
from delibsim.store.session_files import TWIN

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


OF_RUNS: Mapping[str, tuple[Callable[[Run], list], Callable[[Iterable[list]], Result]]] = {
    PAIRS: (pairs_of, pairs_told),
    "individual_change": (changes_of, changes_told),
}
"""The tables that are made from runs: what a run gives of each, and the table of all."""
ALL = (*OF_RUNS, OF_PEOPLE)
PEOPLE = Path("surveys/imported/deliberr")
"""Where the published answers of people lie after they were imported."""


def tables_of_answers(
    runs: Runs,
    sessions: Collection[str],
    topics: Collection[str],
    names: Sequence[str] = ALL,
    people: Path = PEOPLE,
    watch: Watch | None = None,
) -> list[Result]:
    """The tables named, of these sessions; of people on these topics where their answers are there.

    A run that cannot be read is left out and named in the notes.
    """
    held = [session for session in runs.sessions() if session in sessions and runs.held(session)]
    faults: list[str] = []
    given: dict[str, list[list]] = {name: [] for name in names if name in OF_RUNS}
    for run in _read(runs, held, faults, watch) if given else ():
        for name, parts in given.items():
            parts.append(OF_RUNS[name][0](run))
    left_out = [f"Left out: {fault}." for fault in faults]
    found = []
    for name in names:
        if name == OF_PEOPLE:
            found.append(_people(people, topics))
            continue
        made = OF_RUNS[name][1](given[name])
        found.append(replace(made, notes=[*made.notes, *left_out]))
    return found


def answers_of_study(runs: Runs, watch: Watch | None = None) -> list[dict[str, Any]]:
    """The answers in the sessions of a study and of its null twin, a row an answer; runs that
    cannot be read are left out.
    """
    rows = []
    for one in filter(None, (runs, branches_of(runs, TWIN))):
        held = [name for name in one.sessions() if one.held(name)]
        for run in _read(one, held, [], watch):
            rows += answers_of(run)
    return rows


def _read(runs: Runs, held: Sequence[str], faults: list[str], watch: Watch | None) -> Iterator[Run]:
    for done, session in enumerate(held, start=1):
        if watch is not None:
            watch("answers read", done, len(held))
        try:
            run = runs.run(session)
        except Damaged as error:
            faults.append(str(error))
            continue
        yield run


def _people(folder: Path, topics: Collection[str]) -> Result:
    try:
        answers, _ = read_people(folder)
    except WrongInput as error:
        return why_not_people(f"{error}.")
    known = {own.survey: own for own in answers}
    there = [topic for topic in topics if topic in known]
    if not there:
        return why_not_people(f"{folder} holds no answers of people on the topics of the study.")
    return people_pair_correlations(known, there)


def figure_source(
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
