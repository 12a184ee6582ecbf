"""What is known of each session of a study, in one row: its plan, and counts of its run and record.

Reading every run and record of a large study takes minutes. What was read of a session that has a
run is therefore kept in one file of the study (`FACTS`), because runs never change once they are
written. The file can be deleted at any time: it is then made again.
"""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from delibsim.domain.condition import settings_of
from delibsim.domain.cost import cost_of, sum_of
from delibsim.domain.effect import same_cells
from delibsim.domain.errors import WrongInput
from delibsim.domain.model_family import family_of, reasons
from delibsim.domain.run import Run, Session
from delibsim.domain.study import natural
from delibsim.domain.survey import PHASES
from delibsim.domain.transcript import PREPARATION, Statement
from delibsim.plugins import without_effect
from delibsim.store.branches import inherited
from delibsim.store.files import json_text, read_lines, written_atomically
from delibsim.store.runs import Runs
from delibsim.store.session_log import Calls, calls_or_fault
from delibsim.store.tables.calls import REQUIRED, Row, number_or_none
from delibsim.store.tables.people_facts import people_facts
from delibsim.store.withdrawn import WITHDRAWN

FACTS = "sessions.jsonl"
VERSION = 3
"""Raised whenever a row holds something else."""
REASONING = ("reasoning", "thinking")
"""What the names of parameters hold that ask for reasoning."""

Watch = Callable[[str, int, int], None]


def facts_of_study(
    runs: Runs, watch: Watch | None = None, kept_in: Path | None = None
) -> Iterator[Row]:
    """The facts of every planned session, in order of name; `settings` are pairs of key and value.

    What had to be read anew is kept for the next time, in the file `kept_in` or in the folder of
    the study, where that can be written to.
    """
    file = kept_in or runs.folder / FACTS
    kept = _kept(file)
    begun = begun_sessions(runs, kept)
    new: list[Row] = []
    stale = False
    names = _in_order(runs, begun, kept)
    for number, name in enumerate(names):
        if name not in begun:
            yield {"session": name, "status": "not begun", "settings": ()}
            continue
        stamp = begun[name]
        facts = kept.get(name)
        if facts is None or facts["stamp"] != stamp:
            if watch is not None:
                watch("reading runs", number, len(names))
            facts = session_facts(runs, name)
            facts["stamp"], stale = stamp, True
        if stamp and facts["status"] != "damaged":
            new.append(facts)
        yield facts
    if stale or len(new) < len(kept):
        # Whoever may only read the study computes the same again.
        with suppress(OSError):
            _keep(file, new)


def begun_sessions(runs: Runs, kept: Collection[str] = ()) -> dict[str, list[int]]:
    """The sessions that were begun, each with the stamp of its run; [] where it has none.

    Of those in `kept` it is known that they were planned.
    """
    found = {}
    with os.scandir(runs.folder) as entries:
        for entry in entries:
            stamp = _stamp(f"{entry.path}/run.json")
            known = stamp and entry.name in kept
            if known or os.path.isfile(f"{entry.path}/session.json"):
                found[entry.name] = stamp
    return found


def _in_order(runs: Runs, begun: Mapping[str, Any], kept: Mapping[str, Row]) -> list[str]:
    """The names of all planned sessions in order of name, r2 before r10."""
    manifest = runs.manifest()
    planned = {*begun, *(manifest.sessions if manifest else ())}
    if planned == kept.keys():
        return list(kept)  # they were kept in order
    return sorted(planned, key=natural)


def session_facts(runs: Runs, name: str) -> Row:
    """The facts of a session that was begun, from its files."""
    facts: Row = {"session": name, "status": "no run", "settings": ()}
    run, session = None, None
    if runs.withdrawn(name):
        facts["status"] = WITHDRAWN
    try:
        session = runs.planned(name)
        run = runs.run_of(name)
        session = run.session if run else session
    except WrongInput as error:
        facts |= {"status": "damaged", "fault": str(error)}
    if session is not None:
        facts |= _of_plan(session)
    log, fault = calls_or_fault(runs, name)
    if fault:
        run = None
        facts |= {"status": "damaged", "fault": fault}
    record = _of_record(runs, name, run, session, log)
    if run is not None:
        facts |= {"status": run.status} | _of_run(run)
    if record["parameters_dropped"] and facts.get("reasoning") is not None:
        dropped = str(record["parameters_dropped"])
        if any(word in dropped for word in REASONING):
            facts["reasoning"] = None
    return facts | record


