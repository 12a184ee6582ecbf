"""The pages of raters over real HTTP: ten debates, drafts, breaks, two tabs, and whose is what."""

import re
import shutil
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from types import SimpleNamespace

import httpx
import people_site
import pytest
from rated import (
    codes_online,
    debates_online,
    desk_of,
    pairs_online,
    person,
    study_of_debates,
    summaries_online,
)
from sqlalchemy import update

from delibsim.models.pool import ModelPool
from delibsim.people.hall import Hall
from delibsim.people.raters import AnswerWriter
from delibsim.store.answers import PanelRatings
from delibsim.store.people.assignments import place_of, replies_of
from delibsim.store.people.persons import log_in, persons
from delibsim.store.people.schema import PERSON, PLACE, Role, Stage
from delibsim.store.runs import Runs
from delibsim.web.people.visits import COOKIE

HOSTING = replace(people_site.PLAIN, contact="us@example.org")
MODELS = re.compile(r"citizen|eloquent|halting|_plain|extractive|oxford|\.r[12]\b", re.IGNORECASE)
INPUT = re.compile(r'<input[^>]*name="([A-Z0-9a-z_]+)"[^>]*>')


@pytest.fixture(scope="module")
def held_debates(tmp_path_factory):
    return study_of_debates(tmp_path_factory.mktemp("debates"))


