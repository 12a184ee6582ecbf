"""The researcher's page over real HTTP: what it shows, what it does, and who gets in."""

import csv
import html
import re
import time
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from people_site import PLAIN, Browser, filled, hall_of, hidden, link_for, served, take_part, until
from sqlalchemy import update
from typer.testing import CliRunner

from delibsim.cli.main import main
from delibsim.cli.people import app
from delibsim.domain.hosting import Limit
from delibsim.store.notes import interventions_in
from delibsim.store.people.persons import SHIFT, is_password, note_withdrawn, set_password
from delibsim.store.people.register import now
from delibsim.store.people.requests import open_request
from delibsim.store.people.rooms import end_room, rooms_of, seat_of, set_room
from delibsim.store.people.schema import LOGIN, PERSON, REQUEST, RoomState, SeatState
from delibsim.web.conversation import conversation_page
from delibsim.web.site import Site

ONE = "[person,citizen,citizen]"
SECRET = "a long enough password"
EVIL = "<script>alert(1)</script> **bold** {{ 7*7 }} \u202eevil\x1b[31m شكرا 🙂"


class Researcher(Browser):
    """The researcher at a browser without scripts."""

    def comes(self, password=""):
        self.post("/office/login", password=password)
        return self

    def act(self, page, action, **fields):
        """Send the form of this page that has this action."""
        text = self.get(page).text
        form = text[text.index(f'action="{action}"') :]
        given = hidden(form[: form.index("</form>")]) | fields
        return self.http.post(action, data=given, follow_redirects=True)


@pytest.fixture
def table(tmp_path):
    """One person with two citizens, asked for the first time, and the researcher."""
    hall = hall_of(tmp_path, models=ONE)
    code, link = link_for(hall, "Ada Lovelace")
    with served(hall, open_here=True) as address:
        person = Browser(address).enter(link)
        person.asked()
        yield hall, person, code, Researcher(address).comes()


def group_page(hall):
    (session,) = hall.sessions
    return f"/office/group?session={session}"


def state_of(hall):
    (room,) = rooms_of(hall.register)
    return room.state


def test_the_page_shows_groups_seats_turns_and_people_by_code_alone(table):
    hall, person, code, office = table
    text = office.get("/office").text
    assert code in text
    assert "Ada" not in text
    assert "asked for" in text
    assert "survey before" in text
    assert text.count("model citizen") == 2
    assert re.search(r"seated: <strong>1</strong>", text)
    assert "Groups that are over: 0 of 1." in text
    person.answer()
    person.asked()
    page = office.until("Turn 1 of 3") if "Turn 1 of 3" in office.get("/office").text else ""
    turn = re.search(r"Turn (\d) of 3", page or office.get("/office").text)
    assert turn is not None
    assert f"turn {turn[1]}" in office.page.text
    while state_of(hall) != RoomState.OVER:
        if 'action="/me/answer"' in person.get().text:
            person.answer()
        time.sleep(0.05)
    assert "Groups that are over: 1 of 1." in office.get("/office").text
    for path in ("/office/people", f"/office/person?code={code}", group_page(hall)):
        assert "Ada" not in office.get(path).text
        assert office.page.status_code == 200


def test_who_is_awaited_for_too_long_holds_the_group_up(tmp_path):
    limits = replace(PLAIN, survey=Limit(10.0), away=Limit(20.0))
    hall = hall_of(tmp_path, models=ONE, hosting=limits)
    code, link = link_for(hall)
    with served(hall, open_here=True) as address:
        Browser(address).enter(link).asked()
        office = Researcher(address).comes()
        assert "Held up by" not in office.get("/office").text
        request = open_request(hall.register, *seat_of(hall.register, code))
        mine = REQUEST.c.key == request.key
        for ago, seen, told in (
            (4, 4, "no sign for three minutes"),
            (11, 0, "asked for longer than the limit"),
            (25, 21, "away for longer than declared"),
        ):
            with hall.register.writing() as connection:
                then = now() - 60 * ago
                connection.execute(update(REQUEST).where(mine).values(asked=then, shown=then))
                connection.execute(update(PERSON).values(seen=now() - 60 * seen))
            assert "Held up by: 1" in office.get("/office").text
            assert told in office.page.text


