"""Every route by everybody: each page answers whom it is for, and nobody reads what is another's."""

import re

import pytest
from people_site import Browser, hall_of, hidden, link_for, served
from sqlalchemy import update

from delibsim.people.raters import RaterDesk
from delibsim.store.people.persons import (
    add_person,
    digest,
    let_researcher_in,
    log_in,
    note_withdrawn,
    set_stage,
)
from delibsim.store.people.requests import open_request, request_of
from delibsim.store.people.rooms import seat_of, shut_out
from delibsim.store.people.schema import LOGIN, Role, Stage
from delibsim.web.people import visits
from delibsim.web.people.app import application
from delibsim.web.people.office import OfficeEntry
from delibsim.web.people.visits import COOKIE

PEOPLE = ("ada", "ben", "gone", "rater")
NOT_IN = ("nobody", "expired", "revoked", "researcher", "guess", "office")
"""The researcher has a cookie of her own (office), and once that of people (researcher)."""
ROLES = (*PEOPLE, *NOT_IN)
OFFICE_PAGES = ("", "/part", "/group", "/people", "/person", "/raters", "/message", "/end")
NEED_A_NAME = ("/office/group", "/office/person", "/office/message", "/office/end")
"""Pages of a group or a person: without its name there is no such page."""
MINE = "words of Ada alone"


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """Pages with somebody of every role; Ada and Ben are at one table, each asked by now."""
    home = tmp_path_factory.mktemp("roles")
    hall = hall_of(home)
    with pytest.MonkeyPatch.context() as patch, served(hall) as address:
        patch.setattr(visits, "TRIES", (10_000, 1.0))  # this walk tries more than anybody may
        browsers = {name: Browser(address) for name in ROLES}
        people = {name: link_for(hall, name) for name in ("ada", "ben", "gone", "revoked")}
        for name in ("ada", "ben"):
            browsers[name].enter(people[name][1])
        for name in ("ada", "ben"):
            browsers[name].asked()
        browsers["ada"].post("/me/draft", text=MINE, C1="3")
        browsers["ada"].get()
        for name in ("gone", "revoked"):
            browsers[name].enter(people[name][1])
        note_withdrawn(hall.register, people["gone"][0])
        shut_out(hall.register, people["revoked"][0])
        others = {"rater": Role.RATER, "researcher": Role.RESEARCHER}
        for name, role in others.items():
            person = add_person(hall.register, role) if role == Role.RATER else ""
            if person:
                set_stage(hall.register, person, Stage.READY)
            browsers[name].http.cookies.set(COOKIE, log_in(hall.register, person, role))
        own = OfficeEntry(hall, False).cookie
        browsers["office"].http.cookies.set(own, let_researcher_in(hall.register), path="/office")
        for name in ("ada", "rater"):  # their cookies, in the place of the researcher's
            theirs = browsers[name].http.cookies[COOKIE]
            browsers[name].http.cookies.set(own, theirs, path="/office")
        old = log_in(hall.register, people["ben"][0], "participant")
        with hall.register.writing() as connection:
            mine = LOGIN.c.cookie == digest(old)
            connection.execute(update(LOGIN).where(mine).values(expires=1.0))
        browsers["expired"].http.cookies.set(COOKIE, old)
        browsers["guess"].http.cookies.set(COOKIE, "0" * 32)
        yield hall, browsers, {name: code for name, (code, _) in people.items()}


def paths(hall):
    found = []
    for route in application(hall, RaterDesk(hall.runs, hall.register)).routes:
        for method in sorted(route.methods - {"HEAD"}):
            found.append((method, route.path))
    return found


