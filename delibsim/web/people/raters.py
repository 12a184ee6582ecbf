"""The pages of raters and coders: one step of a sheet a page, breaks, drafts, and the end."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from delibsim.asking.blinding import REMOVED, SOMEBODY
from delibsim.conduct.people.rater_desk import Next, RaterDesk
from delibsim.domain.errors import WrongInput
from delibsim.models.person.fields import Incomplete
from delibsim.models.person.questionnaire import questionnaire
from delibsim.models.person.reply import reply_of
from delibsim.prompts.prompt import UnreadableReply
from delibsim.store.people.assignments import (
    Held,
    draft_of,
    go_on,
    hand_in_step,
    pause,
    save_draft,
    show_step,
)
from delibsim.store.people.register import Unavailable
from delibsim.web.people.forms import form_of, said_of, texts_of
from delibsim.web.people.gate import fields_in
from delibsim.web.people.render import Language, render

HERE = "/rate"
KEY, CSRF, DECLINED, TO = NO_ANSWERS = ("key", "csrf", "declined", "to")
"""The fields of a form that are no answers."""
NUMBER = "number"
"""The answer of an attention check."""
Fields = Mapping[str, list[str]]


@dataclass(frozen=True)
class Rater:
    """Who asks for a page: the person, the task that her invitation names, the language of her
    pages, and what her forms carry so that no other page can send them.
    """

    person: str
    task: str
    language: Language
    csrf: str


Known = Callable[[Request], Rater | None]
"""The rater whose cookie a request carries; None where there is none."""


class RaterPages:
    """The pages over a desk. `contact` says whom to write to, `ended` is told who has handed in
    everything or goes for good, `again` makes the page of a form that could not be kept.
    """

    def __init__(
        self,
        desk: RaterDesk,
        known: Known,
        contact: str,
        ended: Callable[[str], None],
        again: Callable[[Request, Fields], Response] | None = None,
    ) -> None:
        self.desk, self.known, self.contact, self.ended = desk, known, contact, ended
        self.again = again

    def routes(self) -> list[Route]:
        """The routes of these pages."""
        posts = {
            "/answer": self.answer,
            "/draft": self.draft,
            "/begin": self.begin,
            "/pause": self.pause,
            "/go-on": self.go_on,
            "/leave": self.leave,
        }
        made = [Route(HERE, self._get(self.page), methods=["GET"])]
        for path, act in posts.items():
            made.append(Route(f"{HERE}{path}", self._post(act), methods=["POST"]))
        made.append(Route(f"{HERE}/leave", self._get(self.leaving), methods=["GET"]))
        return made

    def page(self, rater: Rater, query: Mapping[str, str]) -> Response:
        """Whatever is next for a rater."""
        held = self.desk.join(rater.person, rater.task) if rater.task else None
        if held is None:
            return self._told(rater, "full" if rater.task else "nothing")
        if held.state == "left":
            return self._told(rater, "left")
        if held.paused is not None:
            return self._html(rater, "rate_pause.html")
        try:
            found = self.desk.next(held)
        except WrongInput:
            return self._stopped(rater)
        if found is None:
            self.ended(rater.person)
            return self._told(rater, "done")
        if not found.begun:
            return self._instructions(rater, held, found)
        return self._step(rater, held, found, known="known" in query)

    def begin(self, rater: Rater, fields: Fields) -> Response:
        """The instructions were read: the first page is shown."""
        held, found = self._at(rater)
        if held is not None and found is not None and not found.begun:
            show_step(self.desk.register, held, found.sheet, found.step.name, None)
        return _back()

    def answer(self, rater: Rater, fields: Fields) -> Response:
        """Keep what was given, once; show the form again where something is missing or wrong."""
        held, found = self._at(rater)
        given = fields.get(KEY, [""])[-1]
        if held is None or found is None or found.known is None or found.known.key != given:
            return _back("?known=1")  # a form of before: from another tab, or sent twice
        answers = _answers(fields)
        status, reply = "ok", ""
        try:
            if DECLINED in fields:
                status = "refusal"
            else:
                reply = _reply(found, answers)
        except Incomplete as error:
            save_draft(self.desk.register, held, given, answers)
            return self._step(rater, held, found, answers, error)
        except UnreadableReply as error:
            save_draft(self.desk.register, held, given, answers)
            unread = Incomplete({"": ("rate.unread", {"fault": str(error)})})
            return self._step(rater, held, found, answers, unread)
        kept = hand_in_step(self.desk.register, held, given, reply, status)
        return _back("" if kept else "?known=1")

    def draft(self, rater: Rater, fields: Fields) -> Response:
        """Keep what was typed so far."""
        held = self.desk.held(rater.person)
        key = fields.get(KEY, [""])[-1]
        saved = held is not None and held.state == "taken"
        saved = saved and save_draft(self.desk.register, held, key, _answers(fields))
        return JSONResponse({"saved": saved}, status_code=200 if saved else 409)

    def pause(self, rater: Rater, fields: Fields) -> Response:
        """A break begins; what was typed is kept."""
        held = self.desk.held(rater.person)
        if held is not None and held.state == "taken":
            if KEY in fields:
                save_draft(self.desk.register, held, fields[KEY][-1], _answers(fields))
            pause(self.desk.register, held)
        return _back()

    def go_on(self, rater: Rater, fields: Fields) -> Response:
        """The break ends."""
        held = self.desk.held(rater.person)
        if held is not None:
            go_on(self.desk.register, held)
        return _back()

    def leaving(self, rater: Rater, query: Mapping[str, str]) -> Response:
        """Asks whether to stop for good."""
        return self._html(rater, "rate_leave.html")

    def leave(self, rater: Rater, fields: Fields) -> Response:
        """The rater stops for good; what is whole counts."""
        held = self.desk.held(rater.person)
        if held is not None and held.state == "taken":
            self.desk.leave(held)
            self.ended(rater.person)
        return _back()

    def _at(self, rater: Rater) -> tuple[Held | None, Next | None]:
        """The place of a rater and what is next there; nothing where it is hers no more."""
        held = self.desk.held(rater.person)
        if held is None or held.state != "taken":
            return None, None
        return held, self.desk.next(held)

    def _instructions(self, rater: Rater, held: Held, found: Next) -> Response:
        task = self.desk.task(held.task)
        hidden = {"removed": REMOVED, "somebody": SOMEBODY}
        hours = f"{task.hand_on:g}"
        values = {"kind": task.kind, "of": found.of, "hours": hours, "hidden": hidden}
        return self._html(rater, "rate_begin.html", **values)

    def _step(
        self,
        rater: Rater,
        held: Held,
        found: Next,
        draft: Fields | None = None,
        faults: Incomplete | None = None,
        known: bool = False,
    ) -> Response:
        """The page of a step: the place in all, the form, and the ways out."""
        register, step, language = self.desk.register, found.step, rater.language
        key = show_step(register, held, found.sheet, step.name, found.known)
        if draft is None:
            draft = draft_of(register, rater.person, key) if found.known else {}
        form = None
        if step.prompt is not None:
            asked = questionnaire(step.prompt, rationale=False)
            form = form_of(asked, key, language, draft, faults)
        values: dict[str, Any] = {
            "kind": self.desk.task(held.task).kind,
            "number": found.number,
            "of": found.of,
            "known": known,
            "key": key,
            "check": step.check,
            "number_typed": (draft.get(NUMBER) or [""])[-1],
            "faults": {} if faults is None else said_of(faults, language),
            "form": form,
            "texts": texts_of(language),
        }
        page = self._html(rater, "rate.html", **values)
        page.status_code = 422 if faults else 200
        return page

    def _stopped(self, rater: Rater) -> Response:
        page = self._told(rater, "stopped", contact=self.contact or "")
        page.status_code = 409
        return page

    def _told(self, rater: Rater, what: str, **values: str) -> Response:
        return self._html(rater, "rate_told.html", what=what, values=values)

    def _html(self, rater: Rater, template: str, **values: Any) -> Response:
        return HTMLResponse(render(template, rater.language, csrf=rater.csrf, **values))

    def _get(self, act: Callable[[Rater, Mapping[str, str]], Response]) -> Callable[..., Any]:
        async def get(request: Request) -> Response:
            rater = await run_in_threadpool(self._who, request)
            return await run_in_threadpool(act, rater, request.query_params)

        return get

    def _post(self, act: Callable[[Rater, Fields], Response]) -> Callable[..., Any]:
        async def post(request: Request) -> Response:
            fields = None
            try:
                rater = await run_in_threadpool(self._who, request)
                fields = await fields_in(request)
                sent = fields.get(CSRF, [""])[-1]
                if not secrets.compare_digest(sent.encode(), rater.csrf.encode()):
                    raise HTTPException(403)
                return await run_in_threadpool(act, rater, fields)
            except Unavailable:
                if self.again is None:
                    raise
                fields = fields or await fields_in(request)
                return self.again(request, fields)

        return post

    def _who(self, request: Request) -> Rater:
        rater = self.known(request)
        if rater is None:
            raise HTTPException(403)
        return rater


def _reply(found: Next, answers: Fields) -> str:
    """The reply in the form of what was asked; Incomplete or UnreadableReply where it is none."""
    prompt = found.step.prompt
    if prompt is None:
        number = answers.get(NUMBER, [""])[-1].strip()
        if not (number.isascii() and number.isdigit() and len(number) < 9):
            raise Incomplete({NUMBER: ("rate.check_fault", {})})
        return str(int(number))
    reply = reply_of(questionnaire(prompt, rationale=False), answers)
    prompt.reply.read(reply)
    return reply


def _answers(fields: Fields) -> dict[str, list[str]]:
    """The fields that are answers."""
    return {name: values for name, values in fields.items() if name not in NO_ANSWERS}


def _back(query: str = "") -> Response:
    return RedirectResponse(f"{HERE}{query}", status_code=303)
