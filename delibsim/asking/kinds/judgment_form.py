"""Reading the forms of people who judged summaries back, line by line: all of a form, or none."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.asking.forms import Fault, key_of
from delibsim.asking.kinds.judgment_packs import COLUMNS, COMPARED
from delibsim.domain.errors import WrongInput
from delibsim.domain.judgment import DIMENSIONS, SCALE, Judgment, Sitting
from delibsim.domain.reason import Reason
from delibsim.domain.summary import spoken
from delibsim.store.judgments import Judgments
from delibsim.store.packs import packs_of
from delibsim.store.tables.csv_cells import read_sheet, refuse_faults

NOT_KEPT = "is no form that can be read, and nothing of it was kept"
INATTENTIVE = "inattentive"


@dataclass(frozen=True)
class ImportedForm:
    """What a form held: judgments that are new and that were known, and lines left empty, half
    empty or written by somebody inattentive.
    """

    new: int
    before: int
    sheets: int
    empty: int
    inattentive: int


def import_form(judgments: Judgments, file: Path) -> ImportedForm:
    """Keep the judgments of a form; WrongInput, with every line at fault, for a sheet that was
    never handed out, a number that is none from 1 to 5, an opinion without a word, and a sheet that
    was read before with other answers.
    """
    cells = read_sheet(file, COLUMNS)
    if cells.header != COLUMNS:
        listed = ", ".join(COLUMNS)
        raise WrongInput(f"{file}: the columns must be those of the form: {listed}")
    packs = packs_of(judgments.files)
    known = {one.key: one for one in judgments.people()}
    found: dict[Any, Judgment] = {}
    opinions: dict[str, str] = {}
    faults, seen, empty, inattentive = [], set(), 0, 0
    for line, given in cells.records():
        if not any(list(given.values())[2:]):
            empty += 1
            continue
        own: list[str] = []
        sheet = _sheet(given, packs, own)
        place = given["pack"], given["sheet"]
        if place in seen:
            own.append(f"sheet {given['sheet']} stands in the form twice")
        seen.add(place)
        answers = {name: _number(name, given, own) for name in (*DIMENSIONS, *COMPARED)}
        if not spoken(given["opinion"]):
            own.append("the opinion has no word")
        faults += [f"line {line}: {fault}" for fault in own]
        if own or sheet is None:
            continue
        attentive = given["check"] == str(sheet["check"])
        inattentive += not attentive
        opinion = f"{given['pack']}/{given['sheet']}"
        opinions[opinion] = given["opinion"]
        for one in judgments_on(opinion, sheet, answers, attentive):
            before = known.get(one.key)
            if before is not None and before != one:
                faults.append(f"line {line}: sheet {given['sheet']} was read with other answers")
            found[one.key] = one
    refuse_faults(file, faults, NOT_KEPT)
    fresh = [one for key, one in found.items() if key not in known]
    if opinions:
        judgments.keep_opinions(opinions)
    judgments.add(fresh, people=True)
    return ImportedForm(len(fresh), len(found) - len(fresh), len(seen), empty, inattentive)


def _sheet(
    given: Mapping[str, str], packs: Mapping[str, Mapping[str, Any]], faults: list[str]
) -> Mapping[str, Any] | None:
    """What a sheet showed; None, with the fault, for one that was never handed out."""
    try:
        return key_of(given, packs)[1]
    except Fault as fault:
        faults.append(str(fault))
        return None


def _number(name: str, given: Mapping[str, str], faults: list[str]) -> int | None:
    """The whole number of a cell; None where it is empty."""
    cell = given[name]
    if not cell:
        return None
    low, high = SCALE
    if not cell.isascii() or not cell.isdigit() or not low <= int(cell) <= high:
        faults.append(f"{name} is '{cell[:20]}'; give a whole number from {low} to {high}")
        return None
    return int(cell)


def judgments_on(
    opinion: str, sheet: Mapping[str, Any], answers: Mapping[str, int | None], attentive: bool
) -> list[Judgment]:
    """The rating and the comparison of a sheet; those of somebody inattentive are kept, with the
    reason why they do not count.
    """
    rated, other = sheet["rated"], sheet["other"]
    a, b = (rated, other) if sheet["rated_is_a"] else (other, rated)
    rating = {name: answers[name] for name in DIMENSIONS}
    compared = {name: answers[f"c_{name}"] for name in DIMENSIONS}
    asked = ((Sitting(rated, opinion), rating, ""), (Sitting(a, opinion, b), compared, rated))
    found = []
    for sitting, values, first in asked:
        known = {name: value for name, value in values.items() if value is not None}
        reason = None if known else Reason("not_given")
        if not attentive:
            reason = Reason(INATTENTIVE)
        found.append(Judgment(sitting, opinion, known, reason, first))
    return found
