"""Coming in: a link shows a page with a button, which takes the seat and sets the cookie."""

from dataclasses import replace
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from delibsim.models.person.reply import cleaned
from delibsim.store.people.assignments import note_task
from delibsim.store.people.entry import (
    Invitation,
    accept,
    invited,
    is_revoked,
    let_in,
)
from delibsim.store.people.persons import Identity, person_of_panel
from delibsim.web.people.gate import login_in, with_cookie
from delibsim.web.people.render import languages
from delibsim.web.people.visits import Visits, home, page

PANEL_IDS = ("PROLIFIC_PID", "pid")
"""The parameters of a link in which panels send the id of a person, beside that of the study."""
LONGEST_ID = 100


class Entry:
    """The pages of links: programs that look at links do not use them up."""

    def __init__(self, visits: Visits) -> None:
        self.visits, self.register = visits, visits.register

    def routes(self) -> list[Route]:
        """The routes of these pages."""
        return [
            Route("/i/{token}", self.show, methods=["GET"]),
            Route("/i/{token}", self.enter, methods=["POST"]),
        ]

    def show(self, request: Request) -> Response:
        """A page with a button; nothing is changed by looking at it."""
        found = self._invited(request)
        if found is None:
            return self.visits.nobody(request, 404)
        if not found.person and self._needs_id(request):
            return self._without_id(request)
        known = None if found.person else self._here(request, found)
        words = self.visits.words(request)
        here, query, token = bool(known), request.url.query, request.path_params["token"]
        links = [(code, _in_language(request, code)) for code in languages()]
        return page("enter.html", words, links=links, here=here, query=query, token=token)

    def enter(self, request: Request) -> Response:
        """Let the person in to whom a link belongs; of an open link, a new one."""
        found = self._invited(request)
        if found is None:
            return self.visits.nobody(request, 404)
        if not found.person:
            if self._needs_id(request):
                return self._without_id(request)
            if self._here(request, found) and "new" not in request.query_params:
                return home()
            found = self._new(request, found)
            if found is None:
                return self.visits.nobody(request)
        if found.task:
            note_task(self.register, found.person, found.task)
        cookie = let_in(self.register, request.path_params["token"], found)
        return with_cookie(home(), cookie, request)

    def _invited(self, request: Request) -> Invitation | None:
        found = invited(self.register, request.path_params["token"])
        if found is None:
            self.visits.count_try(request)
        return found

    def _panel_id(self, request: Request) -> tuple[str, str]:
        """The parameter and the id with which a panel sent somebody; nothing where none did."""
        own = self.visits.hosting.panel
        for name in (own,) if own else PANEL_IDS:
            if given := cleaned(request.query_params.get(name, ""))[:LONGEST_ID]:
                return name, given
        return "", ""

    def _needs_id(self, request: Request) -> bool:
        return bool(self.visits.hosting.panel) and not self._panel_id(request)[1]

    def _without_id(self, request: Request) -> Response:
        contact = self.visits.hosting.contact
        return page("no_id.html", self.visits.words(request), 400, contact=contact)

    def _here(self, request: Request, found: Invitation) -> str:
        """Who has come by an open link on this device before; "" where nobody has, or where a panel
        says who it is.
        """
        if self._panel_id(request)[1]:
            return ""
        known = login_in(self.register, request)
        return known.person if known is not None and known.role == found.role else ""

    def _new(self, request: Request, found: Invitation) -> Invitation | None:
        """The invitation of who comes by an open link: known by the id of her panel, or new; None
        where she was shut out.
        """
        name, given = self._panel_id(request)
        who = Identity(panel=name, panel_id=given) if given else None
        before = person_of_panel(self.register, name, given) if given else ""
        if before:
            shut_out = is_revoked(self.register, before)
            return None if shut_out else replace(found, person=before)
        self.visits.count_newcomer(request)
        code = self.visits.words(request).code
        return accept(self.register, found, code, who)


def _in_language(request: Request, code: str) -> str:
    """The address of this page in another language."""
    given = [(name, text) for name, text in request.query_params.multi_items() if name != "lang"]
    return f"{request.url.path}?{urlencode([*given, ('lang', code)])}"
