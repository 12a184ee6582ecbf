"""One address for each person: whatever is next for her, to the end and how to withdraw."""

from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from delibsim.conduct.people.erase import give_up_seat
from delibsim.conduct.people.watch import NOBODY
from delibsim.domain.hosting import DONE as TO_THE_END
from delibsim.domain.hosting import ENDED, LEFT, SCREENED_OUT, TIMED_OUT, Completion
from delibsim.store.people.entry import invitation_of
from delibsim.store.people.persons import note_withdrawn, set_language, set_stage
from delibsim.store.people.rooms import rooms_of
from delibsim.store.people.states import Role, Stage
from delibsim.web.people.questions import Questions
from delibsim.web.people.render import html_of, languages
from delibsim.web.people.room import GONE, Room
from delibsim.web.people.visits import HOME, Fields, Visit, Visits, home

WATCH = "/demo"
"""The page of a demonstration, for everybody without a seat."""


ENDINGS = {"over": TO_THE_END, "ended": ENDED, "cancelled": TIMED_OUT, "left": LEFT}
"""The ending of a part, by how a seat stands."""
MAY_WITHDRAW = (Stage.CONSENTED, Stage.READY, Stage.DONE)
"""The stages of who has given something that can be taken back."""


class End:
    """The pages after a conversation, or in the place of one."""

    def __init__(self, visits: Visits) -> None:
        self.visits, self.hosting = visits, visits.hosting

    def routes(self) -> list[Route]:
        """The routes of these pages."""
        return [
            Route("/me/withdraw", self.visits.get(self.withdrawing), methods=["GET"]),
            Route("/me/withdraw", self.visits.post(self.withdraw), methods=["POST"]),
        ]

    def page(self, visit: Visit, how: str = "over") -> Response:
        """The debriefing, and the completion code of this ending; who has left, or for whom there
        was no conversation, is told so.
        """
        back = self.hosting.completion(ENDINGS[how])
        return self.visits.page(
            visit,
            "end.html",
            how=how,
            text=html_of(self.visits.reception(visit).debriefing),
            code=back.code,
            url=back.url,
            may_withdraw=visit.person.stage in MAY_WITHDRAW,
        )

    def goodbye(self, visit: Visit, why: str) -> Response:
        """The page of who does not take part, or not any more."""
        screened = why in (Stage.FAILED, Stage.OVER_QUOTA)
        back = self.hosting.completion(SCREENED_OUT) if screened else Completion()
        values: dict[str, Any] = {
            "code": back.code,
            "url": back.url,
            "again": why == Stage.DECLINED,
        }
        return self.visits.page(visit, "goodbye.html", why=why, **values)

    def withdrawing(self, visit: Visit, request: Request) -> Response:
        """Ask whether a person withdraws, and say what becomes of what she has given."""
        if visit.person.stage not in MAY_WITHDRAW:
            return home()
        return self.visits.page(visit, "withdraw.html", how=self.hosting.withdrawal)

    def withdraw(self, visit: Visit, fields: Fields) -> Response:
        """Keep that a person withdraws: nobody waits for her, and who she is is forgotten. The
        server carries out the rest.
        """
        if visit.person.stage in MAY_WITHDRAW:
            note_withdrawn(self.visits.register, visit.person.id)
            self._give_up(visit.person.id)
        return home()

    def _give_up(self, person: str) -> None:
        hall = self.visits.hall
        if session := give_up_seat(hall.register, self.hosting, person):
            hall.watch.tell(session, NOBODY)


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
        if stage == Stage.INVITED:
            return self.questions.consent_page(visit)
        if stage in (Stage.DECLINED, Stage.FAILED, Stage.OVER_QUOTA, Stage.WITHDRAWN):
            return self.end.goodbye(visit, stage)
        if stage == Stage.CONSENTED and self.questions.nothing(visit):
            set_stage(self.visits.register, visit.person.id, Stage.READY)
            return home()
        if stage == Stage.CONSENTED:
            return self.questions.page(visit)
        if stage == Stage.DONE:
            return self.end.page(visit)
        if visit.person.role == Role.RATER:
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
                set_stage(self.visits.register, code, Stage.DONE)
            return self.end.page(visit, view.waits)
        return self.room.page(visit, view, known)