@pytest.fixture
def debates(held_debates, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(held_debates.folder.parent, tmp_path / "runs")
    return Runs(tmp_path / "runs", "d")


@pytest.fixture
def served():
    """Serves the pages of a desk to the raters of a task."""
    with ExitStack() as stack:

        def serve(desk, task, code="en"):
            with desk.register.writing() as connection:
                connection.execute(update(PERSON).values(task=task, language=code))
            hall = Hall(desk.runs, desk.register, HOSTING, ModelPool(), [])
            address = stack.enter_context(people_site.served(hall, holding=False))
            return SimpleNamespace(desk=desk, address=address, cookies={})

        yield serve


def browser(site, who=""):
    if who not in site.cookies:
        site.cookies[who] = log_in(site.desk.register, who, Role.RATER) if who else ""
    cookies = {COOKIE: site.cookies[who]}
    return httpx.Client(base_url=site.address, cookies=cookies, follow_redirects=True, timeout=20)


def ended(desk):
    return [one.id for one in persons(desk.register) if one.stage == Stage.DONE]


def filled(page, check="37"):
    """The fields of a form, filled in as a rater might who reads what is asked."""
    fields = {}
    for name in INPUT.findall(page):
        fields[name] = "61"
    key = re.search(r'name="key" value="([0-9a-f]+)"', page)
    csrf = re.search(r'name="csrf" value="([\w-]+)"', page)
    radios = re.findall(r'<input type="radio" name="(\w+)" value="([^"]*)"', page)
    fields |= dict(radios)
    for name in re.findall(r'<textarea[^>]* name="(\w+)"', page):
        fields[name] = "Trams are quiet & carry <many> people."
    told = re.search(r"(?:the number|nombre|Zahl)\D{0,40}?(\d\d)\b", page)
    if told:
        fields |= {name: told[1] for name in ("C1", "number") if name in fields}
    fields.pop("declined", None)
    return fields | {"key": key[1] if key else "", "csrf": csrf[1] if csrf else ""}


def begin(client):
    page = client.get("/rate").text
    csrf = re.search(r'name="csrf" value="([\w-]+)"', page)[1]
    return client.post("/rate/begin", data={"csrf": csrf}).text


def through(client, page):
    """Answer every page; all that were shown."""
    shown = [page]
    while 'action="/rate/answer"' in page:
        page = client.post("/rate/answer", data=filled(page)).text
        shown.append(page)
    return shown


def test_a_rater_rates_her_debates_from_the_first_page_to_the_last(debates, served):
    task = debates_online(debates, raters=3, each=4)
    desk = desk_of(debates)
    person(desk.register, "ann")
    site = served(desk, task)
    with browser(site, "ann") as client:
        first = client.get("/rate").text
        assert "Number of debates: 4" in first
        shown = [first, *through(client, begin(client))]
    assert "You have handed in everything" in shown[-1]
    assert ended(desk) == ["ann"]
    assert len(shown) == 1 + 2 * 4 + 1
    for page in shown:
        assert not MODELS.search(page), MODELS.search(page)
        assert len(page.encode()) < 100_000
        assert "style=" not in page
        assert "<script>" not in page
    assert AnswerWriter(desk, nullcontext).bring() == 4
    ratings = PanelRatings.of(debates, "people").people()
    assert len(ratings) == 4
    assert all(one.attentive and one.before == 61 and not one.missing for one in ratings)
    replies = replies_of(desk.register, place_of(desk.register, "ann", task))
    assert all(one.seconds is not None for own in replies.values() for one in own.values())


@pytest.mark.parametrize(
    ("made", "code"), [(codes_online, "en"), (pairs_online, "de"), (summaries_online, "fr")]
)
def test_texts_pairs_and_summaries_are_answered_to_the_end(
    tmp_path, monkeypatch, served, made, code
):
    monkeypatch.chdir(tmp_path)
    runs, task = made(tmp_path)
    desk = desk_of(runs)
    person(desk.register, "ann")
    site = served(desk, task, code)
    with browser(site, "ann") as client:
        shown = through(client, begin(client))
    assert ended(desk) == ["ann"]
    sheets = len(place_of(desk.register, "ann", task).sheets)
    assert AnswerWriter(desk, nullcontext).bring() == sheets
    faults = [
        one.fault
        for own in replies_of(desk.register, place_of(desk.register, "ann")).values()
        for one in own.values()
    ]
    assert set(faults) == {""}
    assert [MODELS.search(page) for page in shown if MODELS.search(page)] == []


def test_what_is_missing_is_marked_and_what_was_entered_stays(debates, served):
    task = debates_online(debates)
    desk = desk_of(debates)
    person(desk.register, "ann")
    site = served(desk, task)
    with browser(site, "ann") as client:
        page = begin(client)
        page = client.post("/rate/answer", data=filled(page)).text
        some = {**filled(page), "A3": "", "B4": "101", "S1": "12"}
        some.pop("WINNER")
        answer = client.post("/rate/answer", data=some)
        assert answer.status_code == 422
        for name in ("A3", "B4", "WINNER"):
            assert f'id="fault-{name}"' in answer.text
        assert 'id="fault-A1"' not in answer.text
        again = client.get("/rate").text
        assert re.search(r'name="B4"[^>]*value="101"', again)
        assert re.search(r'name="S1"[^>]*value="12"', again)


def test_drafts_a_break_a_double_click_and_a_stale_form(debates, served):
    task = debates_online(debates)
    desk = desk_of(debates)
    person(desk.register, "ann")
    site = served(desk, task)
    with browser(site, "ann") as client, browser(site, "ann") as tab:
        page = begin(client)
        fields = filled(page)
        assert client.post("/rate/draft", data={**fields, "S1": "7"}).json() == {"kept": True}
        assert 'value="7"' in tab.get("/rate").text
        paused = client.post("/rate/pause", data={**fields, "S1": "8"}).text
        assert "having a break" in paused
        assert "having a break" in tab.get("/rate").text
        with desk.register.writing() as connection:
            connection.execute(PLACE.update().values(paused=PLACE.c.paused - 500))
        assert 'value="8"' in client.post("/rate/go-on", data=fields).text
        then = client.post("/rate/answer", data=fields).text
        assert "WINNER" in then
        again = tab.post("/rate/answer", data={**fields, "S1": "99"})
        assert "handed in already" in again.text
        assert "WINNER" in again.text
        assert client.post("/rate/draft", data=fields).status_code == 409
    held = place_of(desk.register, "ann", task)
    (before,) = [own["before"] for own in replies_of(desk.register, held).values()]
    assert before.reply == "S1: 61"
    assert before.paused >= 500
    assert before.seconds < 60


def test_nobody_reaches_what_is_anothers(debates, served):
    task = debates_online(debates)
    desk = desk_of(debates)
    for name in ("ann", "ben"):
        person(desk.register, name)
    site = served(desk, task)
    with browser(site, "ann") as ann, browser(site, "ben") as ben:
        hers = filled(begin(ann))
        own = {"csrf": filled(begin(ben))["csrf"]}
        ben.post("/rate/answer", data={**hers, **own, "S1": "1"})
        assert ben.post("/rate/draft", data={**hers, **own}).status_code == 409
        held = place_of(desk.register, "ann", task)
        waits = [
            one.status for own in replies_of(desk.register, held).values() for one in own.values()
        ]
        assert waits == [""]
        with browser(site) as nobody:
            for path in ("/rate", "/rate/leave"):
                assert nobody.get(path).status_code == 403
            for path in ("answer", "draft", "begin", "pause", "go-on", "leave"):
                assert nobody.post(f"/rate/{path}", data=hers).status_code == 403
                forged = {**hers, "csrf": "d" * 32}
                assert ann.post(f"/rate/{path}", data=forged).status_code == 403


def test_who_stops_for_good_keeps_what_is_whole_and_the_rest_goes_on(debates, served):
    task = debates_online(debates, raters=1, each=3)
    desk = desk_of(debates)
    for name in ("ann", "ben", "cy"):
        person(desk.register, name)
    site = served(desk, task)
    with browser(site, "ann") as ann, browser(site, "ben") as ben:
        page = begin(ann)
        assert "nothing to do" in ben.get("/rate").text
        for _ in range(3):
            page = ann.post("/rate/answer", data=filled(page)).text
        assert "Stop for good?" in ann.get("/rate/leave").text
        assert "Your part is over" in ann.post("/rate/leave", data=filled(page)).text
        assert "Number of debates: 2" in ben.get("/rate").text
        through(ben, begin(ben))
        assert "Your part is over" in ann.get("/rate").text
    assert ended(desk) == ["ann", "ben"]
    AnswerWriter(desk, nullcontext).bring()
    found = [one.rater for one in PanelRatings.of(debates, "people").people()]
    assert sorted(found) == [f"{task} 1", f"{task} 2", f"{task} 2"]


def test_declined_answers_are_missing_with_a_reason(debates, served):
    task = debates_online(debates, raters=1, each=1)
    desk = desk_of(debates)
    person(desk.register, "ann")
    site = served(desk, task)
    with browser(site, "ann") as client:
        page = begin(client)
        page = client.post("/rate/answer", data={**filled(page), "declined": "1"}).text
        client.post("/rate/answer", data=filled(page))
    AnswerWriter(desk, nullcontext).bring()
    (rating,) = PanelRatings.of(debates, "people").people()
    assert rating.before is None
    assert {name: reason.code for name, reason in rating.missing.items()} == {"before": "not_given"}


def test_what_a_rater_writes_is_inert_and_long_words_are_told(tmp_path, monkeypatch, served):
    monkeypatch.chdir(tmp_path)
    runs, task = summaries_online(tmp_path)
    desk = desk_of(runs)
    person(desk.register, "ann")
    site = served(desk, task)
    evil = "<script>alert(1)</script> \u202e \U0001f600 & \"'"
    with browser(site, "ann") as client:
        page = begin(client)
        long = client.post("/rate/answer", data={**filled(page), "text": "word " * 10_000})
        assert long.status_code == 422
        assert "These are 10000 words; at most 500 can be taken." in long.text
        assert client.get("/rate").text.count("word ") >= 9_999
        none = client.post("/rate/answer", data={**filled(page), "text": "?!"})
        assert "no word" in none.text
        page = client.post("/rate/answer", data={**filled(page), "text": evil}).text
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)" in page
        assert client.post("/rate/answer", content=b"x" * 1_100_000).status_code == 413
        assert client.post("/rate/answer", content=b"\xff=1&csrf=\xff").status_code == 400


def test_a_task_whose_texts_were_edited_says_so(debates, served):
    task = debates_online(debates)
    desk = desk_of(debates)
    person(desk.register, "ann")
    site = served(desk, task)
    path = PanelRatings.of(debates, "people").files.packs / f"{task}.json"
    path.write_text(re.sub(r'"debate_sha256": ?"\w', '"debate_sha256": "x', path.read_text()))
    with browser(site, "ann") as client:
        answer = client.get("/rate")
    assert answer.status_code == 409
    assert "us@example.org" in answer.text
