"""What is known of one session: facts by name, each a function of its plan, its run or its record.

Every table takes the facts that are its columns: the export, the table of a study, the index of the
reader. A new column is a fact here and its line in `data/columns.yaml` or `data/study_table.yaml`.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from operator import attrgetter
from statistics import median
from typing import Any

from delibsim.domain.branching import in_short, what_differs
from delibsim.domain.condition import shared_settings
from delibsim.domain.cost import sum_of
from delibsim.domain.errors import WrongInput
from delibsim.domain.hosting import A_PERSON, STOOD_IN, stand_in_of
from delibsim.domain.model_family import family_of, reasons
from delibsim.domain.participant import SIDES
from delibsim.domain.run import Run, Session
from delibsim.domain.survey import PHASES
from delibsim.domain.transcript import FACILITATOR, PREPARATION, WITNESS, Statement
from delibsim.store.files import json_text
from delibsim.store.places import inherited
from delibsim.store.runs import Runs
from delibsim.store.sent import calls_or_fault
from delibsim.store.session_files import WITHDRAWN
from delibsim.store.tables.calls import Row, call_rows, number_or_none
from delibsim.store.tables.sheets import paths_of

ABSENT, TRIED = "absent", ("ok", "unreadable")


def people_facts(session: Session, run: Run | None, calls: Sequence[Row], damaged: int) -> Row:
    """Counts of the seats that people could take, and how long people took.

    The calls are rows of the table `calls`, in the order of the record. Where no seat is for
    people, or the record is damaged, only `people_seats` is known.
    """
    seats = session.seats_of_people
    row: Row = {"people_seats": len(seats) + len(session.unasked)}
    if not seats or damaged:
        return row
    own = [call for call in calls if call["participant"] in seats]
    stood_in = dict(_stood_in(own))
    last = {call["participant"]: call["status"] for call in own}
    silent = [name for name, status in last.items() if status == ABSENT]
    told = [f"{name} by {by} from {at}" for name, (by, at) in stood_in.items()]
    row |= {
        "people_stood_in": len(stood_in),
        "stood_in": "; ".join(told) or None,
        "people_silent": len(silent),
        "minutes": _minutes(calls),
        "people_survey_seconds": _seconds(own, session.waves),
        "people_turn_seconds": _seconds(own, ("turn",)),
    }
    return row | (_of_run(run, seats) if run is not None else {})


def _stood_in(calls: Sequence[Row]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Of each seat with a stand-in its name, by whom, and from which occasion on."""
    seen = set()
    for call in calls:
        name, by = call["participant"], stand_in_of(call["model_returned"])
        if by and name not in seen:
            seen.add(name)
            yield name, (by, call["occasion"])


def _of_run(run: Run, seats: Sequence[str]) -> Row:
    """What is missing from the run because nobody was there, or because a stand-in was."""
    row: Row = {f"answers_absent_{phase}": 0 for phase in PHASES}
    row |= {"answers_absent_between": 0} if run.session.waves != PHASES else {}
    row["answers_stood_in"] = 0
    for response in run.responses:
        if response.participant not in seats:
            continue
        codes = [reason.code for reason in response.missing.values()]
        when = response.phase if response.phase in PHASES else "between"
        row[f"answers_absent_{when}"] += codes.count(ABSENT)
        row["answers_stood_in"] += codes.count(STOOD_IN)
    absent = [one for one in run.silences if one.turn.speaker in seats and one.status == ABSENT]
    return row | {"turns_absent": len(absent)}


def _seconds(calls: Sequence[Row], kinds: Sequence[str]) -> float | None:
    """The median of the seconds that people took on occasions of these kinds; a speech that came
    back took all of its tries together.
    """
    taken: dict[tuple[str, str], float] = {}
    answered = set()
    for call in calls:
        place = call["participant"], call["occasion"]
        if place[1].partition(" ")[0] not in kinds or call["model_returned"] != A_PERSON:
            continue
        if call["seconds"] is None or call["status"] not in TRIED:
            continue
        taken[place] = taken.get(place, 0.0) + float(call["seconds"])
        if call["status"] == "ok":
            answered.add(place)
    return median(taken[place] for place in answered) if answered else None


