"""Packs for human raters: blinded pages to print, a form to fill in, and reading the form back."""

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
from delibsim.domain.annotation import Coder
from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import SIDES, Side
from delibsim.domain.rating import DIMENSIONS, SCALE, Rating, digest
from delibsim.domain.reason import Reason
from delibsim.domain.run import Run
from delibsim.domain.seed import seed_of
from delibsim.domain.transcript import Statement
from delibsim.domain.treatment import Wording

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # none that look alike in handwriting
POINTS = tuple(f"{letter}_{name}" for letter in "ab" for name in DIMENSIONS)
COLUMNS = ("pack", "sheet", "rater", "motion", "before", *POINTS, "winner", "after", "check")
NOT_GIVEN = Reason("not_given")
"""The reason of a value whose cell was left empty."""
STYLE = (
    "body{font:11pt/1.45 Georgia,serif;max-width:44em;margin:2em auto;padding:0 1em;color:#111}"
    "h1{font-size:1.4em}h2{font-size:1.15em}section{break-before:page}"
    ".speech{margin:1em 0}.who{font-weight:bold}"
    "table{border-collapse:collapse;width:100%;margin:1em 0}"
    "td,th{border:1px solid #999;padding:.3em .5em;text-align:left}td.n{width:4.5em}"
    ".ask{margin:1.2em 0}.code{font-family:monospace}"
)


@dataclass(frozen=True)
class Sheet:
    """One debate before one human rater, with its code on paper and its attention check."""

    code: str
    run: Run
    rater: Coder
    first: Side
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
    people = [Coder(pack, k) for k in range(1, raters + 1)]
    if each is None:
        shown = {rater.id: _all_of(debates, rater) for rater in people}
    else:
        motions = {run.session.id: run.session.topic.id for run in debates}
        seed = seed_of(pack, debates[0].session.seed)
        shown = allocate(motions, [rater.id for rater in people], each, seed)
    runs = {run.session.id: run for run in debates}
    found = {}
    for rater in people:
        sheets = []
        for showing in shown[rater.id]:
            draw = random.Random(seed_of(pack, "sheet", rater.index, showing.debate))
            code = "".join(draw.choice(LETTERS) for _ in range(6))
            run, check = runs[showing.debate], draw.randrange(11, 90)
            sheets.append(Sheet(code, run, rater, showing.first, check))
        found[rater.id] = sheets
    return found


def _all_of(debates: Sequence[Run], rater: Coder) -> tuple[Showing, ...]:
    """All debates in the order of one rater."""
    draw = random.Random(seed_of(rater.panel, "order", rater.index))
    showings = []
    for run in draw.sample(list(debates), len(debates)):
        name = run.session.id
        showings.append(Showing(name, first_shown(name, rater.index, run.session.seed)))
    return tuple(showings)


def key_of(sheets: Mapping[str, Sequence[Sheet]]) -> dict[str, Any]:
    """The key of a pack as plain values, by sheet: to be kept with the study, not handed out."""
    key = {}
    for own in sheets.values():
        for sheet in own:
            key[sheet.code] = {
                "debate": sheet.run.session.id,
                "rater": sheet.rater.id,
                "first": sheet.first,
                "check": sheet.check,
                "motion": sheet.run.session.topic.id,
                "debate_sha256": digest(sheet.run),
            }
    return key


def page(sheets: Sequence[Sheet], wording: Wording) -> str:
    """The pages of one rater as one HTML document that needs no other file.

    Nothing on them says who debates.
    """
    texts = {name: html.escape(text) for name, text in wording.texts.items()}
    rater = sheets[0].rater.neutral_name
    parts = [
        f"<h1>Rating debates</h1><p>{rater}. {len(sheets)} debates.</p>"
        f"<p>{texts['rater_setting']}</p>",
        "<p>Where something was taken out so that nobody can be recognised, it says"
        f" {REMOVED}.</p>",
    ]
    for sheet in sheets:
        parts += [_stance(sheet, texts), _ballot(sheet, texts)]
    body = "\n".join(parts)
    head = f'<head><meta charset="utf-8"><title>Rating debates</title><style>{STYLE}</style></head>'
    return f'<!DOCTYPE html>\n<html lang="en">{head}\n<body>{body}</body></html>\n'


def _stance(sheet: Sheet, texts: Mapping[str, str]) -> str:
    """The question before the debate, and the debate on a new page."""
    motion = html.escape(sheet.run.session.topic.question)
    code = f"<span class=code>{sheet.code}</span>"
    speeches = "".join(map(_speech, blinded(sheet.run, sheet.first)))
    return (
        f"<section><h1>Sheet {code}</h1><h2>{motion}</h2>"
        f"<p class=ask>{texts['rater_before']} Write it down before you read on:"
        " <b>before</b> ______</p></section>"
        f"<section><h2>The debate (sheet {code})</h2>{speeches}</section>"
    )


def _speech(said: Statement) -> str:
    task = ("opening", "rebuttal", "closing")[min(max(said.turn.round, 1), 3) - 1]
    lines = [f"<p>{html.escape(line)}</p>" for line in said.text.splitlines() if line.strip()]
    head = f"<div class=who>{said.turn.speaker}: {task}</div>"
    return f"<div class=speech>{head}{''.join(lines)}</div>"


