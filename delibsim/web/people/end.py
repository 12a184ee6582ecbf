"""The end: the debriefing with its completion code, a goodbye, and how to withdraw."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from delibsim.conduct.people.erase import give_up_seat
from delibsim.domain.hosting import DONE as TO_THE_END
from delibsim.domain.hosting import ENDED, LEFT, SCREENED_OUT, TIMED_OUT, Completion
from delibsim.store.people.persons import (
    CONSENTED,
    DECLINED,
    DONE,
    FAILED,
    OVER_QUOTA,
    READY,
    note_withdrawn,
)
from delibsim.web.people.markdown import html_of
from delibsim.web.people.visits import Fields, Visit, Visits, home

ENDINGS = {"over": TO_THE_END, "ended": ENDED, "cancelled": TIMED_OUT, "left": LEFT}
"""The ending of a part, by how a seat stands."""
MAY_WITHDRAW = (CONSENTED, READY, DONE)
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
        screened = why in (FAILED, OVER_QUOTA)
        back = self.hosting.completion(SCREENED_OUT) if screened else Completion()
        values: dict[str, Any] = {"code": back.code, "url": back.url, "again": why == DECLINED}
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
            hall.watch.tell(session)