def test_messages_reach_a_group_or_one_person_and_stand_in_the_record(tmp_path):
    hall = hall_of(tmp_path)
    people = [link_for(hall) for _ in range(2)]
    with served(hall, open_here=True) as address:
        browsers = [Browser(address).enter(link) for _, link in people]
        office = Researcher(address).comes()
        (session,) = hall.sessions
        write = f"/office/message?session={session}"
        assert "message is sent" in office.act(write, "/office/message", text=EVIL).text
        one = f"{write}&code={people[1][0]}"
        office.act(one, "/office/message", text="For you alone.")
        assert "needs words" in office.act(write, "/office/message", text=" \n ").text
        assert "too long" in office.act(write, "/office/message", text="x" * 4_001).text
        texts = [html.unescape(browser.get().text) for browser in browsers]
        assert "For you alone." not in texts[0]
        assert "For you alone." in texts[1]
        for text in (browsers[0].get().text, office.get(group_page(hall)).text):
            assert "<script>alert" not in text
            assert "\x1b" not in text
            assert "\u202e" not in text
        until(lambda: len(interventions_in(hall.runs, session)[0]) == 2)
    acts, damaged = interventions_in(hall.runs, session)
    seat = hall.sessions[session].participants
    assert damaged == 0
    assert [act.kind for act in acts] == ["message", "message"]
    assert acts[0].text == EVIL
    assert acts[0].seat == ""
    assert acts[1].seat in {one.id for one in seat}
    kept = (hall.runs.path(session) / "interventions.jsonl").read_text(encoding="utf-8")
    assert not any(code in kept for code, _ in people)


def test_a_group_that_is_ended_stops_and_its_record_stays(table):
    hall, person, _code, office = table
    (session,) = hall.sessions
    person.answer()
    before = person.asked()
    page = office.get(f"/office/end?session={session}").text
    assert "exchanges.jsonl" in page
    told = office.act(f"/office/end?session={session}", "/office/end").text
    assert "The group is ended." in told
    assert "The researcher" in told or "ended by the researcher" in told
    assert "ended by the researcher" in person.get().text
    late = person.http.post("/me/answer", data=hidden(before) | filled(before))
    assert "ended by the researcher" in person.http.get("/me").text
    assert late.status_code in (200, 303)
    until(lambda: all(task.done() for task in hall._held.values()))
    exchanges, _ = hall.runs.exchanges(session)
    assert exchanges
    assert not hall.runs.held(session)
    assert state_of(hall) == RoomState.CANCELLED
    until(lambda: interventions_in(hall.runs, session)[0])  # the file follows within a moment
    assert [act.kind for act in interventions_in(hall.runs, session)[0]] == ["end"]
    again = office.http.post(
        "/office/end",
        data=hidden(office.get("/office").text) | {"session": session},
        follow_redirects=True,
    )
    assert "was over before" in again.text
    assert [act.kind for act in interventions_in(hall.runs, session)[0]] == ["end"]


def test_a_group_that_another_process_ends_is_let_go_within_two_seconds(table):
    hall, _person, _code, office = table
    (session,) = hall.sessions
    assert hall.holds(session)
    assert end_room(hall.register, session)  # as a command does
    until(lambda: not hall.holds(session), 2.5)
    assert "cancelled" in office.get("/office").text
    time.sleep(1.2)
    assert not hall.holds(session)  # nobody has begun it again
    assert state_of(hall) == RoomState.CANCELLED


def test_a_group_that_was_stopped_is_restarted_once(table):
    hall, _person, _code, office = table
    (session,) = hall.sessions
    set_room(hall.register, session, RoomState.STOPPED, "the provider is down")
    page = office.get(group_page(hall)).text
    assert "the provider is down" in page
    assert (
        "The group goes on, after at most 20 seconds."
        in office.act(group_page(hall), "/office/restart").text
    )
    assert state_of(hall) == RoomState.HELD
    fields = hidden(office.get("/office").text) | {"session": session}
    again = office.http.post("/office/restart", data=fields, follow_redirects=True)
    assert "was not stopped" in again.text


def test_a_seat_that_is_taken_away_goes_on_as_declared(tmp_path):
    hosting = replace(PLAIN, drop_out="stand_in")
    hall = hall_of(tmp_path, models=ONE, hosting=hosting)
    code, link = link_for(hall)
    (session,) = hall.sessions
    with served(hall, open_here=True) as address:
        person = Browser(address).enter(link)
        person.asked()
        office = Researcher(address).comes()
        page = f"/office/person?code={code}"
        assert "every reply of it is marked" in office.get(page).text
        assert "The seat is taken away." in office.act(page, "/office/seat").text
        assert "You have left" in person.get().text
        until(lambda: state_of(hall) == RoomState.OVER)
        assert 'action="/office/seat"' not in office.get(page).text
        fields = hidden(office.page.text) | {"code": code}
        again = office.http.post("/office/seat", data=fields, follow_redirects=True)
        assert "Nothing was changed" in again.text
        until(lambda: interventions_in(hall.runs, session)[0])
    exchanges, _ = hall.runs.exchanges(session)
    assert "stand-in: citizen" in {row["completion"]["model_returned"] for row in exchanges}
    (act,) = interventions_in(hall.runs, session)[0]
    assert (act.kind, act.text) == ("seat_taken", "citizen")
    assert hall.runs.run(session).status == "complete"


