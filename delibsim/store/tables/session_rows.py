"""What is known of one session: its plan, its run, its calls, and the rows they are in the tables
of a study.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from delibsim.domain.branching import in_short, what_differs
from delibsim.domain.cost import sum_of
from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import SIDES
from delibsim.domain.run import Run, Session
from delibsim.domain.study import cell_of
from delibsim.domain.survey import PHASES, Response, Survey
from delibsim.domain.text import counted
from delibsim.domain.transcript import Statement
from delibsim.store.branches import inherited
from delibsim.store.files import json_text
from delibsim.store.runs import Runs
from delibsim.store.session_log import calls_or_fault
from delibsim.store.tables.calls import Row, call_row, number_or_none
from delibsim.store.tables.consensus_rows import consensus_rows
from delibsim.store.tables.people_facts import people_facts
from delibsim.store.withdrawn import WITHDRAWN

OF_PROCEDURE = (
    "instructions",
    "background",
    "shuffle_items",
    "reverse_scale",
    "show_transcript",
    "transcript_window",
    "show_answers",
    "recall",
    "reasks",
    "words",
    "longest_statement",
)
"""Settings of the procedure that are columns of `runs`, under their own names."""

OF_RULES = {
    "least": "speech_least",
    "most": "speech_most",
    "reasks": "speech_reasks",
    "then": "speech_then",
    "preparation": "preparation",
    "fairness": "fairness",
    "both_kinds": "both_kinds",
    "no_new_argument": "no_new_argument",
}
"""The columns of `runs` that hold the rules of speeches, by the name of the rule."""


Alike = tuple[str, Row, Sequence[Row]]
"""Rows of a table: the values that they share, and what each has of its own."""
Attempts = tuple[tuple[tuple[str, str], int | None], ...]
"""How often each survey and turn was asked, by participant and occasion."""


class Kept:
    """What the rows of scores need of sessions: their conditions and attempts.

    What sessions have in common, which is nearly all, is kept once.
    """

    def __init__(self) -> None:
        self._of: dict[str, tuple[Row, Row, Attempts]] = {}
        self._known: dict[Any, Any] = {}

    def add(self, session: "SessionRows") -> None:
        """Keep what is needed of a session."""
        condition, own = dict(session.condition), {}
        for name in ("session", "replicate"):
            if name in condition:
                own[name] = condition.pop(name)
        attempts: Attempts = tuple(session.attempts.items())
        # As text, because 0 and 0.0 are written differently.
        shared = self._known.setdefault(repr(condition), condition)
        self._of[session.name] = own, shared, self._known.setdefault(attempts, attempts)

    def of(self, session: str) -> Row | None:
        """The condition of a session; None if there is no such session."""
        if session not in self._of:
            return None
        own, shared, _ = self._of[session]
        return shared | own

    def attempts(self, session: str) -> Attempts | None:
        """The attempts of a session; None if there is no such session."""
        return self._of[session][2] if session in self._of else None


class SessionRows:
    """What is known of one session: its plan, its run, its calls, and what cannot be read of them.

    `drawn` is how its group was drawn; `same` gives for every condition of the study that is the
    same as another by construction the first of these.
    """

    def __init__(
        self,
        runs: Runs,
        name: str,
        drawn: Mapping[str, Any] | None = None,
        same: Mapping[str, str] | None = None,
    ) -> None:
        self.study, self.name, self.drawn, self.same = runs.study, name, drawn or {}, same or {}
        self.faults: list[str] = []
        self.session: Session | None = None
        self.run: Run | None = None
        try:
            self.session = runs.planned(name)
            self.run = runs.run_of(name)
            self.session = self.run.session if self.run else self.session
        except WrongInput as error:
            self.faults.append(str(error))
        (records, self.damaged, self.lost), fault = calls_or_fault(runs, name)
        if fault:
            self.run, self.damaged = None, 0
            self.faults.append(fault)
        self.status = self.run.status if self.run else "no run"
        if runs.withdrawn(name):
            self.status = WITHDRAWN
        if self.faults:
            self.status = "damaged"
        self.calls: list[Row] = []
        models = self.session.voices if self.session else None
        for record in records:
            call = call_row(record, len(self.calls) + 1, models)
            if call is None:
                self.damaged += 1
            else:
                self.calls.append(call)
        self.inherited: list[Row] = []
        """The calls of the parent of a branch, which cost the branch nothing."""
        if self.session is not None and self.session.parentage is not None:
            made = [call_row(record, 0, None) for record in inherited(runs, name)[0]]
            self.inherited = [call for call in made if call is not None]
        self.fault = self.faults[0] if self.faults else None
        if self.damaged:
            damaged = counted(self.damaged, "damaged line")
            self.faults.append(f"{runs.path(name) / 'exchanges.jsonl'}: {damaged} left out")

    def rows(self) -> Iterator[tuple[str, Row]]:
        """The rows of this session, each by itself."""
        for table, shared, own in self.alike():
            for one in own:
                yield table, shared | one

    def alike(self) -> Iterator[Alike]:
        """The rows of this session: of runs, participants, responses, statements and calls."""
        yield "runs", self.condition, (self._row_of_run(),)
        people = self.session.participants if self.session else ()
        drawn = self.drawn.get("personas", ())
        for participant, origin in itertools.zip_longest(people, drawn[: len(people)]):
            described = {
                "role": participant.role,
                "persona": participant.persona,
                "persona_from": None if origin is None else str(origin),
            }
            yield "participants", self.condition, (self.seats[participant.id] | described,)
        if self.run is not None:
            for response in self.run.responses:
                unit = self._unit(response.participant, response.phase)
                answers = list(_answers(response, self.run.session.survey))
                yield "responses", unit | {"phase": response.phase}, answers
            for row in self._statements(self.run):
                yield "statements", row, ({},)
            if self.run.consensus is not None:
                for table, row in consensus_rows(self.run.consensus):
                    yield table, self.condition, (row,)
        for call in self.calls:
            yield "calls", self.condition, (self.seats.get(call["participant"], {}) | call,)

    def _row_of_run(self) -> Row:
        row = self._counts() | {"status": self.status, "fault": self.fault}
        if self.session is not None:
            row |= self._of_people(self.session)
            row |= _procedure(self.session) | _debate(self.session) | _branch(self.session)
        for name, value in self.drawn.get("diversity", {}).items():
            if name != "people":
                row[f"diversity_{name}"] = value
        return row

    def _of_people(self, session: Session) -> Row:
        calls = [
            call | {"given_by": call["model_returned"]} for call in (*self.inherited, *self.calls)
        ]
        return people_facts(session, self.run, calls, self.damaged)

    def _statements(self, run: Run) -> Iterator[Row]:
        for said in sorted([*run.transcript, *run.silences], key=lambda one: one.turn.index):
            turn = said.turn
            row = self._unit(turn.speaker, f"turn {turn.index}")
            row |= {"turn": turn.index, "round": turn.round, "task": turn.task}
            if isinstance(said, Statement):
                row |= {"status": "ok", "text": said.text}
                yield row | {"cut": said.cut, "given": said.given}
            else:
                yield row | {"status": said.status, "reason": said.reason}

    @cached_property
    def seats(self) -> dict[str, Row]:
        """Participant, seat and model by the name of the participant."""
        found: dict[str, Row] = {}
        plan = self.session
        while plan is not None:
            for person in plan.participants:
                seat = plan.seats.index(person.id) + 1
                row = {"participant": person.id, "seat": seat, "model": person.model}
                found.setdefault(person.id, row)
            plan = plan.before  # those who left in a fork have said something
        return found

    @cached_property
    def asked(self) -> dict[tuple[str, str], list[Row]]:
        """The calls by participant and occasion."""
        found: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for call in (*self.calls, *self.inherited):
            found[call["participant"], call["occasion"]].append(call)
        return found

    @cached_property
    def attempts(self) -> dict[tuple[str, str], int | None]:
        """How often every survey and turn of the run was asked, by participant and occasion; None
        where the record does not tell.
        """
        if self.run is None:
            return {}
        units = [(given.participant, str(given.phase)) for given in self.run.responses]
        for said in (*self.run.transcript, *self.run.silences):
            units.append((said.turn.speaker, f"turn {said.turn.index}"))
        found = {unit: self._attempts(self.asked.get(unit, [])) for unit in units}
        for said in self.run.transcript:
            if said.given:  # nobody was asked
                found[said.turn.speaker, f"turn {said.turn.index}"] = 0
        return found

    def _attempts(self, calls: Sequence[Row]) -> int | None:
        """An attempt that ended ok was the last; without one, damaged lines may have held more."""
        done = [call["attempt"] for call in calls if call["status"] == "ok"]
        if not done and (self.damaged or not calls):
            return None
        return max(done or [call["attempt"] for call in calls]) + 1

    @cached_property
    def condition(self) -> Row:
        """The columns of the condition; only the names where the plan cannot be read."""
        session = self.session
        if session is None:
            return {"study": self.study, "session": self.name}
        cell, models = cell_of(session), session.models
        kinds = [str(settings.get("kind", "")) for settings in models.values()]
        known = {
            "study": self.study,
            "session": self.name,
            "cell": cell,
            "equal_to": self.same.get(cell),
            "topic": session.topic.id,
            "survey": session.survey.id,
            "treatment": session.treatment.name,
            "interaction": session.treatment.interaction,
            "rounds": session.treatment.rounds if session.treatment.interaction else 0,
            "format": session.format,
            "wording": session.wording.id,
            "models": "+".join(models),
            "model_kinds": "+".join(kinds),
            "size": len(session.participants),
            "personas": sum(bool(participant.persona) for participant in session.participants),
            "network": session.procedure.audience.network,
            "replicate": session.replicate,
            "seed": str(session.seed),
        }
        return known | _in_force(self.calls, list(models.values()))

    def _unit(self, participant: str, occasion: str) -> Row:
        """What the rows of one survey or turn share: condition, participant, the parameters it was
        asked with, attempts.
        """
        seat, settings = self.seats[participant], []
        if self.session is not None:
            model = self.session.seated(participant, occasion).model
            seat = seat | {"model": model}
            plan = self.session.in_force(participant, occasion)
            settings = [plan.models[model]] if model in plan.models else []
        calls = self.asked.get((participant, occasion), [])
        attempts = {"attempts": self.attempts[participant, occasion]}
        return self.condition | seat | _in_force(calls, settings) | attempts

    def _counts(self) -> Row:
        session, run, calls = self.session, self.run, self.calls
        costs = [call["cost_usd"] for call in calls]
        costs += [call["retry_cost_usd"] for call in calls if call["retries"]]
        expected = 0
        if session is not None:
            expected = len(session.respondents) * len(PHASES) * len(session.survey.items)
        row: Row = {
            "answers_expected": None if session is None else expected,
            "calls": len(calls),
            "calls_not_ok": sum(call["status"] != "ok" for call in calls),
            "calls_damaged": self.damaged,
            "cost_usd": sum_of(costs) if calls and not (self.damaged or self.lost) else None,
            "possibly_billed": sum(bool(call["possibly_billed"]) for call in calls),
            "started": min((call["started"] for call in calls if call["started"]), default=None),
        }
        if run is None:
            return row
        given = sum(len(response.answers) for response in run.responses)
        attempts = self.attempts.values()
        reasked = None if None in attempts else sum(n is not None and n > 1 for n in attempts)
        return row | {
            "answers_missing": expected - given,
            "turns": len(run.transcript) + len(run.silences),
            "statements_missing": len(run.silences),
            "reasked": reasked,
            "delibsim_version": run.provenance.get("delibsim"),
            "python_version": run.provenance.get("python"),
        }


def _in_force(calls: Sequence[Row], settings: Sequence[Mapping[str, Any]]) -> Row:
    """What was asked for and what really was in force: one temperature only where all these calls
    had it.
    """
    calls = [call for call in calls if call["status"] == "ok"] or calls
    dropped: set[str] = set()
    for call in calls:
        if call["parameters_dropped"]:
            dropped.update(call["parameters_dropped"].split("; "))
    return {
        "temperature_requested": _shared(
            number_or_none(own.get("temperature")) for own in settings
        ),
        "temperature": _shared(call["temperature"] for call in calls),
        "parameters_dropped": "; ".join(sorted(dropped)) or None,
    }


def _shared(values: Iterable[float | None]) -> float | None:
    """The value that all have, or None if they differ."""
    different = set(values)
    return different.pop() if len(different) == 1 else None


def _procedure(session: Session) -> Row:
    procedure, audience = session.procedure, session.procedure.audience
    row = {name: getattr(procedure, name) for name in OF_PROCEDURE}
    if audience.network == "small_world":
        row |= {"neighbours": audience.neighbours, "rewiring": audience.rewiring}
    row["edges"] = ";".join(f"{a}-{b}" for a, b in audience.edges)
    return row


def _debate(session: Session) -> Row:
    """Who is on which side, and the rules of speeches; nothing of what is no debate."""
    people = session.participants
    row: Row = {person.role: person.model for person in people if person.role in SIDES}
    rules = session.procedure.rules
    if not session.kind.sides or rules is None:
        return row
    return row | {column: getattr(rules, name) for name, column in OF_RULES.items()}


def _branch(session: Session) -> Row:
    """Where a fork or a probe comes from and what differs; nothing of a planned session."""
    if session.parentage is None:
        return {}
    texts = [difference.plain() for difference in what_differs(session)]
    return {
        "branch_of": session.parentage.place,
        "branch_at": session.parentage.at,
        "branch_differs": in_short(session),
        "branch_texts": json_text(texts),
    }


def _answers(response: Response, survey: Survey) -> Iterator[Row]:
    """One participant's answers in one phase, in the order of the survey."""
    position = {item: place for place, item in enumerate(response.order, 1)}
    for item in survey.items:
        missing = None
        if item.id not in response.answers:
            missing = str(response.missing.get(item.id, "no reason was recorded"))
        yield {
            "item": item.id,
            "item_kind": item.kind,
            "value": response.answers.get(item.id),
            "missing": missing,
            "position": position.get(item.id),
            "reversed": response.reversed,
        }
