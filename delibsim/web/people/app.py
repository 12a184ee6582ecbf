"""The pages of participants: a link lets them in, and one address shows what is next for them."""

import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from delibsim.conduct.people.desk import PAGES
from delibsim.conduct.people.hall import Hall, View
from delibsim.conduct.people.rater_desk import RaterDesk
from delibsim.domain.hosting import Hosting, Question
from delibsim.domain.text import safe
from delibsim.models.person.questionnaire import Incomplete, reply_of
from delibsim.store.people.entry import (
    PARTICIPANT,
    RATER,
    Login,
    add_person,
    invitation_of,
    invited,
    log_in,
    note_used,
)
from delibsim.store.people.persons import (
    CONSENTED,
    DECLINED,
    DONE,
    FAILED,
    INVITED,
    READY,
    Identity,
    Person,
    attempts,
    consent,
    keep_answers,
    note_seen,
    person_of,
    person_of_panel,
    set_language,
    set_stage,
)
from delibsim.store.people.register import Unavailable
from delibsim.store.people.requests import hand_in, note_shown, save_draft
from delibsim.web.people.forms import DECLINED as DECLINED_FIELD
from delibsim.web.people.forms import KEY, answers_in, shown, title_of
from delibsim.web.people.gate import fields_in, login_in, with_cookie
from delibsim.web.people.language import Language, language, languages
from delibsim.web.people.markdown import html_of
from delibsim.web.people.raters import Rater, RaterPages
from delibsim.web.people.render import ASSETS, asset, render

KINDS = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
PANEL_IDS = ("PROLIFIC_PID", "pid")
"""The parameters of a link in which panels send the id of a person."""
HOME = "/me"
Answer = Callable[[Request], Awaitable[Response]]


