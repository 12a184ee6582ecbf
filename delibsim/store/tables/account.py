"""What is known of one session: its plan, its run, its calls, and the rows they are in the tables
of a study.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from delibsim.domain.cost import cost_of, sum_of
from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import SIDES
from delibsim.domain.run import Run, Session
from delibsim.domain.study import cell_of
from delibsim.domain.survey import PHASES, Response, Survey
from delibsim.store.files import json_text
from delibsim.store.runs import Runs
from delibsim.store.tables.codebook import COLUMNS

Row = dict[str, Any]
NOT_PARAMETERS = frozenset({"name", "kind", "model", "base_url", "key_env", "timeout", "strict"})
"""Settings of a model that say who is asked and how it is reached, not how it samples."""


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
            if runs.held(name):
                self.run = runs.run(name)
                self.session = self.run.session
        except WrongInput as error:
            self.faults.append(str(error))
        self.status = self.run.status if self.run else "no run"
        if self.faults:
            self.status = "damaged"
        self.calls: list[Row] = []
        records, self.damaged = runs.exchanges(name)
        for record in records:
            if (call := _call(record, len(self.calls) + 1, self.session)) is None:
                self.damaged += 1
            else:
                self.calls.append(call)
        self.fault = self.faults[0] if self.faults else None
        if self.damaged:
            self.faults.append(
                f"{runs.path(name) / 'exchanges.jsonl'}: {self.damaged} damaged line(s) left out"
            )

    def rows(self) -> Iterator[tuple[str, Row]]:
        """The rows of this session: of runs, participants, responses, statements and calls."""
        diversity = {
            f"diversity_{name}": value
            for name, value in self.drawn.get("diversity", {}).items()
            if name != "people"
        }
        known = (
            self._counts()
            | _procedure(self.session)
            | diversity
            | {
                "status": self.status,
                "fault": self.fault,
            }
        )
        yield "runs", self.condition | known
        people = self.session.participants if self.session else ()
        drawn = self.drawn.get("personas", ())
        for participant, origin in itertools.zip_longest(people, drawn[: len(people)]):
            described = {
                "role": participant.role,
                "persona": participant.persona,
                "persona_from": None if origin is None else str(origin),
            }
            yield "participants", self.condition | self.seats[participant.id] | described
        if self.run is not None:
            for response in self.run.responses:
                base = self._unit(response.participant, response.phase) | {"phase": response.phase}
                for answer in _answers(response, self.run.session.survey):
                    yield "responses", base | answer
            said = [
                (s.turn, {"status": "ok", "text": s.text, "cut": s.cut})
                for s in self.run.transcript
            ]
            said += [(s.turn, {"status": s.status, "reason": s.reason}) for s in self.run.silences]
            for turn, words in sorted(said, key=lambda one: one[0].index):
                base = self._unit(turn.speaker, f"turn {turn.index}")
                yield (
                    "statements",
                    base | {"turn": turn.index, "round": turn.round, "task": turn.task} | words,
                )
        for call in self.calls:
            yield "calls", self.condition | self.seats.get(call["participant"], {}) | call

    def closed(self) -> "SessionRows":
        """The account without what only its rows needed, so that memory does not grow with the
        record.
        """
        _ = self.condition, self.attempts
        self.calls, self.run, self.asked = [], None, {}
        return self

    @cached_property
    def seats(self) -> dict[str, Row]:
        """Participant, seat and model by the name of the participant."""
        people = self.session.participants if self.session else ()
        return {
            p.id: {"participant": p.id, "seat": seat, "model": p.model}
            for seat, p in enumerate(people, 1)
        }

    @cached_property
    def asked(self) -> dict[tuple[str, str], list[Row]]:
        """The calls by participant and occasion."""
        found: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for call in self.calls:
            found[call["participant"], call["occasion"]].append(call)
        return found

    @cached_property
    def attempts(self) -> dict[tuple[str, str], int | None]:
        """How often every survey and turn of the run was asked, by participant and occasion; None
        where the record does not tell.
        """
        if self.run is None:
            return {}
        said = (*self.run.transcript, *self.run.silences)
        units = [(r.participant, str(r.phase)) for r in self.run.responses] + [
            (s.turn.speaker, f"turn {s.turn.index}") for s in said
        ]
        return {unit: self._attempts(self.asked.get(unit, [])) for unit in units}

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
        return {
            "study": self.study,
            "session": self.name,
            "condition": cell_of(session),
            "equal_to": self.same.get(cell_of(session)),
            "topic": session.topic.id,
            "survey": session.survey.id,
            "treatment": session.treatment.name,
            "interaction": session.treatment.interaction,
            "rounds": session.treatment.rounds if session.treatment.interaction else 0,
            "format": session.format,
            "wording": session.wording.id,
            "models": "+".join(session.models),
            "model_kinds": "+".join(
                str(settings.get("kind", "")) for settings in session.models.values()
            ),
            "size": len(session.participants),
            "personas": sum(bool(participant.persona) for participant in session.participants),
            "network": session.procedure.audience.network,
            "replicate": session.replicate,
            "seed": str(session.seed),
        } | _in_force(self.calls, list(session.models.values()))

    def _unit(self, participant: str, occasion: str) -> Row:
        """What the rows of one survey or turn share: condition, participant, the parameters it was
        asked with, attempts.
        """
        seat = self.seats[participant]
        settings = [self.session.models[seat["model"]]] if self.session else []
        calls = self.asked.get((participant, occasion), [])
        return (
            self.condition
            | seat
            | _in_force(calls, settings)
            | {"attempts": self.attempts[participant, occasion]}
        )

    def _counts(self) -> Row:
        session, run, calls = self.session, self.run, self.calls
        costs = [call["cost_usd"] for call in calls] + [
            call["retry_cost_usd"] for call in calls if call["retries"]
        ]
        expected = (
            len(session.respondents) * len(PHASES) * len(session.survey.items) if session else None
        )
        row: Row = {
            "answers_expected": expected,
            "calls": len(calls),
            "calls_not_ok": sum(call["status"] != "ok" for call in calls),
            "calls_damaged": self.damaged,
            "cost_usd": sum_of(costs) if calls and not self.damaged else None,
            "possibly_billed": sum(bool(call["possibly_billed"]) for call in calls),
            "started": min((call["started"] for call in calls if call["started"]), default=None),
        }
        if run is None:
            return row
        reasked = [attempts and attempts > 1 for attempts in self.attempts.values()]
        return row | {
            "answers_missing": (
                (expected or 0) - sum(len(response.answers) for response in run.responses)
            ),
            "turns": len(run.transcript) + len(run.silences),
            "statements_missing": len(run.silences),
            "reasked": None if None in reasked else sum(map(bool, reasked)),
            "delibsim_version": run.provenance.get("delibsim"),
            "python_version": run.provenance.get("python"),
        }


def _in_force(calls: Sequence[Row], settings: Sequence[Mapping[str, Any]]) -> Row:
    """What was asked for and what really was in force: one temperature only where all these calls
    had it.
    """
    calls = [call for call in calls if call["status"] == "ok"] or calls
    dropped = {
        name
        for call in calls
        if call["parameters_dropped"]
        for name in call["parameters_dropped"].split("; ")
    }
    return {
        "temperature_requested": _shared(_number(own.get("temperature")) for own in settings),
        "temperature": _shared(call["temperature"] for call in calls),
        "parameters_dropped": "; ".join(sorted(dropped)) or None,
    }


def _shared(values: Iterable[float | None]) -> float | None:
    """The value that all have, or None if they differ."""
    different = set(values)
    return different.pop() if len(different) == 1 else None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _procedure(session: Session | None) -> Row:
    if session is None:
        return {}
    procedure, audience = session.procedure, session.procedure.audience
    small_world = audience.network == "small_world"
    names = (
        "instructions", "background", "shuffle_items", "reverse_scale", "show_transcript", "transcript_window", "show_answers",
        "recall", "reasks", "words", "longest_statement",
    )  # fmt: skip
    return (
        {name: getattr(procedure, name) for name in names}
        | {
            "neighbours": audience.neighbours if small_world else None,
            "rewiring": audience.rewiring if small_world else None,
            "edges": ";".join(f"{a}-{b}" for a, b in audience.edges) or None,
        }
        | _debate(session)
    )


def _debate(session: Session) -> Row:
    """Who is on which side, and the rules of speeches; nothing of what is no debate."""
    sides = {
        participant.role: participant.model
        for participant in session.participants
        if participant.role in SIDES
    }
    rules = session.procedure.rules
    if not session.kind.sides or rules is None:
        return dict(sides)
    return sides | {
        "speech_least": rules.least,
        "speech_most": rules.most,
        "speech_reasks": rules.reasks,
        "speech_then": rules.then,
        "preparation": rules.preparation,
    }


def _answers(response: Response, survey: Survey) -> Iterator[Row]:
    """One participant's answers in one phase, in the order of the survey."""
    position = {item: place for place, item in enumerate(response.order, 1)}
    for item in survey.items:
        answered = item.id in response.answers
        yield {
            "item": item.id,
            "item_kind": item.kind,
            "value": response.answers.get(item.id),
            "missing": (
                None if answered else str(response.missing.get(item.id, "no reason was recorded"))
            ),
            "position": position.get(item.id),
            "reversed": response.reversed,
        }


