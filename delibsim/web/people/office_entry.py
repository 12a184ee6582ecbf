"""Who gets in to the researcher's pages: by a password, or from this machine where none is set."""

import hashlib
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from delibsim.conduct.people.hall import Hall
from delibsim.store.people.entry import (
    SHIFT,
    Login,
    has_password,
    is_password,
    let_researcher_in,
    log_researcher_out,
    researcher_of,
)
from delibsim.web.guard import is_loopback
from delibsim.web.people.gate import (
    OF_ADDRESS,
    OFTEN,
    PASSWORDS,
    PASSWORDS_OF_ALL,
    Rates,
    fields_in,
)
from delibsim.web.people.render import Language, language, languages, render
from delibsim.web.people.visits import Fields, address_of

OFFICE = "/office"
SPOKEN = "delibsim_office_language"
"""The cookie that holds the language of the researcher's pages, which is no secret."""
PASSED_ON = ("forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip")
"""Headers by which proxies tell that they pass a request on; beside all that begin x-forwarded."""
Show = Callable[[Login, Request], Response]
Act = Callable[[Login, Fields], Response]
Answer = Callable[[Request], Awaitable[Response]]


class OfficeEntry:
    """Lets the researcher in. `open_here` says that the server is reached from this machine alone,
    so that nobody needs a password on it until one is set.
    """

    def __init__(self, hall: Hall, open_here: bool) -> None:
        self.register, self.hosting, self.open_here = hall.register, hall.hosting, open_here
        study = hashlib.sha256(str(hall.runs.folder.resolve()).encode()).hexdigest()
        self.cookie = f"delibsim_office_{study[:8]}"  # browsers keep cookies whatever the port
        self.rates = Rates()
        self._one = threading.Lock()

    def routes(self) -> list[Route]:
        """The routes of coming in and going."""
        return [
            Route(f"{OFFICE}/login", self.enter, methods=["POST"]),
            Route(f"{OFFICE}/logout", self.post(self.leave), methods=["POST"]),
            Route(f"{OFFICE}/language", self.post(self.speak), methods=["POST"]),
        ]

    def login(self, request: Request) -> Login | None:
        """The researcher's login that a request carries; None where there is none that is good."""
        return researcher_of(self.register, request.cookies.get(self.cookie, ""))

    def get(self, show: Show) -> Answer:
        """A route that shows something to the researcher; to others, the way in."""

        async def answer(request: Request) -> Response:
            login = await run_in_threadpool(self.known, request)
            if login is None:
                return await run_in_threadpool(self._door, request)
            return await run_in_threadpool(show, login, request)

        return answer

    def post(self, act: Act) -> Answer:
        """A route that takes a form of the researcher; one without the secret is refused."""

        async def answer(request: Request) -> Response:
            login = await run_in_threadpool(self.known, request)
            if login is None:
                return await run_in_threadpool(self._door, request)
            fields = await fields_in(request, login)
            return await run_in_threadpool(act, login, fields)

        return answer

    def known(self, request: Request) -> Login | None:
        """The login, counted; HTTPException 429 where too much is asked."""
        login = self.login(request)
        who, rate = (login.csrf, OFTEN) if login else (address_of(request), OF_ADDRESS)
        if self.rates.is_over(who, rate):
            raise HTTPException(429)
        return login

    async def enter(self, request: Request) -> Response:
        """Let in who knows the password, or who sits at this machine where none is needed."""
        fields = await fields_in(request, None)
        token = await run_in_threadpool(self._token, request, fields)
        if token is None:
            return await run_in_threadpool(self._door, request, True)
        answer = RedirectResponse(OFFICE, status_code=303)
        secure = request.scope.get("scheme") == "https"
        answer.set_cookie(
            self.cookie,
            token,
            max_age=int(SHIFT),
            httponly=True,
            samesite="strict",
            secure=secure,
            path=OFFICE,
        )
        return answer

    def leave(self, login: Login, fields: Fields) -> Response:
        """End a login."""
        log_researcher_out(self.register, login)
        answer = RedirectResponse(OFFICE, status_code=303)
        answer.delete_cookie(self.cookie, path=OFFICE)
        return answer

    def speak(self, login: Login, fields: Fields) -> Response:
        """Show pages in another language."""
        code = (fields.get("language") or [""])[-1]
        answer = RedirectResponse(OFFICE, status_code=303)
        if code in languages():
            answer.set_cookie(SPOKEN, code, httponly=True, samesite="strict", path=OFFICE)
        return answer

    def words(self, request: Request) -> Language:
        """The language of the pages: chosen, or that of the study."""
        chosen = request.cookies.get(SPOKEN, "")
        return language(chosen if chosen in languages() else self.hosting.language)

    def page(self, request: Request, template: str, status: int = 200, **values: Any) -> Response:
        """A page of a template."""
        common = {"contact": self.hosting.contact, "spoken": languages(), "csrf": None}
        page = render(template, self.words(request), **common | values)
        return HTMLResponse(page, status_code=status)

    def _token(self, request: Request, fields: Fields) -> str | None:
        """The secret of a new cookie; None for who may not come in. HTTPException 429 for who has
        tried too often.
        """
        if not has_password(self.register):
            return let_researcher_in(self.register) if self.is_here(request) else None
        if self.rates.is_over(f"password {address_of(request)}", PASSWORDS):
            raise HTTPException(429)
        if self.rates.is_over("password", PASSWORDS_OF_ALL):
            raise HTTPException(429)
        given = (fields.get("password") or [""])[-1]
        with self._one:  # each look takes 64 MiB of memory
            right = is_password(self.register, given)
        return let_researcher_in(self.register) if right else None

    def is_here(self, request: Request) -> bool:
        """Whether a request comes from this machine, and nobody passed it on."""
        names = [name.lower() for name in request.headers]
        passed_on = any(one in PASSED_ON or one.startswith("x-forwarded") for one in names)
        here = is_loopback(address_of(request)) and not request.scope.get("proxied")
        return self.open_here and here and not passed_on

    def _door(self, request: Request, tried: bool = False) -> Response:
        """The way in: a password, or a button, or how a password is set."""
        needed = has_password(self.register)
        way = "open" if self.is_here(request) else "none"
        if needed:
            way = "password"
        wrong = tried and needed
        return self.page(request, "office_login.html", 403, way=way, wrong=wrong)