def _minutes(calls: Sequence[Row]) -> float | None:
    """Minutes from the first call to the end of the last; None where a time is not known."""
    try:
        begun = [datetime.fromisoformat(call["started"]) for call in calls]
        ends = [
            start + timedelta(seconds=float(call["seconds"]))
            for start, call in zip(begun, calls, strict=True)
        ]
    except (TypeError, ValueError):
        return None
    return (max(ends) - min(begun)).total_seconds() / 60 if ends else None


NETWORK = ("network", "neighbours", "rewiring", "edges")
"""Facts about who hears whom."""

REASONING = ("reasoning", "thinking")
"""What the names of parameters hold that ask for reasoning."""
Attempts = dict[tuple[str, str], int | None]
"""How often each survey and turn was asked, by participant and occasion; None where the record does
not tell.
"""


@dataclass
class ReadSession:
    """One session as it was read: its plan (None where it cannot be read), its run, and its calls
    as rows of the table `calls`.

    `inherited` are the calls of the parent of a branch, which cost the branch nothing; `damaged`
    counts the lines of the record that are no call, `lost` the calls that were cut off; `fault`
    says what cannot be read.
    """

    name: str
    status: str
    session: Session | None
    run: Run | None
    calls: Sequence[Row]
    inherited: Sequence[Row] = ()
    damaged: int = 0
    fault: str | None = None
    lost: int = 0

    @cached_property
    def asked(self) -> dict[tuple[str, str], list[Row]]:
        """The calls by participant and occasion."""
        found: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for call in (*self.calls, *self.inherited):
            found[call["participant"], call["occasion"]].append(call)
        return found

    @cached_property
    def attempts(self) -> Attempts:
        """How often every survey and turn of the run was asked."""
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
    def statuses(self) -> Counter[str]:
        """How many calls ended with each status."""
        return Counter(call["status"] for call in self.calls)


def read_session(runs: Runs, name: str) -> ReadSession:
    """A session that was begun, from its files."""
    session, run, fault = None, None, None
    try:
        session = runs.planned(name)
        run = runs.run_of(name)
        session = run.session if run else session
    except WrongInput as error:
        fault = str(error)
    status = run.status if run else "no run"
    if runs.withdrawn(name):
        status = WITHDRAWN
    if fault is not None:
        status = "damaged"
    (records, damaged, lost), unread = calls_or_fault(runs, name)
    if unread:
        run, status, damaged, fault = None, "damaged", 0, unread
    calls, others = call_rows(records, session.voices if session else None)
    past: list[Row] = []
    if session is not None and session.parentage is not None:
        past, _ = call_rows(inherited(runs, name)[0], None)
    damaged += others
    return ReadSession(name, status, session, run, calls, past, damaged, fault, len(lost))


def in_force(calls: Sequence[Row]) -> Row:
    """What calls were really made with: one temperature only where all of them had it, of calls
    that ended ok where any did.
    """
    used = [call for call in calls if call["status"] == "ok"] or calls
    dropped: set[str] = set()
    for call in used:
        if call["parameters_dropped"]:
            dropped.update(call["parameters_dropped"].split("; "))
    return {
        "temperature": shared_value(call["temperature"] for call in used),
        "parameters_dropped": "; ".join(sorted(dropped)) or None,
    }


def shared_value(values: Iterable[Any]) -> Any:
    """The value that all have; None if they differ, or there is none."""
    different = set(values)
    return different.pop() if len(different) == 1 else None


def requested(settings: Iterable[Mapping[str, Any]]) -> float | None:
    """The temperature that is asked for by the settings of all these models."""
    return shared_value(number_or_none(own.get("temperature")) for own in settings)


def answers_expected(plan: Session) -> int:
    """How many answers the surveys of a session ask for."""
    return len(plan.respondents) * len(plan.waves) * len(plan.survey.items)


def _persona(plan: Session) -> str:
    return next(value for key, value in shared_settings(plan) if key == "persona")


def _family(plan: Session) -> str:
    models = plan.models
    return "+".join(dict.fromkeys(family_of(name, models[name]) for name in models))


def _is_null(plan: Session) -> bool:
    """Whether all participants are citizens of the null model."""
    seated = {person.model for person in plan.participants}
    return {str(plan.models[name].get("kind", "")) for name in seated} == {"citizen"}


def _of_network(name: str) -> Callable[[Session], Any]:
    def fact(plan: Session) -> Any:
        audience = plan.procedure.audience
        if name == "edges":
            return ";".join(f"{a}-{b}" for a, b in audience.edges)
        if name == "network" or audience.network == "small_world":
            return getattr(audience, name)
        return None

    return fact


