"""The facts of every session that a study plans, from its files or from what was kept of them."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from delibsim.domain.condition import settings_of
from delibsim.domain.effect import same_cells
from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Session
from delibsim.domain.study import natural
from delibsim.plugins import without_effect
from delibsim.store.files import json_text
from delibsim.store.runs import Runs
from delibsim.store.session_notes import SessionNotes, begun_sessions
from delibsim.store.tables.calls import Row
from delibsim.store.tables.session_facts import facts_of_plan, facts_of_record, read_session

OF_NAME = ("cell", "replicate", "seed")
"""Facts of a plan in which sessions differ whose plans are else alike."""
OF_DESIGN = (
    *("topic", "survey", "treatment", "paraphrase_of", "models", "family", "reasoning_requested"),
    *("null", "format", "interaction", "rounds", "group_size", "persona", "wording", "seed"),
    "temperature_requested",
)
"""Facts of a plan that replicates share: what a study says of the cells of its design."""

Watch = Callable[[str, int, int], None]


def facts_of_study(
    runs: Runs, watch: Watch | None = None, kept_in: Path | None = None
) -> Iterator[Row]:
    """The facts of every planned session, in order of name (r2 before r10); `settings` are pairs of
    key and value.

    What had to be read anew is kept for the next time, in the file `kept_in` or in the folder of
    the study, where that can be written to.
    """
    notes, begun = SessionNotes(runs, kept_in), begun_sessions(runs)
    manifest = runs.manifest()
    names = sorted({*begun, *(manifest.sessions if manifest else ())}, key=natural)
    plans: dict[str, Row] = {}
    kept: list[str] = []
    for number, name in enumerate(names):
        if name not in begun:
            yield _not_begun(name, manifest.design if manifest else {})
            continue
        with suppress(LookupError, TypeError, ValueError):
            found = notes.of(name, "facts")
            if found is not None:
                of_plan = _alike(notes, name, plans)
                kept.append(name)
                notes.forget(name)  # the facts of thousands of sessions would be in memory twice
                yield {"session": name, **of_plan, **found}
                continue
        if watch is not None:
            watch("reading runs", number, len(names))
        read = read_session(runs, name)
        facts = facts_of_record(read)
        if read.run is not None:
            notes.keep(read.run.session, {"facts": facts})
            kept.append(name)
        of_plan = {"settings": ()} if read.session is None else _of_plan(read.session)
        yield {"session": name, **of_plan, **facts}
    notes.forget_others(kept)


def _of_plan(plan: Session) -> Row:
    return facts_of_plan(plan) | {"settings": tuple(settings_of(plan))}


def _alike(notes: SessionNotes, name: str, known: dict[str, Row]) -> Row:
    """The facts of the plan of a session, of which most are those of sessions planned alike."""
    alike, plan = notes.alike(name), notes.plan(name)
    if alike not in known:
        known[alike] = _of_plan(plan)
    return known[alike] | facts_of_plan(plan, OF_NAME)


def equal_cells(runs: Runs, facts: Iterable[Row]) -> dict[str, str]:
    """The cells of begun sessions that are the same condition as another, with the first of these.

    Of every cell the lowest replicate is compared (see domain.effect.same_cells).
    """
    lowest: dict[str, tuple[int, str]] = {}
    for row in facts:
        if "cell" in row and row["status"] != "not begun":
            own = row["replicate"], row["session"]
            lowest[row["cell"]] = min(own, lowest.get(row["cell"], own))
    plans, notes = [], SessionNotes(runs)
    for _, name in lowest.values():
        with suppress(WrongInput):
            plans.append(notes.planned(name))
    return same_cells(plans, without_effect)


def design_of_cells(cells: Mapping[str, Session]) -> dict[str, dict[str, Any]]:
    """What a study says of the cells of its design before they are held, from one plan of each: its
    facts by cell, and the settings that they name, which many share.
    """
    facts: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for cell, plan in cells.items():
        own = [list(pair) for pair in settings_of(plan)]
        name = hashlib.sha256(json_text(own).encode()).hexdigest()[:8]
        settings[name] = own
        facts[cell] = facts_of_plan(plan, OF_DESIGN) | {"settings": name}
    return {"cells": facts, "settings": settings}


def _not_begun(name: str, design: Mapping[str, Mapping[str, Any]]) -> Row:
    """The facts of a session for which nobody was asked anything, from the design of its study."""
    row: Row = {"session": name, "status": "not begun", "settings": ()}
    cell, _, replicate = name.rpartition(".r")
    known = design.get("cells", {}).get(cell)
    if known is None:
        return row
    settings = tuple((key, value) for key, value in design["settings"][known["settings"]])
    own = {"cell": cell, "replicate": int(replicate), "settings": settings}
    return row | known | own | {"reasoning": known["reasoning_requested"]}
