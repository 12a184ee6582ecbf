"""Packs for human raters: blinded pages to print, a form to fill in, and reading the form back line
by line.
"""

import csv
import html
import io
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.annotation.blinding import REMOVED, blinded
from delibsim.annotation.debates import first_shown
from delibsim.domain.allocation import Showing, allocate
from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import SIDES
from delibsim.domain.rating import DIMENSIONS, SCALE, Rating, digest, name_told
from delibsim.domain.run import Run
from delibsim.domain.seed import seed_of
from delibsim.domain.transcript import Statement
from delibsim.domain.treatment import Wording

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # none that look alike in handwriting
POINTS = tuple(f"{letter}_{name}" for letter in "ab" for name in DIMENSIONS)
COLUMNS = ("pack", "sheet", "rater", "motion", "before", *POINTS, "winner", "after", "check")
STYLE = (
    "body{font:11pt/1.45 Georgia,serif;max-width:44em;margin:2em auto;padding:0"
    " 1em;color:#111}h1{font-size:1.4em}h2{font-size:1.15em}section{break-before:page}.speech{margin:1em"
    " 0}.who{font-weight:bold}table{border-collapse:collapse;width:100%;margin:1em"
    " 0}td,th{border:1px solid #999;padding:.3em"
    " .5em;text-align:left}td.n{width:4.5em}.ask{margin:1.2em 0}.code{font-family:monospace}"
)


@dataclass(frozen=True)
class Sheet:
    """One debate before one human rater: its code on paper, and the key that never leaves the
    study.
    """

    code: str
    run: Run
    rater: str
    first: Any
    check: int


def sheets_of(
    debates: Sequence[Run],
    pack: str,
    raters: int,
    each: int | None = None,
) -> dict[str, list[Sheet]]:
    """For every rater all debates, or `each`, in an order of its own, with the code of each sheet.

    All follows from the pack's name. Raises WrongInput for a number of debates that a rater cannot
    have.
    """
    names = [f"{pack} {k}" for k in range(1, raters + 1)]
    if each is None:
        shown = {rater: _all_of(debates, pack, k) for k, rater in enumerate(names, 1)}
    else:
        motions = {run.session.id: run.session.topic.id for run in debates}
        shown = allocate(motions, names, each, seed_of(pack, debates[0].session.seed))
    runs = {run.session.id: run for run in debates}
    found = {}
    for k, rater in enumerate(names, 1):
        sheets = []
        for showing in shown[rater]:
            draw = random.Random(seed_of(pack, "sheet", k, showing.debate))
            code = "".join(draw.choice(LETTERS) for _ in range(6))
            run, check = runs[showing.debate], draw.randrange(11, 90)
            sheets.append(Sheet(code, run, rater, showing.first, check))
        found[rater] = sheets
    return found


def _all_of(debates: Sequence[Run], pack: str, k: int) -> tuple[Showing, ...]:
    """All debates in the order of one rater."""
    order = random.Random(seed_of(pack, "order", k)).sample(list(debates), len(debates))
    drawn = [(run.session.id, run.session.seed) for run in order]
    return tuple(Showing(name, first_shown(name, f"{pack} {k}", seed)) for name, seed in drawn)


def key_of(sheets: Mapping[str, Sequence[Sheet]]) -> dict[str, Any]:
    """What tells the sheets of a pack apart, as plain values: to be kept with the study and not to
    be handed out.
    """
    return {
        s.code: {"debate": s.run.session.id, "rater": s.rater, "first": s.first, "check": s.check, "motion": s.run.session.topic.id,
                 "debate_sha256": digest(s.run)}
        for of in sheets.values() for s in of
    }  # fmt: skip


def page(sheets: Sequence[Sheet], wording: Wording) -> str:
    """The pages of one rater as one HTML document that needs nothing else; nothing on them says who
    debates.
    """
    text = wording.texts
    who, setting = name_told(sheets[0].rater), html.escape(text["rater_setting"])
    parts = [f"<h1>Rating debates</h1><p>{who}. {len(sheets)} debates.</p><p>{setting}</p>"]
    parts.append(
        f"<p>Where something was taken out so that nobody can be recognised, it says {REMOVED}.</p>"
    )
    for sheet in sheets:
        head = (
            "<section><h1>Sheet <span"
            f" class=code>{sheet.code}</span></h1><h2>{html.escape(sheet.run.session.topic.question)}</h2>"
        )
        before = (
            f"<p class=ask>{html.escape(text['rater_before'])} Write it down before you read on:"
            " <b>before</b> ______</p></section>"
        )
        speeches = "".join(map(_speech, blinded(sheet.run, sheet.first)))
        parts.append(
            f"{head}{before}<section><h2>The debate (sheet <span"
            f" class=code>{sheet.code}</span>)</h2>{speeches}</section>"
        )
        parts.append(_ballot(sheet, text))
    body = "\n".join(parts)
    head = f'<head><meta charset="utf-8"><title>Rating debates</title><style>{STYLE}</style></head>'
    return f'<!DOCTYPE html>\n<html lang="en">{head}\n<body>{body}</body></html>\n'


def _speech(said: Statement) -> str:
    task = ("Opening", "Rebuttal", "Closing")[min(max(said.turn.round, 1), 3) - 1]
    lines = "".join(
        f"<p>{html.escape(line)}</p>" for line in said.text.splitlines() if line.strip()
    )
    return (
        f"<div class=speech><div class=who>{said.turn.speaker}: {task.lower()}</div>{lines}</div>"
    )