def test_a_link_that_is_revoked_opens_nothing_and_its_streams_end(table):
    hall, person, code, office = table
    (room,) = rooms_of(hall.register)
    with person.http.stream("GET", "/me/events") as stream:
        assert stream.status_code == 200
        page = office.act(f"/office/person?code={code}", "/office/revoke").text
        assert "The link is revoked." in page
        began = time.monotonic()
        for _ in stream.iter_lines():
            assert time.monotonic() - began < 8
    assert person.get().status_code == 403
    (room,) = rooms_of(hall.register)
    assert [seat.state for seat in room.seats] == [SeatState.TAKEN]
    assert "revoked" in office.get(group_page(hall)).text


@pytest.mark.parametrize("how", ["expires", "withdraws"])
def test_a_stream_ends_with_its_cookie_or_its_person(table, how):
    hall, person, code, _office = table
    with person.http.stream("GET", "/me/events") as stream:
        if how == "expires":
            with hall.register.writing() as connection:
                connection.execute(
                    update(LOGIN).where(LOGIN.c.person == code).values(expires=now() - 1)
                )
        else:
            note_withdrawn(hall.register, code)  # as another process does
        began = time.monotonic()
        for _ in stream.iter_lines():
            assert time.monotonic() - began < 8
    assert time.monotonic() - began < 8


def test_the_researchers_stream_tells_of_changes_and_ends_with_the_login(table):
    hall, _person, _code, office = table
    (session,) = hall.sessions
    with office.http.stream("GET", "/office/events") as stream:
        lines = stream.iter_lines()
        assert next(line for line in lines if line) == "event: change"
        hall.say(session, "One more thing.")
        assert next(line for line in lines if line.startswith("event")) == "event: change"
        set_password(hall.register, SECRET)
        began = time.monotonic()
        for _ in lines:
            assert time.monotonic() - began < 5
    assert office.get("/office").status_code == 403


@pytest.mark.sqlite  # two studies
def test_a_password_opens_the_page_for_half_a_day_and_a_new_one_ends_every_login(tmp_path):
    hall = hall_of(tmp_path, models=ONE)
    set_password(hall.register, SECRET)
    with served(hall, open_here=True) as address:
        office = Researcher(address)
        assert 'type="password"' in office.get("/office").text
        assert office.page.status_code == 403
        wrong = office.comes("not the password").page
        assert (wrong.status_code, "This is not the password." in wrong.text) == (403, True)
        assert "Groups that are over" in office.comes(SECRET).get("/office").text
        set_cookie = office.http.post("/office/login", data={"password": SECRET}).headers
        cookie = set_cookie["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert f"max-age={int(SHIFT)}" in cookie
        assert "path=/office" in cookie
        second = Researcher(address).comes(SECRET)
        second.get("/office")
        second.post("/office/logout")
        assert second.get("/office").status_code == 403
        assert office.get("/office").status_code == 200
        assert set_password(hall.register, SECRET + "!") == 2
        assert office.get("/office").status_code == 403
        assert office.comes(SECRET).page.status_code == 403
    kept = Path(hall.register.engine.url.database).read_bytes()
    assert SECRET.encode() not in kept


def test_only_this_machine_needs_no_password_and_nobody_else_gets_in(tmp_path):
    hall = hall_of(tmp_path, models=ONE)
    with served(hall, open_here=True) as address:
        assert Researcher(address).comes().get("/office").status_code == 200
        for header in ("x-forwarded-for", "X-Forwarded-Host", "forwarded", "via", "x-real-ip"):
            passed = Researcher(address, **{header: "203.0.113.9"})
            assert "No password is set" in passed.get("/office").text
            assert "/office/login" not in passed.page.text
            assert passed.comes().page.status_code == 403
            assert passed.get("/office").status_code == 403
        other_site = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
        for headers in ({"origin": "https://evil.example"}, other_site, {"host": "evil.example"}):
            answer = httpx.post(f"{address}/office/login", headers=headers)
            assert answer.status_code in (403, 421)
            assert "set-cookie" not in answer.headers


def test_a_server_for_others_needs_a_password_even_from_this_machine(tmp_path):
    hall = hall_of(tmp_path, models=ONE)
    with served(hall) as address:
        office = Researcher(address).comes()
        assert office.page.status_code == 403
        assert "delibsim people password" in office.page.text
    hall = hall_of(tmp_path, models=ONE)
    with served(hall, proxies=["127.0.0.1"], open_here=True) as address:
        for headers in ({}, {"x-forwarded-for": "127.0.0.1"}):
            assert Researcher(address, **headers).comes().page.status_code == 403


def test_who_guesses_passwords_has_to_wait(tmp_path):
    hall = hall_of(tmp_path, models=ONE)
    set_password(hall.register, SECRET)
    with served(hall) as address:
        office = Researcher(address)
        tried = [office.comes(f"guess number {n}").page.status_code for n in range(8)]
        assert tried == [403] * 6 + [429] * 2
        assert office.comes(SECRET).page.status_code == 429


def test_what_there_is_not_is_said_to_be_missing(table):
    hall, _person, _code, office = table
    (session,) = hall.sessions
    for path in (
        "group?session=none",
        "person?code=none",
        f"message?session={session}&code=none",
        "part?session=none",
        "end",
    ):
        assert office.get(f"/office/{path}").status_code == 404, path
        assert 'href="/office"' in office.page.text


def test_the_language_of_the_page_is_chosen(table):
    *_, office = table
    assert 'lang="en"' in office.get("/office").text
    office.post("/office/language", language="de")
    assert "Gruppen" in office.get("/office").text
    office.get("/office")
    office.post("/office/language", language="xx")
    assert "Gruppen" in office.get("/office").text


def test_a_link_that_is_revoked_at_the_terminal_stands_in_the_record(table, monkeypatch, tmp_path):
    hall, person, code, _office = table
    (session,) = hall.sessions
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["revoke", "s", code]).exit_code == 0
    assert person.get().status_code == 403
    (act,) = until(lambda: interventions_in(hall.runs, session)[0])
    assert (act.kind, act.seat) == ("revoked", seat_of(hall.register, code)[1])