def _of_rules(rule: str) -> Callable[[Session], Any]:
    def fact(plan: Session) -> Any:
        rules = plan.procedure.rules
        return getattr(rules, rule) if plan.kind.sides and rules is not None else None

    return fact


def _of_side(side: str) -> Callable[[Session], Any]:
    return lambda plan: next(
        (person.model for person in reversed(plan.participants) if person.role == side), None
    )


def _branch_texts(plan: Session) -> str:
    return json_text([difference.plain() for difference in what_differs(plan)])


def _of_people(plan: Session) -> str | None:
    """What else is known of a conversation of people; None of any other session, or where nothing
    is.
    """
    held = plan.people
    if held is None or not (held.facts or held.votes):
        return None
    return json_text({**held.facts, **({"votes": held.votes} if held.votes else {})})


OF_PLAN: dict[str, Callable[[Session], Any]] = {
    **{name: attrgetter(path) for name, path in paths_of("plan").items()},
    "paraphrase_of": lambda plan: plan.treatment.paraphrase_of or None,
    "rounds": lambda plan: plan.treatment.rounds if plan.treatment.interaction else 0,
    "models": lambda plan: "+".join(plan.models),
    "model_kinds": lambda plan: "+".join(str(own.get("kind", "")) for own in plan.models.values()),
    "family": _family,
    "null": _is_null,
    "group_size": lambda plan: len(plan.participants),
    "personas": lambda plan: sum(bool(person.persona) for person in plan.participants),
    "persona": _persona,
    "seed": lambda plan: str(plan.seed),
    "temperature_requested": lambda plan: requested(plan.models.values()),
    "reasoning_requested": lambda plan: shared_value(map(reasons, plan.models.values())),
    "answers_expected": answers_expected,
    "branch_of": lambda plan: plan.parentage.place if plan.parentage else None,
    "branch_at": lambda plan: plan.parentage.at if plan.parentage else None,
    "branch_differs": lambda plan: in_short(plan) if plan.parentage else None,
    "branch_texts": lambda plan: _branch_texts(plan) if plan.parentage else None,
    "facilitation": lambda plan: plan.procedure.facilitation if plan.facilitated else None,
    "facilitator": lambda plan: plan.invited[0].model if plan.facilitated else None,
    "facilitator_names": lambda plan: (
        plan.procedure.facilitator_names if plan.facilitated else None
    ),
    "briefing": lambda plan: plan.briefing.name if plan.briefing else None,
    "briefing_order": lambda plan: plan.briefing_order,
    "conversation": lambda plan: plan.people.id if plan.people else None,
    "conversation_facts": _of_people,
    "phases": lambda plan: "+".join(plan.procedure.phases or ()) or None,
    "witnesses": lambda plan: "+".join(one.name for one in plan.witnesses) or None,
    **{name: _of_network(name) for name in NETWORK},
    **{name: _of_rules(rule) for name, rule in paths_of("rules").items()},
    **{side: _of_side(side) for side in SIDES},
}
"""Facts of a plan."""


def _words(run: Run) -> int:
    spoken = [said for said in run.speech if said.turn.task != PREPARATION]
    return sum(len(said.text.split()) for said in spoken)


def _answers_missing(run: Run) -> int:
    given = sum(len(response.answers) for response in run.responses)
    return answers_expected(run.session) - given


def _why_answers(run: Run) -> str | None:
    codes: Counter[str] = Counter()
    for response in run.responses:
        codes.update(reason.code for reason in response.missing.values())
    return _counted(codes)


def _counted(codes: Counter[str]) -> str | None:
    """Reasons with how often each was given, such as "length 1; refusal 2"; None for none."""
    return "; ".join(f"{code} {n}" for code, n in sorted(codes.items())) or None


def _named(run: Run, followed: bool) -> int | None:
    """How often the facilitator named the next speaker, or how often that one spoke next; None
    where it may name nobody.
    """
    if not run.session.procedure.facilitator_names or not run.session.facilitated:
        return None
    turns = sorted([*run.transcript, *run.silences], key=lambda one: one.turn.index)
    n, named = 0, ""
    for one in turns:
        if not one.turn.role and named:
            n += not followed or one.turn.speaker == named
            named = ""
        if one.turn.role:
            named = one.names if isinstance(one, Statement) else ""
    return n


