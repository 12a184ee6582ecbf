"""What the page of a run shows: the conversation, who changed, the calls behind it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from delibsim.analysis.collective_statement import statement_of, tables_of_votes
from delibsim.analysis.debates.one_debate import table_of_dimensions, table_of_raters
from delibsim.analysis.individual_change import rows_of, who_moved, why_undefined
from delibsim.analysis.run_changes import ItemShifts, item_shifts
from delibsim.analysis.run_headings import table_of_measures
from delibsim.analysis.run_network import Heard, heard_in
from delibsim.analysis.run_notes import Note, notes
from delibsim.analysis.run_pairs import PairsInPhase, pairs_of
from delibsim.analysis.run_summary import run_summary, speeches
from delibsim.analysis.run_transcript import (
    Line,
    codes_of,
    lineage,
    lines,
    on_answers,
    on_given,
)
from delibsim.analysis.sharing.leave_out import (
    people_among,
    without_personas,
)
from delibsim.analysis.statement_scores import StatementScores, of_statements
from delibsim.analysis.table import Table, number
from delibsim.conduct.reading.index import StudyIndex
from delibsim.conduct.reading.overview import all_measures
from delibsim.conduct.replay import record_of
from delibsim.conduct.scorers import annotator
from delibsim.conduct.status import with_people
from delibsim.domain.rating import Rated
from delibsim.domain.run import Run, Session
from delibsim.domain.transcript import PREPARATION, Statement
from delibsim.models.replay import Exchange
from delibsim.store.codec import Damaged
from delibsim.store.runs import Runs
from delibsim.store.withdrawn import WITHDRAWN

NOTHING = StatementScores()
ABSENT = number(None)


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
    codes: Sequence[str]
    words: int
    limits: tuple[int, int] | None = None


@dataclass(frozen=True)
class RunPage:
    """Everything on the page of a run that was held.

    `asked` gives the calls of each participant before and after, by (participant, phase).
    """

    run: Run
    study: str
    notes: Sequence[Note]
    measures: Table
    turns: Sequence[TurnShown]
    moved: Table | None
    moved_why: Sequence[str]
    items: Sequence[ItemShifts]
    pairs: Sequence[PairsInPhase]
    heard: Heard
    on_answers: Sequence[str]
    asked: Mapping[tuple[str, str], Sequence[Call]]
    calls: int
    tables: Sequence[Table]
    lineage: Sequence[str]
    given: Sequence[str]
    statement: tuple[str, str] | None
    votes: Sequence[Table]
    people: frozenset[str]

    @property
    def session(self) -> Session:
        """The session that was held."""
        return self.run.session


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
        run = annotator(runs)(runs.run(session))
        run = without_personas(run) if private else run
    except Damaged as error:
        return Unfinished(None, calls, f"damaged: {_without_path(error, runs)}")
    scores, measures = index.scores(session), all_measures(runs)
    summary = run_summary(runs, session, scores, measures).plain()
    summary["already_held"] = False
    people = people_among(run.session) if private else frozenset()
    moved = [row for row in rows_of(run) if row.participant not in people]
    return RunPage(
        run=run,
        study=runs.study,
        notes=notes(summary, measures),
        measures=_with_values(table_of_measures(summary, measures)),
        turns=_turns(run, calls, of_statements(scores, measures)),
        moved=who_moved(moved) if moved else None,
        moved_why=why_undefined(moved),
        items=item_shifts(run, people),
        pairs=[] if people else pairs_of(run),
        heard=heard_in(run),
        on_answers=on_answers(run),
        asked=_by_occasion(calls),
        calls=len(calls),
        tables=_of_debate(run),
        lineage=lineage(run.session),
        given=on_given(run),
        statement=None if run.consensus is None else statement_of(run.consensus),
        votes=[] if run.consensus is None else list(tables_of_votes(run.consensus)),
        people=people,
    )


def _with_values(table: Table) -> Table:
    """A table without the rows that have no value at all, such as the index of a debate."""
    rows = [row for row in table.rows if row and set(row[1:]) != {ABSENT}]
    return replace(table, rows=rows)


def calls_of(runs: Runs, session: str) -> list[Call]:
    """The readable calls of a session, numbered in their order; of a branch also those that it has
    of its parent.
    """
    return [Call(n, exchange) for n, exchange in enumerate(record_of(runs, session), 1)]


def _turns(
    run: Run, calls: Sequence[Call], scores: Mapping[int, StatementScores]
) -> list[TurnShown]:
    by_occasion = _by_occasion(calls)
    records = [call.exchange.record() for call in calls]
    statements = {said.turn.index: said for said in run.transcript}
    codes, rules = codes_of(run), run.session.procedure.rules
    broken = {speech["text"]: speech["broken"] for speech in speeches(run) if rules}
    found = []
    for line in lines(run, records):
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
            codes=codes.get(f"{run.session.id}/{turn.index}", ()),
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


def _of_debate(run: Run) -> list[Table]:
    """The ratings of a debate; nothing where nobody rated it."""
    if not isinstance(run, Rated) or not run.ratings:
        return []
    return [table_of_dimensions(run.ratings), table_of_raters(run.ratings)]


def _without_path(error: Exception, runs: Runs) -> str:
    """What an error says, the folder of the study left out."""
    said: Any = str(error)
    return said.replace(f"{runs.folder.resolve()}/", "").replace(f"{runs.folder}/", "")
