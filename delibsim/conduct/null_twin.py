"""The null twin of a study: the same design held with citizens in all seats.

It says what the procedure alone does to every measure: citizens compute with numbers and understand
no language. Topics, instruments, treatments, settings, people and orders are those of the study.
"""

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from delibsim.analysis.result import said
from delibsim.analysis.study.study_table import HELD, StudyTable
from delibsim.conduct.analysed import READ_ONLY, study_table
from delibsim.conduct.outcome import Observer, SessionOutcome
from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Session
from delibsim.domain.study import slug
from delibsim.models.ask import wait
from delibsim.store.codec import session_to_json
from delibsim.store.manifest import Manifest
from delibsim.store.runs import Runs
from delibsim.store.session_files import TWIN

Watch = Callable[[str, int, int], None]
CITIZEN = "citizen"
MOST = 600
"""The most sessions of a twin; of a larger design a balanced part is held."""
NOT_HELD = "There is no null citizen beside these effects: {}"


def with_twin(
    table: StudyTable, runs: Runs | None, watch: Watch, outcomes: Sequence[str] = ()
) -> StudyTable:
    """The table of a study with its null twin, which is held now where it is not held yet.

    A study with citizens of its own, or without surveys, has none. Where no twin can be held, the
    table says why. The twin is kept in the folder of the study, unless nothing may be written
    there. It is scored for these `outcomes` too.
    """
    rows = table.rows
    if rows.empty or (rows["null"].fillna(False).astype(bool)).any():
        return table
    if runs is None:
        return replace(table, no_twin=said("study/no_twin_of_table"))
    sessions = twin_sessions(runs.plans())
    if not sessions:
        return table
    try:
        try:
            return _held(table, sessions, runs.folder / TWIN, watch, outcomes)
        except OSError as error:
            if error.errno not in READ_ONLY:
                raise
        with TemporaryDirectory(prefix="delibsim-") as folder:
            return _held(table, sessions, Path(folder) / TWIN, watch, outcomes)
    except WrongInput as error:
        return replace(table, no_twin=NOT_HELD.format(error))


def twin_sessions(plans: Iterable[Session]) -> list[Session]:
    """The sessions of a twin: each plan with citizens in all seats, once, and at most 600.

    Plans that differ in their models alone become one. Debates have no survey before and after, and
    branches are no sample of sessions: they have no twin.
    """
    found: dict[str, Session] = {}
    for plan in plans:
        if plan.kind.sides or plan.parentage is not None or not plan.respondents:
            continue
        session = _of_citizens(plan)
        found.setdefault(session.id, session)
    return _balanced(list(found.values()))


def _of_citizens(plan: Session) -> Session:
    """A plan with a citizen in every seat, named after what it is besides its models."""
    people = tuple(replace(person, model=CITIZEN) for person in plan.participants)
    models = {CITIZEN: {"kind": CITIZEN}}
    rule = plan.consensus
    if rule is not None:
        rule = replace(rule, mediator="", model={})
    heard = tuple(replace(one, model="", settings={}) for one in plan.witnesses)
    leads = plan.facilitator and replace(plan.facilitator, model="", settings={})
    session = replace(plan, participants=people, models=models, consensus=rule)
    session = replace(session, facilitator=leads, witnesses=heard, conversation=None)
    seats = tuple(replace(person, persona="") for person in people)  # drawn for each replicate
    what = session_to_json(replace(session, id="", replicate=1, participants=seats))
    digest = sha256(what.encode()).hexdigest()[:8]
    named = (slug(plan.topic.id), slug(plan.treatment.name), CITIZEN, digest)
    return replace(session, id=f"{'.'.join(named)}.r{plan.replicate}")


def _balanced(sessions: Sequence[Session], most: int = MOST) -> list[Session]:
    """As many whole replicates as fit; where not even one does, whole topics of the first."""
    replicates = sorted({session.replicate for session in sessions})
    kept: list[Session] = []
    for replicate in replicates:
        more = [session for session in sessions if session.replicate == replicate]
        if len(kept) + len(more) > most:
            break
        kept += more
    if kept or not sessions:
        return kept
    first = [session for session in sessions if session.replicate == replicates[0]]
    for topic in dict.fromkeys(session.topic.id for session in first):
        more = [session for session in first if session.topic.id == topic]
        if len(kept) + len(more) > most:
            break
        kept += more
    return kept


def _held(
    table: StudyTable,
    sessions: Sequence[Session],
    folder: Path,
    watch: Watch,
    outcomes: Sequence[str],
) -> StudyTable:
    """The table with that of its twin, whose sessions are held as far as they are not yet."""
    runs = Runs(folder.parent, f"{table.study}/{TWIN}")
    runs.folder = folder
    try:
        rows = _rows(table, sessions, runs, watch, outcomes)
        whole = bool(rows["status"].isin(HELD).all())
    except WrongInput:
        if runs.holder():  # another process holds it now
            raise
        whole = False
    if not whole:  # it is damaged; nothing in it was paid for, and the same is held again
        shutil.rmtree(folder, ignore_errors=True)
        rows = _rows(table, sessions, runs, watch, outcomes)
    return replace(table, twin=rows)


def _rows(
    table: StudyTable,
    sessions: Sequence[Session],
    runs: Runs,
    watch: Watch,
    outcomes: Sequence[str],
) -> Any:
    """The rows (a frame) of the twin's sessions, which are held as far as they have no run."""
    from delibsim.conduct.hold import hold_all  # Mesa takes half a second to import

    waiting = [session for session in sessions if not runs.held(session.id)]
    names = tuple(session.id for session in sessions)
    settings = {"seed": sessions[0].seed, "twin_of": table.study}
    runs.settle(Manifest(runs.study, settings, {}, names))
    if waiting:
        wait(hold_all(waiting, runs, observer=_Told(watch, len(waiting))))
    rows = study_table(runs, outcomes=outcomes).rows
    return rows[rows["session"].isin(names)]


class _Told(Observer):
    """Tells how many sessions of the twin have been held."""

    def __init__(self, watch: Watch, among: int) -> None:
        self._watch, self._among, self._done = watch, among, 0

    def on_session(self, outcome: SessionOutcome) -> None:
        """One more."""
        self._watch("holding the null twin", self._done, self._among)
        self._done += 1