class ParticipantPages:
    """The pages over a hall."""

    def __init__(self, hall: Hall) -> None:
        self.hall, self.register, self.hosting = hall, hall.register, hall.hosting

    def routes(self) -> list[Route]:
        """The routes of these pages."""
        posts = {
            "/me/consent": self.consent,
            "/me/information": self.informed,
            "/me/questions": self.questions,
            "/me/answer": self.answer,
            "/me/draft": self.draft,
            "/me/leave": self.leave,
            "/me/language": self.language,
        }
        made = [
            Route("/i/{token}", self.invitation, methods=["GET"]),
            Route("/i/{token}", self.enter, methods=["POST"]),
            Route(HOME, self._get(self.next), methods=["GET"]),
            Route("/me/leave", self._get(self.leaving), methods=["GET"]),
            Route("/me/part", self._get(self.part), methods=["GET"]),
            Route("/me/events", self.events, methods=["GET"]),
            Route("/~assets/{name}", _asset, methods=["GET"]),
        ]
        return made + [
            Route(path, self._post(act), methods=["POST"]) for path, act in posts.items()
        ]

    async def invitation(self, request: Request) -> Response:
        """A page with a button: programs that look at links do not use them up."""
        token = request.path_params["token"]
        found = await run_in_threadpool(invited, self.register, token)
        words = self._language(request)
        if found is None:
            return _html("no_link.html", words, 404, contact=self.hosting.contact)
        return _html("enter.html", words, query=request.url.query, token=token)

    async def enter(self, request: Request) -> Response:
        """Let the person in to whom a link belongs; of an open link, a new one."""
        token = request.path_params["token"]
        found = await run_in_threadpool(invited, self.register, token)
        words = self._language(request)
        if found is None:
            return _html("no_link.html", words, 404, contact=self.hosting.contact)
        person = found.person or await run_in_threadpool(self._new, request, words.code, found.role)
        await run_in_threadpool(note_used, self.register, token)
        cookie = await run_in_threadpool(log_in, self.register, person, found.role)
        return with_cookie(RedirectResponse(HOME, status_code=303), cookie, request)

    def _new(self, request: Request, code: str, role: str) -> str:
        """The person who comes by an open link: known by the id of her panel, or new; who has a
        good cookie already stays who she is.
        """
        known = login_in(self.register, request)
        if known is not None and known.role == role:
            return known.person
        for name in PANEL_IDS:
            if given := request.query_params.get(name, "")[:100]:
                before = person_of_panel(self.register, name, given)
                who = Identity(panel=name, panel_id=given)
                return before or add_person(self.register, role, code, who)
        return add_person(self.register, role, code)

    def next(self, person: Person, login: Login, request: Request) -> Response:
        """Whatever is next for a person."""
        words, hosting = language(person.language), self.hosting
        common: dict[str, Any] = {
            "csrf": login.csrf,
            "languages": languages(),
            "contact": hosting.contact,
        }
        if person.stage == INVITED:
            text = html_of(hosting.consent)
            return _html("consent.html", words, text=text, **common)
        if person.stage in (DECLINED, FAILED):
            return _html("goodbye.html", words, why=person.stage, **common)
        if person.stage == CONSENTED:
            return self._questions(person, login, words)
        if person.role == RATER:
            return RedirectResponse("/rate", status_code=303)
        if person.stage == DONE:
            return self._end(words, login)
        invitation = invitation_of(self.register, person.id)
        where = (invitation.session, invitation.seat) if invitation else ("", "")
        view = self.hall.view(person.id)
        if view is None:
            self.hall.join(person.id, *where)
            view = self.hall.view(person.id)
        if view is None:
            return _html("full.html", words, **common)
        if view.waits == "over":
            set_stage(self.register, person.id, DONE)
            return self._end(words, login)
        return self._room(view, words, login)

    def part(self, person: Person, login: Login, request: Request) -> Response:
        """The part of a room's page that changes, without the form."""
        view = self.hall.view(person.id)
        if view is None:
            raise HTTPException(404)
        words = language(person.language)
        asked = view.request.key if view.request else ""
        html = render("room_part.html", words, view=view, waiting=_waiting(view))
        return JSONResponse({"html": html, "waits": view.waits, "key": asked})

    async def events(self, request: Request) -> Response:
        """A line whenever something happens in the room of a person."""
        login = await run_in_threadpool(login_in, self.register, request)
        view = await run_in_threadpool(self.hall.view, login.person) if login else None
        if view is None:
            raise HTTPException(404)
        last = request.headers.get("last-event-id", "")
        after = int(last) if last.isdecimal() and len(last) < 15 else view.change

        async def lines() -> Any:
            async for change in self.hall.changes(view.room.session, after):
                yield {"id": str(change), "event": "change", "data": str(change)}

        return EventSourceResponse(lines(), ping=15)

    def consent(self, person: Person, login: Login, fields: Any) -> Response:
        """Keep that a person agrees, or does not."""
        if person.stage == INVITED and "agree" in fields:
            consent(self.register, person.id, self.hosting.consent_version)
        elif person.stage == INVITED:
            set_stage(self.register, person.id, DECLINED)
        return _back()

    def informed(self, person: Person, login: Login, fields: Any) -> Response:
        """Go on from the information, where there is nothing to answer."""
        if person.stage == CONSENTED and not (self.hosting.checks or self.hosting.questions):
            set_stage(self.register, person.id, READY)
        return _back()

    def questions(self, person: Person, login: Login, fields: Any) -> Response:
        """Keep the answers to checks and questions; who fails the checks too often cannot go on."""
        if person.stage != CONSENTED:
            return _back()
        asked = (*self.hosting.checks, *self.hosting.questions)
        given = {one.id: _given(one, fields) for one in asked}
        faults = {one.id: "form.missing" for one in asked if one.required and not given[one.id]}
        words = language(person.language)
        if faults:
            return self._questions(person, login, words, given, faults)
        checks = {one.id: given[one.id] for one in self.hosting.checks}
        passed = {one.id: given[one.id] in one.right for one in self.hosting.checks}
        tried = max([attempts(self.register, person.id, name) for name in checks], default=0)
        keep_answers(self.register, person.id, checks, tried, passed)
        if not all(passed.values()):
            if tried + 1 >= self.hosting.attempts:
                set_stage(self.register, person.id, FAILED)
                return _back()
            wrong = {name: "people.check_wrong" for name, right in passed.items() if not right}
            return self._questions(person, login, words, given, wrong)
        own = {one.id: given[one.id] for one in self.hosting.questions}
        keep_answers(self.register, person.id, own)
        set_stage(self.register, person.id, READY)
        return _back()

    def answer(self, person: Person, login: Login, fields: Any) -> Response:
        """Keep what was given, once; show the form again where something is missing or wrong."""
        view = self.hall.view(person.id)
        given = (fields.get(KEY) or [""])[-1]
        request = view.request if view else None
        if view is None or request is None or request.key != given:
            return _back("?known=1")  # a form of before: from another tab, or sent twice
        if DECLINED_FIELD in fields:
            hand_in(self.register, request.key, "", "refusal", "the person declined to answer")
        else:
            asked = PAGES.validate_json(request.page)
            answers = answers_in(fields)
            try:
                reply = reply_of(asked, answers)
            except Incomplete as faults:
                save_draft(self.register, request.key, json.dumps(answers))
                return self._room(view, language(person.language), login, answers, faults)
            hand_in(self.register, request.key, reply)
        self.hall.handed_in(view.room.session)
        return _back()

    def draft(self, person: Person, login: Login, fields: Any) -> Response:
        """Keep what is typed."""
        view = self.hall.view(person.id)
        key = (fields.get(KEY) or [""])[-1]
        if view is None or view.request is None or view.request.key != key:
            return JSONResponse({"kept": False}, status_code=409)
        kept = save_draft(self.register, key, json.dumps(answers_in(fields)))
        return JSONResponse({"kept": kept}, status_code=200 if kept else 409)

    def leaving(self, person: Person, login: Login, request: Request) -> Response:
        """Ask whether a person goes for good."""
        return _html("leave.html", language(person.language), csrf=login.csrf)

    def leave(self, person: Person, login: Login, fields: Any) -> Response:
        """A person goes for good; what was declared follows."""
        self.hall.leave(person.id)
        return _back()

    def language(self, person: Person, login: Login, fields: Any) -> Response:
        """Show pages in another language."""
        code = (fields.get("language") or [""])[-1]
        if code in languages():
            set_language(self.register, person.id, code)
        return _back()

    def _room(
        self, view: View, words: Language, login: Login, given: Any = None, faults: Any = None
    ) -> Response:
        form = None
        if view.request is not None:
            note_shown(self.register, view.request.key)
            asked = PAGES.validate_json(view.request.page)
            form = shown(asked, view.request, words, given, faults)
            form["title"] = words(title_of(asked))
            form["limit"] = _limit(self.hosting, asked.occasion)
        values: dict[str, Any] = {"view": view, "form": form, "csrf": login.csrf}
        values["waiting"] = _waiting(view)
        values |= {"languages": languages(), "hosting": self.hosting, "known": False}
        return _html("room.html", words, 422 if faults else 200, **values)

    def _questions(
        self,
        person: Person,
        login: Login,
        words: Language,
        given: Any = None,
        faults: Any = None,
    ) -> Response:
        values: dict[str, Any] = {
            "csrf": login.csrf,
            "information": html_of(self.hosting.information),
            "asked": (*self.hosting.checks, *self.hosting.questions),
            "given": given or {},
            "faults": {name: words(key) for name, key in (faults or {}).items()},
        }
        return _html("questions.html", words, 422 if faults else 200, **values)

    def _end(self, words: Language, login: Login) -> Response:
        values: dict[str, Any] = {"text": html_of(self.hosting.debriefing)}
        values["code"] = self.hosting.completion_code
        return _html("end.html", words, url=self.hosting.completion_url, **values)

    def _language(self, request: Request) -> Language:
        """The language of who is not known yet: asked for, or that of the study."""
        wanted = request.query_params.get("lang", "")
        return language(wanted if wanted in languages() else self.hosting.language)

    def _get(self, make: Callable[[Person, Login, Request], Response]) -> Answer:
        async def answer(request: Request) -> Response:
            login = await run_in_threadpool(login_in, self.register, request)
            person = await run_in_threadpool(self._person, login)
            if login is None or person is None:
                return _html(
                    "no_link.html", self._language(request), 403, contact=self.hosting.contact
                )
            return await run_in_threadpool(make, person, login, request)

        return answer

    def _post(self, act: Callable[[Person, Login, Any], Response]) -> Answer:
        async def answer(request: Request) -> Response:
            login = await run_in_threadpool(login_in, self.register, request)
            person = await run_in_threadpool(self._person, login)
            if login is None or person is None:
                return _html(
                    "no_link.html", self._language(request), 403, contact=self.hosting.contact
                )
            fields = await fields_in(request, login)
            return await run_in_threadpool(act, person, login, fields)

        return answer

    def _person(self, login: Login | None) -> Person | None:
        """The person of a cookie, who is here now."""
        if login is None or login.role not in (PARTICIPANT, RATER):
            return None
        found = person_of(self.register, login.person)
        if found is None or found.stage == "withdrawn":
            return None
        note_seen(self.register, found.id)
        return found


