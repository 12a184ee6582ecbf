"""Carrying out what people were promised: withdrawals, and how long it is known who they are.

What is to be deleted is written down before anything is, so that whoever is next finishes what was
cut off. The order matters: first the tombstone, by which all readers pass the session over, then
what was derived from it or quotes the person, which is found by her words in the register, then the
session, and the register at last.
"""

import asyncio
import json
import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from delibsim.conduct.cost import spent
from delibsim.conduct.reading.index import StudyIndex
from delibsim.domain.errors import WrongInput
from delibsim.domain.hosting import Hosting
from delibsim.domain.text import counted
from delibsim.domain.word_differences import Quoted, quoted
from delibsim.people.hall import Hall
from delibsim.people.raters import RaterDesk
from delibsim.people.sweep import ALONE, Gone, empty_session, quotes, sweep, texts_in
from delibsim.store.files import in_turn
from delibsim.store.people import erasures, persons
from delibsim.store.people.register import Register, Unavailable
from delibsim.store.people.rooms import give_up, rooms_of, seat_of, set_room
from delibsim.store.people.schema import Role, RoomState, SeatState, Stage
from delibsim.store.people.server import is_served
from delibsim.store.people.tables import NAMES, PEOPLE
from delibsim.store.places import branches_of
from delibsim.store.runs import Runs
from delibsim.store.session_files import BRANCHES, lay_tombstone

TURN = ".people"
"""The file by which processes take turns when they delete something of a study."""
OFTEN, HOUR = 5.0, 3600.0
"""Seconds between two looks for withdrawals, and for identities that were kept long enough."""


@dataclass
class Carried:
    """What was carried out: a line for each thing, what waits and why, and the sessions that are
    gone.
    """

    told: list[str] = field(default_factory=list)
    waits: list[str] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)


async def keep_promises(
    hall: Hall, desk: RaterDesk, often: float = OFTEN, hourly: float = HOUR
) -> None:
    """What the server does beside its pages, until this is cancelled: what is due of withdrawals
    and of names. Where it fails it is told, once for each reason, and tried again.
    """
    known: set[str] = set()
    looked = -hourly
    given = hall.runs, hall.register, hall.hosting
    while True:
        try:
            carried = await asyncio.to_thread(carry_out, *given, holds=hall.holds)
            if time.monotonic() - looked > hourly:
                looked = time.monotonic()
                carried.told += await asyncio.to_thread(forget_due, *given)
        except Exception as error:  # noqa: BLE001 - the pages must not end with it
            line = f"withdrawals wait: {type(error).__name__}: {error}".splitlines()[0]
            carried = Carried(waits=[line])
        for session in carried.sessions:
            hall.drop_words(session)
        if carried.told:
            desk.tasks.clear()  # what was read for their pages may hold words that are gone
        for line in [*carried.told, *(one for one in carried.waits if one not in known)]:
            hall.told(line)
        known.update(carried.waits)
        await asyncio.sleep(often)


def give_up_seat(register: Register, hosting: Hosting, person: str) -> str:
    """A person who withdraws leaves her seat: free where the room has not begun, else as declared
    for who drops out. The session, "" where she has no seat.
    """
    erasures.free_in_lobby(register, person)
    seated = seat_of(register, person)
    if seated is None:
        return ""
    give_up(register, hosting, seated)
    return seated[0]


def carry_out(
    runs: Runs,
    register: Register,
    hosting: Hosting,
    at_once: str = "",
    holds: Callable[[str], bool] | None = None,
) -> Carried:
    """Carry out every withdrawal that is due, and finish what was cut off.

    `at_once` is the code of a person whose room is ended if it still runs. `holds` says whether
    this process, which serves the study, holds a room; any other process leaves sessions to the
    server, if there is one. Nothing is done, and it is told why, where another process uses the
    study.
    """
    carried = Carried()
    if not erasures.withdrawn_undone(register) and not erasures.unfinished(register):
        return carried
    with in_turn(runs.folder / TURN):
        try:
            with runs.lock():
                _finish_forgetting(register)
                for person in erasures.withdrawn_undone(register):
                    _withdraw(_Case(runs, register, hosting, person, carried), at_once, holds)
        except (WrongInput, Unavailable) as error:
            carried.waits.append(f"withdrawals wait: {error}")
    return carried


def forget(runs: Runs, register: Register, codes: Iterable[str]) -> list[str]:
    """Delete who these persons are, in the register and in an export that lies in the study; the
    codes of those who were known.
    """
    known = {one.id for one in persons.persons(register) if one.identity}
    wanted = [code for code in codes if code in known]
    if wanted:
        begun = [
            erasures.begin(register, erasures.Erasure(code, erasures.FORGET, "")) for code in wanted
        ]
        erasures.forget_identities(register, wanted)
        _remove_names(runs)
        with suppress(Unavailable):  # it is overwritten by whoever finishes what was begun
            erasures.finish(register, begun)
    return wanted


def forget_due(runs: Runs, register: Register, hosting: Hosting) -> list[str]:
    """Delete who those are whose identity was kept for `keep_days`; what was done, in one line."""
    done = forget(runs, register, erasures.due_to_forget(register, hosting.keep_days))
    if not done:
        return []
    who = f"{counted(len(done), 'person')} {'was' if len(done) == 1 else 'were'}"
    return [f"the names of {who} deleted: kept for {hosting.keep_days} days"]


def erase_session(runs: Runs, session: str, words: Quoted) -> list[str]:
    """Withdraw a session: its tombstone, then what was derived from it, its branches, its files;
    what was deleted, a line each.
    """
    if (runs.path(session) / ALONE[0]).is_file():
        lay_tombstone(runs.path(session), session, *_cost_of(runs, session))
    told = sweep(runs, Gone(words, session))
    for kind in BRANCHES:
        if (branches := branches_of(runs, kind)) is not None:
            told += _erase_branches(branches, session, words)
    StudyIndex(runs).delete()
    if runs.path(session).is_dir():
        empty_session(runs, session)
    return told


