"""One run for reading: who said what and when, everybody's answers, and a call as it was sent."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from delibsim.analysis.run_summary import missing
from delibsim.analysis.table import Table, numbers, texts
from delibsim.domain.measure import HEADINGS
from delibsim.domain.run import Run, Session
from delibsim.domain.transcript import Statement, Turn
from delibsim.models.replay import Exchange

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


def lines(run: Run, exchanges: Mapping[str, Exchange]) -> Iterator[Line]:
    """The turns of a run in order; `exchanges` are those of its record by id."""
    times = {one.purpose.occasion: one.started for one in exchanges.values()}
    last = 0
    for said in sorted([*run.transcript, *run.silences], key=lambda said: said.turn.index):
        turn = said.turn
        heading = _heading(run.session, turn) if turn.round != last else ""
        last = turn.round
        time = times.get(f"turn {turn.index}", "")[11:19]
        if isinstance(said, Statement):
            text = said.text
        else:
            text = f"(no statement: {said.status}: {said.reason})"
        yield Line(turn, heading, time, text)


def _heading(session: Session, turn: Turn) -> str:
    return session.kind.heading(turn)


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
    names = [person.replace("Participant ", "P.") for person in people]
    title = f"Answers before > after ({scale}; P: ranks, 1 is best)"
    return Table([*texts("item"), *numbers(names)], rows, title)


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


def facts(exchange: Exchange) -> dict[str, str]:
    """What is known of a call beside its messages and its reply; nothing that is empty."""
    done = exchange.completion
    tries = [f"{one.status}: {one.detail} (waited {one.waited:g} s)" for one in done.tries]
    known = {
        "detail": done.detail,
        "reasoning": done.reasoning,
        "model": f"{done.model_requested}, answered by {done.model_returned}",
        "parameters sent": dict(done.parameters_sent),
        "parameters dropped": list(done.parameters_dropped),
        "usage": done.usage,
        "finish_reason": done.finish_reason,
        "tries before": "; ".join(tries),
        "seed": exchange.seed,
    }
    return {name: str(fact) for name, fact in known.items() if fact != ""}
