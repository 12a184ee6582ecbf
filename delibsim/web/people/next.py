"""One address for each person: whatever is next for her."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from delibsim.store.people.entry import RATER, invitation_of
from delibsim.store.people.persons import (
    CONSENTED,
    DECLINED,
    DONE,
    FAILED,
    INVITED,
    OVER_QUOTA,
    READY,
    WITHDRAWN,
    set_language,
    set_stage,
)
from delibsim.store.people.rooms import rooms_of
from delibsim.web.people.end import End
from delibsim.web.people.language import languages
from delibsim.web.people.questions import Questions
from delibsim.web.people.room import GONE, Room
from delibsim.web.people.visits import HOME, Fields, Visit, Visits, home

WATCH = "/demo"
"""The page of a demonstration, for everybody without a seat."""


class Next:
    """The address of every person: what she sees there depends on how far she is."""

    def __init__(self, visits: Visits, questions: Questions, room: Room, end: End) -> None:
        self.visits, self.questions, self.room, self.end = visits, questions, room, end

    def routes(self) -> list[Route]:
        """The routes of these pages."""
        return [
            Route(HOME, self.visits.get(self.page), methods=["GET"]),
            Route("/me/language", self.visits.post(self.language), methods=["POST"]),
        ]

    def page(self, visit: Visit, request: Request) -> Response:
        """Whatever is next for a person."""
        stage = visit.person.stage
        if self.visits.told_in_demo is not None and self._watches(visit):
            return RedirectResponse(WATCH, status_code=303)
        if stage == INVITED:
            return self.questions.consent_page(visit)
        if stage in (DECLINED, FAILED, OVER_QUOTA, WITHDRAWN):
            return self.end.goodbye(visit, stage)
        if stage == CONSENTED and self.questions.nothing(visit):
            set_stage(self.visits.register, visit.person.id, READY)
            return home()
        if stage == CONSENTED:
            return self.questions.page(visit)
        if stage == DONE:
            return self.end.page(visit)
        if visit.person.role == RATER:
            return RedirectResponse("/rate", status_code=303)
        return self._seat(visit, "known" in request.query_params)

    def language(self, visit: Visit, fields: Fields) -> Response:
        """Show pages in another language."""
        code = (fields.get("language") or [""])[-1]
        if code in languages():
            set_language(self.visits.register, visit.person.id, code)
        return home()

    def _watches(self, visit: Visit) -> bool:
        """Whether somebody watches a demonstration: the one seat is another's, or all is over."""
        hall = self.visits.hall
        view = hall.view(visit.person.id)
        if view is not None:
            return view.waits in GONE
        return not any(room.missing for room in rooms_of(hall.register))

    def _seat(self, visit: Visit, known: bool) -> Response:
        """The page of a seat; who has none is given one, where one is free."""
        hall, code = self.visits.hall, visit.person.id
        view = hall.view(code)
        if view is None:
            invitation = invitation_of(self.visits.register, code)
            where = (invitation.session, invitation.seat) if invitation else ("", "")
            hall.join(code, *where)
            view = hall.view(code)
        if view is None:
            return self.visits.page(visit, "full.html")
        if view.waits in GONE:
            if view.waits == "over":
                set_stage(self.visits.register, code, DONE)
            return self.end.page(visit, view.waits)
        return self.room.page(visit, view, known)