def _ballot(sheet: Sheet, text: Mapping[str, str]) -> str:
    rows = "".join(
        f"<tr><td><b>{name}</b>: {html.escape(text[f'rater_{name}'])}</td><td class=n></td><td"
        " class=n></td></tr>"
        for name in DIMENSIONS
    )
    ballot = html.escape(text["rater_ballot"].partition(" Speaker A's")[0])
    return (
        "<section><h2>Ballot (sheet <span"
        f" class=code>{sheet.code}</span>)</h2><p>{ballot}</p><table><tr><th></th><th>Speaker"
        f" A</th><th>Speaker B</th></tr>{rows}</table><p"
        f" class=ask>{html.escape(text['rater_winner'])} <b>winner</b> (A or B) ______</p><p"
        f" class=ask>{html.escape(text['rater_after'].partition(', under')[0])}. <b>after</b>"
        " ______</p><p class=ask>So that we know this was read with care, write the number"
        f" {sheet.check} here: <b>check</b> ______</p></section>"
    )


def form(sheets: Mapping[str, Sequence[Sheet]], pack: str) -> str:
    """The form as CSV: a line for each sheet, everything that a rater gives left empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for rater, own in sheets.items():
        for sheet in own:
            writer.writerow(
                [
                    pack,
                    sheet.code,
                    rater.rpartition(" ")[2],
                    sheet.run.session.topic.id,
                    *[""] * (len(COLUMNS) - 4),
                ]
            )
    return out.getvalue()


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
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise WrongInput(f"cannot read {file}: {error}; save the form as CSV in UTF-8") from None
    head = text.partition("\n")[0]
    rows = list(
        csv.reader(io.StringIO(text), delimiter=";" if head.count(";") > head.count(",") else ",")
    )
    if not rows or tuple(cell.strip() for cell in rows[0]) != COLUMNS:
        raise WrongInput(
            f"{file}, line 1: the columns must be those of the form that was exported:"
            f" {', '.join(COLUMNS)}"
        )
    found, faults, empty, seen = [], [], 0, set()
    for line, cells in enumerate(rows[1:], 2):
        if not any(cell.strip() for cell in cells[4:]):
            empty += bool(cells)
            continue
        try:
            rating = _rating([cell.strip() for cell in cells], keys)
            if (rating.session, rating.rater) in seen:
                raise _Fault(f"sheet {cells[1]} stands in the form twice")
            seen.add((rating.session, rating.rater))
            found.append(Line(rating, cells[1].strip(), f"{file}, line {line}"))
        except _Fault as fault:
            faults.append(f"{file}, line {line}: {fault}")
    if faults:
        shown = "\n".join(faults[:30]) + (
            f"\nand {len(faults) - 30} more" if len(faults) > 30 else ""
        )
        raise WrongInput(
            f"{shown}\nNothing was imported; mend these lines and give the command again"
        )
    return found, empty


class _Fault(ValueError):
    """What is wrong with one line of a form."""


def _rating(cells: Sequence[str], keys: Mapping[str, Mapping[str, Any]]) -> Rating:
    if len(cells) != len(COLUMNS):
        raise _Fault(f"{len(cells)} cells instead of {len(COLUMNS)}")
    row = dict(zip(COLUMNS, cells, strict=True))
    if row["pack"] not in keys:
        raise _Fault(f"pack '{row['pack']}' was not exported from any study here")
    sheet = keys[row["pack"]].get(row["sheet"])
    if sheet is None:
        raise _Fault(f"sheet '{row['sheet']}' is not in pack {row['pack']}")
    faults: list[str] = []
    own = {"rater": sheet["rater"].rpartition(" ")[2], "motion": sheet.get("motion", row["motion"])}
    faults += [
        f"{name}: sheet {row['sheet']} is that of {name} '{given}', not '{row[name]}'"
        for name, given in own.items()
        if row[name] != given
    ]
    values = {name: _number(name, row[name], faults) for name in ("before", *POINTS, "after")}
    winner = row["winner"].upper().removeprefix("SPEAKER ")
    if winner not in ("A", "B", ""):
        faults.append(f"winner: '{row['winner']}' is neither A nor B; there are no ties")
    if row["check"] and not row["check"].isdigit():
        faults.append(f"check: '{row['check']}' is no number")
    if faults:
        raise _Fault("; ".join(faults))
    letters = dict(zip("ab", SIDES if sheet["first"] == SIDES[0] else SIDES[::-1], strict=True))
    points: dict[str, dict[str, int]] = {side: {} for side in SIDES}
    missing = {}
    for name, value in values.items():
        letter, _, dimension = name.partition("_")
        if value is None:
            missing[f"{letters[letter]}.{dimension}" if dimension else name] = "not_given"
        elif dimension:
            points[letters[letter]][dimension] = value
    if not winner:
        missing["winner"] = "not_given"
    return Rating(
        session=sheet["debate"], rater=sheet["rater"], first=sheet["first"], before=values["before"], after=values["after"],
        proposition=points["proposition"], opposition=points["opposition"], winner=letters[winner.lower()] if winner else None,
        attentive=int(row["check"]) == sheet["check"] if row["check"] else None, missing=missing,
        debate_sha256=sheet.get("debate_sha256", ""),
    )  # fmt: skip


def _number(name: str, cell: str, faults: list[str]) -> int | None:
    if not cell:
        return None
    if not cell.isascii() or not cell.isdigit() or int(cell) not in SCALE:
        faults.append(f"{name}: '{cell}' is no whole number from 0 to 100")
        return None
    return int(cell)


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
