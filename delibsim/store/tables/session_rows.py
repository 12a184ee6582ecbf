"""The rows of one session in the tables of a study."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from delibsim.domain.consensus import MEDIATOR, Consensus, ConsensusVote, Contribution
from delibsim.domain.run import Run
from delibsim.domain.survey import Response, Survey
from delibsim.domain.text import counted
from delibsim.domain.transcript import Statement
from delibsim.store.runs import Runs
from delibsim.store.tables import session_facts
from delibsim.store.tables.calls import Row
from delibsim.store.tables.sheets import ALL_COLUMNS, CONDITION, OF_PHASES, standing_in

Alike = tuple[str, Row, Sequence[Row]]
"""Rows of a table: the values that they share, and what each has of its own."""
Attempts = tuple[tuple[tuple[str, str], int | None], ...]
"""How often each survey and turn was asked, by participant and occasion."""
OF_RUNS = tuple(column.name for column in ALL_COLUMNS["runs"] if column.name not in CONDITION)
"""The columns of the table `runs` that are no column of every table."""


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
        attempts: Attempts = tuple(session.read.attempts.items())
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
    """The rows of one session: of its plan, its run, its calls, and what cannot be read of them.

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
        self.read = session_facts.read_session(runs, name)
        self.session, self.run = self.read.session, self.read.run
        self.faults = [] if self.read.fault is None else [self.read.fault]
        if self.read.damaged:
            damaged = counted(self.read.damaged, "damaged line")
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
            own = self.seats[participant.id] | standing_in("participant", participant)
            own["persona_from"] = None if origin is None else str(origin)
            yield "participants", self.condition, (own,)
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
        for call in self.read.calls:
            yield "calls", self.condition, (self.seats.get(call["participant"], {}) | call,)

    @cached_property
    def facts(self) -> Row:
        """What is known of its run and its record."""
        return session_facts.facts_of_record(self.read)

    def _row_of_run(self) -> Row:
        row = dict(self.facts)
        if self.session is not None:
            row |= session_facts.facts_of_plan(self.session, OF_RUNS)
        for name, value in self.drawn.get("diversity", {}).items():
            if name != "people":
                row[f"diversity_{name}"] = value
        lacking = {name for name in OF_PHASES if row.get(name) is None}
        return {name: row.get(name) for name in OF_RUNS if name not in lacking}

    def _statements(self, run: Run) -> Iterator[Row]:
        held = run.session.conversation
        people = {} if held is None else {one.turn.index: one for one in held.turns}
        for said in sorted([*run.transcript, *run.silences], key=lambda one: one.turn.index):
            turn = said.turn
            row = self._unit(turn.speaker, f"turn {turn.index}")
            row |= standing_in("turn", turn)
            row["small_group"] = turn.group or None
            row["role"] = turn.role or run.session.seated(turn.speaker).role
            if own := people.get(turn.index):
                row |= {"reply_to": own.reply_to, "said_at": own.time or None}
            if isinstance(said, Statement):
                row |= {"status": "ok", "text": said.text, "names": said.names or None}
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
            for person in plan.invited:  # these have no seat in the group
                row = {"participant": person.id, "seat": None, "model": person.model}
                found.setdefault(person.id, row)
            plan = plan.before  # those who left in a fork have said something
        return found

    @cached_property
    def condition(self) -> Row:
        """The columns of the condition; only the names where the plan cannot be read."""
        names = {"study": self.study, "session": self.name}
        if self.session is None:
            return names
        plan = session_facts.facts_of_plan(self.session, CONDITION)
        same = {"equal_to": self.same.get(plan["cell"])}
        return names | plan | same | session_facts.in_force(self.read.calls)

    def _unit(self, participant: str, occasion: str) -> Row:
        """What the rows of one survey or turn share: condition, participant, the parameters it was
        asked with, attempts.
        """
        seat = self.seats.get(participant, {"participant": participant})
        asked_for = None
        if self.session is not None and participant in self.seats:
            model = self.session.seated(participant, occasion).model
            seat = seat | {"model": model}
            plan = self.session.in_force(participant, occasion)
            asked_for = session_facts.requested(
                [plan.voices[model]] if model in plan.voices else []
            )
        calls = session_facts.in_force(self.read.asked.get((participant, occasion), []))
        attempts = {"attempts": self.read.attempts[participant, occasion]}
        return self.condition | seat | calls | {"temperature_requested": asked_for} | attempts


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


def consensus_rows(consensus: Consensus) -> Iterator[tuple[str, Row]]:
    """Rows as (table, values by column): texts first, then votes."""
    yield from _contributions("position", consensus.positions)
    yield from _statements(consensus)
    yield from _contributions("critique", consensus.critiques)
    yield from _votes(1, consensus.first)
    if consensus.second is not None:
        yield from _votes(2, consensus.second)


def _contributions(kind: str, written: tuple[Contribution, ...]) -> Iterator[tuple[str, Row]]:
    for one in written:
        row = {"kind": kind, "author": one.participant, "text": one.text}
        yield "consensus_texts", row | {"reason": str(one.missing or "")}


def _statements(consensus: Consensus) -> Iterator[tuple[str, Row]]:
    """Every statement once: the candidates, then the revisions."""
    first, second = consensus.first, consensus.second
    written = [("candidate", one) for one in first.candidates]
    known = {one.id for one in first.candidates}
    for one in second.candidates if second else ():
        if one.id not in known:
            written.append(("revision", one))
    won = {first.winner: "first"}
    if second is not None and second.winner:
        won[second.winner] = "both" if second.winner == first.winner else "second"
    for kind, one in written:
        yield (
            "consensus_texts",
            {
                "kind": kind,
                "text_id": one.id,
                "author": MEDIATOR,
                "text": one.text,
                "reason": str(one.missing or ""),
                "shown": "; ".join(one.order),
                "won": won.get(one.id, ""),
            },
        )


def _votes(number: int, vote: ConsensusVote) -> Iterator[tuple[str, Row]]:
    """A row a participant and statement, also where the vote is missing."""
    standing = tuple(candidate.id for candidate in vote.standing)
    for ranking in vote.rankings:
        for id in ranking.order or standing:
            place = ranking.order.index(id) + 1 if ranking.order else None
            row: Row = {"vote": number, "participant": ranking.participant, "text_id": id}
            row |= {"place": place, "rank": ranking.ranks.get(id)}
            row |= {"agreement": ranking.agreement.get(id), "decided": vote.decided}
            yield "consensus_votes", row | {"reason": str(ranking.missing or "")}
