"""Putting two runs beside each other: each read, scored, and its log of calls counted."""

from delibsim.analysis.beside.beside import Beside, Side, beside
from delibsim.conduct.scorers import annotator, measures_of, scores_of, usual_scorers
from delibsim.store.runs import Runs

Place = tuple[Runs, str]
"""A run: its study, and the name of its session."""


def beside_each_other(a: Place, b: Place) -> Beside:
    """Two runs beside each other; WrongInput where one of them cannot be read."""
    measures = measures_of(usual_scorers(), a[0]) | measures_of(usual_scorers(), b[0])
    return beside(side(*a), side(*b), measures)


def side(runs: Runs, session: str) -> Side:
    """A run with its scores and its log of calls, none of which is written anywhere."""
    run = annotator(runs)(runs.run(session))
    return Side(f"{runs.study}/{session}", run, list(scores_of(run)), *runs.exchanges(session))
