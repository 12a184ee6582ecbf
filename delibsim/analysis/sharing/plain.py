"""A run as plain values, and as the rows of one table."""

import csv
import io
from collections.abc import Iterator
from typing import Any

from delibsim.analysis.debate_ratings import ratings_of, values_of_rating
from delibsim.analysis.sharing.shared_run import SharedRun
from delibsim.domain.consensus import MEDIATOR
from delibsim.domain.rating import Rating
from delibsim.domain.survey import PHASES
from delibsim.domain.text import safe
from delibsim.domain.transcript import Statement
from delibsim.store.codec import SCHEMA, run_to_plain
from delibsim.store.tables.consensus_rows import consensus_rows
from delibsim.store.tables.sheets import inert

COLUMNS = "part run occasion round turn participant model name value text missing".split()
"""Of one table: what a row is (statement, answer, measure; consensus, rank, agreement; rating), and
what is known of it.
"""
Row = dict[str, Any]


def plain(shared: SharedRun) -> dict[str, Any]:
    """A run as plain values: its citation, its run as in run.json, changes, ratings, measures."""
    return {
        "name": shared.name,
        "citation": shared.citation,
        "sha256": shared.sha256,
        "personas": shared.personas,
        "run": {"schema": SCHEMA, **run_to_plain(shared.run)},
        "changes": [row.plain() for row in shared.changes],
        "ratings": [_rating(one) for one in ratings_of(shared.run)],
        "measures": shared.summary["measures"],
        "undefined": shared.summary["undefined"],
        "notes": shared.notes,
    }


def table(shared: SharedRun) -> str:
    """A run as CSV: a row a statement, answer, measure, vote and rating.

    Texts that a spreadsheet would take for formulas have an apostrophe before them.
    """
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for row in rows(shared):
        cells = [row.get(column, "") for column in COLUMNS]
        writer.writerow([inert(safe(cell)) if isinstance(cell, str) else cell for cell in cells])
    return file.getvalue()


def rows(shared: SharedRun) -> Iterator[Row]:
    """The rows of the table: statements in order, answers in the order of seats, measures, what was
    written and voted for a collective statement, ratings.
    """
    session = shared.run.session
    models = {name: session.seated(name).model for name in session.seats}
    models[MEDIATOR] = session.mediator
    for row in (*_statements(shared), *_answers(shared)):
        yield row | {"run": shared.name, "model": models[row["participant"]]}
    for name, values in shared.summary["measures"].items():
        for phase, value in values.items():
            code = shared.summary["undefined"].get(f"{name}.{phase}", "")
            row = {"part": "measure", "run": shared.name, "occasion": phase, "name": name}
            yield row | {"value": "" if value is None else value, "missing": code}
    for row in _sought(shared):
        yield row | {"run": shared.name, "model": models[row["participant"]]}
    for row in _ratings(shared):
        yield row | {"run": shared.name}


def _statements(shared: SharedRun) -> Iterator[Row]:
    said = [*shared.run.transcript, *shared.run.silences]
    for one in sorted(said, key=lambda one: one.turn.index):
        turn = one.turn
        row = {"part": "statement", "occasion": f"turn {turn.index}", "round": turn.round}
        row |= {"turn": turn.index, "participant": turn.speaker, "name": turn.task}
        if isinstance(one, Statement):
            yield row | {"text": one.text}
        else:
            yield row | {"missing": str(one.why)}


def _answers(shared: SharedRun) -> Iterator[Row]:
    run = shared.run
    for person in run.session.respondents:
        for phase in PHASES:
            response = run.response(person.id, phase)
            for item in run.session.survey.items:
                row: Row = {"part": "answer", "occasion": phase, "participant": person.id}
                row |= {"name": item.id, "text": item.text}
                row |= {"value": response.answers.get(item.id, "")}
                yield row | {"missing": str(response.missing.get(item.id, ""))}


def _sought(shared: SharedRun) -> Iterator[Row]:
    """What was written for a collective statement, and each rank and agreement given."""
    sought = shared.run.consensus
    for table, found in consensus_rows(sought) if sought is not None else ():
        name, missing = found.get("text_id", ""), {"missing": found["reason"]}
        if table == "consensus_texts":
            row: Row = {"part": "consensus", "occasion": found["kind"], "name": name}
            yield row | {"participant": found["author"], "text": found["text"]} | missing
            continue
        row = {"occasion": f"vote {found['vote']}", "participant": found["participant"]}
        for part in ("rank", "agreement"):
            value = "" if found[part] is None else found[part]
            yield row | {"part": part, "name": name, "value": value} | missing


def _ratings(shared: SharedRun) -> Iterator[Row]:
    for rating in ratings_of(shared.run):
        row = {"part": "rating", "participant": rating.rater, "model": rating.model}
        for name, value in values_of_rating(rating).items():
            missing = str(rating.missing.get(name, ""))
            yield row | {"name": name, "value": "" if value is None else value, "missing": missing}


def _rating(rating: Rating) -> dict[str, Any]:
    """A rating as plain values."""
    reasons = {name: str(reason) for name, reason in rating.missing.items()}
    about: dict[str, Any] = {"rater": rating.rater, "source": rating.source, "model": rating.model}
    about |= {"panel": rating.panel, "attentive": rating.attentive}
    return about | {"values": values_of_rating(rating), "missing": reasons}