def application(hall: Hall, desk: RaterDesk) -> Starlette:
    """The application; `web.people.gate.Gate` stands before it."""
    pages = ParticipantPages(hall)

    def rater(request: Request) -> Rater | None:
        login = login_in(hall.register, request)
        if login is None or login.role != RATER:
            return None
        person = person_of(hall.register, login.person)
        if person is None or person.stage not in (READY, DONE):
            return None
        invitation = invitation_of(hall.register, person.id)
        task = invitation.task if invitation else ""
        return Rater(person.id, task, language(person.language), login.csrf)

    def ended(person: str) -> None:
        set_stage(hall.register, person, DONE)

    raters = RaterPages(desk, rater, hall.hosting.contact, ended)
    words = language(hall.hosting.language)

    async def told(request: Request, error: Exception) -> Response:
        status = getattr(error, "status_code", 500)
        if not isinstance(error, HTTPException):
            line = str(error).splitlines()[0] if str(error) else ""
            kind = type(error).__name__
            sys.stderr.write(f"delibsim serve: {kind}: {safe(line)}\n")
        down = isinstance(error, Unavailable)
        return _html("error.html", words, 503 if down else status, down=down)

    handlers: Any = {HTTPException: told, Unavailable: told, Exception: told}
    made = Starlette(routes=[*pages.routes(), *raters.routes()], exception_handlers=handlers)
    made.router.redirect_slashes = False
    return made


