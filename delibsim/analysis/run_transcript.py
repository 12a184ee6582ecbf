"""One run for reading: who said what and when, and everybody's answers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from delibsim.analysis.run_summary import missing
from delibsim.analysis.table import Table, of_participants, texts
from delibsim.domain.branching import in_short
from delibsim.domain.coding import Coded
from delibsim.domain.measure import HEADINGS
from delibsim.domain.run import Run, Session
from delibsim.domain.transcript import Statement, Turn

BESIDE = 6
"""The number of participants in one table of answers."""


@dataclass(frozen=True)
class Line:
    """One turn of a transcript: the heading before it ("" within a round), the time of day in UTC
    ("" where no record tells), and what was said, or why nothing was.
    """

    turn: Turn
    heading: str
    time: str
    text: str


def lines(run: Run, records: Iterable[Mapping[str, Any]]) -> Iterator[Line]:
    """The turns of a run in order; `records` are the exchanges of its log as plain values."""
    times = dict(_times(records))
    last = 0
    for said in sorted([*run.transcript, *run.silences], key=lambda said: said.turn.index):
        turn = said.turn
        heading = _heading(run.session, turn) if turn.round != last else ""
        last = turn.round
        time = times.get(f"turn {turn.index}", "")[11:19]  # of 2026-01-31T12:30:59.000+00:00
        if isinstance(said, Statement):
            text = said.text
        else:
            text = f"(no statement: {said.status}: {said.reason})"
        yield Line(turn, heading, time, text)


def _times(records: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """The occasion of every call and when it was sent, where the record can be read."""
    for record in records:
        purpose, started = record.get("purpose"), record.get("started")
        if isinstance(purpose, dict) and isinstance(started, str):
            yield str(purpose.get("occasion")), started


def _heading(session: Session, turn: Turn) -> str:
    return session.kind.heading(turn)


def codes_of(run: Run) -> dict[str, list[str]]:
    """The codes of a run by the id of the text, a line a scheme and dimension, every coder in it.

    Empty where nobody coded the run.
    """
    found: dict[str, list[str]] = {}
    for scheme, codes in run.codes if isinstance(run, Coded) else ():
        given: dict[tuple[str, str], list[str]] = {}
        for code in codes:
            why = "" if code.missing is None else f"none ({code.missing.code})"
            level = why or str(code.level)
            given.setdefault((code.text, code.dimension), []).append(f"{code.coder} {level}")
        for (text, dimension), own in given.items():
            line = f"{scheme.id}.{dimension}: {', '.join(own)}"
            found.setdefault(text, []).append(line)
    return found


def answers_to(run: Run, item: str) -> Iterator[tuple[int | None, int | None]]:
    """Everybody's answers to an item before and after, in the order of those who were asked; None
    where one is missing.
    """
    for person in run.session.respondents:
        before = run.response(person.id, "pre").answers.get(item)
        after = run.response(person.id, "post").answers.get(item)
        yield before, after


def people_of(run: Run) -> list[str]:
    """Who took part, with model and persona, in a sentence each."""
    lines = []
    for person in run.session.participants:
        persona = f": {' '.join(person.persona.split())}" if person.persona else ""
        lines.append(f"  {person.id} ({person.model}){persona}")
    return lines


def tables_of_answers(run: Run) -> list[Table]:
    """The answers of all, before > after, one column a participant."""
    people = [person.id for person in run.session.respondents]
    found = []
    for first in range(0, len(people), BESIDE):
        found.append(_answers_of(run, people[first : first + BESIDE], first))
    return found


def _answers_of(run: Run, people: Sequence[str], first: int) -> Table:
    """The answers of those beside each other; `first` is the place of the first among all."""
    survey = run.session.survey
    rows = []
    for item in survey.items:
        given = list(answers_to(run, item.id))[first : first + len(people)]
        cells = [_cell(before, after) for before, after in given]
        rows.append([f"{item.id} {item.text}", *cells])
    scale = f"{survey.scale_min} to {survey.scale_max}"
    title = f"Answers before > after ({scale}; P1, P2, ...: ranks, 1 is best)"
    return Table([*texts("item"), *of_participants(people)], rows, title)


def _cell(before: int | None, after: int | None) -> str:
    shown = ["?" if value is None else str(value) for value in (before, after)]
    return " > ".join(shown)


def on_answers(run: Run) -> list[str]:
    """To whom the scale was shown the other way round, and what is missing, in sentences."""
    lines = []
    turned = [one.participant for one in run.responses if one.reversed and one.phase == "pre"]
    if turned:
        mapped = "scale shown the other way round, answers mapped back"
        lines.append(f"{mapped}: {', '.join(turned)}")
    for gap in missing(run):
        occasion = HEADINGS.get(gap["occasion"], gap["occasion"])
        lines.append(f"missing: {gap['participant']}, {occasion}: {gap['reason']}")
    return lines


def on_cuts(run: Run) -> list[str]:
    """Which speeches were cut, in a sentence; nothing where none was."""
    cut = [str(said.turn.index) for said in run.transcript if said.cut]
    if not cut:
        return []
    which = f"{len(cut)} (turn {', '.join(cut)})"
    return [f"speeches cut at the end of a sentence: {which}"]


def lineage(session: Session) -> list[str]:
    """Which run a fork or a probe branches off, and what differs; nothing of a planned session."""
    parentage = session.parentage
    if parentage is None:
        return []
    what = "probe" if parentage.stops else "fork"
    told = f"{what} {session.replicate} of {parentage.place} at {parentage.at}"
    return [f"{told}: {in_short(session)}"]


def on_given(run: Run) -> list[str]:
    """Which statements a fork gave, in a sentence; nothing where none was."""
    given = [str(said.turn.index) for said in run.transcript if said.given]
    return [f"given by the fork, said by nobody: turn {', '.join(given)}"] if given else []