def _words_of(role: str) -> Callable[[Run], int | None]:
    """The words of those who are invited in a role; None where nobody is."""

    def fact(run: Run) -> int | None:
        said = [one for one in (*run.transcript, *run.silences) if one.turn.role == role]
        texts = [one.text for one in said if isinstance(one, Statement)]
        return len(" ".join(texts).split()) if said else None

    return fact


OF_RUN: dict[str, Callable[[Run], Any]] = {
    "words_spoken": _words,
    "words_facilitator": _words_of(FACILITATOR),
    "words_witnesses": _words_of(WITNESS),
    "speakers_named": lambda run: _named(run, followed=False),
    "speakers_followed": lambda run: _named(run, followed=True),
    "turns": lambda run: len(run.speech) + sum(not one.turn.role for one in run.silences),
    "statements": lambda run: len(run.speech),
    "statements_missing": lambda run: len(run.silences),
    "statements_missing_why": lambda run: _counted(Counter(one.status for one in run.silences)),
    "answers_missing": _answers_missing,
    "answers_missing_why": _why_answers,
    "delibsim_version": lambda run: run.provenance.get("delibsim"),
    "python_version": lambda run: run.provenance.get("python"),
}
"""Facts of a run."""


def _cost(read: ReadSession) -> float | None:
    costs = [call["cost_usd"] for call in read.calls]
    costs += [call["retry_cost_usd"] for call in read.calls if call["retries"]]
    return sum_of(costs) if read.calls and not (read.damaged or read.lost) else None


def _tokens(read: ReadSession) -> int | None:
    """Tokens of all prompts and replies; None where a call that was answered does not tell."""
    counts = [call[name] for call in read.calls for name in ("input_tokens", "output_tokens")]
    lost = read.damaged or read.lost or None in counts
    return None if lost or not counts else sum(counts)


def _reasked(read: ReadSession) -> int | None:
    attempts = read.attempts.values()
    if read.run is None or None in attempts:
        return None
    return sum(n is not None and n > 1 for n in attempts)


def _reasoning(read: ReadSession) -> bool | None:
    """By the settings of models, unless the record says that such a parameter was dropped."""
    if read.session is None:
        return None
    asked = OF_PLAN["reasoning_requested"](read.session)
    dropped = str(in_force(read.calls)["parameters_dropped"])
    return None if any(word in dropped for word in REASONING) else asked


OF_RECORD: dict[str, Callable[[ReadSession], Any]] = {
    "calls": lambda read: len(read.calls),
    "calls_not_ok": lambda read: len(read.calls) - read.statuses["ok"],
    "calls_damaged": lambda read: read.damaged,
    "refusals": lambda read: read.statuses["refusal"],
    "truncations": lambda read: read.statuses["length"],
    "unreadable": lambda read: read.statuses["unreadable"],
    "reasked": _reasked,
    "reasoning": _reasoning,
    "cost_usd": _cost,
    "tokens": _tokens,
    "possibly_billed": lambda read: sum(bool(call["possibly_billed"]) for call in read.calls),
    "started": lambda read: min(
        (call["started"] for call in read.calls if call["started"]), default=None
    ),
}
"""Facts of a record."""


def facts_of_plan(plan: Session, names: Iterable[str] = OF_PLAN) -> Row:
    """Those facts of a plan that have one of these names."""
    return {name: OF_PLAN[name](plan) for name in names if name in OF_PLAN}


def facts_of_record(read: ReadSession) -> Row:
    """The facts that are known of the run and the record of a session, and how it ended."""
    row: Row = {"status": read.status, "fault": read.fault}
    row |= {name: fact(read) for name, fact in OF_RECORD.items()} | in_force(read.calls)
    if read.run is not None:
        row |= {name: fact(read.run) for name, fact in OF_RUN.items()}
    if read.session is not None:
        past = [*read.inherited, *read.calls]
        row |= people_facts(read.session, read.run, past, read.damaged)
    return {name: value for name, value in row.items() if value is not None}


def facts_to_keep(runs: Runs, run: Run, records: Sequence[Mapping[str, Any]]) -> Row:
    """The same of a session that was held just now, by all records of its log."""
    calls, damaged = call_rows(records, run.session.voices)
    past: list[Row] = []
    if run.session.parentage is not None:
        past, _ = call_rows(inherited(runs, run.session.id)[0], None)
    read = ReadSession(run.session.id, run.status, run.session, run, calls, past, damaged)
    return facts_of_record(read)