def _call(record: Mapping[str, Any], number: int, session: Session | None) -> Row | None:
    """A recorded exchange as a row of `calls` without its condition; None if it is none."""
    try:
        row = _exchange(record, session)
    except (KeyError, TypeError, AttributeError, ValueError):
        return None
    row["call"] = number
    whole = all(
        row[name] is not None for name in ("participant", "occasion", "attempt", "status", "reply")
    )
    return (
        row
        if whole and all(column.holds(row.get(column.name)) for column in COLUMNS["calls"])
        else None
    )


def _exchange(record: Mapping[str, Any], session: Session | None) -> Row:
    purpose, done = record["purpose"], record["completion"]
    usage, tries, sent = (
        done.get("usage", {}),
        done.get("tries", []),
        done.get("parameters_sent", {}),
    )
    settings = session.models.get(record["model"], {}) if session else {}
    wanted = {
        name: value
        for name, value in settings.items()
        if name not in NOT_PARAMETERS and value is not None
    }
    kind, _, turn = purpose["occasion"].partition(" ")
    given = (
        "status",
        "detail",
        "reasoning",
        "finish_reason",
        "model_requested",
        "model_returned",
        "provider",
        "response_id",
        "fingerprint",
    )
    return {
        **{name: done["status"] if name == "status" else done.get(name) for name in given},
        **{
            name: usage.get(name)
            for name in ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")
        },
        "cost_usd": cost_of(done),
        "participant": purpose["participant"],
        "model": record["model"],
        "occasion": purpose["occasion"],
        "turn": int(turn) if kind == "turn" else None,
        "attempt": purpose.get("attempt", 0),
        "reply": done["text"],
        "temperature_requested": _number(settings.get("temperature")),
        "temperature": _number(sent.get("temperature")),
        "parameters_requested": json_text(wanted) if session else None,
        "parameters_sent": json_text(sent),
        "parameters_dropped": "; ".join(sorted(done.get("parameters_dropped", []))) or None,
        "started": record.get("started"),
        "seconds": record.get("seconds"),
        "retries": len(tries),
        "retry_statuses": "; ".join(one["status"] for one in tries) or None,
        "retry_cost_usd": sum_of(map(cost_of, tries)) if tries else None,
        "possibly_billed": (
            done.get("possibly_billed", False)
            or any(one.get("possibly_billed", False) for one in tries)
        ),
        "hash": record.get("hash"),
    }
