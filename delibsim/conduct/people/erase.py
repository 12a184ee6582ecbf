"""Carrying out what people were promised: withdrawals, and how long it is known who they are.

What is to be deleted is written down before anything is, so that whoever is next finishes what was
cut off. The order matters: first the tombstone, by which all readers pass the session over, then
what quotes the person, which is found by her words in the register, then the session, and the
register at last.
"""

import json
import secrets
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from delibsim.conduct.cost import spent
from delibsim.conduct.people.rater_desk import RaterDesk
from delibsim.conduct.people.sweep import (
    ALONE,
    Gone,
    empty_session,
    quotes,
    remove_names,
    sweep,
    texts_in,
)
from delibsim.conduct.reading.index import StudyIndex
from delibsim.domain.errors import WrongInput
from delibsim.domain.hosting import Hosting
from delibsim.domain.quoted import Quoted, quoted
from delibsim.domain.text import counted
from delibsim.store.branch_folders import BRANCHES
from delibsim.store.branches import branches_of
from delibsim.store.files import in_turn
from delibsim.store.people.entry import RATER
from delibsim.store.people.erasures import (
    DELETE,
    FORGET,
    Erasure,
    begin,
    delete_person_in_sessions,
    drop_sheets,
    due_to_forget,
    finish,
    forget_identities,
    free_in_lobby,
    free_places,
    places_of_person,
    session_with_words,
    sheets_in,
    texts_of,
    unfinished,
    withdrawn_undone,
)
from delibsim.store.people.persons import WITHDRAWN, person_of, persons
from delibsim.store.people.register import Register, Unavailable
from delibsim.store.people.rooms import (
    CANCELLED,
    HELD,
    LOBBY,
    SILENT,
    STOOD_IN,
    STOPPED,
    TAKEN,
    Room,
    lease,
    rooms_of,
    seat_of,
    set_room,
    set_seat,
)
from delibsim.store.runs import Runs
from delibsim.store.withdrawn import lay_tombstone

TURN = ".people"
"""The file by which processes take turns when they delete something of a study."""


@dataclass
class Carried:
    """What was carried out: a line for each thing, what waits and why, and the sessions that are
    gone.
    """

    told: list[str] = field(default_factory=list)
    waits: list[str] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)


def give_up_seat(register: Register, hosting: Hosting, person: str) -> str:
    """A person who withdraws leaves her seat: free where the room has not begun, else as declared
    for who drops out. The session, "" where she has no seat.
    """
    free_in_lobby(register, person)
    seated = seat_of(register, person)
    if seated is None:
        return ""
    (room,) = rooms_of(register, seated[0])
    own = next(seat for seat in room.seats if seat.name == seated[1])
    if own.state == TAKEN:
        stands_in = hosting.drop_out == "stand_in"
        by = hosting.stand_in if stands_in else ""
        set_seat(register, *seated, STOOD_IN if stands_in else SILENT, by)
    return seated[0]


def rooms_to_end(register: Register) -> list[str]:
    """The rooms that are held and in which every person who came has withdrawn: nobody is waited
    for, and what is said there is deleted.
    """
    undone = withdrawn_undone(register)
    if not undone:
        return []
    gone = {one.id for one in persons(register) if one.stage == WITHDRAWN}
    found = []
    for person in undone:
        session = session_with_words(register, person)
        for room in rooms_of(register, session) if session else []:
            if room.state in (HELD, STOPPED) and not _others(room, gone):
                found.append(room.session)
    return sorted(set(found))


def carry_out(
    runs: Runs, register: Register, hosting: Hosting, server: str = "", at_once: str = ""
) -> Carried:
    """Carry out every withdrawal that is due, and finish what was cut off.

    The server by whose leases rooms are held here may be named. `at_once` is the code of a person
    whose room is ended if it still runs. Nothing is done, and it is told why, where another process
    holds the study.
    """
    carried = Carried()
    if not withdrawn_undone(register) and not unfinished(register):
        return carried
    with in_turn(runs.folder / TURN):
        try:
            with runs.lock():
                _carry_out(runs, register, hosting, carried, (server, at_once))
        except (WrongInput, Unavailable) as error:
            carried.waits.append(f"withdrawals wait: {error}")
    return carried


def forget(runs: Runs, register: Register, codes: Iterable[str]) -> list[str]:
    """Delete who these persons are, in the register and in an export that lies in the study; the
    codes of those who were known.
    """
    known = {one.id for one in persons(register) if one.identity}
    wanted = [code for code in codes if code in known]
    if wanted:
        begun = [begin(register, Erasure(code, FORGET, "")) for code in wanted]
        forget_identities(register, wanted)
        remove_names(runs)
        with suppress(Unavailable):  # it is overwritten by whoever finishes what was begun
            finish(register, begun)
    return wanted


def forget_due(runs: Runs, register: Register, hosting: Hosting) -> list[str]:
    """Delete who those are whose identity was kept for `keep_days`; what was done, in one line."""
    done = forget(runs, register, due_to_forget(register, hosting.keep_days))
    if not done:
        return []
    who = f"{counted(len(done), 'person')} {'was' if len(done) == 1 else 'were'}"
    return [f"the names of {who} deleted: kept for {hosting.keep_days} days"]


