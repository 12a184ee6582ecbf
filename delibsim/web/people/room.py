"""The page of a seat: what was said, whose turn it is, what is asked, what changes meanwhile."""

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from delibsim.conduct.people.desk import PAGES
from delibsim.conduct.people.view import View
from delibsim.conduct.people.watch import NOBODY
from delibsim.domain.hosting import Limit
from delibsim.models.person.fields import Incomplete
from delibsim.models.person.reply import reply_of
from delibsim.models.person.told import paragraphs_of
from delibsim.store.people.register import Unavailable, now
from delibsim.store.people.requests import (
    WaitingRequest,
    hand_in,
    last_given,
    note_shown,
    request_of,
    save_draft,
)
from delibsim.store.people.states import SeatState, Stage
from delibsim.web.people.forms import DECLINED, KEY, answers_in, shown, title_of
from delibsim.web.people.gate import COOKIE, Streams
from delibsim.web.people.render import render
from delibsim.web.people.visits import Fields, Visit, Visits, home

STREAMS = 6
"""Streams of events that one person may have open: one a tab."""
SHORT = 40
"""Words of instructions that stand open on every page."""
GONE = ("over", "cancelled", "ended", "left")
"""How a seat stands from which nobody is asked any more."""


class Room:
    """The pages of a seat."""

    def __init__(self, visits: Visits) -> None:
        self.visits, self.hall, self.register = visits, visits.hall, visits.register
        self.hosting = visits.hosting
        self._streams = Streams(STREAMS)

    def routes(self) -> list[Route]:
        """The routes of these pages."""
        get, post = self.visits.get, self.visits.post
        return [
            Route("/me/part", get(self.part), methods=["GET"]),
            Route("/me/events", self.events, methods=["GET"]),
            Route("/me/answer", post(self.answer), methods=["POST"]),
            Route("/me/draft", post(self.draft), methods=["POST"]),
            Route("/me/leave", get(self.leaving), methods=["GET"]),
            Route("/me/leave", post(self.leave), methods=["POST"]),
        ]

    def page(
        self,
        visit: Visit,
        view: View,
        known: bool = False,
        given: Fields | None = None,
        faults: Incomplete | None = None,
    ) -> Response:
        """The page as it stands; with what was given and what is wrong with it, where it is."""
        form: dict[str, Any] | None = None
        if view.request is not None:
            if view.request.shown is None:
                with suppress(Unavailable):  # it is shown, and noted with the next look
                    note_shown(self.register, view.request.key)
            form = self._form(visit, view, view.request, given, faults)
        told = self._told(view) if not known else "people.known"
        values: dict[str, Any] = {
            "view": view,
            "form": form,
            "told": told,
            "waiting": waiting(view),
        }
        values |= {"hosting": self.hosting, "models": self._models(view)}
        return self.visits.page(visit, "room.html", 422 if faults else 200, **values)

    def part(self, visit: Visit, request: Request) -> Response:
        """The part of the page that changes, without the form."""
        view = self.hall.view(visit.person.id)
        if view is None or visit.person.stage == Stage.WITHDRAWN:
            return JSONResponse({"html": "", "waits": "none", "key": ""}, status_code=404)
        asked = view.request.key if view.request else ""
        html = render("room_part.html", visit.words, view=view, waiting=waiting(view))
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

    def answer(self, visit: Visit, fields: Fields) -> Response:
        """Keep what was given, once; show the form again where something is missing or wrong."""
        view = self.hall.view(visit.person.id)
        request = view.request if view else None
        if view is None or request is None or request.key != (fields.get(KEY) or [""])[-1]:
            if request is None:
                self._refuse_lost(fields)
            return home("?known=1")  # a form of before: from another tab, or sent twice
        if DECLINED in fields:
            first = hand_in(
                self.register, request.key, "", "refusal", "the person declined to answer"
            )
        else:
            answers = answers_in(fields)
            try:
                reply = reply_of(PAGES.validate_json(request.page), answers)
            except Incomplete as faults:
                save_draft(self.register, request.key, json.dumps(answers))
                return self.page(visit, view, given=answers, faults=faults)
            first = hand_in(self.register, request.key, reply)
        self.hall.watch.tell(view.room.session, NOBODY)
        return home() if first else home("?known=1")

    def _refuse_lost(self, fields: Fields) -> None:
        """Unavailable for the form of a request that a database lost when it ended at once: it
        is asked for anew, so that the same form can be sent again.
        """
        if request_of(self.register, (fields.get(KEY) or [""])[-1]) is None:
            raise Unavailable("the database has lost what this form answers")

    def draft(self, visit: Visit, fields: Fields) -> Response:
        """Keep what is typed."""
        view = self.hall.view(visit.person.id)
        key = (fields.get(KEY) or [""])[-1]
        if view is None or view.request is None or view.request.key != key:
            return JSONResponse({"kept": False}, status_code=409)
        kept = save_draft(self.register, key, json.dumps(answers_in(fields)))
        return JSONResponse({"kept": kept}, status_code=200 if kept else 409)

    def leaving(self, visit: Visit, request: Request) -> Response:
        """Ask whether a person goes for good."""
        return self.visits.page(visit, "leave.html")

    def leave(self, visit: Visit, fields: Fields) -> Response:
        """A person goes for good; what was declared follows."""
        self.hall.leave(visit.person.id)
        return home()

    def _form(
        self,
        visit: Visit,
        view: View,
        request: WaitingRequest,
        given: Fields | None,
        faults: Incomplete | None,
    ) -> dict[str, Any]:
        asked = PAGES.validate_json(request.page)
        form = shown(asked, request, visit.words, given, faults)
        speaks = asked.occasion.startswith("turn ")
        limit = self.hosting.turn if speaks else self.hosting.survey
        form["title"] = visit.words(title_of(asked))
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
        last = last_given(self.register, view.room.session, view.seat)
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


def _left(limit: Limit, request: WaitingRequest) -> int | None:
    """Seconds that are left by the clock of the server; None where there is no limit."""
    if limit.minutes is None:
        return None
    begun = request.shown or now()
    return max(0, round(60 * limit.minutes - (now() - begun - request.paused)))
