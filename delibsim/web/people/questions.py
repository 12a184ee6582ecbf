"""Before a conversation: consent, information, checks, and the researcher's own questions."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from delibsim.domain.hosting import Question
from delibsim.models.person.reply import cleaned
from delibsim.store.people.persons import attempts, consent, enter_within, keep_answers, set_stage
from delibsim.store.people.states import Role, Stage
from delibsim.web.people.render import html_of
from delibsim.web.people.visits import Fields, Visit, Visits, home

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
        return [
            Route(f"/me/{name}", self.visits.post(act), methods=["POST"])
            for name, act in posts.items()
        ]

    def nothing(self, visit: Visit) -> bool:
        """Whether nothing is declared between consent and what follows."""
        return not (self.visits.reception(visit).information or self._asked(visit))

    def _asked(self, visit: Visit) -> tuple[Question, ...]:
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
                consent(self.register, visit.person.id, version, stage)
            elif "again" in fields:
                set_stage(self.register, visit.person.id, Stage.INVITED)
            elif "refuse" in fields:
                set_stage(self.register, visit.person.id, Stage.DECLINED)
        return home()

    def informed(self, visit: Visit, fields: Fields) -> Response:
        """Go on from the information, where there is nothing to answer."""
        if visit.person.stage == Stage.CONSENTED and not self._asked(visit):
            set_stage(self.register, visit.person.id, Stage.READY)
        return home()

    def answer(self, visit: Visit, fields: Fields) -> Response:
        """Keep the answers to checks and questions; who fails the checks too often cannot go on."""
        tried = self._tried(visit)
        if visit.person.stage != Stage.CONSENTED or (fields.get("tried") or [""])[-1] != str(tried):
            return home()  # a form of before, or one that was sent twice
        own, asked = self.visits.reception(visit), self._asked(visit)
        given = {one.id: _given(one, fields) for one in asked}
        faults = {}
        for one in asked:
            fault = _fault(one, given[one.id])
            if fault:
                faults[one.id] = fault
        if faults:
            return self.page(visit, given, faults)
        checks = {one.id: "; ".join(given[one.id]) for one in own.checks}
        passed = {one.id: _passes(one, given[one.id]) for one in own.checks}
        code = visit.person.id
        keep_answers(self.register, code, checks, tried, passed)
        if not all(passed.values()):
            if tried + 1 >= self.hosting.attempts:
                set_stage(self.register, code, Stage.FAILED)
                return home()
            again = "people.check_wrong" if own.information else "rate.check_wrong"
            wrong = {one: (again, {}) for one, right in passed.items() if not right}
            return self.page(visit, given, wrong)
        asked_too = {one.id: "; ".join(given[one.id]) for one in own.questions}
        keep_answers(self.register, code, asked_too)
        enter_within(self.register, code, self.hosting.quotas)
        return home()

    def _tried(self, visit: Visit) -> int:
        """How often a person has answered the checks."""
        names = [one.id for one in self.visits.reception(visit).checks]
        return max([attempts(self.register, visit.person.id, name) for name in names], default=0)


def _given(question: Question, fields: Fields) -> list[str]:
    """What was answered, without what is empty."""
    values = [cleaned(value) for value in fields.get(f"q-{question.id}", [])]
    return [value for value in values if value]


def _fault(question: Question, given: list[str]) -> tuple[str, dict[str, object]] | None:
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


def _bounds(question: Question) -> tuple[str, dict[str, object]]:
    if question.low is None or question.high is None:
        return "people.number", {}
    return "form.whole", {"low": question.low, "high": question.high}


def _is_within(question: Question, value: str) -> bool:
    digits = value.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 10):
        return False
    number = int(value)
    above = question.low is None or question.low <= number
    return above and (question.high is None or number <= question.high)


def _passes(question: Question, given: list[str]) -> bool:
    """Whether a check is passed: by one of the right answers, or by all of them and no other."""
    if question.kind == "several":
        return set(given) == set(question.right)
    return bool(given) and given[0] in question.right