def _of_plan(session: Session) -> Row:
    models = session.models
    seated = dict.fromkeys(person.model for person in session.participants)
    kinds = {str(models[name].get("kind", "")) for name in seated}
    families = dict.fromkeys(family_of(name, models[name]) for name in models)
    thinking = {reasons(models[name]) for name in models}
    temperatures = {number_or_none(own.get("temperature")) for own in models.values()}
    settings = dict(settings_of(session))
    answers = len(session.respondents) * len(PHASES) * len(session.survey.items)
    return {
        "cell": session.cell,
        "topic": session.topic.id,
        "survey": session.survey.id,
        "treatment": session.treatment.name,
        "model": "+".join(models),
        "replicate": session.replicate,
        "format": session.format,
        "paraphrase_of": session.treatment.paraphrase_of or None,
        "interaction": session.treatment.interaction,
        "rounds": session.treatment.rounds if session.treatment.interaction else 0,
        "size": len(session.participants),
        "persona": settings["persona"],
        "wording": session.wording.id,
        "temperature": temperatures.pop() if len(temperatures) == 1 else None,
        "family": "+".join(families),
        "reasoning": thinking.pop() if len(thinking) == 1 else None,
        "null": kinds == {"citizen"},
        "seed": str(session.seed),
        "answers_expected": answers,
        "settings": tuple(settings.items()),
    }


def _of_run(run: Run) -> Row:
    spoken = [said for said in run.transcript if said.turn.task != PREPARATION]
    missing: Counter[str] = Counter()
    given = 0
    for response in run.responses:
        given += len(response.answers)
        missing.update(reason.code for reason in response.missing.values())
    session = run.session
    expected = len(session.respondents) * len(PHASES) * len(session.survey.items)
    return {
        "words_spoken": sum(len(said.text.split()) for said in spoken),
        "statements": len(run.transcript),
        "statements_missing": len(run.silences),
        "statements_missing_why": _counted(Counter(one.status for one in run.silences)),
        "answers_missing": expected - given,
        "answers_missing_why": _counted(missing),
        "delibsim_version": run.provenance.get("delibsim"),
    }


def _counted(reasons_given: Counter[str]) -> str | None:
    """Reasons with how often each was given, such as "length 1; refusal 2"; None for none."""
    return "; ".join(f"{code} {n}" for code, n in sorted(reasons_given.items())) or None


def _of_record(runs: Runs, name: str, run: Run | None, session: Session | None, log: Calls) -> Row:
    """Counts of the record of a session, and what its calls cost."""
    records, damaged, lost = log
    calls = [call for call in map(_call, records) if call is not None]
    damaged += len(records) - len(calls)
    past: list[Row] = []  # of a branch what its parent was asked, which cost the branch nothing
    if run is not None and run.session.parentage is not None:
        past = [call for call in map(_call, inherited(runs, name)[0]) if call is not None]
    statuses = Counter(call["status"] for call in calls)
    costs = [cost for call in calls for cost in call["costs"]]
    people: Row = {}
    if session is not None:
        people = people_facts(session, run, [*past, *calls], damaged)
    return people | {
        "calls": len(calls),
        "calls_not_ok": len(calls) - statuses["ok"],
        "calls_damaged": damaged,
        "reasked": None if run is None else _reasked(run, [*calls, *past], damaged),
        "refusals": statuses["refusal"],
        "truncations": statuses["length"],
        "unreadable": statuses["unreadable"],
        "cost_usd": sum_of(costs) if calls and not (damaged or lost) else None,
        "possibly_billed": sum(call["possibly_billed"] for call in calls),
        "parameters_dropped": _dropped(calls),
        "started": min((call["started"] for call in calls if call["started"]), default=None),
    }


