"""Who asks for a page: whom a cookie lets in, and in which language; the links that people use;
and the gate before pages for people: hosts, headers, rates, sizes.
"""

import hmac
import time
from abc import ABC, abstractmethod
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterable, Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from sse_starlette import EventSourceResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from delibsim.domain.hosting import Hosting, HostingQuestion, Reception
from delibsim.models.person.fields import cleaned
from delibsim.people.hall import Hall
from delibsim.store.people import persons
from delibsim.store.people.assignments import note_task
from delibsim.store.people.hosting_files import languages
from delibsim.store.people.persons import Login
from delibsim.store.people.register import Unavailable
from delibsim.store.people.schema import Role, Stage
from delibsim.web.guard import Screen, place_of
from delibsim.web.people.render import Fields, Language, language, render

COOKIE = "delibsim_people"
LARGEST = 1_000_000
"""Bytes of a form: 10,000 words of any script are kept, so that they can be shown again."""
FIELDS = 500


class PeopleScreen(Screen):
    """Stands before pages for people. `proxies` are the addresses whose words on who asks, and
    whether by TLS, are believed.
    """

    def __init__(
        self, app: Any, hosts: Collection[str] = (), proxies: Collection[str] = ()
    ) -> None:
        super().__init__(app, hosts)
        self.proxies = frozenset(proxies)

    def received(self, scope: Any) -> Any:
        """The request as its first sender made it, where a declared proxy passed it on."""
        peer = (scope.get("client") or ("",))[0]
        if peer not in self.proxies:
            return {**scope, "scheme": "http"}
        headers = _headers_of(scope)
        sender = headers.get("x-forwarded-for", "").rsplit(",", 1)[-1].strip() or peer
        scheme = "https" if headers.get("x-forwarded-proto") == "https" else "http"
        return {**scope, "client": (sender, 0), "scheme": scheme, "proxied": True}

    def refusal(self, scope: Any) -> tuple[int, str] | None:
        """Why a request is not answered."""
        headers = _headers_of(scope)
        host = headers.get("host", "")
        name = urlsplit(f"//{host}").hostname or ""
        if name not in self.hosts:
            return 421, "This address is not that of the study; use the link that you were given."
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "This cannot be done here."
        if scope["method"] == "POST" and _is_foreign(headers, host):
            return 403, "The form comes from another page."
        return None


def _headers_of(scope: Any) -> dict[str, str]:
    return {
        name.decode("latin-1").lower(): text.decode("latin-1") for name, text in scope["headers"]
    }


def _is_foreign(headers: dict[str, str], host: str) -> bool:
    """Whether a form comes from a page of somebody else. Programs that are no browsers say
    nothing of where it comes from; what keeps others out is the secret that forms carry.
    """
    origin = headers.get("origin")
    elsewhere = origin is not None and place_of(origin)[1] != host.lower()
    return elsewhere or headers.get("sec-fetch-site", "none") not in ("none", "same-origin")


async def fields_in(request: Request) -> dict[str, list[str]]:
    """The fields of a form; HTTPException 413 where it is too long, 400 for what is none."""
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > LARGEST:
            raise HTTPException(413)
    return parsed(content)


def refuse_foreign(given: Mapping[str, list[str]], login: Login) -> None:
    """Refuse a form that lacks the secret of who sent it, with 403."""
    secret = (given.get("csrf") or [""])[-1]
    if not hmac.compare_digest(secret.encode(), login.csrf.encode()):
        raise HTTPException(403)


def parsed(content: bytes) -> dict[str, list[str]]:
    """The fields of a form as it was sent, without the character of number 0, which PostgreSQL
    cannot keep; HTTPException 400 for what is none.
    """
    try:
        text = content.decode("utf-8")
        found = parse_qs(text, keep_blank_values=True, max_num_fields=FIELDS)
    except ValueError:
        raise HTTPException(400) from None
    plain = {}
    for name, values in found.items():
        plain[name] = [value.replace("\0", "") for value in values]
    return plain


def with_cookie(response: Any, token: str, request: Request) -> Any:
    """An answer that sets the cookie of who was let in."""
    response.set_cookie(
        COOKIE,
        token,
        max_age=60 * 86_400,
        httponly=True,
        samesite="lax",
        secure=request.scope.get("scheme") == "https",
        path="/",
    )
    return response


OFTEN = (240, 10.0)
"""Requests that one cookie may make within so many seconds."""
OF_ADDRESS = (3_000, 10.0)
"""Requests without a good cookie that one address may make: hundreds may come from one building."""
TRIES = (30, 60.0)
"""Links and cookies that are none which one address may try; good ones never count."""
PASSWORDS = (6, 60.0)
"""Passwords that one address may try."""
PASSWORDS_OF_ALL = (60, 60.0)
"""Passwords that all addresses together may try."""
NEWCOMERS = (400, 600.0)
"""New people whom an open link lets in from one address: hundreds may sit in one building."""
KEPT = 20_000
"""How many askers are remembered; who has not asked for longest is forgotten first."""

PING = 15
"""Seconds between two signs of life of a stream of events."""


