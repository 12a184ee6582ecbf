"""One address for each person: consent, questions, the seat, and the end of her part."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from delibsim.domain.hosting import DONE as TO_THE_END
from delibsim.domain.hosting import (
    ENDED,
    LEFT,
    SCREENED_OUT,
    TIMED_OUT,
    CompletionCode,
    HostingQuestion,
)
from delibsim.models.person.fields import cleaned
from delibsim.people.erase import give_up_seat
from delibsim.people.presence import NOBODY
from delibsim.store.people import persons
from delibsim.store.people.hosting_files import languages
from delibsim.store.people.rooms import rooms_of
from delibsim.store.people.schema import Role, Stage
from delibsim.web.people.render import Fields, html_of
from delibsim.web.people.room import GONE, SeatPages
from delibsim.web.people.visits import HOME, Visit, Visits, home, one

LONGEST = 2_000
"""Characters of one answer."""
Given = Mapping[str, list[str]]


class Questions:
    """The pages before a conversation."""

    def __init__(self, visits: Visits) -> None:
        self.visits, self.register, self.hosting = visits, visits.register, visits.hosting

    def routes(self) -> list[Route]:
        """The routes of these pages."""
        posts = {"consent": self.consent, "information": self.informed, "questions": self.answer}
        return [self.visits.post(f"/me/{name}", act) for name, act in posts.items()]

    def nothing(self, visit: Visit) -> bool:
        """Whether nothing is declared between consent and what follows."""
        return not (self.visits.reception(visit).information or self._asked(visit))

    def _asked(self, visit: Visit) -> tuple[HostingQuestion, ...]:
        own = self.visits.reception(visit)
        return (*own.checks, *own.questions)

    def consent_page(self, visit: Visit) -> Response:
        """What a person agrees to, or does not."""
        text = html_of(self.visits.reception(visit).consent)
        judges = visit.person.role == Role.RATER
        return self.visits.page(visit, "consent.html", text=text, judges=judges)

    def page(self, visit: Visit, given: Given | None = None, faults: Any = None) -> Response:
        """The information, and what is asked; with what was given before where that is wrong."""
        said = {name: visit.words(key, **values) for name, (key, values) in (faults or {}).items()}
        return self.visits.page(
            visit,
            "questions.html",
            422 if faults else 200,
            information=html_of(self.visits.reception(visit).information),
            asked=self._asked(visit),
            given=given or {},
            faults=said,
            tried=self._tried(visit),
        )

    def consent(self, visit: Visit, fields: Fields) -> Response:
        """Keep that a person agrees, or does not; who did not may still."""
        if visit.person.stage in (Stage.INVITED, Stage.DECLINED):
            if "agree" in fields:
                version = self.visits.reception(visit).consent_version
                stage = Stage.READY if self.nothing(visit) else Stage.CONSENTED
                persons.consent(self.register, visit.person.id, version, stage)
            elif "again" in fields:
                persons.set_stage(self.register, visit.person.id, Stage.INVITED)
            elif "refuse" in fields:
                persons.set_stage(self.register, visit.person.id, Stage.DECLINED)
        return home()

    def informed(self, visit: Visit, fields: Fields) -> Response:
        """Go on from the information, where there is nothing to answer."""
        if visit.person.stage == Stage.CONSENTED and not self._asked(visit):
            persons.set_stage(self.register, visit.person.id, Stage.READY)
        return home()

    def answer(self, visit: Visit, fields: Fields) -> Response:
        """Keep the answers to checks and questions; who fails the checks too often cannot go on."""
        tried = self._tried(visit)
        if visit.person.stage != Stage.CONSENTED or one(fields, "tried") != str(tried):
            return home()  # a form of before, or one that was sent twice
        own, asked = self.visits.reception(visit), self._asked(visit)
        given = {question.id: _given(question, fields) for question in asked}
        faults = {}
        for question in asked:
            fault = _fault(question, given[question.id])
            if fault:
                faults[question.id] = fault
        if faults:
            return self.page(visit, given, faults)
        checks = {question.id: "; ".join(given[question.id]) for question in own.checks}
        passed = {question.id: _passes(question, given[question.id]) for question in own.checks}
        code = visit.person.id
        persons.keep_answers(self.register, code, checks, tried, passed)
        if not all(passed.values()):
            if tried + 1 >= self.hosting.attempts:
                persons.set_stage(self.register, code, Stage.FAILED)
                return home()
            again = "people.check_wrong" if own.information else "rate.check_wrong"
            wrong = {question: (again, {}) for question, right in passed.items() if not right}
            return self.page(visit, given, wrong)
        asked_too = {question.id: "; ".join(given[question.id]) for question in own.questions}
        persons.keep_answers(self.register, code, asked_too)
        persons.enter(self.register, code, self.hosting.quotas)
        return home()

    def _tried(self, visit: Visit) -> int:
        """How often a person has answered the checks."""
        names = [question.id for question in self.visits.reception(visit).checks]
        return max(
            [persons.attempts(self.register, visit.person.id, name) for name in names], default=0
        )


def _given(question: HostingQuestion, fields: Fields) -> list[str]:
    """What was answered, without what is empty."""
    values = [cleaned(value) for value in fields.get(f"q-{question.id}", [])]
    return [value for value in values if value]


def _fault(question: HostingQuestion, given: list[str]) -> tuple[str, dict[str, object]] | None:
    """What is wrong with an answer: the key of a text, with its values."""
    if not given:
        return ("form.missing", {}) if question.required else None
    if question.kind != "several" and len(given) > 1:
        return "form.missing", {}
    if question.kind in ("choice", "several"):
        return None if set(given) <= set(question.options) else ("form.missing", {})
    if question.kind in ("number", "scale"):
        return None if _is_within(question, given[0]) else _bounds(question)
    long = len(given[0]) > LONGEST
    return ("people.too_long", {"most": LONGEST, "count": len(given[0])}) if long else None


def _bounds(question: HostingQuestion) -> tuple[str, dict[str, object]]:
    if question.low is None or question.high is None:
        return "people.number", {}
    return "form.whole", {"low": question.low, "high": question.high}


def _is_within(question: HostingQuestion, value: str) -> bool:
    digits = value.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 10):
        return False
    number = int(value)
    above = question.low is None or question.low <= number
    return above and (question.high is None or number <= question.high)


def _passes(question: HostingQuestion, given: list[str]) -> bool:
    """Whether a check is passed: by one of the right answers, or by all of them and no other."""
    if question.kind == "several":
        return set(given) == set(question.right)
    return bool(given) and given[0] in question.right


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
            self.visits.get("/me/withdraw", self.withdrawing),
            self.visits.post("/me/withdraw", self.withdraw),
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
        back = self.hosting.completion(SCREENED_OUT) if screened else CompletionCode()
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
            persons.note_withdrawn(self.visits.register, visit.person.id)
            self._give_up(visit.person.id)
        return home()

    def _give_up(self, person: str) -> None:
        hall = self.visits.hall
        if session := give_up_seat(hall.register, self.hosting, person):
            hall.watch.tell(session, NOBODY)


class StagePages:
    """The address of every person: what she sees there depends on how far she is."""

    def __init__(self, visits: Visits, questions: Questions, room: SeatPages, end: End) -> None:
        self.visits, self.questions, self.room, self.end = visits, questions, room, end

    def routes(self) -> list[Route]:
        """The routes of these pages."""
        return [
            self.visits.get(HOME, self.page),
            self.visits.post("/me/language", self.language),
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
            persons.set_stage(self.visits.register, visit.person.id, Stage.READY)
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
        code = one(fields, "language")
        if code in languages():
            persons.set_language(self.visits.register, visit.person.id, code)
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
            invitation = persons.invitation_of(self.visits.register, code)
            where = (invitation.session, invitation.seat) if invitation else ("", "")
            hall.join(code, *where)
            view = hall.view(code)
        if view is None:
            return self.visits.page(visit, "full.html")
        if view.waits in GONE:
            if view.waits == "over":
                persons.set_stage(self.visits.register, code, Stage.DONE)
            return self.end.page(visit, view.waits)
        return self.room.page(visit, view, known)
