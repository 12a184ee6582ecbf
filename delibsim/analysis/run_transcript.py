"""One run for reading: who said what and when, everybody's answers, and a call as it was sent."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from delibsim.domain.run import Run, Session
from delibsim.domain.transcript import Statement, Turn
from delibsim.models.replay import Exchange


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
