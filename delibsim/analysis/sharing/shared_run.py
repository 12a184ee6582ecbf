"""One run as it is shared: what it was, who took part, what was said, answered and measured."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from delibsim.analysis.beside.beside import Side
from delibsim.analysis.calls import summary_of, without_effect
from delibsim.analysis.collective_statement import on_consensus, statement_of, tables_of_votes
from delibsim.analysis.debate_ratings import on_ratings, ratings_of, table_of_ratings
from delibsim.analysis.human.reference import on_their_instrument, people_of
from delibsim.analysis.individual_change import MEANING, who_moved, why_undefined
from delibsim.analysis.run_headings import design_in_words, table_of_measures, who_and_how
from delibsim.analysis.run_notes import notes_on_measures
from delibsim.analysis.run_summary import design, undefined, values_of
from delibsim.analysis.run_transcript import (
    Line,
    lineage,
    lines,
    on_answers,
    on_cuts,
    on_given,
    tables_of_answers,
)
from delibsim.analysis.sharing.leave_out import people_among, without_personas
from delibsim.analysis.table import Table, texts
from delibsim.domain.consensus import Consensus
from delibsim.domain.measure import Measure
from delibsim.domain.run import Run
from delibsim.domain.score import IndividualChange
from delibsim.domain.text import counted
from delibsim.store.tables.consensus_rows import consensus_rows


@dataclass(frozen=True)
class SharedRun:
    """One run as it is shared, in the order in which it is read.

    `run` is what is shared of it: without personas and answers of people if `personas` is False.
    `changes`, the individual changes, leave the same people out; `summary` holds the measures as
    plain values, which are those of the whole run.
    """

    name: str
    citation: str
    sha256: str
    run: Run
    personas: bool
    summary: Mapping[str, Any]
    measures: Mapping[str, Measure]
    lines: Sequence[Line]
    changes: Sequence[IndividualChange]

    @property
    def facts(self) -> list[tuple[str, str]]:
        """How the run came about, as terms and what is said of them."""
        session, calls = self.run.session, self.summary["calls"]
        usd = "cost unknown" if calls["cost_usd"] is None else f"{calls['cost_usd']:.4f} USD"
        found = [
            ("Question", session.topic.question),
            ("Background", session.topic.background),
            ("Run", f"{self.name}, {self.run.status}"),
            ("Design", who_and_how(self.summary)),
            ("Settings", design_in_words(self.summary)),
            ("Instructions", session.treatment.instructions),
            ("Calls", f"{counted(calls['recorded'], 'call')}, {usd}"),
        ]
        return [(term, said) for term, said in found if said]

    @property
    def people(self) -> list[tuple[str, str]]:
        """Who took part: name and model, and the persona, "" without one."""
        seats = self.run.session.participants
        return [(f"{seat.id} ({seat.model})", " ".join(seat.persona.split())) for seat in seats]

    @property
    def statement(self) -> tuple[str, str] | None:
        """The collective statement ("" where there is none) and how it was chosen; None where none
        was sought.
        """
        return None if self.run.consensus is None else statement_of(self.run.consensus)

    @property
    def tables(self) -> list[Table]:
        """The answers of all, who moved, the measures, votes on collective statements, ratings."""
        found = list(tables_of_answers(self.run))
        if self.changes:
            found.append(who_moved(self.changes))
        if not self.run.session.kind.sides:
            table = table_of_measures(self.summary, self.measures)
            found.append(Table(table.columns, table.rows, "Measures"))
        if self.run.consensus is not None:
            found += [_texts_of(self.run.consensus), *tables_of_votes(self.run.consensus)]
        if ratings_of(self.run):
            found.append(table_of_ratings(self.run))
        return found

    @property
    def notes(self) -> list[str]:
        """What must be known of the tables and the transcript, in sentences."""
        found = [*on_answers(self.run), *on_cuts(self.run), *on_given(self.run)]
        if self.changes:
            found += [*why_undefined(self.changes), MEANING]
        found += [_sentence(*note) for note in notes_on_measures(self.summary, self.measures)]
        found += [] if self.run.consensus is None else on_consensus(self.run.consensus)
        found += on_ratings(self.run)
        dropped = without_effect(self.summary["calls"]["parameters_dropped"])
        found += [f"dropped: {line}" for line in dropped]
        if not self.personas:
            found.append("personas and the answers, votes and ratings of people are left out")
        return list(dict.fromkeys(found))  # what is missing of a vote is told of answers too


def shared_run(
    side: Side,
    sha256: str,
    measures: Mapping[str, Measure],
    personas: bool = True,
) -> SharedRun:
    """A run as it is shared; `sha256` is that of its run.json, `measures` are those of the
    scorers, by id.
    """
    run = side.run
    shown = run if personas else without_personas(run)
    hidden = frozenset() if personas else people_among(run.session)
    return SharedRun(
        name=side.name,
        citation=citation(side, sha256),
        sha256=sha256,
        run=shown,
        personas=personas,
        summary=_summary(side, measures),
        measures=measures,
        lines=tuple(lines(shown, side.records)),
        changes=tuple(row for row in _changes(run) if row.participant not in hidden),
    )


def citation(side: Side, sha256: str) -> str:
    """One line that names a run so that it can be found and checked.

    The hash is that of its file run.json, as `sha256sum` prints it.
    """
    session, run = side.run.session, side.run
    study, _, name = side.name.rpartition("/")
    starts = [str(record.get("started", ""))[:10] for record in side.records]
    held = f", held {min(filter(None, starts))}" if any(starts) else ""
    version = run.provenance.get("delibsim")
    software = f" with delibsim {version}" if version else ""
    models = ", ".join(dict.fromkeys(person.model for person in session.participants))
    plan = f"topic {session.topic.id}, treatment {session.treatment.name}, models {models}"
    drawn = "; ".join([f"seed {session.seed}, replicate {session.replicate}", *lineage(session)])
    return f"{name}, study {study}{held}{software} ({plan}, {drawn}). SHA-256 of run.json: {sha256}"


def _changes(run: Run) -> Iterator[IndividualChange]:
    from delibsim.analysis.individual_change import rows_of

    yield from rows_of(run)


def _summary(side: Side, measures: Mapping[str, Measure]) -> dict[str, Any]:
    """What the heading and the table of measures need, as plain values."""
    session = side.run.session
    calls = summary_of(side.records, side.damaged_lines)
    scores = [score for score in side.scores if score.unit == "run"]
    return design(session, calls) | {
        "measures": _defined(values_of(scores, measures)),
        "undefined": undefined(scores, measures),
        "human": people_of(session),
        "same_instrument": on_their_instrument(session),
        "calls": vars(calls),
    }


def _texts_of(sought: Consensus) -> Table:
    """Every position, statement and critique of a collective statement, in its order."""
    rows = []
    for table, row in consensus_rows(sought):
        if table == "consensus_texts":
            said = row["text"] or f"(missing: {row['reason']})"
            rows.append([row.get("text_id", ""), row["kind"], row["author"], said])
    heads = texts("statement", "what", "by", "text")
    return Table(heads, rows, "What was written for the collective statement")


def _defined(values: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float | None]]:
    """Values by measure and phase, None where they are undefined."""
    found: dict[str, dict[str, float | None]] = {}
    for name, own in values.items():
        found[name] = {phase: None if isnan(value) else value for phase, value in own.items()}
    return found


def _sentence(label: str, note: str) -> str:
    return f"{label}: {note}" if label else note
