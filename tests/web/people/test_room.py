"""The page of a seat over real HTTP: what goes wrong between a person, her tabs and the server."""

import asyncio
import sqlite3
import threading
import time
from contextlib import suppress
from dataclasses import replace

import httpx
import pytest
from people_site import PLAIN, Browser, filled, hall_of, hidden, link_for, served, take_part
from sqlalchemy import func, select

from delibsim.domain.hosting import Limit
from delibsim.people import presence
from delibsim.store.people import register as registers
from delibsim.store.people.persons import person_of
from delibsim.store.people.requests import open_request, request_of
from delibsim.store.people.rooms import say, seat_of, shut_out
from delibsim.store.people.schema import IDENTITY, REQUEST

ONE = "[person,citizen,citizen]"
EVIL = "<script>alert(1)</script> **bold** <img src=x onerror=alert(2)> {{ 7*7 }} \u202eevil\x1b[31m شكرا 🙂"


@pytest.fixture
def table(tmp_path):
    """One person with two citizens, asked for the first time."""
    hall = hall_of(tmp_path, models=ONE)
    code, link = link_for(hall, "Ada")
    with served(hall) as address:
        browser = Browser(address).enter(link)
        browser.asked()
        yield hall, browser, code, address


def request_for(hall, code):
    return open_request(hall.register, *seat_of(hall.register, code))


