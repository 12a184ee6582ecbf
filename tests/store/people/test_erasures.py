"""Deleting from the register: what was begun is finished once, and no file keeps what is gone."""

import json

import pytest
from sqlalchemy import insert, select

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
    free_places,
    session_with_words,
    sheets_in,
    texts_of,
    unfinished,
    withdrawn_undone,
)
from delibsim.store.people.persons import Identity, add_person, keep_answers, note_withdrawn
from delibsim.store.people.register import Register, now
from delibsim.store.people.requests import hand_in, put_request, save_draft
from delibsim.store.people.rooms import open_room, take_seat
from delibsim.store.people.schema import IDENTITY, PLACE, REQUEST
from delibsim.store.runs import Runs

WORDS = "zyzzyva quincunx"


@pytest.fixture
def register(tmp_path):
    made = Register.of(Runs(tmp_path, "s"), "")
    yield made
    made.close()


@pytest.fixture
def files(tmp_path):
    """Whether any file holds these words."""

    def found(words):
        return any(words.encode() in p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())

    return found


def seated(register, session="a.r1"):
    code = add_person(register, "participant", identity=Identity(name="Ann Zeppelin"))
    open_room(register, session, ["P1", "P2"])
    take_seat(register, code, session, "P1")
    return code


def test_no_file_of_the_database_keeps_what_was_deleted(register, files):
    code = seated(register)
    put_request(register, "k1", "a.r1", "P1", "turn 1", "{}")
    save_draft(register, "k1", {"text": [f"{WORDS} typed"]})
    assert files(f"{WORDS} typed")
    hand_in(register, "k1", f"{WORDS} said")
    keep_answers(register, code, {"job": f"{WORDS} kept"})
    assert len(texts_of(register, code)) == 3
    erasure = begin(register, Erasure(code, DELETE, "a.r1"))
    forget_identities(register, [code])
    delete_person_in_sessions(register, code, "a.r1")
    finish(register, [erasure])
    assert not files(WORDS)
    assert not files("Zeppelin")
    assert unfinished(register) == []


def test_what_was_begun_first_counts_and_is_finished_once(register):
    code = seated(register)
    note_withdrawn(register, code)
    assert withdrawn_undone(register) == [code]
    first = begin(register, Erasure(code, DELETE, "a.r1"))
    assert begin(register, Erasure(code, DELETE, "")) == first
    assert unfinished(register) == [first]
    assert withdrawn_undone(register) == [code]
    finish(register, [first])
    assert (unfinished(register), withdrawn_undone(register)) == ([], [])


def test_who_was_forgotten_before_still_withdraws(register):
    code = seated(register)
    finish(register, [begin(register, Erasure(code, FORGET, ""))])
    note_withdrawn(register, code)
    assert withdrawn_undone(register) == [code]


@pytest.mark.parametrize(
    ("status", "draft", "words"),
    [("absent", False, False), ("ok", False, True), ("refusal", False, True), ("", True, True)],
)
def test_a_session_goes_only_where_something_was_given(register, status, draft, words):
    code = seated(register)
    assert session_with_words(register, code) == ""
    put_request(register, "k1", "a.r1", "P1", "pre", "{}")
    assert session_with_words(register, code) == ""
    if draft:
        save_draft(register, "k1", {})
    if status:
        hand_in(register, "k1", "", status)
    assert session_with_words(register, code) == ("a.r1" if words else "")


def test_identities_are_due_after_their_days(register):
    old, new = (
        add_person(register, "rater", identity=Identity(name=name)) for name in ("Old", "New")
    )
    nobody = add_person(register, "rater")
    with register.writing() as connection:
        was = IDENTITY.update().where(IDENTITY.c.name == "Old")
        connection.execute(was.values(made=now() - 10 * 86_400))
    assert due_to_forget(register, 9) == [old]
    assert due_to_forget(register, 11) == []
    forget_identities(register, [old, new, nobody])
    assert due_to_forget(register, 0) == []


def place(register, number, person, state="taken", follows=None):
    units = json.dumps([[f"c{number}", f"debate a.r{number}"], [f"d{number}", "debate b.r1"]])
    row = {"task": "t", "number": number, "person": person, "state": state, "follows": follows}
    with register.writing() as connection:
        connection.execute(insert(PLACE).values(**row, units=units))


def test_a_place_is_free_again_unless_another_follows_it(register):
    ann, bob = (add_person(register, "rater") for _ in range(2))
    place(register, 1, ann, "left")
    place(register, 2, bob, "taken", follows=1)
    free_places(register, ann)
    free_places(register, bob)
    with register.reading() as connection:
        rows = connection.execute(select(PLACE).order_by(PLACE.c.number)).all()
    assert [(row.person, row.state) for row in rows] == [(None, "done"), (None, "free")]


def test_sheets_that_show_what_is_gone_leave_their_places(register):
    place(register, 1, add_person(register, "rater"))
    with register.writing() as connection:
        for sheet in ("c1", "d1"):
            row = {"key": sheet, "task": "t", "unit": sheet, "occasion": "x", "page": ""}
            connection.execute(insert(REQUEST).values(**row, asked=now()))
    drop_sheets(register, [("t", "c1")])
    assert sheets_in(register) == [("t", "d1", "debate b.r1")]
    with register.reading() as connection:
        assert list(connection.scalars(select(REQUEST.c.key))) == ["d1"]
