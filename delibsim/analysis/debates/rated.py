"""The debates of a study with their ratings: read, and chosen by panel and source."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from delibsim.domain.annotation import AnnotatedRun, Rating
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.participant import SIDES
from delibsim.domain.run import Run
from delibsim.domain.text import study_named
from delibsim.store.answers import rater
from delibsim.store.runs import Runs

SOURCES = {"model": "models", "human": "people"}
"""The sources of ratings as they are called in commands and print."""


def debates_of(runs: Runs, lost: list[str] | None = None) -> tuple[list[Run], list[str]]:
    """The debates of a study with their ratings, and the faults of runs that cannot be read; files
    of ratings with damaged lines are told in `lost`.

    WrongInput if the study has no debate.
    """
    held, faults = runs.all()
    debates = [run for run in map(rater(runs, lost), held) if run.session.kind.sides]
    if not debates and faults:
        raise WrongInput(f"no debate of {study_named(runs.study)} can be read: {faults[0]}")
    if not debates:
        advice = "debates are held with: delibsim run format=debate motion=voting"
        raise WrongInput(f"{study_named(runs.study)} holds no debate; {advice}")
    return debates, faults


def edited(debates: Iterable[Run]) -> list[str]:
    """A line for every debate whose speeches are others than those that were rated."""
    told = "the debate was edited after it was rated; its ratings judge another text"
    rated = [run for run in debates if isinstance(run, AnnotatedRun)]
    return [f"{run.session.id}: {told}" for run in rated if run.edited]


def chosen(debates: Iterable[Run], panels: Sequence[str], source: str | None) -> list[AnnotatedRun]:
    """Debates with the ratings of these panels (of all where none is named) and of this source.

    `source` is "models", "people" or None for both. WrongInput for an unknown panel.
    """
    rated = [run for run in debates if isinstance(run, AnnotatedRun)]
    known: set[str] = set()
    for run in rated:
        known |= set(run.panels)
    for name in panels:
        if name not in known:
            raise unknown("panel", name, sorted(known))

    def kept(rating: Rating) -> bool:
        wanted = source is None or SOURCES[rating.source] == source
        return wanted and (not panels or rating.panel in panels)

    return [replace(run, ratings=tuple(filter(kept, run.ratings))) for run in rated]


def ids_of(debates: Iterable[Run]) -> set[str]:
    """The names of all debaters and raters."""
    ids = set()
    for run in debates:
        ids |= {p.model for p in run.session.participants if p.role in SIDES}
        ids |= {rating.rater for rating in run.ratings} if isinstance(run, AnnotatedRun) else set()
    return ids