def _ballot(sheet: Sheet, texts: Mapping[str, str]) -> str:
    """The page with everything that is asked after the debate."""
    cells = "<td class=n></td><td class=n></td>"
    rows = [
        f"<tr><td><b>{name}</b>: {texts[f'rater_{name}']}</td>{cells}</tr>" for name in DIMENSIONS
    ]
    # The texts go on to say how a model is to reply, which says nothing to people.
    ballot = texts["rater_ballot"].partition(html.escape(" Speaker A's"))[0]
    after = texts["rater_after"].partition(", under")[0]
    heads = "<tr><th></th><th>Speaker A</th><th>Speaker B</th></tr>"
    return (
        f"<section><h2>Ballot (sheet <span class=code>{sheet.code}</span>)</h2><p>{ballot}</p>"
        f"<table>{heads}{''.join(rows)}</table>"
        f"<p class=ask>{texts['rater_winner']} <b>winner</b> (A or B) ______</p>"
        f"<p class=ask>{after}. <b>after</b> ______</p>"
        "<p class=ask>So that we know this was read with care, write the number"
        f" {sheet.check} here: <b>check</b> ______</p></section>"
    )


def form(sheets: Mapping[str, Sequence[Sheet]], pack: str) -> str:
    """The form as CSV: a line for each sheet, everything that a rater gives left empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for own in sheets.values():
        for sheet in own:
            known = [pack, sheet.code, sheet.rater.index, sheet.run.session.topic.id]
            writer.writerow(known + [""] * (len(COLUMNS) - len(known)))
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
    found, faults, empty, seen = [], [], 0, set()
    for line, cells in enumerate(_rows(file), 2):
        if not any(cells[4:]):
            empty += bool(cells)
            continue
        place = f"{file}, line {line}"
        try:
            rating = _rating(cells, keys)
        except _Fault as fault:
            faults.append(f"{place}: {fault}")
            continue
        if (rating.session, rating.rater) in seen:
            faults.append(f"{place}: sheet {cells[1]} stands in the form twice")
        seen.add((rating.session, rating.rater))
        found.append(Line(rating, cells[1], place))
    if faults:
        more = len(faults) - 30
        shown = faults[:30] + ([f"and {more} more"] if more > 0 else [])
        advice = "Nothing was imported; mend these lines and give the command again"
        raise WrongInput("\n".join([*shown, advice]))
    return found, empty


def _rows(file: Path) -> list[list[str]]:
    """The lines of a form below its heading, every cell without space around it."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise WrongInput(f"cannot read {file}: {error}; save the form as CSV in UTF-8") from None
    head = text.partition("\n")[0]
    delimiter = ";" if head.count(";") > head.count(",") else ","
    rows = []
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    try:
        for cells in reader:
            rows.append([cell.strip() for cell in cells])
    except csv.Error as error:
        place = f"{file}, line {reader.line_num}"
        raise WrongInput(f"{place}: not readable as CSV: {error}") from None
    if not rows or tuple(rows[0]) != COLUMNS:
        columns = ", ".join(COLUMNS)
        raise WrongInput(
            f"{file}, line 1: the columns must be those of the form that was exported: {columns}"
        )
    return rows[1:]


class _Fault(ValueError):
    """What is wrong with one line of a form."""


def _rating(cells: Sequence[str], keys: Mapping[str, Mapping[str, Any]]) -> Rating:
    """The rating in one line of a form; _Fault with everything that is wrong with it."""
    if len(cells) != len(COLUMNS):
        raise _Fault(f"{len(cells)} cells instead of {len(COLUMNS)}")
    row = dict(zip(COLUMNS, cells, strict=True))
    sheet = _sheet(row, keys)
    faults = _of_another_sheet(row, sheet)
    values = {name: _number(name, row[name], faults) for name in ("before", *POINTS, "after")}
    winner = row["winner"].upper().removeprefix("SPEAKER ")
    if winner not in ("A", "B", ""):
        faults.append(f"winner: '{row['winner']}' is neither A nor B; there are no ties")
    if row["check"] and not row["check"].isdigit():
        faults.append(f"check: '{row['check']}' is no number")
    if faults:
        raise _Fault("; ".join(faults))
    first = sheet["first"]
    sides: dict[str, Side] = dict(
        zip("ab", SIDES if first == SIDES[0] else SIDES[::-1], strict=True)
    )
    points: dict[str, dict[str, int]] = {side: {} for side in SIDES}
    missing = {}
    for name, value in values.items():
        letter, _, dimension = name.partition("_")
        if value is None:
            missing[f"{sides[letter]}.{dimension}" if dimension else name] = NOT_GIVEN
        elif dimension:
            points[sides[letter]][dimension] = value
    if not winner:
        missing["winner"] = NOT_GIVEN
    return Rating(
        session=sheet["debate"],
        rater=sheet["rater"],
        first=first,
        before=values["before"],
        after=values["after"],
        proposition=points["proposition"],
        opposition=points["opposition"],
        winner=sides[winner.lower()] if winner else None,
        attentive=int(row["check"]) == sheet["check"] if row["check"] else None,
        missing=missing,
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


def _number(name: str, cell: str, faults: list[str]) -> int | None:
    """A rating from its cell, None where it is empty; a fault is appended for anything else."""
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