def test_what_was_done_is_shown_with_the_run_and_exported(table, capsys, monkeypatch, tmp_path):
    hall, person, code, office = table
    (session,) = hall.sessions
    write = f"/office/message?session={session}"
    office.act(write, "/office/message", text="Be brief, please.\nThank you.")
    office.act(f"{write}&code={code}", "/office/message", text=EVIL)
    take_part(person)
    until(
        lambda: (
            state_of(hall) == RoomState.OVER and len(interventions_in(hall.runs, session)[0]) == 2
        )
    )
    monkeypatch.chdir(tmp_path)

    def delibsim(*arguments):
        monkeypatch.setattr("sys.argv", ["delibsim", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 0
        return capsys.readouterr().out

    shown = delibsim("show", f"s/{session}")
    assert "Interventions of the researcher" in shown
    assert "Be brief, please." in shown
    assert "\x1b[31m" not in shown
    for private, words in ((False, "Be brief, please."), (True, "(left out)")):
        site = Site(hall.runs.folder.parent, private=private)
        own, _ = conversation_page(site, "s", session)
        assert "Interventions of the researcher" in own
        assert words in own
        assert ("Be brief" in own) is not private
        assert "<script>alert" not in own
    delibsim("export", "s")
    with (tmp_path / "runs/s/tables/interventions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["kind"] for row in rows] == ["message", "message"]
    assert [row["text"] for row in rows] == ["Be brief, please.\nThank you.", EVIL]
    assert rows[0]["participant"] == ""
    assert rows[1]["participant"] == seat_of(hall.register, code)[1]
    codebook = (tmp_path / "runs/s/tables/codebook.md").read_text(encoding="utf-8")
    assert "an act of the researcher" in codebook


def test_a_record_that_cannot_be_written_is_written_later(table):
    hall, _person, _code, office = table
    (session,) = hall.sessions
    blocked = hall.runs.path(session) / "interventions.jsonl"
    blocked.mkdir(parents=True)
    office.act(f"/office/message?session={session}", "/office/message", text="One.")
    time.sleep(1.2)
    assert office.get("/office").status_code == 200
    blocked.rmdir()
    (act,) = until(lambda: interventions_in(hall.runs, session)[0])
    assert act.text == "One."


def test_a_password_is_set_from_the_terminal(tmp_path, capsys, monkeypatch):
    hall = hall_of(tmp_path, models=ONE)
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    for given, code in (("short", 2), (SECRET, 0)):
        found = runner.invoke(app, ["password", "s"], input=f"{given}\n{given}\n")
        assert given not in found.output
        assert (found.exit_code == 0) == (code == 0)
    assert is_password(hall.register, SECRET)
    assert not is_password(hall.register, "short")
    hall.register.close()
