"""The researcher's pages: every group and who holds it up; messages, ends, restarts, seats."""

import asyncio
import hashlib
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from delibsim.domain.survey import WAVE
from delibsim.people.hall import AGAIN, Hall
from delibsim.people.overview import GroupNow, PeopleOverview, overview, stage_of
from delibsim.people.raters import RaterDesk, rater_rows
from delibsim.store.people import persons
from delibsim.store.people.hosting_files import languages
from delibsim.store.people.register import Unavailable, now
from delibsim.store.people.rooms import interventions, rooms_of, seat_of, shut_out
from delibsim.web.guard import is_loopback
from delibsim.web.people import visits
from delibsim.web.people.render import Fields, Language, language
from delibsim.web.people.visits import Door, Visit, address_of, home, one, page

OFFICE = "/office"
SPOKEN = "delibsim_office_language"
"""The cookie that holds the language of the researcher's pages, which is no secret."""
PASSED_ON = ("forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip")
"""Headers by which proxies tell that they pass a request on; beside all that begin x-forwarded."""


class OfficeEntry(Door):
    """Lets the researcher in. `open_here` says that the server is reached from this machine alone,
    so that nobody needs a password on it until one is set.
    """

    def __init__(self, hall: Hall, open_here: bool) -> None:
        super().__init__(hall)
        self.open_here = open_here
        study = hashlib.sha256(str(hall.runs.folder.resolve()).encode()).hexdigest()
        self.cookie = f"delibsim_office_{study[:8]}"  # browsers keep cookies whatever the port
        self._one = threading.Lock()

    def routes(self) -> list[Route]:
        """The routes of coming in and going."""
        return [
            Route(f"{OFFICE}/login", self.enter, methods=["POST"]),
            self.post(f"{OFFICE}/logout", self.leave),
            self.post(f"{OFFICE}/language", self.speak),
        ]

    def login(self, request: Request) -> persons.Login | None:
        """The researcher's login that a request carries; None where there is none that is good."""
        return persons.researcher_of(self.register, request.cookies.get(self.cookie, ""))

    def of(self, request: Request) -> Visit | None:
        """The visit of the researcher."""
        login = self.login(request)
        self.count(
            *((login.csrf, visits.OFTEN) if login else (address_of(request), visits.OF_ADDRESS))
        )
        return None if login is None else Visit(login, self.words(request))

    async def enter(self, request: Request) -> Response:
        """Let in who knows the password, or who sits at this machine where none is needed."""
        fields = await visits.fields_in(request)
        token = await run_in_threadpool(self._token, request, fields)
        if token is None:
            return await run_in_threadpool(self.turned_away, request, True)
        secure = request.scope.get("scheme") == "https"
        answer = home(path=OFFICE)
        answer.set_cookie(
            self.cookie,
            token,
            max_age=int(persons.SHIFT),
            httponly=True,
            samesite="strict",
            secure=secure,
            path=OFFICE,
        )
        return answer

    def leave(self, visit: Visit, fields: Fields) -> Response:
        """End a login."""
        persons.log_researcher_out(self.register, visit.login)
        answer = home(path=OFFICE)
        answer.delete_cookie(self.cookie, path=OFFICE)
        return answer

    def speak(self, visit: Visit, fields: Fields) -> Response:
        """Show pages in another language."""
        answer, code = home(path=OFFICE), one(fields, "language")
        if code in languages():
            answer.set_cookie(SPOKEN, code, httponly=True, samesite="strict", path=OFFICE)
        return answer

    def words(self, request: Request) -> Language:
        """The language of the pages: chosen, or that of the study."""
        chosen = request.cookies.get(SPOKEN, "")
        return language(chosen if chosen in languages() else self.hosting.language)

    def turned_away(self, request: Request, tried: bool = False) -> Response:
        """The way in: a password, or a button, or how a password is set."""
        needed = persons.has_password(self.register)
        way = "open" if self.is_here(request) else "none"
        wrong = tried and needed
        values = {"way": "password" if needed else way, "wrong": wrong, "csrf": None}
        words, contact = self.words(request), self.hosting.contact
        return page("office_login.html", words, 403, contact=contact, **values)

    def _token(self, request: Request, fields: Fields) -> str | None:
        """The secret of a new cookie; None for who may not come in. HTTPException 429 for who has
        tried too often.
        """
        if not persons.has_password(self.register):
            return persons.let_researcher_in(self.register) if self.is_here(request) else None
        self.count(f"password {address_of(request)}", visits.PASSWORDS)
        self.count("password", visits.PASSWORDS_OF_ALL)
        given = one(fields, "password")
        with self._one:  # each look takes 64 MiB of memory
            right = persons.is_password(self.register, given)
        return persons.let_researcher_in(self.register) if right else None

    def is_here(self, request: Request) -> bool:
        """Whether a request comes from this machine, and nobody passed it on."""
        names = [name.lower() for name in request.headers]
        passed_on = any(one in PASSED_ON or one.startswith("x-forwarded") for one in names)
        here = is_loopback(address_of(request)) and not request.scope.get("proxied")
        return self.open_here and here and not passed_on