def statuses(path):
    """Who gets what by GET: the statuses of roles that are in, and of all others."""
    if path.startswith("/~assets/"):
        return {key: {404} for key in ROLES}
    if path.startswith("/i/"):
        return {key: {404} for key in ROLES}
    if path == "/me/events":
        return {key: {204} for key in ROLES} | {"ada": {200}, "ben": {200}}
    if path.startswith("/rate"):
        return {key: {403} for key in ROLES} | {"rater": {200}}
    if path == "/me/part":
        return {key: {403} for key in NOT_IN} | {
            "ada": {200},
            "ben": {200},
            "gone": {404},
            "rater": {404},
        }
    if path == "/me":
        return {key: {403} for key in NOT_IN} | {key: {200} for key in PEOPLE} | {"rater": {303}}
    if path in ("/me/leave", "/me/withdraw"):
        return {key: {403} for key in NOT_IN} | {key: {200, 303} for key in PEOPLE}
    if path == "/office/events":
        return {key: {204} for key in ROLES} | {"office": {200}}
    if path in [f"/office{page}" for page in OFFICE_PAGES]:
        found = 404 if path in NEED_A_NAME else 200
        return {key: {403} for key in ROLES} | {"office": {found}}
    raise AssertionError(f"say who may see {path}")


def test_every_page_answers_whom_it_is_for(house):
    hall, browsers, _ = house
    walked = 0
    for method, path in paths(hall):
        if method != "GET":
            continue
        for role in ROLES:
            place = path.replace("{token}", "no-such-link").replace("{name}", "none.css")
            with browsers[role].http.stream("GET", place, follow_redirects=False) as answer:
                assert answer.status_code in statuses(path)[role], (path, role, answer.status_code)
                walked += 1
    assert walked >= 9 * len(ROLES)


def test_a_form_without_the_secret_of_who_sends_it_does_nothing(house):
    hall, browsers, codes = house
    stolen = hidden(browsers["ada"].get().text)["csrf"]
    for method, path in paths(hall):
        if method != "POST" or path.startswith("/i/"):
            continue
        for role in ROLES:
            for secret in ("", "x", stolen if role != "ada" else "y"):
                answer = browsers[role].http.post(
                    path, data={"csrf": secret, "agree": "1"}, follow_redirects=False
                )
                assert answer.status_code == 403, (path, role, secret)
    assert seat_of(hall.register, codes["ada"]) is not None
    assert 'action="/me/answer"' in browsers["ada"].get().text


def test_nobody_sees_what_is_anothers(house):
    hall, browsers, codes = house
    session, seat = seat_of(hall.register, codes["ada"])
    request = open_request(hall.register, session, seat)
    assert MINE in request.draft
    page = browsers["ada"].get().text
    assert request.key in page
    secret = hidden(page)["csrf"]
    for method, path in paths(hall):
        if method != "GET" or path.endswith("/events"):
            continue
        for role in ROLES:
            if role == "ada":
                continue
            place = path.replace("{token}", "no-such-link").replace("{name}", "none.css")
            text = browsers[role].get(place).text
            # The researcher knows people by their codes, and nothing that they say or type.
            known = [] if role == "office" else [codes["ada"]]
            for hidden_text in (request.key, MINE, secret, *known):
                assert hidden_text not in text, (path, role)


def test_nobody_answers_or_drafts_what_another_is_asked(house):
    hall, browsers, codes = house
    session, seat = seat_of(hall.register, codes["ada"])
    key = open_request(hall.register, session, seat).key
    for role in ("ben", "gone", "rater"):
        own = hidden(browsers[role].get().text).get("csrf", "")
        for path in ("/me/draft", "/me/answer", "/rate/draft", "/rate/answer"):
            fields = {"csrf": own, "key": key, "declined": "1", "text": "not hers"}
            browsers[role].http.post(path, data=fields)
    found = request_of(hall.register, key)
    assert found.status == ""
    assert MINE in found.draft
    assert "not hers" not in found.draft


def test_what_is_kept_of_links_and_cookies_opens_nothing(house):
    hall, browsers, _ = house
    cookie = browsers["ada"].http.cookies[COOKIE]
    kept = hall.register.engine.url.database
    with open(kept, "rb") as file:
        content = file.read()
    assert cookie.encode() not in content
    stolen = Browser(str(browsers["ada"].http.base_url))
    stolen.http.cookies.set(COOKIE, digest(cookie))
    assert stolen.get().status_code == 403


def test_pages_hold_no_script_style_or_handler_of_their_own(house):
    _, browsers, _ = house
    for role in ROLES:
        text = browsers[role].get().text
        assert not re.search(r"<script(?! src=)|<style| style=| on[a-z]+=", text), role