class Rates:
    """Who has asked how often of late, by any name that tells one asker from another."""

    def __init__(self) -> None:
        self._asked: OrderedDict[str, deque[float]] = OrderedDict()

    def is_over(self, who: str, rate: tuple[int, float]) -> bool:
        """Whether somebody has asked more often than the rate allows; this time counts."""
        most, within = rate
        asked = self._asked.setdefault(who, deque(maxlen=most + 1))
        self._asked.move_to_end(who)
        moment = time.monotonic()
        asked.append(moment)
        while moment - asked[0] > within:
            asked.popleft()
        if len(self._asked) > KEPT:
            self._asked.popitem(last=False)
        return len(asked) > most


class Streams:
    """Streams of events that are open, at most `most` of anybody: a place is taken before a stream
    is opened, so that many requests at once open no more.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._open: Counter[str] = Counter()

    def answer(self, who: str, lines: AsyncIterable[dict[str, str]]) -> Response:
        """The answer that sends these lines to somebody; 429 where no place is free."""
        if self._open[who] >= self.most:
            return Response(status_code=429, headers={"retry-after": "10"})
        self._open[who] += 1
        return _Stream(self, who, lines)

    def close(self, who: str) -> None:
        """Give a place back."""
        self._open[who] -= 1
        if not self._open[who]:
            del self._open[who]


class _Stream(EventSourceResponse):
    """A stream that gives its place back however it ends, also before its first line."""

    def __init__(self, streams: Streams, who: str, lines: AsyncIterable[dict[str, str]]) -> None:
        super().__init__(lines, ping=PING, headers={"x-accel-buffering": "no"})
        self._streams, self._who = streams, who

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._streams.close(self._who)


HOME = "/me"
TASK = "task"
"""The check that raters answer where people.yaml declares nothing for them."""
PANEL_IDS = ("PROLIFIC_PID", "pid")
"""The parameters of a link in which panels send the id of a person, beside that of the study."""
LONGEST_ID = 100
Answer = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Visit:
    """Somebody who asks for a page: her login, and the language of her pages. `person` is empty for
    the researcher.
    """

    login: persons.Login
    words: Language
    person: persons.Person = persons.Person("", Role.RESEARCHER, "", "")


class Door(ABC):
    """Routes that are open to those whom a cookie lets in; others are turned away."""

    def __init__(self, hall: Hall) -> None:
        self.hall, self.register, self.hosting = hall, hall.register, hall.hosting
        self.rates = Rates()

    @abstractmethod
    def of(self, request: Request) -> Visit | None:
        """The visit that a request is; None where its cookie is nobody's, or is not good any more.

        HTTPException 429 where too many come.
        """

    @abstractmethod
    def turned_away(self, request: Request) -> Response:
        """What somebody sees whom no cookie lets in."""

    def get(self, path: str, make: Callable[[Visit, Request], Response]) -> Route:
        """A route that shows something."""

        def made(request: Request) -> Response:
            visit = self.of(request)
            return self.turned_away(request) if visit is None else make(visit, request)

        async def answer(request: Request) -> Response:
            return await run_in_threadpool(made, request)

        return Route(path, answer, methods=["GET"])

    def post(self, path: str, act: Callable[[Visit, Fields], Response]) -> Route:
        """A route that takes a form; one without the secret of who sent it is refused. Where the
        register cannot be read or written, a page holds what was sent, to be sent again.
        """

        def made(request: Request, fields: Fields) -> Response:
            words = self.words(request)
            try:
                visit = self.of(request)
                if visit is None:
                    return self.turned_away(request)
                words = visit.words
                refuse_foreign(fields, visit.login)
                return home() if visit.person.stage == Stage.WITHDRAWN else act(visit, fields)
            except Unavailable:
                return self.again(request, fields, words)

        async def answer(request: Request) -> Response:
            return await run_in_threadpool(made, request, await fields_in(request))

        return Route(path, answer, methods=["POST"])

    def again(self, request: Request, fields: Fields, words: Language) -> Response:
        """What was sent, in a form that sends it again."""
        kept = [(name, value) for name, values in fields.items() for value in values]
        texts = [value for name, value in kept if name == "text"]
        told = page("again.html", words, 503, fields=kept, texts=texts, action=request.url.path)
        told.headers["retry-after"] = "10"
        return told

    def count(self, who: str, rate: tuple[int, float]) -> None:
        """Count who asks; HTTPException 429 where that is too often."""
        if self.rates.is_over(who, rate):
            raise HTTPException(429)

    def words(self, request: Request) -> Language:
        """The language of who is not known yet: asked for, or that of the study."""
        return language(_known(request.query_params.get("lang", "")) or self.hosting.language)

    def page(self, visit: Visit, template: str, status: int = 200, **values: Any) -> Response:
        """A page for who is let in."""
        common = {"csrf": visit.login.csrf, "languages": languages()}
        values = {"contact": self.hosting.contact} | common | values
        return page(template, visit.words, status, **values)


class Visits(Door):
    """The door of participants and raters."""

    told_in_demo: Callable[[Language], Reception] | None = None
    """What the person in a demonstration is told; None where people are real."""

    def of(self, request: Request) -> Visit | None:
        """The visit of a person, of whom it is noted that she is here."""
        found = persons.visitor_of(self.register, request.cookies.get(COOKIE, ""))
        if found is None:
            self.count(address_of(request), OF_ADDRESS)
            if COOKIE in request.cookies:
                self.count_try(request)
            return None
        login, person = found
        self.count(login.csrf, OFTEN)
        if login.role not in (Role.PARTICIPANT, Role.RATER) or person is None:
            return None
        self.hall.presence.note(person)
        return Visit(login, language(person.language), person)

    def turned_away(self, request: Request, status: int = 403) -> Response:
        """The page of a link or a cookie that opens nothing."""
        contact = self.hosting.contact
        return page("no_link.html", self.words(request), status, contact=contact)

    def count_try(self, request: Request) -> None:
        """Count a link that opens nothing; HTTPException 429 where there are too many."""
        self.count(f"try {address_of(request)}", TRIES)

    def reception(self, visit: Visit) -> Reception:
        """What the person is told and asked: as a participant, or as a rater."""
        if self.told_in_demo is not None:
            return self.told_in_demo(visit.words)
        if visit.person.role != Role.RATER:
            return self.hosting.participants
        return rater_reception(self.hosting, visit.words.code)


class InvitationPages:
    """A link shows a page with a button, which takes the seat and sets the cookie: programs that
    look at links do not use them up.
    """

    def __init__(self, visits: Visits) -> None:
        self.visits, self.register = visits, visits.register

    def routes(self) -> list[Route]:
        """The routes of these pages."""
        path = "/i/{token}"
        return [Route(path, self.show, methods=["GET"]), Route(path, self.enter, methods=["POST"])]

    def show(self, request: Request) -> Response:
        """A page with a button; nothing is changed by looking at it."""
        found = self._invited(request)
        if found is None:
            return self.visits.turned_away(request, 404)
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
            return self.visits.turned_away(request, 404)
        if not found.person:
            if self._needs_id(request):
                return self._without_id(request)
            if self._here(request, found) and "new" not in request.query_params:
                return home()
            found = self._new(request, found)
            if found is None:
                return self.visits.turned_away(request)
        if found.task:
            note_task(self.register, found.person, found.task)
        cookie = persons.let_in(self.register, request.path_params["token"], found)
        return with_cookie(home(), cookie, request)

    def _invited(self, request: Request) -> persons.Invitation | None:
        found = persons.invited(self.register, request.path_params["token"])
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

    def _here(self, request: Request, found: persons.Invitation) -> str:
        """Who has come by an open link on this device before; "" where nobody has, or where a panel
        says who it is.
        """
        if self._panel_id(request)[1]:
            return ""
        known = persons.login_of(self.register, request.cookies.get(COOKIE, ""))
        return known.person if known is not None and known.role == found.role else ""

    def _new(self, request: Request, found: persons.Invitation) -> persons.Invitation | None:
        """The invitation of who comes by an open link: known by the id of her panel, or new; None
        where she was shut out.
        """
        name, given = self._panel_id(request)
        who = persons.Identity(panel=name, panel_id=given) if given else None
        before = persons.person_of_panel(self.register, name, given) if given else ""
        if before:
            shut_out = persons.is_revoked(self.register, before)
            return None if shut_out else replace(found, person=before)
        self.visits.count(f"new {address_of(request)}", NEWCOMERS)
        return persons.accept(self.register, found, self.visits.words(request).code, who)


def page(template: str, words: Language, status: int = 200, **values: Any) -> Response:
    """A page of a template."""
    return HTMLResponse(render(template, words, **values), status_code=status)


def home(query: str = "", path: str = HOME) -> Response:
    """Back to whatever is next for a person."""
    return RedirectResponse(f"{path}{query}", status_code=303)


def address_of(request: Request) -> str:
    """The address that a request came from."""
    return request.client.host if request.client else ""


def one(fields: Mapping[str, list[str]], name: str) -> str:
    """The last value of a field of a form; "" where it was not sent."""
    return (fields.get(name) or [""])[-1]


def rater_reception(hosting: Hosting, code: str) -> Reception:
    """What raters are told and asked whose pages are in a language."""
    return hosting.raters or _by_default(code)


@cache
def _by_default(code: str) -> Reception:
    texts = language(code).texts
    options = texts["raters.judge"], texts["raters.talk"], texts["raters.persuade"]
    check = HostingQuestion(TASK, texts["raters.check"], options=options, right=options[:1])
    return Reception(texts["raters.consent"], "", texts["raters.debriefing"], (check,))


def _known(code: str) -> str:
    """The code of a language; "" for one that there is not."""
    return code if code in languages() else ""


def _in_language(request: Request, code: str) -> str:
    """The address of this page in another language."""
    given = [(name, text) for name, text in request.query_params.multi_items() if name != "lang"]
    return f"{request.url.path}?{urlencode([*given, ('lang', code)])}"
