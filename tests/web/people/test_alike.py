"""Nothing tells models from people: the same session with models or with people in two seats."""

import json
import re
import threading
import time
from contextlib import suppress
from dataclasses import replace

import httpx
import pytest
from people_site import PLAIN, Browser, hall_of, link_for, served, take_part

from delibsim.store.people.rooms import rooms_of
from delibsim.store.people.schema import RoomState

OBSERVER = "Participant 1"
OTHERS = ("Participant 2", "Participant 3")
SECRETS = re.compile(r'((?:name="(?:csrf|key)" value|data-key)=|"key":)"[^"]*"')
LINE = re.compile(r"id: \d+|event: change|data:\s*")


def without_secrets(text):
    return SECRETS.sub(r'\1""', text)


def listen(browser, lines):
    """Keep the lines of the stream of events of a browser until it ends."""

    def read():
        asked = browser.http.stream("GET", "/me/events", timeout=60)
        with suppress(httpx.HTTPError), asked as answer:  # it ends with the server
            lines.extend(line for line in answer.iter_lines() if line and not line.startswith(":"))

    thread = threading.Thread(target=read)
    thread.start()
    return thread


def observed(home, models, texts):
    """What the observer sees of a session: pages with a request, pages of waiting, events, the end;
    and what the others said. `texts` are the words of the people in the other seats.
    """
    hosting = replace(PLAIN, typing=3_000.0 if not texts else None)
    hall = hall_of(home, models=models, hosting=hosting)
    (session,) = hall.sessions
    asked, waiting, lines, told = [], {}, [], []
    tell = hall.watch.tell

    def noted(session, seat=None):
        (room,) = rooms_of(hall.register)
        if room.state == RoomState.HELD and seat in (None, OBSERVER):
            told.append("all" if seat is None else "her")
        tell(session, seat)

    hall.watch.tell = noted
    with served(hall) as address:
        others = []
        for seat in OTHERS if texts else ():
            link = link_for(hall, session=session, seat=seat)[1]
            browser = Browser(address).enter(link)
            others.append(threading.Thread(target=take_part, args=[browser, texts[seat]]))
        _, link = link_for(hall, session=session, seat=OBSERVER)
        browser = Browser(address).enter(link)
        twin = Browser(address)
        twin.http.cookies.update(browser.http.cookies)
        stream = listen(twin, lines)
        for thread in others:
            thread.start()
        end = time.monotonic() + 60
        while "<h1>You have reached the end</h1>" not in browser.get().text:
            text = without_secrets(browser.page.text)
            if 'action="/me/answer"' in text:
                asked.append((text, without_secrets(browser.http.get("/me/part").text)))
                browser.answer()
            else:
                place = text.count('class="statement'), re.findall(r"turn of ([^.]*)\.", text)
                waiting[str(place)] = text
            assert time.monotonic() < end, text
            time.sleep(0.02)
        last = without_secrets(browser.page.text)
        for thread in others:
            thread.join()
    stream.join()
    run = hall.runs.run(session)
    said = {one.turn.speaker: one.text for one in run.transcript}
    return {
        "asked": asked,
        "waiting": waiting,
        "last": last,
        "told": told,
        "lines": lines,
        "said": said,
    }


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    models = observed(tmp_path_factory.mktemp("m"), "[person,citizen,citizen]", {})
    people = observed(tmp_path_factory.mktemp("p"), "[person,person,person]", models["said"])
    return models, people


def test_every_page_is_the_same_to_the_byte(both):
    models, people = both
    assert models["said"] == people["said"]
    assert len(models["asked"]) == 3
    for (page, part), (other, other_part) in zip(models["asked"], people["asked"], strict=True):
        assert page == other
        assert part == other_part
    assert models["last"] == people["last"]


def test_pages_of_waiting_are_the_same_where_the_talk_stands_alike(both):
    models, people = both
    shared = models["waiting"].keys() & people["waiting"].keys()
    assert any("Participant" in place for place in shared), (models["waiting"].keys(), shared)
    told = re.compile(r'<p class="notice" role="status">.*?</p>')
    for place in shared:
        page, other = models["waiting"][place], people["waiting"][place]
        assert told.sub("", page) == told.sub("", other)


def test_events_have_one_shape_and_come_in_one_order(both):
    models, people = both
    assert models["told"] == people["told"]
    for lines in (models["lines"], people["lines"]):
        assert lines
        assert [line for line in lines if not LINE.fullmatch(line)] == []
        ids = [int(line.removeprefix("id: ")) for line in lines if line.startswith("id:")]
        assert ids == sorted(set(ids))


def test_no_page_names_a_model(both):
    for seen in both:
        text = json.dumps(seen["asked"]) + json.dumps(seen["waiting"]) + seen["last"]
        assert not re.search(r"citizen_|model=|stand.in|kind: person", text)
