"""Who asks for a page: the person of a cookie, in her language, as often as anybody needs to."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from delibsim.conduct.people.hall import Hall
from delibsim.conduct.people.rater_reception import rater_reception
from delibsim.domain.hosting import Reception
from delibsim.store.people.entry import Login, visitor_of
from delibsim.store.people.persons import Person
from delibsim.store.people.register import Unavailable
from delibsim.store.people.states import Role, Stage
from delibsim.web.people.gate import (
    COOKIE,
    NEWCOMERS,
    OF_ADDRESS,
    OFTEN,
    TRIES,
    Rates,
    fields_in,
    refuse_foreign,
)
from delibsim.web.people.render import Language, language, languages, render

HOME = "/me"
Answer = Callable[[Request], Awaitable[Response]]
Fields = dict[str, list[str]]


@dataclass(frozen=True)
class Visit:
    """A person who asks for a page: her cookie, and the language of her pages."""

    person: Person
    login: Login
    words: Language


class Visits:
    """Turns requests into visits, and answers those that are nobody's."""

    def __init__(self, hall: Hall) -> None:
        self.hall, self.register, self.hosting = hall, hall.register, hall.hosting
        self.rates = Rates()
        self.told_in_demo: Callable[[Language], Reception] | None = None
        """What the person in a demonstration is told; None where people are real."""

    def of(self, request: Request) -> Visit | None:
        """The visit that a request is; None where its cookie is nobody's, or is not good any more.

        HTTPException 429 where too many come.
        """
        found = visitor_of(self.register, request.cookies.get(COOKIE, ""))
        if found is None:
            self._count_unknown(request)
            return None
        login, person = found
        if self.rates.is_over(login.csrf, OFTEN):
            raise HTTPException(429)
        if login.role not in (Role.PARTICIPANT, Role.RATER):
            return None
        if person is None:
            return None
        self.hall.presence.note(person)
        return Visit(person, login, language(person.language))

    def count_try(self, request: Request) -> None:
        """Count a link that opens nothing; HTTPException 429 where there are too many."""
        if self.rates.is_over(f"try {address_of(request)}", TRIES):
            raise HTTPException(429)

    def count_newcomer(self, request: Request) -> None:
        """Count who comes by an open link for the first time; HTTPException 429 for too many."""
        if self.rates.is_over(f"new {address_of(request)}", NEWCOMERS):
            raise HTTPException(429)

    def _count_unknown(self, request: Request) -> None:
        if self.rates.is_over(address_of(request), OF_ADDRESS):
            raise HTTPException(429)
        if COOKIE in request.cookies:
            self.count_try(request)

    def words(self, request: Request) -> Language:
        """The language of who is not known yet: asked for, or that of the study."""
        wanted = request.query_params.get("lang", "")
        return language(wanted if wanted in languages() else self.hosting.language)

    def get(self, make: Callable[[Visit, Request], Response]) -> Answer:
        """A route that shows something to a person."""

        def made(request: Request) -> Response:
            visit = self.of(request)
            return self.nobody(request) if visit is None else make(visit, request)

        async def answer(request: Request) -> Response:
            return await run_in_threadpool(made, request)

        return answer

    def post(self, act: Callable[[Visit, Fields], Response]) -> Answer:
        """A route that takes a form of a person; a form without her secret is refused. Where the
        register cannot be read or written, a page holds what was sent, to be sent again.
        """

        def made(request: Request, fields: Fields) -> Response:
            words = self.words(request)
            try:
                visit = self.of(request)
                if visit is None:
                    return self.nobody(request)
                words = visit.words
                refuse_foreign(fields, visit.login)
                return home() if visit.person.stage == Stage.WITHDRAWN else act(visit, fields)
            except Unavailable:
                return self.again(request, fields, words)

        async def answer(request: Request) -> Response:
            return await run_in_threadpool(made, request, await fields_in(request))

        return answer

    def again(
        self, request: Request, fields: Mapping[str, list[str]], words: Language | None = None
    ) -> Response:
        """What was sent, in a form that sends it again."""
        words = words or self.words(request)
        kept = [(name, value) for name, values in fields.items() for value in values]
        texts = [value for name, value in kept if name == "text"]
        told = page("again.html", words, 503, fields=kept, texts=texts, action=request.url.path)
        told.headers["retry-after"] = "10"
        return told

    def reception(self, visit: Visit) -> Reception:
        """What the person is told and asked: as a participant, or as a rater."""
        if self.told_in_demo is not None:
            return self.told_in_demo(visit.words)
        if visit.person.role != Role.RATER:
            return self.hosting.participants
        return rater_reception(self.hosting, visit.words.code)

    def nobody(self, request: Request, status: int = 403) -> Response:
        """The page of a link or a cookie that opens nothing."""
        contact = self.hosting.contact
        return page("no_link.html", self.words(request), status, contact=contact)

    def page(self, visit: Visit, template: str, status: int = 200, **values: Any) -> Response:
        """A page for a person."""
        common = {"csrf": visit.login.csrf, "languages": languages()}
        values = {"contact": self.hosting.contact} | common | values
        return page(template, visit.words, status, **values)


def page(template: str, words: Language, status: int = 200, **values: Any) -> Response:
    """A page of a template."""
    return HTMLResponse(render(template, words, **values), status_code=status)


def home(query: str = "") -> Response:
    """Back to whatever is next for a person."""
    return RedirectResponse(f"{HOME}{query}", status_code=303)


def address_of(request: Request) -> str:
    """The address that a request came from."""
    return request.client.host if request.client else ""
