"""What the page of a run shows: the run for reading, and the calls behind its turns."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from delibsim.analysis.run.drawn import StatementScores, of_statements
from delibsim.analysis.run.summary import speeches
from delibsim.analysis.run.view import Line, RunView
from delibsim.conduct.reading.index import StudyIndex
from delibsim.conduct.reading.listing import all_measures
from delibsim.conduct.replay import record_of
from delibsim.conduct.status import with_people
from delibsim.conduct.view import run_view
from delibsim.domain.run import Session
from delibsim.domain.transcript import PREPARATION, Statement
from delibsim.models.replay import Exchange
from delibsim.store.codec import Damaged
from delibsim.store.runs import Runs
from delibsim.store.withdrawn import WITHDRAWN

NOTHING = StatementScores()


@dataclass(frozen=True)
class Call:
    """A recorded call, and its number among those of its session, counted from 1."""

    number: int
    exchange: Exchange


@dataclass(frozen=True)
class TurnShown:
    """A turn for reading: what was said, and what is known of it.

    `calls` are the calls behind it in their order; several mean that it was asked again. `marks`
    are flags in words. `words` counts the words of a speech; `limits` are the words that the rules
    of a debate allow, None without.
    """

    line: Line
    silent: bool
    calls: Sequence[Call]
    marks: Sequence[str]
    scores: StatementScores
    words: int
    limits: tuple[int, int] | None = None


@dataclass(frozen=True)
class RunPage:
    """Everything on the page of a run that was held.

    `asked` gives the calls of each participant before and after, by (participant, phase).
    """

    view: RunView
    turns: Sequence[TurnShown]
    asked: Mapping[tuple[str, str], Sequence[Call]]
    calls: int


@dataclass(frozen=True)
class Unfinished:
    """A session without a run that can be read: its plan (None where that cannot be read), its
    calls so far, and why.
    """

    plan: Session | None
    calls: Sequence[Call]
    why: str


def run_page(index: StudyIndex, session: str, private: bool = False) -> RunPage | Unfinished:
    """What the page of a session shows; `private` leaves out the answers of people."""
    runs = index.runs
    calls = calls_of(runs, session)
    try:
        if not runs.held(session):
            going = f"process {runs.holder()} holds the study" if runs.holder() else "cut off"
            going = WITHDRAWN if runs.withdrawn(session) else going
            plan = runs.planned(session)
            if plan.seats_of_people and going != WITHDRAWN:
                going = with_people(runs, session, bool(calls)) or going
            return Unfinished(plan, calls, going)
        view = run_view(runs, session, index.scores(session), all_measures(runs), private)
    except Damaged as error:
        return Unfinished(None, calls, f"damaged: {_without_path(error, runs)}")
    return RunPage(view, _turns(view, calls), _by_occasion(calls), len(calls))


def calls_of(runs: Runs, session: str) -> list[Call]:
    """The readable calls of a session, numbered in their order; of a branch also those that it has
    of its parent.
    """
    return [Call(n, exchange) for n, exchange in enumerate(record_of(runs, session), 1)]


def _turns(view: RunView, calls: Sequence[Call]) -> list[TurnShown]:
    run, by_occasion = view.run, _by_occasion(calls)
    statements = {said.turn.index: said for said in run.transcript}
    scores, rules = of_statements(view.scores, view.measures), run.session.procedure.rules
    broken = {speech["text"]: speech["broken"] for speech in speeches(run) if rules}
    found = []
    for line in view.lines:
        turn = line.turn
        said = statements.get(turn.index)
        behind = by_occasion.get((turn.speaker, f"turn {turn.index}"), [])
        own = scores.get(turn.index, NOTHING)
        marks = [*own.flags, *_marks(said, behind)]
        if said is not None:
            marks += [kind.replace("_", " ") for kind in broken.get(said.text, ())]
        speech = rules is not None and turn.task != PREPARATION
        shown = TurnShown(
            line=line,
            silent=said is None,
            calls=behind,
            marks=list(dict.fromkeys(marks)),
            scores=own,
            words=0 if said is None else len(said.text.split()),
            limits=(rules.least, rules.most) if speech else None,
        )
        found.append(shown)
    return found


def _marks(said: Statement | None, calls: Sequence[Call]) -> list[str]:
    """What happened to a statement on its way."""
    statuses = Counter(call.exchange.completion.status for call in calls)
    marks = []
    if said is None:
        marks.append("no statement")
    if said is not None and said.cut:
        marks.append("cut by the rules")
    if statuses["length"]:
        marks.append("truncated")
    if max((call.exchange.purpose.attempt for call in calls), default=0):
        marks.append("re-asked")
    return marks


def _by_occasion(calls: Sequence[Call]) -> dict[tuple[str, str], list[Call]]:
    found: dict[tuple[str, str], list[Call]] = {}
    for call in calls:
        asked = call.exchange.purpose
        found.setdefault((asked.participant, asked.occasion), []).append(call)
    return found


def _without_path(error: Exception, runs: Runs) -> str:
    """What an error says, the folder of the study left out."""
    said: Any = str(error)
    return said.replace(f"{runs.folder.resolve()}/", "").replace(f"{runs.folder}/", "")