LOOK, QUIET = 1.0, 10.0
"""Seconds between two looks of a stream, and after which it tells that time has passed."""
OF_RATERS = 15.0
"""Seconds for which the progress of raters is shown again: to count it takes a while."""
STREAMS = 20
LONGEST = 4_000
"""Characters of a message."""
TOLD = (
    "sent", "empty", "long", "gone", "ended", "not_ended", "restarted", "not_restarted",
    "seat_taken", "not_seat_taken", "revoked",
)  # fmt: skip
"""What became of what the researcher did last."""


class Office:
    """The researcher's pages over a hall and a desk of raters."""

    def __init__(self, hall: Hall, desk: RaterDesk, entry: OfficeEntry) -> None:
        self.hall, self.desk, self.entry = hall, desk, entry
        self.register, self.hosting = hall.register, hall.hosting
        self._streams = visits.Streams(STREAMS)
        self._raters: tuple[float, list[Mapping[str, Any]]] | None = None

    def routes(self) -> list[Route]:
        """The routes of these pages."""
        shown = {
            "": self.overview,
            "/part": self.part,
            "/group": self.group,
            "/people": self.people,
            "/person": self.person,
            "/raters": self.raters,
            "/message": self.writing,
            "/end": self.ending,
        }
        done = {
            "/message": self.message,
            "/end": self.end,
            "/restart": self.restart,
            "/seat": self.take_seat,
            "/revoke": self.revoke,
        }
        made = [self.entry.get(f"{OFFICE}{path}", make) for path, make in shown.items()]
        made += [self.entry.post(f"{OFFICE}{path}", act) for path, act in done.items()]
        return [*self.entry.routes(), *made, Route(f"{OFFICE}/events", self.events)]

    def overview(self, visit: Visit, request: Request) -> Response:
        """The study: how far it is, and every group."""
        return self._page(visit, request, "office.html", **self._study())

    def part(self, visit: Visit, request: Request) -> Response:
        """The part of a page that changes: of a group, or of the study."""
        if "session" in request.query_params:
            values, template = self._of_group(_group_in(request)), "office_group_part.html"
        else:
            values, template = self._study(), "office_part.html"
        values |= {"csrf": visit.login.csrf} | _shown_as(visit.words)
        return page(template, visit.words, **values)

    def group(self, visit: Visit, request: Request) -> Response:
        """One group, with what can be done, and what was done."""
        values = self._of_group(_group_in(request))
        return self._page(visit, request, "office_group.html", **values)

    def people(self, visit: Visit, request: Request) -> Response:
        """Everybody by code."""
        seated = {}
        for room in rooms_of(self.register):
            seated |= {seat.person: (room.session, seat) for seat in room.seats if seat.person}
        rows = [(one, seated.get(one.id)) for one in persons.persons(self.register)]
        return self._page(visit, request, "office_people.html", rows=rows)

    def person(self, visit: Visit, request: Request) -> Response:
        """One person by code, with what can be done."""
        found = self._person(request.query_params.get("code", ""))
        seated = seat_of(self.register, found.id)
        seat = None
        if seated is not None:
            group = self._of_group(seated[0])["group"]
            seat = next(one for one in group.seats if one.name == seated[1])
        values = {"person": found, "seated": seated, "seat": seat, "follows": self.hosting.follows}
        return self._page(visit, request, "office_person.html", **values)

    def raters(self, visit: Visit, request: Request) -> Response:
        """The tasks of raters and coders, a line a place."""
        return self._page(visit, request, "office_raters.html", rows=self._rater_rows())

    def writing(self, visit: Visit, request: Request) -> Response:
        """The form of a message to a group, or to one person of it."""
        session, code = _group_in(request), request.query_params.get("code", "")
        self._known_group(session)
        if code and (seat_of(self.register, code) or ("",))[0] != session:
            raise HTTPException(404)
        values = {"session": session, "code": code, "longest": LONGEST}
        return self._page(visit, request, "office_message.html", **values)

    def ending(self, visit: Visit, request: Request) -> Response:
        """Ask whether a group is ended."""
        return self._page(visit, request, "office_end.html", **self._of_group(_group_in(request)))

    def message(self, visit: Visit, fields: Fields) -> Response:
        """Send a message."""
        session, code = one(fields, "session"), one(fields, "code")
        text = one(fields, "text").replace("\r\n", "\n").strip()
        self._known_group(session)
        if code and (seat_of(self.register, code) or ("",))[0] != session:
            return _to("group", "gone", session=session)
        if not text or len(text) > LONGEST:
            return _to("group", "long" if text else "empty", session=session)
        self.hall.say(session, text, code)
        return _to("group", "sent", session=session)

    def end(self, visit: Visit, fields: Fields) -> Response:
        """End a group."""
        session = self._known_group(one(fields, "session"))
        return _to("group", _told("ended", self.hall.end(session)), session=session)

    def restart(self, visit: Visit, fields: Fields) -> Response:
        """Let a group that was stopped go on at once."""
        session = self._known_group(one(fields, "session"))
        return _to("group", _told("restarted", self.hall.restart(session)), session=session)

    def take_seat(self, visit: Visit, fields: Fields) -> Response:
        """Take the seat from a person."""
        code = self._person(one(fields, "code")).id
        return _to("person", _told("seat_taken", self.hall.take_away(code)), code=code)

    def revoke(self, visit: Visit, fields: Fields) -> Response:
        """Revoke the links and cookies of a person."""
        code = self._person(one(fields, "code")).id
        shut_out(self.register, code)
        return _to("person", "revoked", code=code)

    async def events(self, request: Request) -> Response:
        """A line whenever something has changed, and now and then without."""
        if await run_in_threadpool(self.entry.of, request) is None:
            return Response(status_code=204)  # a browser does not ask again
        return self._streams.answer("", self._lines(request))

    async def _lines(self, request: Request) -> AsyncIterator[dict[str, str]]:
        """The lines of a stream, until the login is not good any more."""
        seen, told = -1, 0.0
        while True:
            try:
                if await run_in_threadpool(self.entry.login, request) is None:
                    return
            except Unavailable:
                pass  # the stream goes on, as far as is known
            last = self.hall.watch.newest
            if last != seen or time.monotonic() - told > QUIET:
                seen, told = last, time.monotonic()
                yield {"event": "change", "data": ""}
            await asyncio.sleep(LOOK)

    def _study(self) -> dict[str, Any]:
        found = overview(self.hall)
        return {"study": self.hall.runs.study, "now": found, "tasks": self._tasks()}

    def _of_group(self, session: str) -> dict[str, Any]:
        """A group as it stands, and what the researcher did to it; HTTPException 404."""
        found: PeopleOverview = overview(self.hall)
        groups: list[GroupNow] = [one for one in found.groups if one.session == session]
        if not groups:
            raise HTTPException(404)
        acts = interventions(self.register, session)
        return {"group": groups[0], "acts": acts, "follows": self.hosting.follows}

    def _known_group(self, session: str) -> str:
        if not session or not rooms_of(self.register, session):
            raise HTTPException(404)
        return session

    def _person(self, code: str) -> persons.Person:
        found = persons.person_of(self.register, code)
        if found is None:
            raise HTTPException(404)
        return found

    def _rater_rows(self) -> list[Mapping[str, Any]]:
        """How far raters are, as of a few seconds ago."""
        known = self._raters
        if known is None or time.monotonic() - known[0] > OF_RATERS:
            rows: list[Mapping[str, Any]] = list(rater_rows(self.desk))
            self._raters = known = (time.monotonic(), rows)
        return known[1]

    def _tasks(self) -> list[dict[str, Any]]:
        """The tasks of raters: places by state, sheets, and how many are handed in whole."""
        tasks: dict[str, dict[str, Any]] = {}
        for row in self._rater_rows():
            task = tasks.setdefault(
                row["task"],
                {"task": row["task"], "kind": row["kind"], "sheets": 0, "whole": 0, "not_kept": 0}
                | dict.fromkeys(("free", "taken", "left", "done"), 0),
            )
            task[row["state"]] += 1
            task["whole"] += row["whole"]
            task["not_kept"] += row["not_kept"]
            task["sheets"] += row["sheets"] if row["state"] != "left" else row["whole"]
        return list(tasks.values())

    def _page(self, visit: Visit, request: Request, template: str, **values: Any) -> Response:
        told = request.query_params.get("told", "")
        told = f"office.told_{told}" if told in TOLD else ""
        common: dict[str, Any] = {"told": told, "again": AGAIN, "csrf": visit.login.csrf}
        common |= {"spoken": languages(), "contact": self.hosting.contact}
        return page(template, visit.words, 200, **common | _shown_as(visit.words) | values)


