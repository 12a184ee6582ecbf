"""A provider of models fails in a group that waits: people are told, keep their form and what they
typed, and the time of their limits is not counted meanwhile.
"""

import threading
import time
from dataclasses import replace

import pytest
from fake_provider import Rule
from people_site import (
    PLAIN,
    TABLE,
    Browser,
    filled,
    hall_of,
    hidden,
    link_for,
    served,
    take_part,
    until,
)
from provider_thread import provider_in_a_thread

from delibsim.domain.hosting import Limit
from delibsim.models.pool import ModelPool
from delibsim.people import hall as halls
from delibsim.store.people.requests import (
    hand_in,
    not_counted,
    note_shown,
    open_request,
    put_request,
    request_of,
)
from delibsim.store.people.rooms import rooms_of, seat_of
from delibsim.store.people.schema import RoomState, SeatState
from delibsim.store.people.server import Serving

pytestmark = [pytest.mark.slow]
REFUSED = Rule(status=401)
TROUBLE = "There is a technical problem"


@pytest.fixture
def provider():
    with provider_in_a_thread([REFUSED]) as made:
        yield made


def table(home, provider, hosting):
    settings = (*TABLE, "limits.longest_wait=0.05")
    hall = hall_of(home, *settings, models="[person,person,local]", hosting=hosting)
    hall.pool = ModelPool(hall.pool.limits, addresses={"local": provider.base_url})
    return hall, [link_for(hall) for _ in range(2)]


def test_people_are_told_nothing_is_lost_and_nobody_loses_a_seat_meanwhile(
    tmp_path, provider, monkeypatch
):
    monkeypatch.setattr(halls, "AGAIN", 600.0)
    limit = Limit(0.1, binds=True)  # six seconds
    hosting = replace(PLAIN, survey=limit, turn=limit, away=limit)
    hall, (ada, ben) = table(tmp_path, provider, hosting)
    with served(hall) as address:
        browsers = [Browser(address).enter(link) for _, link in (ada, ben)]
        keys = []
        for browser in browsers:
            keys.append(hidden(browser.asked())["key"])
            browser.answer()
        for browser in browsers:
            text = browser.until(TROUBLE)
            assert "the time is not counted" in text
            assert TROUBLE in browser.http.get("/me/part").json()["html"]
            assert 'action="/me/answer"' not in text
        until(lambda: rooms_of(hall.register)[0].state == RoomState.STOPPED)
        time.sleep(7.0)  # longer than every limit
        provider.script.clear()
        (name,) = hall.sessions
        hall.restart(name)
        threads = [threading.Thread(target=take_part, args=[browser]) for browser in browsers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (room,) = rooms_of(hall.register)
        assert {seat.state for seat in room.seats} == {SeatState.TAKEN}
    run = hall.runs.run(name)
    assert run.status == "complete"
    assert not any(response.missing for response in run.responses)
    assert [request_of(hall.register, key).status for key in keys] == ["ok", "ok"]
    exchanges, _ = hall.runs.exchanges(name)
    paid = [one for one in exchanges if one["model"] == "local" and one["completion"]["text"]]
    assert provider.billed == len(paid) == 3


def test_a_form_stays_while_a_model_fails_and_is_taken(tmp_path, provider, monkeypatch):
    """Who is still asked goes on with the form; what she hands in is used when models are back."""
    hall, (ada, ben) = table(tmp_path, provider, PLAIN)
    with served(hall) as address:
        first, second = (Browser(address).enter(link) for _, link in (ada, ben))
        first.asked()
        first.answer()
        field = next(iter(filled(second.asked())))
        assert second.post("/me/draft", **{field: "3"}).json() == {"kept": True}
        until(lambda: provider.calls)
        assert f'name="{field}" value="3" checked' in second.asked().replace("\n", " ")
        key = hidden(second.page.text)["key"]
        second.answer()
        second.until(TROUBLE)
        provider.script.clear()
        monkeypatch.setattr(halls, "AGAIN", 0.1)
        threads = [threading.Thread(target=take_part, args=[one]) for one in (first, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert hall.runs.run(hall.runs.sessions()[0]).status == "complete"
    assert request_of(hall.register, key).status == "ok"


def test_a_room_that_cannot_be_held_stops_and_says_so(tmp_path):
    """A model that cannot be made is no reason to try twice a second, and to say nothing."""
    hall = hall_of(tmp_path, models="[person,local]")  # nobody says where it is
    told = []
    hall.told = told.append
    _, link = link_for(hall)
    with served(hall) as address:
        Browser(address).enter(link).until(TROUBLE)
        time.sleep(1.5)
    assert len(told) == 1
    assert "base_url" in told[0]


def test_time_counts_from_when_a_request_was_first_shown(tmp_path):
    """What was not counted before that is not taken off again; what is over is left as it is."""
    hall = hall_of(tmp_path, models="[person,citizen]")
    link_for(hall)
    (session,) = hall.sessions
    for key in ("a", "b", "c"):
        put_request(hall.register, key, session, "Participant 1", "pre", "{}")
    note_shown(hall.register, "b")
    hand_in(hall.register, "c", "said")
    since = time.time() - 3600  # a server that was gone for an hour, and asked nobody before
    not_counted(hall.register, session, since)
    found = {key: request_of(hall.register, key).paused for key in "abc"}
    assert 0 <= found["a"] < 60
    assert 0 <= found["b"] < 60
    assert found["c"] == 0.0
    time.sleep(0.05)
    not_counted(hall.register, session, time.time() - 0.04)
    found = {key: request_of(hall.register, key).paused for key in "abc"}
    assert found["a"] >= 0.04
    assert found["b"] >= 0.04
    note_shown(hall.register, "a")
    assert request_of(hall.register, "a").paused == 0.0
    note_shown(hall.register, "b")
    assert request_of(hall.register, "b").paused >= 0.04


@pytest.mark.parametrize("gently", [True, False])
def test_the_time_of_a_server_that_was_gone_is_not_counted(tmp_path, monkeypatch, gently):
    """Stopped, or gone without a word: what was asked before has as much time left afterwards."""
    limit = Limit(0.1, binds=True)
    hosting = replace(PLAIN, survey=limit, away=limit)
    hall = hall_of(tmp_path, models="[person,citizen]", hosting=hosting)
    code, link = link_for(hall)
    if not gently:
        monkeypatch.setattr(Serving, "end", lambda serving: None)
    with served(hall) as address:
        cookies = Browser(address).enter(link).http.cookies
        browser = Browser(address)
        browser.http.cookies.update(cookies)
        browser.asked()
        key = open_request(hall.register, *seat_of(hall.register, code)).key
    time.sleep(7.0)
    again = hall_of(tmp_path, models="[person,citizen]", hosting=hosting)
    with served(again) as address:
        browser = Browser(address)
        browser.http.cookies.update(cookies)
        until(lambda: rooms_of(again.register)[0].state == RoomState.HELD)
        time.sleep(2.0)
        browser.asked()
        assert request_of(again.register, key).paused >= 5.0
        browser.answer()
        assert request_of(again.register, key).status == "ok"
        assert rooms_of(again.register)[0].seats[0].state == SeatState.TAKEN