def test_two_people_without_scripts_deliberate_to_the_end(tmp_path):
    hall = hall_of(
        tmp_path,
        hosting=replace(PLAIN, completion_code="XY1", completion_url="https://p.example/c"),
    )
    links = [link_for(hall)[1] for _ in range(2)]
    with served(hall) as address:
        browsers = [Browser(address).enter(link) for link in links]
        words = ["My reason is the first.", EVIL]
        threads = [
            threading.Thread(target=take_part, args=[browser, said])
            for browser, said in zip(browsers, words, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for browser in browsers:
            text = browser.get().text
            assert "XY1" in text
            assert 'href="https://p.example/c"' in text
    (session,) = hall.runs.sessions()
    run = hall.runs.run(session)
    assert run.status == "complete"
    assert len(run.transcript) == 3
    assert all(len(one.answers) == len(run.session.survey.items) for one in run.responses)


def test_a_double_click_a_second_tab_and_a_form_of_before_count_once(table):
    hall, browser, _code, _ = table
    before = browser.page.text
    key = hidden(before)["key"]
    form = hidden(before) | filled(before)
    answers = []
    threads = [
        threading.Thread(
            target=lambda: answers.append(
                browser.http.post("/me/answer", data=form).headers["location"]
            )
        )
        for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == ["/me"] + ["/me?known=1"] * 4
    first = request_of(hall.register, key).reply
    changed = form | {name: "1" for name in form if name.startswith("C")}
    stale = browser.http.post("/me/answer", data=changed, follow_redirects=True)
    assert "handed in already" in stale.text
    assert request_of(hall.register, key).reply == first
    assert browser.http.post("/me/draft", data=changed).status_code == 409


def test_what_is_typed_is_there_again_and_nothing_is_lost_where_something_is_missing(table):
    hall, browser, code, address = table
    names = [name for name in filled(browser.page.text) if name.startswith("C")]
    browser.http.post("/me/draft", data=hidden(browser.page.text) | {names[0]: "2"})
    elsewhere = Browser(address)
    elsewhere.http.cookies.update(browser.http.cookies)
    text = elsewhere.get().text
    assert f'name="{names[0]}" value="2" checked' in text.replace("\n", " ")
    answer = browser.post("/me/answer", **{names[0]: "3", names[1]: "99"})
    assert answer.status_code == 422
    assert "marked below" in answer.text
    assert f'name="{names[0]}" value="3" checked' in answer.text
    assert f'name="{names[0]}" value="3" checked' in elsewhere.get().text  # the later draft
    assert request_for(hall, code).status == ""


def until_words(browser):
    """Answer surveys until words are asked for; the page."""
    for _ in range(400):
        text = browser.get().text
        if "<textarea" in text:
            return text
        if 'action="/me/answer"' in text:
            browser.answer()
        time.sleep(0.03)
    raise AssertionError(browser.page.text)


def test_ten_thousand_words_are_refused_kindly_and_shown_again(table):
    hall, browser, code, _ = table
    until_words(browser)
    long = "word " * 10_000
    answer = browser.post("/me/answer", text=long)
    assert answer.status_code == 422
    assert "10000 words" in answer.text.replace(",", "")
    assert answer.text.count("word ") >= 9_999
    assert request_for(hall, code).status == ""
    huge = browser.http.post("/me/answer", data=hidden(answer.text) | {"text": "x" * 1_200_000})
    assert huge.status_code == 413
    assert "too much text" in huge.text
    assert browser.http.post("/me/answer", content=b"\xff\xfe=%").status_code in (400, 403)


def test_what_a_person_writes_is_inert_on_the_pages_of_others(tmp_path):
    hall = hall_of(tmp_path, models="[person,person]")
    with served(hall) as address:
        browsers = [Browser(address).enter(link_for(hall)[1]) for _ in range(2)]
        session = hall.runs.sessions()[0] if hall.runs.sessions() else next(iter(hall.sessions))
        spoken = []
        while not spoken:
            for browser in browsers:
                if 'action="/me/answer"' in browser.get().text:
                    words = "<textarea" in browser.page.text
                    browser.answer(EVIL)
                    spoken += [browser] if words else []
            time.sleep(0.03)
        (other,) = [one for one in browsers if one is not spoken[0]]
        say(hall.register, session, EVIL)
        text = other.until("alert(1)")
        part = other.http.get("/me/part").json()["html"]
        for page in (text, part):
            assert "<script>alert" not in page
            assert "<img" not in page
            assert "<strong>bold" not in page
            assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
            assert "{{ 7*7 }}" in page
            assert "\u202e" not in page
            assert "\x1b" not in page
            assert "شكرا 🙂" in page


def test_leaving_asks_first_and_the_seat_is_left(table):
    _hall, browser, _code, _ = table
    assert "Leave for good?" in browser.get("/me/leave").text
    assert 'action="/me/answer"' in browser.get().text
    browser.get("/me/leave")
    assert "You have left this conversation" in browser.post("/me/leave").text
    assert 'action="/me/answer"' not in browser.get().text


def test_withdrawing_forgets_who_she_is_at_once_and_nothing_of_her_is_asked_again(table):
    hall, browser, code, _ = table
    assert "deleted at once" in browser.get("/me/withdraw").text
    key = request_for(hall, code).key
    assert "You have withdrawn" in browser.post("/me/withdraw").text
    assert person_of(hall.register, code).stage == "withdrawn"
    with hall.register.reading() as connection:
        assert connection.execute(select(func.count()).select_from(IDENTITY)).scalar() == 0
    for path in ("/me", "/me/leave"):
        assert key not in browser.get(path).text
    assert browser.http.get("/me/events").status_code == 204


def test_a_limit_that_binds_is_told_and_counts_by_the_clock_of_the_server(tmp_path):
    limit = Limit(0.05, binds=True)
    hall = hall_of(tmp_path, models=ONE, hosting=replace(PLAIN, survey=limit))
    _, link = link_for(hall)
    with served(hall) as address:
        browser = Browser(address, date="Mon, 01 Jan 1990 00:00:00 GMT").enter(link)
        assert 'data-left="' in browser.asked()
        late = browser.page.text
        browser.until("The time was over")
        stale = browser.http.post(
            "/me/answer", data=hidden(late) | filled(late), follow_redirects=True
        )
        assert "handed in already" in stale.text or "The time was over" in stale.text
    with hall.register.reading() as connection:
        kept = connection.execute(select(REQUEST.c.status, REQUEST.c.reply)).all()
    assert ("absent", "") in [tuple(row) for row in kept]


@pytest.mark.sqlite
def test_where_nothing_can_be_written_the_answer_stays_on_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(registers, "BUSY", 0.2)
    monkeypatch.setattr(presence, "SEEN", 0.0)
    hall = hall_of(tmp_path, models=ONE)
    _code, link = link_for(hall)
    with served(hall) as address:
        browser = Browser(address).enter(link)
        browser.asked()
        fields = filled(browser.page.text)
        lock = sqlite3.connect(hall.register.engine.url.database, isolation_level=None)
        lock.execute("begin immediate")
        answer = browser.post("/me/answer", **fields)
        assert answer.status_code == 503
        assert "not lost" in answer.text
        assert int(answer.headers["retry-after"]) > 0
        lock.execute("rollback")
        lock.close()
        kept = hidden(answer.text)
        assert fields.items() <= kept.items()
        assert browser.http.post("/me/answer", data=kept).headers["location"] == "/me"
        assert request_of(hall.register, kept["key"]).status == "ok"


@pytest.mark.sqlite
def test_the_lobby_says_how_many_are_missing_and_what_becomes_of_it(tmp_path):
    for choice, told in (
        ("wait", "waits"),
        ("stand_in", "all the same"),
        ("cancel", "does not take place"),
    ):
        hosting = replace(PLAIN, nobody_comes=choice, lobby=Limit(30.0))
        hall = hall_of(tmp_path, hosting=hosting, study=choice)
        with served(hall) as address:
            text = Browser(address).enter(link_for(hall)[1]).page.text
            assert "Still missing: 1." in text
            assert told in text
            assert '<noscript><meta http-equiv="refresh"' in text


@pytest.mark.sqlite
def test_people_learn_who_is_a_model_only_where_that_is_declared(tmp_path):
    for known in (False, True):
        hall = hall_of(tmp_path, hosting=replace(PLAIN, models_known=known), study=f"k{known}")
        with served(hall) as address:
            text = Browser(address).enter(link_for(hall)[1]).page.text
            assert ("Participant 3 (a program)" in text) == known
            assert text.count("(a program)") == int(known)


class Listening:
    """The lines of a stream of events."""

    def __init__(self, browser, last=None):
        self.lines, self.status = [], None
        self._browser, self._last = browser, last
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        headers = {} if self._last is None else {"last-event-id": self._last}
        asked = self._browser.http.stream("GET", "/me/events", headers=headers, timeout=30)
        with suppress(httpx.HTTPError), asked as answer:
            self.status = answer.status_code
            for line in answer.iter_lines():
                if line.startswith(("id:", "event:", "data:")):
                    self.lines.append(line)

    def until(self, n, seconds=10):
        end = time.monotonic() + seconds
        while time.monotonic() < end and len(self.ids()) < n:
            time.sleep(0.01)
        return self.ids()

    def ids(self):
        return [line.removeprefix("id: ") for line in list(self.lines) if line.startswith("id:")]


def test_a_message_reaches_a_page_that_waits_and_a_lost_stream_goes_on(tmp_path):
    hall = hall_of(tmp_path)
    code, link = link_for(hall)
    with served(hall) as address:
        browser = Browser(address).enter(link)
        stream = Listening(browser)
        while stream.status is None:
            time.sleep(0.01)
        time.sleep(0.3)
        session, _ = seat_of(hall.register, code)
        hall.say(session, "Five minutes more.")
        (first,) = stream.until(1)
        assert "Five minutes more." in browser.http.get("/me/part").json()["html"]
        hall.say(session, "And one.")
        second = stream.until(2)[1]
        behind = Listening(browser, last=first)
        assert behind.until(1) == [second]  # what came while the network was gone
        shut_out(hall.register, code)
        assert browser.http.get("/me/events").status_code == 204


async def opened_at_once(browser, address, number):
    """The statuses of so many streams that one browser asks for at the same moment; all are open
    until the last has answered.
    """
    cookies = dict(browser.http.cookies)
    async with httpx.AsyncClient(base_url=address, cookies=cookies, timeout=20) as http:
        requests = [http.build_request("GET", "/me/events") for _ in range(number)]
        answers = await asyncio.gather(*(http.send(one, stream=True) for one in requests))
        for answer in answers:
            await answer.aclose()
    return sorted(answer.status_code for answer in answers)


def test_of_many_streams_that_are_asked_for_at_once_no_more_are_open_than_may_be(table):
    _, browser, _, address = table
    for _ in range(2):  # the places of closed streams are free again
        assert asyncio.run(opened_at_once(browser, address, 30)) == [200] * 6 + [429] * 24
        time.sleep(1)


def test_a_turn_without_a_word_is_told_to_the_others_in_its_place(tmp_path):
    hall = hall_of(tmp_path, models="[person,person]")
    seats = ["Participant 1", "Participant 2"]
    (session,) = hall.sessions
    with served(hall) as address:
        silent, other = (
            Browser(address).enter(link_for(hall, session=session, seat=seat)[1]) for seat in seats
        )
        for browser in (silent, other):
            browser.asked()
            browser.answer()
        silent.until('name="text"')
        silent.post("/me/answer", declined="1")
        told = "Participant 1 said nothing in this turn."
        assert told in other.until('name="text"')
        assert "You said nothing in this turn." in silent.get().text
        other.answer("I would ask those who live there.")
        page = silent.until("I would ask those who live there.")
        assert page.index("You said nothing") < page.index("I would ask those who live there.")
