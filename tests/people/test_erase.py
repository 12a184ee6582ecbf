"""Withdrawals while people are there: rooms that run, empty lobbies, raters and their rows."""

import json
import re
import time
from contextlib import closing, nullcontext

import pytest
from people_site import PLAIN, Browser, hall_of, link_for, served, take_part, until
from rated import (
    all_of,
    codes_online,
    debates_online,
    desk_of,
    pairs_online,
    person,
    study_of_debates,
    summaries_online,
)
from sqlalchemy import select

from delibsim.domain.hosting import Hosting
from delibsim.models.pool import ModelPool
from delibsim.people.erase import carry_out
from delibsim.people.hall import Hall
from delibsim.people.raters import AnswerWriter, rater_rows
from delibsim.store.files import read_lines
from delibsim.store.people.assignments import places_in
from delibsim.store.people.erasures import withdrawn_undone
from delibsim.store.people.persons import note_withdrawn
from delibsim.store.people.register import Register
from delibsim.store.people.rooms import rooms_of
from delibsim.store.people.schema import PERSON, REQUEST, Role, RoomState, SeatState

HERS = "The quagga bridge must be painted violet before anybody crosses it again."
QUICK = 0.1


def room(hall):
    (found,) = rooms_of(hall.register)
    return found


def session(hall):
    (name,) = hall.sessions
    return name


def files_with(folder, text):
    return [path for path in folder.rglob("*") if path.is_file() and text in path.read_bytes()]


def test_a_room_goes_on_for_the_others_and_is_withdrawn_when_it_is_over(tmp_path):
    hall = hall_of(tmp_path)
    with served(hall, promises=QUICK) as address:
        ann, bob = (Browser(address).enter(link_for(hall)[1]) for _ in range(2))
        for one in (ann, bob):
            one.get()
        until_said(hall, ann, bob)
        ann.get("/me/withdraw")
        assert "You have withdrawn" in ann.post("/me/withdraw").text
        time.sleep(5 * QUICK)
        assert files_with(hall.runs.folder, b"quagga")
        assert room(hall).state == RoomState.HELD
        assert not hall.runs.withdrawn(session(hall))
        assert [seat.state for seat in room(hall).seats if seat.person] == ["silent", "taken"]
        take_part(bob)
        until(lambda: hall.runs.withdrawn(session(hall)))
        until(lambda: not files_with(hall.runs.folder, b"quagga"))
        assert "You have reached the end" in bob.get().text
        assert room(hall).state == RoomState.OVER
        assert hall.view(person_with(hall, "done")).said == ()
    with hall.register.reading() as connection:
        assert connection.execute(select(REQUEST)).all() == []


def until_said(hall, ann, bob):
    """Both answer until Ann has said her words; Bob has not answered the survey after."""
    for _ in range(300):
        for one in (ann, bob):
            if any(HERS in said.text for said in hall.talk(session(hall)).said):
                return
            if 'action="/me/answer"' in one.get().text:
                one.answer(HERS if one is ann else "I hear you.")
        time.sleep(0.05)
    raise AssertionError(ann.page.text)


def person_with(hall, stage):
    with hall.register.reading() as connection:
        return connection.scalar(select(PERSON.c.id).where(PERSON.c.stage == stage))


def test_who_is_the_last_ends_the_room(tmp_path):
    hall = hall_of(tmp_path, models="[person,citizen]")
    with served(hall, promises=QUICK) as address:
        ann = Browser(address).enter(link_for(hall)[1])
        ann.asked()
        ann.answer(HERS)
        ann.asked()
        ann.get("/me/withdraw")
        ann.post("/me/withdraw")
        until(lambda: hall.runs.withdrawn(session(hall)))
        until(lambda: room(hall).state == RoomState.OVER)
        assert not hall.holds(session(hall))
    assert not hall.runs.held(session(hall))


def test_who_withdraws_in_the_lobby_leaves_a_free_seat_and_a_whole_session(tmp_path):
    hall = hall_of(tmp_path)
    with served(hall, promises=QUICK) as address:
        ann = Browser(address).enter(link_for(hall)[1])
        ann.get()
        assert room(hall).missing == 1
        ann.get("/me/withdraw")
        ann.post("/me/withdraw")
        assert [seat.state for seat in room(hall).seats] == [SeatState.FREE, SeatState.FREE]
        people = [Browser(address).enter(link_for(hall)[1]) for _ in range(2)]
        for _ in range(100):
            for one in people:
                if 'action="/me/answer"' in one.get().text:
                    one.answer()
            if hall.runs.held(session(hall)):
                break
            time.sleep(0.05)
        time.sleep(3 * QUICK)
    assert hall.runs.status(session(hall)) == "complete"


def test_who_gave_nothing_takes_no_session_with_her(tmp_path):
    hall = hall_of(tmp_path)
    with served(hall, promises=QUICK) as address:
        ann, bob = (Browser(address).enter(link_for(hall)[1]) for _ in range(2))
        for one in (ann, bob):
            one.get()
        ann.asked()
        ann.get("/me/withdraw")
        ann.post("/me/withdraw")
        take_part(bob)
        until(lambda: hall.runs.held(session(hall)))
        time.sleep(3 * QUICK)
        assert not hall.runs.withdrawn(session(hall))
    assert hall.runs.status(session(hall)) == "partial"