def _call(record: Mapping[str, Any]) -> Row | None:
    """What is counted of a recorded call; None where the record is none."""
    try:
        purpose, done = record["purpose"], record["completion"]
        tries = done.get("tries") or []
        call = {
            "participant": purpose["participant"],
            "occasion": purpose["occasion"],
            "attempt": purpose.get("attempt", 0),
            "status": done["status"],
            "reply": done["text"],
            "costs": [cost_of(done), *map(cost_of, tries)],
            "possibly_billed": any(one.get("possibly_billed", False) for one in (done, *tries)),
            "dropped": tuple(done.get("parameters_dropped") or ()),
            "started": record.get("started"),
            "given_by": done.get("model_returned"),
            "seconds": record.get("seconds"),
        }
    except (KeyError, TypeError, AttributeError, ValueError):
        return None
    return None if any(call[name] is None for name in REQUIRED) else call


def _reasked(run: Run, calls: list[Row], damaged: int) -> int | None:
    """Surveys and turns that were asked more than once; None where the record does not tell."""
    units = [(given.participant, str(given.phase)) for given in run.responses]
    for said in (*run.transcript, *run.silences):
        if not (isinstance(said, Statement) and said.given):  # nobody was asked
            units.append((said.turn.speaker, f"turn {said.turn.index}"))
    asked: dict[tuple[str, str], list[Row]] = {}
    for call in calls:
        asked.setdefault((call["participant"], call["occasion"]), []).append(call)
    again = 0
    for unit in units:
        own = asked.get(unit, [])
        done = [call["attempt"] for call in own if call["status"] == "ok"]
        if not done and (damaged or not own):
            return None
        again += max(done or [call["attempt"] for call in own]) > 0
    return again


def _dropped(calls: list[Row]) -> str | None:
    """Parameters that were dropped from calls that ended well (from any, where none did)."""
    used = [call for call in calls if call["status"] == "ok"] or calls
    names = {name for call in used for name in call["dropped"]}
    return "; ".join(sorted(names)) or None


def _stamp(path: str) -> list[int]:
    """Size and time of change of a file, by which another is known; [] if none is there."""
    try:
        found = os.stat(path)
    except OSError:
        return []
    return [found.st_size, found.st_mtime_ns]


def _kept(path: Path) -> dict[str, Row]:
    """The facts that were kept, by session; none where the file is damaged or old."""
    try:
        lines, damaged = read_lines(path)
    except OSError:
        return {}
    if damaged or not lines or lines[0] != {"version": VERSION}:
        return {}
    settings: list[tuple[tuple[str, Any], ...]] = []
    found = {}
    try:
        for line in lines[1:]:
            if "session" not in line:
                settings.append(tuple((key, value) for key, value in line["settings"]))
                continue
            line["settings"] = settings[line["settings"]]
            line["stamp"] = list(line["stamp"])
            found[line["session"]] = line
    except (KeyError, IndexError, TypeError, ValueError):
        return {}
    return found


def _keep(path: Path, rows: list[Row]) -> None:
    """Write the facts of sessions; settings that sessions share are written once."""
    numbers: dict[str, int] = {}
    with written_atomically(path) as write:
        write(f"{json_text({'version': VERSION})}\n")
        for row in rows:
            # As text, because True and 1 are equal.
            settings = json_text({"settings": row["settings"]})
            if settings not in numbers:
                numbers[settings] = len(numbers)
                write(f"{settings}\n")
            write(f"{json_text(row | {'settings': numbers[settings]})}\n")


def equal_cells(runs: Runs, facts: list[Row]) -> dict[str, str]:
    """The cells of begun sessions that are the same condition as another, with the first of these.

    Of every cell the lowest replicate is compared (see domain.effect.same_cells).
    """
    lowest: dict[str, tuple[int, str]] = {}
    for row in facts:
        if "cell" in row:
            own = row["replicate"], row["session"]
            lowest[row["cell"]] = min(own, lowest.get(row["cell"], own))
    plans = []
    for _, name in lowest.values():
        with suppress(WrongInput):
            plans.append(runs.planned(name))
    return same_cells(plans, without_effect)
