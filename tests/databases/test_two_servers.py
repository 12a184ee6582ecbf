"""Two servers, each a process, on one study and one database: SQLite of one machine, PostgreSQL."""

import asyncio
import time
from collections import Counter

import pytest
from people_site import Browser
from postgres import PASSWORD
from server_processes import servers, until_over

from delibsim.conduct.replay import replay
from delibsim.store.people.entry import PARTICIPANT, Invitation, invite_person
from delibsim.store.people.persons import Identity
from delibsim.store.people.rooms import OVER, rooms_of
from delibsim.store.runs import Runs

pytestmark = pytest.mark.heavy
SETTINGS = (
    "study=hall", "topic=ccps", "treatment=normative", "seed=7", "rounds=2", "group.size=3",
    "group.models=[person,person,citizen]",
)  # fmt: skip


def links(register, number):
    wanted = Invitation("", PARTICIPANT)
    made = [invite_person(register, wanted, 1, "en", Identity()) for _ in range(number)]
    return [f"/i/{token}" for _, token in made]


def asked_first(*browsers, seconds=20):
    """The browser that is asked to speak now, and the others; a survey is answered on the way."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for browser in browsers:
            text = browser.get().text
            if 'action="/me/answer"' not in text:
                continue
            if "<textarea" in text:
                return browser, [one for one in browsers if one is not browser]
            assert browser.answer().status_code == 200
        time.sleep(0.2)
    raise AssertionError(browsers[0].page.text)


def in_part(browser, words, seconds=15.0):
    """Seconds until the part of a page that changes holds these words."""
    begun = time.monotonic()
    while words not in browser.http.get("/me/part").json()["html"]:
        assert time.monotonic() - begun < seconds
        time.sleep(0.1)
    return time.monotonic() - begun


def exchanges(runs):
    (name,) = runs.sessions()
    found, _ = runs.exchanges(name)
    return Counter((one["purpose"]["participant"], one["purpose"]["occasion"]) for one in found)


def test_a_person_on_each_server_and_one_server_is_killed(tmp_path, database, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with servers(tmp_path) as start:
        first = start(*SETTINGS)
        runs = Runs(tmp_path / "runs", "hall")
        register = opened_in(tmp_path, database)
        anna, ben = (Browser(first.address).enter(link) for link in links(register, 2))
        anna.asked()  # the room is held by the first
        second = start("hall")
        there = Browser(second.address)
        there.http.cookies.update(dict(ben.http.cookies))
        there.get()
        (room,) = rooms_of(register)
        holder = room.server
        speaker, (other,) = asked_first(anna, there)
        assert speaker.answer("A word of the one, on one server.").status_code == 200
        spread = in_part(other, "A word of the one, on one server.")
        speaker, (other,) = asked_first(anna, there)
        assert speaker.answer("A word of the other, on the other server.").status_code == 200
        spread = max(spread, in_part(other, "A word of the other, on the other server."))
        assert spread < 3.0  # a second, and what a busy machine takes
        assert rooms_of(register)[0].server == holder
        first.kill()
        later = Browser(second.address)
        later.http.cookies.update(dict(anna.http.cookies))
        speaker, (other,) = asked_first(later, there, seconds=45)
        assert speaker.answer("After the first server was killed.").status_code == 200
        in_part(other, "After the first server was killed.", 45)  # the lease is over by then
        in_part(other, "A word of the one, on one server.")
        assert rooms_of(register)[0].server not in ("", holder)
        until_over(later, there)
        (room,) = rooms_of(register)
        assert room.state == OVER
        (name,) = runs.sessions()
        run = runs.run(name)
        assert run.status == "complete"
        assert set(exchanges(runs).values()) == {1}
        assert asyncio.run(replay(runs, name)) == run
        said = second.stop()
        assert PASSWORD not in said
        register.close()
    for path in tmp_path.rglob("*"):
        if path.is_file() and database:
            assert PASSWORD.encode() not in path.read_bytes(), path


def opened_in(home, database):
    from delibsim.store.people.register import Register

    return Register.of(Runs(home / "runs", "hall"), database)