def _shown_as(words: Language) -> dict[str, Callable[..., str]]:
    """How templates show times and occasions."""
    moment = now()
    return {
        "clock": clock,
        "span": lambda at: span(words, moment - at),
        "occasion": lambda name: occasion(words, name),
        "stage": stage_of,
    }


def _group_in(request: Request) -> str:
    return request.query_params.get("session", "")


def _told(done: str, was_done: bool) -> str:
    return done if was_done else f"not_{done}"


def _to(place: str, told: str, **query: str) -> Response:
    return home(f"/{place}?{urlencode(query | {'told': told})}", OFFICE)


KNOWN = ("pre", "wave", "post", "position", "critique")


def clock(at: float) -> str:
    """A time in UTC.

    >>> clock(0.0)
    '1970-01-01 00:00:00'
    """
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def span(words: Language, seconds: float) -> str:
    """How long something takes by now, in seconds, minutes, hours or days."""
    whole = max(0, int(seconds))
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if whole >= 2 * size:
            return words(f"office.{unit}", n=whole // size)
    return words("office.seconds", n=whole)


def occasion(words: Language, name: str) -> str:
    """What a person is asked, in words."""
    kind, _, number = ("wave", "", "") if name.startswith(WAVE) else name.partition(" ")
    if kind == "turn" and number:
        return words("office.turn_n", n=number)
    return words(f"office.asked_{kind if kind in KNOWN else 'else'}")
