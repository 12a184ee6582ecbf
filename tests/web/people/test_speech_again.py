"""A debater's speech that breaks a rule comes back as a model's does: as often, with the same words,
each try an exchange of the record; then it is taken as it is.
"""

import time
from statistics import median

import pytest
from people_site import PLAIN, Browser, hall_of, link_for, served

from delibsim.conduct.replay import replay
from delibsim.store.people.register import now
from delibsim.store.people.requests import hand_in, note_shown, put_request, request_of
from delibsim.store.people.rooms import seat_of
from delibsim.store.tables.session_rows import SessionRows

DEBATE = ("format=debate", "treatment=oxford", "motion=voting", "opposition=citizen", "seed=7")
SHORT = "Voting is a duty, see www.example.org for more."
WITHIN = "We owe each other a vote. " * 20


def asked_for_a_speech(browser):
    """The page of the next speech; surveys on the way to it are answered."""
    for _ in range(400):
        text = browser.get().text
        if 'name="text"' in text:
            return text
        if 'action="/me/answer"' in text:
            browser.answer()
        time.sleep(0.03)
    raise AssertionError(browser.page.text)


def to_the_end(browser, words):
    for _ in range(400):
        text = browser.get().text
        if "You have reached the end" in text:
            return
        if 'action="/me/answer"' in text:
            assert browser.answer(words).status_code == 200
        time.sleep(0.03)
    raise AssertionError(browser.page.text)


async def test_a_speech_comes_back_as_often_as_a_models_and_is_then_taken(tmp_path):
    hall = hall_of(tmp_path, *DEBATE, "proposition=person", models=None, hosting=PLAIN)
    code, link = link_for(hall)
    with served(hall) as address:
        browser = Browser(address).enter(link)
        rules = next(iter(hall.sessions.values())).procedure.rules
        assert "comes back" not in asked_for_a_speech(browser)
        browser.post("/me/answer", text="")  # nothing is no try
        assert browser.page.status_code == 422
        asked_for_a_speech(browser)
        for _ in range(rules.reasks):
            browser.post("/me/answer", text=SHORT)
            text = browser.until("comes back")
            assert "These are 8 words; at least 100 are needed." in text
            assert f">\n{SHORT}</textarea>" in text  # nothing of it is lost
        browser.post("/me/answer", text=SHORT)
        to_the_end(browser, WITHIN)
    (session,) = hall.runs.sessions()
    run = hall.runs.run(session)
    _, seat = seat_of(hall.register, code)
    first = next(one for one in run.transcript if one.turn.speaker == seat)
    assert (run.status, first.text) == ("complete", SHORT)
    assert await replay(hall.runs, session) == run
    exchanges, _ = hall.runs.exchanges(session)
    turn = f"turn {first.turn.index}"
    tries = [one for one in exchanges if one["purpose"] == own(seat, turn, one)]
    assert [one["purpose"]["attempt"] for one in tries] == list(range(rules.reasks + 1))
    assert {one["completion"]["text"] for one in tries} == {SHORT}
    rows = list(SessionRows(hall.runs, session).rows())
    (facts,) = [row for table, row in rows if table == "runs"]
    calls = [row for table, row in rows if table == "calls" and row["participant"] == seat]
    spent = {}
    for row in calls:
        spent[row["occasion"]] = spent.get(row["occasion"], 0) + row["seconds"]
    turns = [seconds for occasion, seconds in spent.items() if occasion.startswith("turn")]
    assert facts["people_turn_seconds"] == pytest.approx(median(turns))


def own(seat, occasion, exchange):
    attempt = exchange["purpose"]["attempt"]
    return {"participant": seat, "occasion": occasion, "attempt": attempt}


def test_the_time_of_a_turn_goes_on_where_a_speech_comes_back(tmp_path):
    hall = hall_of(tmp_path, *DEBATE, "proposition=person", models=None)
    where = "room", "A", "turn 1", "{}"
    put_request(hall.register, "first", *where)
    note_shown(hall.register, "first")
    shown = request_of(hall.register, "first").shown
    hand_in(hall.register, "first", SHORT)
    again = put_request(hall.register, "again", *where, again=True)
    assert again.shown == shown
    assert 0 <= again.paused <= now() - shown  # what passed since the hand-in is not counted
    assert put_request(hall.register, "other", *where).shown is None
    hall.register.close()
