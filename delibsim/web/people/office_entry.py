"""Who gets in to the researcher's pages: by a password, or from this machine where none is set."""

import hashlib
import threading

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from delibsim.people.hall import Hall
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
from delibsim.web.people.gate import OF_ADDRESS, OFTEN, PASSWORDS, PASSWORDS_OF_ALL, fields_in
from delibsim.web.people.render import Fields, Language, language, languages
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

    def login(self, request: Request) -> Login | None:
        """The researcher's login that a request carries; None where there is none that is good."""
        return researcher_of(self.register, request.cookies.get(self.cookie, ""))

    def of(self, request: Request) -> Visit | None:
        """The visit of the researcher."""
        login = self.login(request)
        self.count(*((login.csrf, OFTEN) if login else (address_of(request), OF_ADDRESS)))
        return None if login is None else Visit(login, self.words(request))

    async def enter(self, request: Request) -> Response:
        """Let in who knows the password, or who sits at this machine where none is needed."""
        fields = await fields_in(request)
        token = await run_in_threadpool(self._token, request, fields)
        if token is None:
            return await run_in_threadpool(self.turned_away, request, True)
        secure = request.scope.get("scheme") == "https"
        answer = home(path=OFFICE)
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

    def leave(self, visit: Visit, fields: Fields) -> Response:
        """End a login."""
        log_researcher_out(self.register, visit.login)
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
        needed = has_password(self.register)
        way = "open" if self.is_here(request) else "none"
        wrong = tried and needed
        values = {"way": "password" if needed else way, "wrong": wrong, "csrf": None}
        words, contact = self.words(request), self.hosting.contact
        return page("office_login.html", words, 403, contact=contact, **values)

    def _token(self, request: Request, fields: Fields) -> str | None:
        """The secret of a new cookie; None for who may not come in. HTTPException 429 for who has
        tried too often.
        """
        if not has_password(self.register):
            return let_researcher_in(self.register) if self.is_here(request) else None
        self.count(f"password {address_of(request)}", PASSWORDS)
        self.count("password", PASSWORDS_OF_ALL)
        given = one(fields, "password")
        with self._one:  # each look takes 64 MiB of memory
            right = is_password(self.register, given)
        return let_researcher_in(self.register) if right else None

    def is_here(self, request: Request) -> bool:
        """Whether a request comes from this machine, and nobody passed it on."""
        names = [name.lower() for name in request.headers]
        passed_on = any(one in PASSED_ON or one.startswith("x-forwarded") for one in names)
        here = is_loopback(address_of(request)) and not request.scope.get("proxied")
        return self.open_here and here and not passed_on
