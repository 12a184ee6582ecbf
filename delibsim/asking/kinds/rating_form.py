"""The form of a pack for human raters: written empty, and read back line by line."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.asking.forms import form_text
from delibsim.asking.kinds.rating_sheets import Sheet
from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import Side
from delibsim.domain.rating import DIMENSIONS, SCALE, Rating, sides_by_letter
from delibsim.domain.reason import Reason
from delibsim.store.tables.csv_cells import read_sheet

POINTS = tuple(f"{letter}_{name}" for letter in "ab" for name in DIMENSIONS)
COLUMNS = ("pack", "sheet", "rater", "motion", "before", *POINTS, "winner", "after", "check")
NOT_GIVEN = Reason("not_given")
"""The reason of a value whose cell was left empty."""


def form(sheets: Mapping[str, Sequence[Sheet]], pack: str) -> str:
    """The form as CSV: a line for each sheet, everything that a rater gives left empty."""
    rows = []
    for own in sheets.values():
        for sheet in own:
            known = [pack, sheet.code, sheet.rater.index, sheet.run.session.topic.id]
            rows.append(known + [""] * (len(COLUMNS) - len(known)))
    return form_text(COLUMNS, rows)


@dataclass(frozen=True)
class Line:
    """A line of a form that was filled in: its rating, the code of its sheet, and where it is."""

    rating: Rating
    sheet: str
    place: str


def read_form(
    file: Path,
    keys: Mapping[str, Mapping[str, Any]],
) -> tuple[list[Line], int]:
    """The lines of a form that were filled in, and how many were left empty.

    `keys` holds the key of each pack by name. Raises WrongInput that names every line at fault, and
    then nothing is to be kept: a tie, a number off the scale, a sheet that was never handed out. A
    cell left empty is a missing value with that reason.
    """
    found, faults, empty, seen = [], [], 0, set()
    sheet = read_sheet(file)
    if sheet.header != COLUMNS:
        raise WrongInput(
            f"{file}, line 1: the columns must be those of the form that was exported:"
            f" {', '.join(COLUMNS)}"
        )
    for line, row in sheet.records():
        if not any(list(row.values())[4:]):
            empty += 1
            continue
        place = f"{file}, line {line}"
        try:
            rating = _rating(row, keys)
        except _Fault as fault:
            faults.append(f"{place}: {fault}")
            continue
        if (rating.session, rating.rater) in seen:
            faults.append(f"{place}: sheet {row['sheet']} stands in the form twice")
        seen.add((rating.session, rating.rater))
        found.append(Line(rating, row["sheet"], place))
    if faults:
        more = len(faults) - 30
        shown = faults[:30] + ([f"and {more} more"] if more > 0 else [])
        advice = "Nothing was imported; mend these lines and give the command again"
        raise WrongInput("\n".join([*shown, advice]))
    return found, empty


class _Fault(ValueError):
    """What is wrong with one line of a form."""


def _rating(row: Mapping[str, str], keys: Mapping[str, Mapping[str, Any]]) -> Rating:
    """The rating in one line of a form; _Fault with everything that is wrong with it."""
    sheet = _sheet(row, keys)
    faults = _of_another_sheet(row, sheet)
    sides = sides_by_letter(sheet["first"])
    given: dict[str, Any] = {"before": _number("before", row, faults)}
    for letter, side in sides.items():
        for name in DIMENSIONS:
            given[f"{side}.{name}"] = _number(f"{letter.lower()}_{name}", row, faults)
    given["after"] = _number("after", row, faults)
    given["winner"] = _winner(row, sides, faults)
    if row["check"] and not row["check"].isdigit():
        faults.append(f"check: '{row['check']}' is no number")
    if faults:
        raise _Fault("; ".join(faults))
    return Rating(
        session=sheet["debate"],
        rater=sheet["rater"],
        first=sheet["first"],
        before=given["before"],
        after=given["after"],
        proposition=_points(given, "proposition"),
        opposition=_points(given, "opposition"),
        winner=given["winner"],
        attentive=int(row["check"]) == sheet["check"] if row["check"] else None,
        missing={name: NOT_GIVEN for name, value in given.items() if value is None},
        debate_sha256=sheet.get("debate_sha256", ""),
        panel=row["pack"],
    )


def _sheet(row: Mapping[str, str], keys: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """The sheet that a line is about, from the key of its pack; _Fault for one never handed out."""
    if row["pack"] not in keys:
        raise _Fault(f"pack '{row['pack']}' was not exported from any study here")
    sheet = keys[row["pack"]].get(row["sheet"])
    if sheet is None:
        raise _Fault(f"sheet '{row['sheet']}' is not in pack {row['pack']}")
    return sheet


def _of_another_sheet(row: Mapping[str, str], sheet: Mapping[str, Any]) -> list[str]:
    """A fault for each column that does not agree with the sheet; packs of 0.1 kept no motion."""
    known = {"rater": str(sheet["index"]), "motion": sheet.get("motion", row["motion"])}
    faults = []
    for name, own in known.items():
        if row[name] != own:
            faults.append(
                f"{name}: sheet {row['sheet']} is that of {name} '{own}', not '{row[name]}'"
            )
    return faults


def _number(name: str, row: Mapping[str, str], faults: list[str]) -> int | None:
    """The rating in a column, None where it is empty; a fault is appended for anything else."""
    cell = row[name]
    if not cell:
        return None
    if not cell.isascii() or not cell.isdigit() or int(cell) not in SCALE:
        faults.append(f"{name}: '{cell}' is no whole number from 0 to 100")
        return None
    return int(cell)


def _winner(row: Mapping[str, str], sides: Mapping[str, Side], faults: list[str]) -> Side | None:
    """The side that is named the winner, None where the cell is empty; faults as for a number."""
    letter = row["winner"].upper().removeprefix("SPEAKER ")
    if letter and letter not in sides:
        faults.append(f"winner: '{row['winner']}' is neither A nor B; there are no ties")
    return sides.get(letter)


def _points(given: Mapping[str, Any], side: Side) -> dict[str, int]:
    """The ratings of one side, without those that were not given."""
    points = {name: given[f"{side}.{name}"] for name in DIMENSIONS}
    return {name: value for name, value in points.items() if value is not None}


def conflicts(
    lines: Iterable[Line],
    known: Mapping[tuple[str, str], Rating],
) -> tuple[list[Rating], list[str]]:
    """The ratings that are new, and the lines that contradict what was imported before."""
    new, clashes = [], []
    for line in lines:
        rating = line.rating
        old = known.get((rating.session, rating.rater))
        if old is None:
            new.append(rating)
        elif old != rating:
            clash = f"{line.place}: sheet {line.sheet} was imported before with other answers"
            clashes.append(f"{clash} (rater {rating.rater})")
    return new, clashes
