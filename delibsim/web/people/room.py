"""The page of a seat: what was said, whose turn it is, what is asked, what changes meanwhile."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from delibsim.domain.hosting import Limit
from delibsim.models.person.fields import Incomplete, paragraphs_of, reply_of
from delibsim.people.desk import PAGES, View
from delibsim.people.presence import NOBODY
from delibsim.store.people import requests
from delibsim.store.people.register import Unavailable, now
from delibsim.store.people.schema import SeatState, Stage
from delibsim.web.people import render
from delibsim.web.people.visits import COOKIE, HOME, Streams, Visit, Visits, home, one

STREAMS = 6
"""Streams of events that one person may have open: one a tab."""
SHORT = 40
"""Words of instructions that stand open on every page."""
GONE = ("over", "cancelled", "ended", "left")
"""How a seat stands from which nobody is asked any more."""


class Asks(ABC):
    """Pages that ask something: a form is kept as it is typed, and handed in once.

    What is asked, how an answer is read, kept and shown again, is said by the hooks below.
    """

    path = HOME

    def __init__(self, visits: Visits) -> None:
        self.visits, self.hall, self.register = visits, visits.hall, visits.register
        self.hosting = visits.hosting

    def routes(self) -> list[Route]:
        """The routes of these pages."""
        get, post = self.visits.get, self.visits.post
        return [
            post(f"{self.path}/answer", self.answer),
            post(f"{self.path}/draft", self.draft),
            get(f"{self.path}/leave", self.leaving),
            post(f"{self.path}/leave", self.leave),
        ]

    @abstractmethod
    def asked(self, visit: Visit, key: str) -> Any:
        """What is asked of a person under a key; None where it is not hers, or not any more."""

    @abstractmethod
    def read(self, asked: Any, answers: render.Fields) -> str:
        """The reply that fields are; Incomplete where something is missing or wrong."""

    @abstractmethod
    def keep(self, asked: Any, key: str, reply: str, status: str, detail: str) -> bool:
        """Keep what was given; False where it was given before."""

    @abstractmethod
    def save(self, visit: Visit, key: str, answers: render.Fields) -> bool:
        """Keep what is typed; False where it was given before, or is not hers."""

    @abstractmethod
    def shown_again(
        self, visit: Visit, asked: Any, answers: render.Fields, faults: Incomplete
    ) -> Response:
        """The page with what was sent, and what is wrong with it."""

    @abstractmethod
    def leaving(self, visit: Visit, request: Request) -> Response:
        """Ask whether a person goes for good."""

    @abstractmethod
    def leave(self, visit: Visit, fields: render.Fields) -> Response:
        """A person goes for good."""

    def answer(self, visit: Visit, fields: render.Fields) -> Response:
        """Keep what was given, once; show the form again where something is missing or wrong."""
        key = one(fields, render.KEY)
        asked = self.asked(visit, key)
        if asked is None:  # a form of before: from another tab, or sent twice
            return home("?known=1", self.path)
        reply, status, detail = "", "refusal", "the person declined to answer"
        if render.DECLINED not in fields:
            answers = render.answers_in(fields)
            try:
                reply, status, detail = self.read(asked, answers), "ok", ""
            except Incomplete as faults:
                self.save(visit, key, answers)
                return self.shown_again(visit, asked, answers, faults)
        first = self.keep(asked, key, reply, status, detail)
        return home("" if first else "?known=1", self.path)

    def draft(self, visit: Visit, fields: render.Fields) -> Response:
        """Keep what is typed."""
        kept = self.save(visit, one(fields, render.KEY), render.answers_in(fields))
        return JSONResponse({"kept": kept}, status_code=200 if kept else 409)


@dataclass(frozen=True)
class Now:
    """What is asked in a seat now."""

    view: View
    request: requests.WaitingRequest


class SeatPages(Asks):
    """The pages of a seat."""

    def __init__(self, visits: Visits) -> None:
        super().__init__(visits)
        self._streams = Streams(STREAMS)

    def routes(self) -> list[Route]:
        """The routes of these pages."""
        changes = Route(f"{HOME}/events", self.events, methods=["GET"])
        return [*super().routes(), self.visits.get(f"{HOME}/part", self.part), changes]

    def page(
        self,
        visit: Visit,
        view: View,
        known: bool = False,
        given: render.Fields | None = None,
        faults: Incomplete | None = None,
    ) -> Response:
        """The page as it stands; with what was given and what is wrong with it, where it is."""
        form: dict[str, Any] | None = None
        if view.request is not None:
            if view.request.shown is None:
                with suppress(Unavailable):  # it is shown, and noted with the next look
                    requests.note_shown(self.register, view.request.key)
            form = self._form(visit, view, view.request, given, faults)
        told = self._told(view) if not known else "people.known"
        values: dict[str, Any] = {"view": view, "form": form, "told": told}
        values["waiting"] = waiting(view)
        values |= {"hosting": self.hosting, "models": self._models(view)}
        return self.visits.page(visit, "room.html", 422 if faults else 200, **values)

    def part(self, visit: Visit, request: Request) -> Response:
        """The part of the page that changes, without the form."""
        view = self.hall.view(visit.person.id)
        if view is None or visit.person.stage == Stage.WITHDRAWN:
            return JSONResponse({"html": "", "waits": "none", "key": ""}, status_code=404)
        asked = view.request.key if view.request else ""
        html = render.render("room_part.html", visit.words, view=view, waiting=waiting(view))
        return JSONResponse({"html": html, "waits": view.waits, "key": asked})

    async def events(self, request: Request) -> Response:
        """A line whenever something happens that the person can see; its id is that of the last."""
        visit, view = await run_in_threadpool(self._seen, request)
        if visit is None or view is None or visit.person.stage == Stage.WITHDRAWN:
            return Response(status_code=204)  # a browser does not ask again
        last = request.headers.get("last-event-id", "")
        seen = int(last) if last.isdecimal() and len(last) < 15 else None
        return self._streams.answer(visit.person.id, self._lines(request, view, seen))

    def _seen(self, request: Request) -> tuple[Visit | None, View | None]:
        """Who asks, and what the page of her seat shows."""
        visit = self.visits.of(request)
        return visit, self.hall.view(visit.person.id) if visit else None

    async def _lines(
        self, request: Request, view: View, seen: int | None
    ) -> AsyncIterator[dict[str, str]]:
        """The lines of a stream, until the person is gone or her cookie is not good any more."""
        session, seat = view.room.session, view.seat
        with self.hall.presence.stream(request.cookies[COOKIE]) as stream:
            async for _ in self.hall.watch.changes(session):
                if not self.hall.presence.may_go_on(stream):
                    return
                last = self.hall.watch.last(session, seat)
                if seen is not None and last != seen:
                    yield {"id": str(last), "event": "change", "data": ""}
                seen = last

    def asked(self, visit: Visit, key: str) -> Now | None:
        """The request that waits in the seat of a person. Unavailable for one that a database lost
        when it ended at once: it is asked for anew, so that the same form can be sent again.
        """
        view = self.hall.view(visit.person.id)
        if view is not None and view.request is not None:
            return Now(view, view.request) if view.request.key == key else None
        if requests.request_of(self.register, key) is None:
            raise Unavailable("the database has lost what this form answers")
        return None

    def read(self, asked: Now, answers: render.Fields) -> str:
        """The reply in the form of what was asked."""
        return reply_of(PAGES.validate_json(asked.request.page), answers)

    def keep(self, asked: Now, key: str, reply: str, status: str, detail: str) -> bool:
        """Keep a reply, and wake who waits for it."""
        first = requests.hand_in(self.register, key, reply, status, detail)
        self.hall.watch.tell(asked.view.room.session, NOBODY)
        return first

    def save(self, visit: Visit, key: str, answers: render.Fields) -> bool:
        """Keep what is typed."""
        view = self.hall.view(visit.person.id)
        if view is None or view.request is None or view.request.key != key:
            return False
        return requests.save_draft(self.register, key, answers)

    def shown_again(
        self, visit: Visit, asked: Now, answers: render.Fields, faults: Incomplete
    ) -> Response:
        """The page with what was sent."""
        return self.page(visit, asked.view, given=answers, faults=faults)

    def leaving(self, visit: Visit, request: Request) -> Response:
        """Ask whether a person goes for good."""
        return self.visits.page(visit, "leave.html")

    def leave(self, visit: Visit, fields: render.Fields) -> Response:
        """A person goes for good; what was declared follows."""
        self.hall.leave(visit.person.id)
        return home()

    def _form(
        self,
        visit: Visit,
        view: View,
        request: requests.WaitingRequest,
        given: render.Fields | None,
        faults: Incomplete | None,
    ) -> dict[str, Any]:
        """What the template of the form is given."""
        asked = PAGES.validate_json(request.page)
        draft = given if given is not None else render.draft_of(request.draft)
        form = render.form_of(asked, request.key, visit.words, draft, faults)
        limit = self.hosting.limit(asked.occasion)
        form["title"] = visit.words(render.title_of(asked))
        form["limit"], form["left"] = limit, _left(limit, request)
        form["instructions"] = paragraphs_of(view.instructions)
        long = len(view.instructions.split()) > SHORT
        form["folded"] = view.read and long and self.hosting.instructions == "fold"
        form["before"] = any(field.before for field in asked.fields)
        return form

    def _models(self, view: View) -> set[str]:
        """The seats that are shown to be models, where people may know that."""
        if not self.hosting.models_known:
            return set()
        people = {seat.name for seat in view.room.seats if seat.state != SeatState.STOOD_IN}
        return set(view.here) - people

    def _told(self, view: View) -> str:
        """The key of what became of what was asked last; "" where there is nothing to tell."""
        if view.waits in GONE or view.waits == "lobby":
            return ""
        last = requests.last_given(self.register, view.room.session, view.seat)
        if last is None:
            return ""
        if last.status == "absent":
            return "people.late"
        return "people.handed_in" if view.waits == "wait" else ""


def waiting(view: View) -> str:
    """The key of what a person is told who waits."""
    if view.waits == "wait" and view.speaker and view.speaker != view.seat:
        return "people.speaks"
    return f"people.{view.waits}"


def _left(limit: Limit, request: requests.WaitingRequest) -> int | None:
    """Seconds that are left by the clock of the server; None where there is no limit."""
    if limit.minutes is None:
        return None
    begun = request.shown or now()
    return max(0, round(60 * limit.minutes - (now() - begun - request.paused)))