@dataclass(frozen=True)
class _Case:
    """One withdrawal that is to be carried out."""

    runs: Runs
    register: Register
    hosting: Hosting
    person: str
    carried: Carried


def _finish_forgetting(register: Register) -> None:
    """Finish what was cut off of forgetting who people are."""
    left = [one for one in erasures.unfinished(register) if one.what == erasures.FORGET]
    if left:
        erasures.forget_identities(register, [one.person for one in left])
        erasures.finish(register, left)


def _withdraw(case: _Case, at_once: str, holds: Callable[[str], bool] | None) -> None:
    """Carry out one withdrawal, unless the room still runs."""
    register, person, carried = case.register, case.person, case.carried
    give_up_seat(register, case.hosting, person)
    session = erasures.session_with_words(register, person)
    known = [one for one in erasures.unfinished(register) if one.person == person]
    if known:
        session = known[0].session
    elif case.hosting.withdrawal != erasures.DELETE:
        session = ""
    elif session and _runs_on(register, session, at_once == person, holds):
        carried.waits.append(f"{person}: waits until the room {session} is over")
        return
    erasure = erasures.begin(register, erasures.Erasure(person, case.hosting.withdrawal, session))
    _erase(case, erasure)
    erasures.finish(register, [erasure])
    words = "and all she gave" if erasure.what == erasures.DELETE else "and her words stay"
    line = f"{person} withdrew: who she is was deleted, {words}"
    if erasure.session:
        line += f"; session {erasure.session} is withdrawn"
    carried.told.append(line)


def _runs_on(
    register: Register, session: str, at_once: bool, holds: Callable[[str], bool] | None
) -> bool:
    """Whether a room goes on, for other people or in the server. One whose people have all
    withdrawn is ended here, and the server that holds it lets it go.
    """
    (room,) = rooms_of(register, session)
    if room.state in RoomState.GOING:
        gone = {one.id for one in persons.persons(register) if one.stage == Stage.WITHDRAWN}
        others = [
            one for one in room.seats if one.state == SeatState.TAKEN and one.person not in gone
        ]
        if others and not at_once:
            return True
        set_room(register, session, RoomState.CANCELLED, Stage.WITHDRAWN)
    return is_served(register) if holds is None else holds(session)


def _erase(case: _Case, erasure: erasures.Erasure) -> None:
    """Delete what a withdrawal takes away, in an order that can be begun again."""
    register, person, session = case.register, case.person, erasure.session
    erasures.forget_identities(register, [person])
    _remove_names(case.runs)
    if erasure.what != erasures.DELETE:
        return
    found = persons.person_of(register, person)
    if found is not None and found.role == Role.RATER:
        _erase_rater(case)
    elif session:
        words = quoted(_texts(register, person), _plan_of(case.runs, session))
        case.carried.told += erase_session(case.runs, session, words)
        gone = Gone(words, session)
        shown = [
            (task, sheet) for task, sheet, unit in erasures.sheets_in(register) if gone.names(unit)
        ]
        erasures.drop_sheets(register, shown)
        case.carried.sessions.append(session)
    erasures.delete_person_in_sessions(register, person, session)
    erasures.free_places(register, person)


def _erase_branches(branches: Runs, parent: str, words: Quoted) -> list[str]:
    """Withdraw what branches off a session: it has inherited its words."""
    told = []
    plans = branches.plans_by_name()
    for name in branches.sessions():
        parentage = plans[name].parentage if name in plans else None
        damaged = name not in plans and quotes(branches.path(name), words)
        if damaged or (parentage is not None and parentage.session == parent):
            told += erase_session(branches, name, words)
            if quotes(branches.path(name), words):  # an edit said again what she had said
                (branches.path(name) / ALONE[0]).unlink()
            told.append(f"{branches.study}/{name}, which branched off {parent}, is withdrawn too")
    return told + sweep(branches, Gone(words, parent))


def _erase_rater(case: _Case) -> None:
    """Delete what a rater or coder gave in the study."""
    desk = RaterDesk(case.runs, case.register)
    coders = set()
    for task, number in erasures.places_of_person(case.register, case.person):
        with suppress(WrongInput):  # the task is gone, and its rows with it
            places = desk.task(task).places()
            coders |= {place.rater for place in places if place.number == number}
    words = quoted(_texts(case.register, case.person))
    case.carried.told += sweep(case.runs, Gone(words, coders=frozenset(coders)))
    StudyIndex(case.runs).delete()


def _remove_names(runs: Runs) -> None:
    """Remove an export of the register that says who people are, where it lies in the study."""
    if (runs.folder / PEOPLE / f"{NAMES}.csv").is_file():
        shutil.rmtree(runs.folder / PEOPLE)


def _cost_of(runs: Runs, session: str) -> tuple[float, int]:
    """What the calls of a session have cost; nothing where its plan cannot be read."""
    try:
        return spent(runs, [session])
    except WrongInput:
        return 0.0, 0


def _plan_of(runs: Runs, session: str) -> list[str]:
    """What stands in the plan of a session: questionnaires and instructions are nobody's words."""
    path = runs.path(session) / ALONE[0]
    return list(texts_in(json.loads(path.read_bytes()))) if path.is_file() else []


def _texts(register: Register, person: str) -> list[str]:
    """All that a person typed, out of the forms in which it is kept."""
    found: list[str] = []
    for text in erasures.texts_of(register, person):
        try:
            found += texts_in(json.loads(text))
        except ValueError:
            found.append(text)
    return found
