"""How far raters and coders on pages are, and how long each took for each sheet."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from delibsim.asking.paper import form_text
from delibsim.conduct.people.rater_desk import RaterDesk, given_so_far
from delibsim.store.files import write_atomically
from delibsim.store.people.assignments import Held, Reply, places_in, replies_in

PLACES = (
    "task", "kind", "rater", "person", "state", "sheets", "whole", "kept", "not_kept", "minutes",
    "follows",
)  # fmt: skip
SHEETS = (
    "task", "rater", "person", "place", "sheet", "step", "status", "asked", "shown", "given",
    "seconds", "seconds_of_breaks", "kept", "fault",
)  # fmt: skip


def rater_rows(desk: RaterDesk, names: list[str] | None = None) -> list[dict[str, Any]]:
    """A row for each place of the tasks on pages: who has it, how many sheets are whole, how many
    of these are in the study, and the minutes without breaks.

    A place that was left is partial: `whole` says how many of its sheets count.
    """
    rows: list[dict[str, Any]] = []
    for name in names or desk.names():
        task = desk.task(name)
        replies = replies_in(desk.register, name)
        raters = {place.number: place.rater for place in task.places()}
        for held, follows in places_in(desk.register, name):
            own = {sheet: replies.get(sheet, {}) for sheet in held.sheets}
            given = [one for steps in own.values() for one in steps.values()]
            whole = [sheet for sheet, steps in own.items() if _whole(desk, held, sheet, steps)]
            seconds = sum([one.seconds or 0.0 for one in given])
            kept = sum(_kept(own[sheet]) for sheet in whole)
            faults = {one.sheet for one in given if one.fault}
            values = (
                name, task.kind, raters[held.number], held.person, held.state, len(held.sheets),
                len(whole), kept, len(faults), round(seconds / 60, 1), follows,
            )  # fmt: skip
            rows.append(dict(zip(PLACES, values, strict=True)))
    return rows


def write_times(desk: RaterDesk, file: Path, names: list[str] | None = None) -> int:
    """Write a line for each page that raters were shown, with the time each took; how many."""
    lines = []
    for name in names or desk.names():
        replies = replies_in(desk.register, name)
        raters = {place.number: place.rater for place in desk.task(name).places()}
        for held, _ in places_in(desk.register, name):
            for number, sheet in enumerate(held.sheets, 1):
                for step, one in replies.get(sheet, {}).items():
                    known = (name, raters[held.number], held.person, number, sheet, step)
                    lines.append([*known, *_cells(one)])
    write_atomically(file, form_text(SHEETS, lines))
    return len(lines)


def _cells(one: Reply) -> list[object]:
    """The cells of one page; what is missing is empty."""
    values = (
        one.status, one.asked, one.shown, one.given, one.seconds, one.paused, one.kept, one.fault
    )  # fmt: skip
    found = []
    for value in values:
        shown = round(value, 3) if isinstance(value, float) else value
        found.append("" if shown is None else shown)
    return found


def _kept(steps: Mapping[str, Reply]) -> bool:
    return all(one.kept is not None for one in steps.values())


def _whole(desk: RaterDesk, held: Held, sheet: str, steps: Mapping[str, Reply]) -> bool:
    if not steps or any(one.status is None for one in steps.values()):
        return False
    if all(one.kept is not None or one.fault for one in steps.values()):
        return True
    return given_so_far(desk.task(held.task), sheet, steps)[1] is None