def _carry_out(
    runs: Runs, register: Register, hosting: Hosting, carried: Carried, how: tuple[str, str]
) -> None:
    left = [one for one in unfinished(register) if one.what == FORGET]
    forget_identities(register, [one.person for one in left])
    if left:
        finish(register, left)
    for person in withdrawn_undone(register):
        give_up_seat(register, hosting, person)
        session = session_with_words(register, person)
        known = [one for one in unfinished(register) if one.person == person]
        if known:
            session = known[0].session
        elif hosting.withdrawal != DELETE:
            session = ""
        elif session and not _is_over(register, session, how[0], how[1] == person):
            carried.waits.append(f"{person}: waits until the room {session} is over")
            continue
        erasure = begin(register, Erasure(person, hosting.withdrawal, session))
        _erase(runs, register, erasure, carried)
        finish(register, [erasure])
        words = "and all she gave" if erasure.what == DELETE else "and her words stay"
        line = f"{person} withdrew: who she is was deleted, {words}"
        if erasure.session:
            line += f"; session {erasure.session} is withdrawn"
        carried.told.append(line)


def _erase(runs: Runs, register: Register, erasure: Erasure, carried: Carried) -> None:
    """Delete what a withdrawal takes away, in an order that can be begun again."""
    forget_identities(register, [erasure.person])
    remove_names(runs)
    if erasure.what != DELETE:
        return
    person = person_of(register, erasure.person)
    if person is not None and person.role == RATER:
        _erase_rater(runs, register, erasure.person)
        return
    if session := erasure.session:
        words = quoted(_texts(register, erasure.person), _plan_of(runs, session))
        carried.told += erase_session(runs, session, words)
        dropped = []
        for task, sheet, unit in sheets_in(register):
            if Gone(words, session).names(unit):
                dropped.append((task, sheet))
        drop_sheets(register, dropped)
        carried.sessions.append(session)
    delete_person_in_sessions(register, erasure.person, erasure.session)


def erase_session(runs: Runs, session: str, words: Quoted) -> list[str]:
    """Withdraw a session: its tombstone, then what was derived from it, its branches, its files."""
    if (runs.path(session) / "session.json").is_file():
        lay_tombstone(runs.path(session), session, *_cost_of(runs, session))
    told = sweep(runs, Gone(words, session))
    for kind in BRANCHES:
        if (branches := branches_of(runs, kind)) is not None:
            told += _erase_branches(branches, session, words)
    StudyIndex(runs).delete()
    if runs.path(session).is_dir():
        empty_session(runs, session)
    return told


def _cost_of(runs: Runs, session: str) -> tuple[float, int]:
    """What the calls of a session have cost; nothing where its plan cannot be read."""
    try:
        return spent(runs, [session])
    except WrongInput:
        return 0.0, 0


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
    told += sweep(branches, Gone(words, parent))
    return told


def _erase_rater(runs: Runs, register: Register, person: str) -> None:
    """Delete the rows of a rater, and free her places."""
    desk = RaterDesk(runs, register)
    coders = set()
    tasks = []
    for task, number in places_of_person(register, person):
        with suppress(WrongInput):  # the task is gone, and its rows with it
            pack = desk.task(task)
            coders |= {place.rater for place in pack.places() if place.number == number}
            tasks.append(pack)
    words = quoted(_texts(register, person))
    sweep(runs, Gone(words, coders=frozenset(coders)))
    StudyIndex(runs).delete()
    delete_person_in_sessions(register, person, "")
    free_places(register, person)
    for pack in tasks:
        with suppress(WrongInput):  # scores that cannot be written now are told by the next score
            pack.rescore()


def _is_over(register: Register, session: str, server: str, at_once: bool) -> bool:
    """Whether nobody else goes on in the room of a session; a room whose people have all withdrawn
    is ended here, where no other server holds it.
    """
    (room,) = rooms_of(register, session)
    if room.state not in (LOBBY, HELD, STOPPED):
        return True
    gone = {one.id for one in persons(register) if one.stage == WITHDRAWN}
    if _others(room, gone) and not at_once:
        return False
    if not lease(register, session, server or secrets.token_hex(8)):
        return False
    set_room(register, session, CANCELLED, WITHDRAWN)
    return True


def _others(room: Room, gone: set[str]) -> bool:
    """Whether people sit in a room who have not withdrawn."""
    return any(seat.state == TAKEN and seat.person not in gone for seat in room.seats)


def _plan_of(runs: Runs, session: str) -> list[str]:
    """What stands in the plan of a session: questionnaires and instructions are nobody's words."""
    path = runs.path(session) / ALONE[0]
    return list(texts_in(json.loads(path.read_bytes()))) if path.is_file() else []


def _texts(register: Register, person: str) -> list[str]:
    """All that a person typed, out of the forms in which it is kept."""
    found: list[str] = []
    for text in texts_of(register, person):
        try:
            found += texts_in(json.loads(text))
        except ValueError:
            found.append(text)
    return found
