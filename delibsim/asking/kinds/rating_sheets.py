"""Packs for human raters: which sheets each gets, the key of the pack, and the pages to print."""

import html
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from delibsim.asking.blinding import REMOVED, blinded
from delibsim.asking.kinds.rating import first_shown
from delibsim.asking.pages import blank, document, paragraphs, sheet_code, table
from delibsim.domain.allocation import Showing, allocate
from delibsim.domain.annotation import Coder
from delibsim.domain.participant import Side
from delibsim.domain.rating import DIMENSIONS, SCALE, digest
from delibsim.domain.run import Run
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted
from delibsim.domain.transcript import Statement
from delibsim.domain.treatment import Wording
from delibsim.models.person.told import ENDS, without_labels


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
            code = sheet_code(draw)
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
        f"<h1>Rating debates</h1><p>{rater}. {counted(len(sheets), 'debate')}.</p>"
        f"<p>{texts['rater_setting']}</p>",
        "<p>Where something was taken out so that nobody can be recognised, it says"
        f" {REMOVED}.</p>",
    ]
    for sheet in sheets:
        parts += [_stance(sheet, texts), _ballot(sheet, texts)]
    return document("Rating debates", parts)


def _stance(sheet: Sheet, texts: Mapping[str, str]) -> str:
    """The question before the debate, and the debate on a new page."""
    motion = html.escape(sheet.run.session.topic.question)
    code = f"<span class=code>{sheet.code}</span>"
    speeches = "".join(map(_speech, blinded(sheet.run, sheet.first)))
    return (
        f"<section><h1>Sheet {code}</h1><h2>{motion}</h2>"
        f"<p class=ask>{texts['rater_before']} Write it down before you read on.</p>"
        f"<p><span class=name>Where you stand:</span>"
        f" {blank('before', ends=_ends(texts['rater_before']))}</p></section>"
        f"<section><h2>The debate (sheet {code})</h2>{speeches}</section>"
    )


def _ends(said: str) -> tuple[str, str]:
    """The words for 0 and 100, each behind its number; the numbers alone where a text has none."""
    low, high = str(SCALE[0]), str(SCALE[-1])
    found = ENDS.search(html.unescape(said))
    return (f"{low} {found[1]}", f"{high} {found[2]}") if found else (low, high)


def _speech(said: Statement) -> str:
    task = ("opening", "rebuttal", "closing")[min(max(said.turn.round, 1), 3) - 1]
    head = f"<div class=who>{said.turn.speaker}: {task}</div>"
    return f"<div class=speech>{head}{paragraphs(said.text)}</div>"


def _ballot(sheet: Sheet, texts: Mapping[str, str]) -> str:
    """The page with everything that is asked after the debate."""
    low, high = map(html.escape, _ends(texts["rater_ballot"]))
    heads = ["Point"]
    heads += [f"Speaker {letter}<br><small>{low} to {high}</small>" for letter in "AB"]
    rows = []
    for name in DIMENSIONS:
        said = f"<b>{name.capitalize()}</b>: {texts[f'rater_{name}']}"
        rows.append((said, "", ""))
    winner = blank("winner: A or B", "Speaker A", "Speaker B")
    after = blank("after", ends=_ends(texts["rater_after"]))
    check = f"{without_labels(texts['rater_check'])} {sheet.check}."
    return (
        f"<section><h2>Ballot (sheet <span class=code>{sheet.code}</span>)</h2>"
        f"<p>{without_labels(texts['rater_ballot'])}</p>{table(heads, rows)}"
        "<p class=column>columns a_ and b_ with the name of the point: a_knowledge</p>"
        f"<p class=ask>{texts['rater_winner']}</p>"
        f"<p><span class=name>Winner:</span> {winner}</p>"
        f"<p class=ask>{without_labels(texts['rater_after'])}</p>"
        f"<p><span class=name>Where you stand:</span> {after}</p>"
        f"<p class=ask>{check} {blank('check')}</p></section>"
    )
