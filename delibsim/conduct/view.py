"""One run for reading: read, scored, with its log of calls; and two runs beside each other."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence

from delibsim.analysis.run.beside import Beside, beside
from delibsim.analysis.run.view import RunView
from delibsim.conduct import scorers
from delibsim.conduct.reading.written import refuse_links
from delibsim.domain.score import Measure, Score
from delibsim.domain.text import counted
from delibsim.store.notes import KINDS, interventions_in
from delibsim.store.places import inherited
from delibsim.store.reading import file_bytes
from delibsim.store.runs import Runs
from delibsim.store.sent import calls_of

Place = tuple[Runs, str]
"""A run: its study, and the name of its session."""


def run_view(
    runs: Runs,
    session: str,
    scores: Sequence[Score] | None = None,
    measures: Mapping[str, Measure] | None = None,
    private: bool = False,
) -> RunView:
    """A run of a study for reading; WrongInput where it cannot be read.

    Without `scores` it is scored for the measures of its summary, and nothing is written. `private`
    leaves out personas and the answers of people.
    """
    run = scorers.annotator(runs)(runs.run(session))
    names = scorers.scorers_of_summary() if measures is None else ()
    records, damaged, cut_off = calls_of(runs, session)
    return RunView(
        study=runs.study,
        held=run,
        measures=scorers.measures_of(names) if measures is None else measures,
        scores=list(scorers.scores_of(run, names)) if scores is None else scores,
        records=records,
        damaged_lines=damaged,
        cut_off=cut_off,
        past=inherited(runs, session)[0],
        acts=tuple(acts_in(runs, session, private)),
        sha256=hashlib.sha256(file_bytes(runs.path(session) / "run.json")).hexdigest(),
        private=private,
    )


def acts_in(runs: Runs, session: str, private: bool) -> Iterator[str]:
    """What the researcher did to the people of a session; its words are left out where those of
    people are.
    """
    acts, damaged = interventions_in(runs, session)
    for act in acts:
        whom = f" ({act.seat})" if act.seat else ""
        words = "(left out)" if private else act.text
        text = f": {words}" if act.text else ""
        yield f"{act.at}: {KINDS[act.kind]}{whom}{text}"
    if damaged:
        yield f"{counted(damaged, 'damaged line')} left out"


def shared_view(runs: Runs, session: str, personas: bool = True) -> RunView:
    """A run as it is given to others; WrongInput where files of it lie elsewhere."""
    refuse_links(runs.folder, session)
    return run_view(runs, session, private=not personas)


def beside_each_other(a: Place, b: Place) -> Beside:
    """Two runs beside each other; WrongInput where one of them cannot be read."""
    usual = scorers.usual_scorers()
    measures = scorers.measures_of(usual, a[0]) | scorers.measures_of(usual, b[0])
    views = []
    for runs, session in (a, b):
        run = scorers.annotator(runs)(runs.run(session))
        views.append(run_view(runs, session, list(scorers.scores_of(run)), measures))
    return beside(*views, measures)
