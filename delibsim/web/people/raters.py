"""The pages of raters and coders: one step of a sheet a page, breaks, drafts, and the end."""

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from delibsim.asking.blinding import REMOVED, SOMEBODY
from delibsim.domain.errors import WrongInput
from delibsim.models.person.fields import Incomplete, reply_of
from delibsim.models.person.questionnaire import questionnaire
from delibsim.people.raters import Next, RaterDesk
from delibsim.prompts.prompt import UnreadableReply
from delibsim.store.people import assignments
from delibsim.store.people.schema import Role, Stage
from delibsim.web.people.render import KEY, Fields, answers_in, draft_of, form_of, said_of, texts_of
from delibsim.web.people.room import Asks
from delibsim.web.people.visits import Visit, Visits, home, one

NUMBER = "number"
"""The answer of an attention check."""


class RaterPages(Asks):
    """The pages over a desk."""

    path = "/rate"

    def __init__(self, visits: Visits, desk: RaterDesk) -> None:
        super().__init__(visits)
        self.desk = desk

    def routes(self) -> list[Route]:
        """The routes of these pages."""
        posts = {"begin": self.begin, "pause": self.pause, "go-on": self.go_on}
        made = [self.visits.post(f"{self.path}/{name}", act) for name, act in posts.items()]
        return [*super().routes(), self.visits.get(self.path, self.page), *made]

    def page(self, visit: Visit, request: Request) -> Response:
        """Whatever is next for a rater."""
        _refuse_others(visit)
        person = visit.person.id
        task = assignments.task_of(self.register, person)
        held = self.desk.join(person, task) if task else None
        if held is None:
            return self._told(visit, "full" if task else "nothing")
        if held.state == "left":
            return self._told(visit, "left")
        if held.paused is not None:
            return self.visits.page(visit, "rate_pause.html")
        try:
            found = self.desk.next(held)
        except WrongInput:
            return self._told(visit, "stopped", 409, contact=self.hosting.contact)
        if found is None:
            assignments.note_ended(self.register, person)
            return self._told(visit, "done")
        if not found.begun:
            return self._instructions(visit, held, found)
        return self._step(visit, held, found, known="known" in request.query_params)

    def begin(self, visit: Visit, fields: Fields) -> Response:
        """The instructions were read: the first page is shown."""
        held = self._held(visit)
        found = self.desk.next(held) if held else None
        if held is not None and found is not None and not found.begun:
            assignments.show_step(self.register, held, found.sheet, found.step.name, None)
        return home(path=self.path)

    def asked(self, visit: Visit, key: str) -> tuple[assignments.Held, Next] | None:
        """The step that is next in the place of a rater, with the place."""
        held = self._held(visit)
        found = self.desk.next(held) if held else None
        if held is None or found is None or found.known is None or found.known.key != key:
            return None
        return held, found

    def read(self, asked: tuple[assignments.Held, Next], answers: Fields) -> str:
        """The reply in the form of what was asked."""
        prompt = asked[1].step.prompt
        if prompt is None:
            number = one(answers, NUMBER).strip()
            if not (number.isascii() and number.isdigit() and len(number) < 9):
                raise Incomplete({NUMBER: ("rate.check_fault", {})})
            return str(int(number))
        reply = reply_of(questionnaire(prompt, rationale=False), answers)
        try:
            prompt.reply.read(reply)
        except UnreadableReply as error:
            raise Incomplete({"": ("rate.unread", {"fault": str(error)})}) from None
        return reply

    def keep(
        self, asked: tuple[assignments.Held, Next], key: str, reply: str, status: str, detail: str
    ) -> bool:
        """Keep a reply."""
        return assignments.hand_in_step(self.register, asked[0], key, reply, status)

    def save(self, visit: Visit, key: str, answers: Fields) -> bool:
        """Keep what is typed."""
        held = self._held(visit)
        return held is not None and assignments.save_draft_of_step(
            self.register, held, key, answers
        )

    def shown_again(
        self,
        visit: Visit,
        asked: tuple[assignments.Held, Next],
        answers: Fields,
        faults: Incomplete,
    ) -> Response:
        """The page with what was sent."""
        return self._step(visit, *asked, answers, faults)

    def pause(self, visit: Visit, fields: Fields) -> Response:
        """A break begins; what was typed is kept."""
        held = self._held(visit)
        if held is not None:
            if KEY in fields:
                assignments.save_draft_of_step(
                    self.register, held, one(fields, KEY), answers_in(fields)
                )
            assignments.pause(self.register, held)
        return home(path=self.path)

    def go_on(self, visit: Visit, fields: Fields) -> Response:
        """The break ends."""
        held = self._held(visit)
        if held is not None:
            assignments.go_on(self.register, held)
        return home(path=self.path)

    def leaving(self, visit: Visit, request: Request) -> Response:
        """Ask whether to stop for good."""
        _refuse_others(visit)
        return self.visits.page(visit, "rate_leave.html")

    def leave(self, visit: Visit, fields: Fields) -> Response:
        """The rater stops for good; what is whole counts."""
        held = self._held(visit)
        if held is not None:
            self.desk.leave(held)
            assignments.note_ended(self.register, visit.person.id)
        return home(path=self.path)

    def _held(self, visit: Visit) -> assignments.Held | None:
        """The place of a rater; None where it is hers no more."""
        _refuse_others(visit)
        held = self.desk.held(visit.person.id)
        return held if held is not None and held.state == "taken" else None

    def _instructions(self, visit: Visit, held: assignments.Held, found: Next) -> Response:
        task = self.desk.task(held.task)
        hidden = {"removed": REMOVED, "somebody": SOMEBODY}
        hours = f"{task.hand_on:g}"
        values = {"kind": task.kind, "of": found.of, "hours": hours, "hidden": hidden}
        return self.visits.page(visit, "rate_begin.html", 200, **values)

    def _step(
        self,
        visit: Visit,
        held: assignments.Held,
        found: Next,
        draft: Fields | None = None,
        faults: Incomplete | None = None,
        known: bool = False,
    ) -> Response:
        """The page of a step: the place in all, the form, and the ways out."""
        step, words = found.step, visit.words
        key = assignments.show_step(self.register, held, found.sheet, step.name, found.known)
        if draft is None:
            draft = draft_of(found.known.draft) if found.known else {}
        form = None
        if step.prompt is not None:
            asked = questionnaire(step.prompt, rationale=False)
            form = form_of(asked, key, words, draft, faults)
        values: dict[str, Any] = {
            "kind": self.desk.task(held.task).kind,
            "number": found.number,
            "of": found.of,
            "known": known,
            "key": key,
            "check": step.check,
            "number_typed": one(draft, NUMBER),
            "faults": {} if faults is None else said_of(faults, words),
            "form": form,
            "texts": texts_of(words),
        }
        return self.visits.page(visit, "rate.html", 422 if faults else 200, **values)

    def _told(self, visit: Visit, what: str, status: int = 200, **values: str) -> Response:
        return self.visits.page(visit, "rate_told.html", status, what=what, values=values)


def _refuse_others(visit: Visit) -> None:
    """HTTPException 403 for whoever is no rater, or has not agreed yet."""
    is_rater = visit.login.role == Role.RATER
    if not is_rater or visit.person.stage not in (Stage.READY, Stage.DONE):
        raise HTTPException(403)