def has_answered(hall, people=1):
    """Somebody who has answered the survey in the seat of a person: her code."""
    with served(hall) as address:
        code, link = link_for(hall)
        ann = Browser(address).enter(link)
        for _ in range(people - 1):
            Browser(address).enter(link_for(hall)[1]).get()
        ann.asked()
        ann.answer(HERS)
    return code


def test_a_room_that_a_server_holds_is_left_to_it(tmp_path):
    hall = hall_of(tmp_path, models="[person,citizen]")
    with served(hall) as address:
        code, link = link_for(hall)
        ann = Browser(address).enter(link)
        ann.asked()
        ann.answer(HERS)
        ann.asked()
        note_withdrawn(hall.register, code)
        carried = carry_out(hall.runs, hall.register, hall.hosting)
        assert "waits until the room" in carried.waits[0]
        until(lambda: not hall.holds(session(hall)))  # it was ended, and the server lets it go
        assert carry_out(hall.runs, hall.register, hall.hosting).waits
        assert not hall.runs.withdrawn(session(hall))
    carried = carry_out(hall.runs, Register.of(hall.runs), hall.hosting)
    assert carried.sessions == [session(hall)]


def test_what_waits_is_ended_at_once_where_the_researcher_says_so(tmp_path):
    hall = hall_of(tmp_path)
    code = has_answered(hall, people=2)
    with closing(Register.of(hall.runs)) as register:
        note_withdrawn(register, code)
        assert carry_out(hall.runs, register, hall.hosting, at_once="other").waits
        carried = carry_out(hall.runs, register, hall.hosting, at_once=code)
        assert carried.sessions == [session(hall)]


def test_another_process_uses_the_study_and_the_withdrawal_waits(tmp_path):
    hall = hall_of(tmp_path, models="[person,citizen]")
    code = has_answered(hall)
    with closing(Register.of(hall.runs)) as register:
        note_withdrawn(register, code)
        with hall.runs.lock():
            assert "in use by process" in carry_out(hall.runs, register, hall.hosting).waits[0]
        assert carry_out(hall.runs, register, hall.hosting).sessions == [session(hall)]


def rated_debates(home):
    runs = study_of_debates(home)
    return runs, debates_online(runs, raters=2, each=2)


def given_by(desk, name, task):
    """Somebody answers all that she is given, and her rows are written; her place."""
    held = desk.join(person(desk.register, name), task)
    all_of(desk, held)
    AnswerWriter(desk, nullcontext).bring()
    return held


@pytest.mark.parametrize("online", [rated_debates, codes_online, pairs_online, summaries_online])
def test_rows_of_a_rater_who_withdraws_are_deleted_and_her_place_is_free(
    tmp_path, monkeypatch, online
):
    monkeypatch.chdir(tmp_path)
    runs, task = online(tmp_path)
    desk = desk_of(runs)
    mine = given_by(desk, "ann", task).number
    hers = answered(runs)
    assert hers
    given_by(desk, "bob", task)
    both = answered(runs)
    assert len(both) > len(hers)
    opinions = list(runs.folder.glob("annotations/*/opinions.json"))
    written = [len(json.loads(path.read_text(encoding="utf-8"))) for path in opinions]
    assert written == [2] * len(opinions)
    note_withdrawn(desk.register, "ann")
    carried = carry_out(runs, desk.register, Hosting(consent="Yes."))
    assert carried.waits == []
    assert "all she gave" in carried.told[-1]
    assert answered(runs) == [row for row in both if row not in hers]
    for path in opinions:
        assert len(json.loads(path.read_text(encoding="utf-8"))) == 1
    places = {held.number: held for held in places_in(desk.register, task)}
    assert (places[mine].state, places[mine].person) == ("free", "")
    assert "ann" not in {held.person for held in places.values()}
    with desk.register.reading() as connection:
        assert set(connection.scalars(select(REQUEST.c.person))) == {"bob"}
    assert rater_rows(desk, [task])
    desk.tasks.clear()
    assert given_by(desk, "cem", task).number == mine
    assert len(answered(runs)) == len(both)


def test_a_rater_withdraws_on_her_pages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs = study_of_debates(tmp_path)
    task = debates_online(runs, raters=2, each=2)
    hall = Hall(runs, Register.of(runs, ""), PLAIN, ModelPool(), [])
    with served(hall, holding=False, promises=QUICK) as address:
        code, link = link_for(hall, "Ann", role=Role.RATER, task=task)
        ann = Browser(address).enter(link)
        assert 'href="/me/withdraw"' in ann.get().text
        page = ann.post("/rate/begin").text
        assert 'href="/me/withdraw"' in page
        given = dict.fromkeys(re.findall(r'<input[^>]* name="([A-Z]\w*)"', page), "61")
        assert ann.post("/rate/answer", **given).status_code == 200
        assert [one.person for one in places_in(hall.register, task)].count(code) == 1
        ann.get("/me/withdraw")
        assert "You have withdrawn" in ann.post("/me/withdraw").text
        until(lambda: not withdrawn_undone(hall.register))
        assert [one.state for one in places_in(hall.register, task)] == ["free", "free"]
        assert "You have withdrawn" in ann.get("/rate").text or ann.page.status_code == 403


def answered(runs):
    """The rows of people in the annotations of a study."""
    found = []
    for file in sorted(runs.folder.glob("annotations/*/people.jsonl")):
        found += read_lines(file)[0]
    return found