def _waiting(view: View) -> str:
    """The key of what a person is told who waits."""
    if view.waits == "wait" and view.speaker:
        return "people.speaks"
    return f"people.{view.waits}"


def _limit(hosting: Hosting, occasion: str) -> Any:
    """How long an answer may take."""
    return hosting.turn if occasion.startswith("turn ") else hosting.survey


def _given(question: Question, fields: Any) -> str:
    values = [value.strip() for value in fields.get(f"q-{question.id}", [])]
    kept = [value for value in values if value]
    if question.kind in ("choice", "several"):
        kept = [value for value in kept if value in question.options]
    if question.kind in ("number", "scale"):
        kept = [value for value in kept if _is_within(question, value)]
    return "; ".join(kept)[:2_000]


def _is_within(question: Question, value: str) -> bool:
    if not value.lstrip("-").isdecimal() or len(value) > 9:
        return False
    low = question.low if question.low is not None else int(value)
    high = question.high if question.high is not None else int(value)
    return low <= int(value) <= high


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in ASSETS:
        raise HTTPException(404)
    kind = KINDS[name[name.rindex(".") :]]
    headers = {"cache-control": "public, max-age=3600"}
    return Response(asset(name), media_type=kind, headers=headers)


def _html(template: str, words: Language, status: int = 200, **values: Any) -> Response:
    return HTMLResponse(render(template, words, **values), status_code=status)


def _back(query: str = "") -> Response:
    return RedirectResponse(f"{HOME}{query}", status_code=303)
