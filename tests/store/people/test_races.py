"""Many at once, on SQLite and on PostgreSQL: real threads, each with connections of its own."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from delibsim.store.people import assignments
from delibsim.store.people.persons import (
    Identity,
    Invitation,
    accept,
    add_person,
    consent,
    invite,
    invite_person,
    keep_answers,
    note_withdrawn,
    person_of,
    persons,
    set_stage,
)
from delibsim.store.people.requests import hand_in, put_request, request_of, save_draft
from delibsim.store.people.rooms import open_room, rooms_of, set_room, set_seat, shut_out, take_seat
from delibsim.store.people.schema import (
    ANSWER,
    LOGIN,
    PLACE,
    REQUEST,
    Role,
    RoomState,
    SeatState,
    Stage,
)


def at_once(*acts):
    """What these give, called in the same moment by a thread each; failures are raised."""
    ready = threading.Barrier(len(acts))

    def call(act):
        ready.wait()
        return act()

    with ThreadPoolExecutor(len(acts)) as pool:
        return [one.result() for one in [pool.submit(call, act) for act in acts]]


@pytest.fixture
def registers(opened):
    """Two registers of one study, as its server and a command beside it have them."""
    return opened(), opened()


def test_registers_are_made_by_many_servers_at_once(opened):
    made = at_once(*[opened] * 6)
    assert {len(persons(one)) for one in made} == {0}


def test_a_seat_is_taken_by_one_and_nobody_takes_two(registers):
    for number in range(4):
        open_room(registers[0], f"room {number}", ["A", "B", "C"])
    people = [add_person(registers[0], "participant") for _ in range(14)]
    tabs = [person for person in people for _ in range(2)]
    takes = [
        lambda person=person, n=n: take_seat(registers[n % 2], person)
        for n, person in enumerate(tabs)
    ]
    found = []
    for start in range(0, len(takes), 14):
        found += at_once(*takes[start : start + 14])
    by_person = {}
    for person, seat in zip(tabs, found, strict=True):
        by_person.setdefault(person, set()).add(seat)
    seated = [seats for seats in by_person.values() if seats != {None}]
    assert all(len(seats) == 1 for seats in seated)
    taken = [(room.session, seat.name) for room in rooms_of(registers[0]) for seat in room.seats
             if seat.state == SeatState.TAKEN]  # fmt: skip
    assert len(taken) == 12
    assert {next(iter(seats)) for seats in seated} == set(taken)


def test_a_model_follows_where_nobody_came_and_never_where_somebody_did(registers):
    """The time of the lobby is over while people come in."""
    for number in range(8):
        name = f"room {number}"
        open_room(registers[0], name, ["A"])
        person = add_person(registers[0], "participant")

        def stand_in(name=name):
            changed = set_seat(
                registers[0], name, "A", SeatState.STOOD_IN, "citizen", (SeatState.FREE,)
            )
            set_room(registers[0], name, RoomState.HELD, of=(RoomState.LOBBY,))
            return changed

        stood_in, seat = at_once(stand_in, lambda p=person, n=name: take_seat(registers[1], p, n))
        (room,) = rooms_of(registers[0], name)
        assert (room.seats[0].person == person) == (seat is not None) == (not stood_in)
        assert room.seats[0].state == (SeatState.TAKEN if seat else SeatState.STOOD_IN)


def test_nobody_is_seated_in_a_room_that_was_cancelled(registers):
    for number in range(8):
        name = f"room {number}"
        open_room(registers[0], name, ["A", "B"])
        person = add_person(registers[0], "participant")
        cancelled, seat = at_once(
            lambda n=name: set_room(registers[0], n, RoomState.CANCELLED, of=(RoomState.LOBBY,)),
            lambda p=person, n=name: take_seat(registers[1], p, n),
        )
        assert cancelled
        (room,) = rooms_of(registers[0], name)
        assert (room.first is not None) == (seat is not None)
        assert take_seat(registers[0], add_person(registers[0], "participant"), name) is None


def test_a_request_is_given_once_and_no_draft_comes_after(registers):
    for number in range(6):
        key = f"key {number}"
        kept = at_once(*[lambda n=n, k=key: put_request(registers[n % 2], k, "room", "A", "pre", "{}")
                         for n in range(4)])  # fmt: skip
        assert len({one.asked for one in kept}) == 1
        given = at_once(
            *[lambda n=n, k=key: hand_in(registers[n % 2], k, f"reply {n}") for n in range(6)],
            *[
                lambda n=n, k=key: save_draft(registers[n % 2], k, {"text": [f"draft {n}"]})
                for n in range(2)
            ],
        )
        assert sum(given[:6]) == 1
        found = request_of(registers[0], key)
        assert found.reply == f"reply {given.index(True)}"
        assert not save_draft(registers[1], key, {})
        assert request_of(registers[0], key).draft == found.draft


def test_one_id_of_a_panel_is_one_person(registers):
    link = Invitation("", "participant")
    who = Identity(panel="PROLIFIC_PID", panel_id="5f1")
    came = at_once(
        *[lambda n=n: accept(registers[n % 2], link, "en", who).person for n in range(8)]
    )
    assert len(set(came)) == 1
    assert [one.id for one in persons(registers[0])] == [came[0]]


def test_answers_that_were_sent_twice_count_once(registers):
    code = add_person(registers[0], "participant")
    at_once(*[lambda n=n: keep_answers(registers[n % 2], code, {"age": str(n), "town": str(n)})
              for n in range(6)])  # fmt: skip
    found = registers[0].all(select(ANSWER.c.value))
    assert len(found) == 2
    assert len({one.value for one in found}) == 1


def test_who_has_withdrawn_stays_withdrawn(registers):
    for number in range(6):
        code = add_person(registers[0], "participant", identity=Identity(f"Anna {number}"))
        consent(registers[0], code, "1")
        at_once(
            lambda c=code: note_withdrawn(registers[0], c),
            lambda c=code: set_stage(registers[1], c, Stage.READY),
            lambda c=code: consent(registers[1], c, "1"),
        )
        assert person_of(registers[0], code).stage == Stage.WITHDRAWN
    consent(registers[0], code, "2")
    assert person_of(registers[0], code).stage != Stage.CONSENTED


def test_places_of_raters_are_entered_once_and_had_by_one(registers):
    places = {n: [(f"sheet {n}", f"unit {n}")] for n in range(6)}
    at_once(*[lambda n=n: assignments.open_places(registers[n % 2], "task", places, {})
              for n in range(4)])  # fmt: skip
    with registers[0].reading() as connection:
        assert connection.scalar(select(func.count()).select_from(PLACE)) == 6
    raters = [add_person(registers[0], Role.RATER) for _ in range(8)]
    tabs = raters * 2
    held = at_once(*[lambda n=n, r=r: assignments.take_place(registers[n % 2], "task", r)
                     for n, r in enumerate(tabs)])  # fmt: skip
    by_rater = {}
    for rater, one in zip(tabs, held, strict=True):
        by_rater.setdefault(rater, set()).add(one and one.number)
    assert all(len(numbers) == 1 for numbers in by_rater.values())
    had = [next(iter(numbers)) for numbers in by_rater.values() if numbers != {None}]
    assert sorted(had) == list(range(6))


def test_a_break_of_a_rater_is_counted_once(registers):
    assignments.open_places(registers[0], "task", {0: [("sheet", "unit")]}, {})
    rater = add_person(registers[0], Role.RATER)
    held = assignments.take_place(registers[0], "task", rater)
    key = assignments.show_step(registers[0], held, "sheet", "step", None)
    assignments.pause(registers[0], held)
    time.sleep(0.3)
    at_once(*[lambda n=n: assignments.go_on(registers[n % 2], held) for n in range(6)])
    with registers[0].reading() as connection:
        paused = connection.scalar(select(REQUEST.c.paused).where(REQUEST.c.key == key))
    assert 0.25 < paused < 0.55


def test_a_link_that_is_revoked_while_it_is_used_opens_nothing(registers, database):
    from delibsim.store.people.persons import let_in, login_of

    for _ in range(6):
        code, token = invite_person(
            registers[0], Invitation("", "participant"), 1, "en", Identity()
        )

        def enter(token=token, code=code):
            return let_in(registers[1], token, Invitation(code, "participant"))

        _, cookie = at_once(lambda c=code: shut_out(registers[0], c), enter)
        assert login_of(registers[0], cookie) is None
    with registers[0].reading() as connection:
        assert connection.scalar(select(func.count()).select_from(LOGIN)) == 0
    assert invite(registers[0], Invitation("", "participant"), 1)
