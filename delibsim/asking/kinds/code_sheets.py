"""Packs for people who code texts by a scheme: which texts, the key of the pack, and the pages.

Pages and form hold the anchors that language models read, and nothing of who said a text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from delibsim.asking.blinding import REMOVED, SOMEBODY
from delibsim.asking.forms import form_text
from delibsim.asking.pages import document, escaped, in_own_order, paragraphs, table
from delibsim.domain.annotation import Text
from delibsim.domain.scheme import Dimension, Level, Scheme
from delibsim.domain.text import counted

COLUMNS = ("pack", "sheet", "coder", "dimension", "level")
NOT_APPLICABLE = "not applicable"
"""What a coder writes in the place of a level where the question of a dimension is answered no."""


@dataclass(frozen=True)
class CodingSheet:
    """One text before one coder, under the code that stands for it on paper."""

    code: str
    coder: str
    text: Text


def coding_sheets(texts: Mapping[str, Sequence[Text]], pack: str) -> dict[str, list[CodingSheet]]:
    """The sheets of every coder, whose `texts` go by its name: in an order of its own, each under
    a code. All follows from the pack's name.
    """
    found: dict[str, list[CodingSheet]] = {}
    taken: set[str] = set()
    for coder, own in texts.items():
        by_id = {text.id: text for text in own}
        coded = in_own_order(by_id, pack, coder, taken)
        found[coder] = [CodingSheet(code, coder, by_id[id]) for code, id in coded]
    return found


def coding_key(
    sheets: Mapping[str, Sequence[CodingSheet]], hashes: Mapping[str, str]
) -> dict[str, Any]:
    """The key of a pack as plain values, by sheet; `hashes` are those of the texts word for word.

    It is to be kept with the study, not handed out.
    """
    key = {}
    for own in sheets.values():
        for sheet in own:
            id = sheet.text.id
            key[sheet.code] = {"text": id, "coder": sheet.coder, "text_sha256": hashes[id]}
    return key


def coding_form(
    sheets: Mapping[str, Sequence[CodingSheet]],
    pack: str,
    asked: Mapping[str, Sequence[str]],
) -> str:
    """The form as CSV: a line for each sheet and dimension, the level left empty.

    `asked` holds the ids of the dimensions on which each text is coded.
    """
    rows = []
    for own in sheets.values():
        for sheet in own:
            for dimension in asked[sheet.text.id]:
                rows.append([pack, sheet.code, sheet.coder, dimension, ""])
    return form_text(COLUMNS, rows)


def coding_page(
    sheets: Sequence[CodingSheet],
    scheme: Scheme,
    asked: Mapping[str, Sequence[str]],
    training: bool = False,
) -> str:
    """The pages of one coder as one HTML document that needs no other file."""
    training_note = " This is a training round: it is kept apart." if training else ""
    parts = [
        f"<h1>Coding texts: {escaped(scheme.name)}</h1>"
        f"<p>{escaped(sheets[0].coder)}. {counted(len(sheets), 'text')}.{training_note}</p>"
        "<p>Read the dimensions first. Then code each text, one dimension after the other. Judge"
        " what the text says, never its length, its fluency, or who may have said it.</p>"
    ]
    if scheme.lower_in_doubt:
        parts.append("<p><b>In doubt between two neighbouring levels, give the lower.</b></p>")
    shown = "\n".join(one.text.text for one in sheets)
    hidden = [word for word in (REMOVED, SOMEBODY) if word in shown]
    if hidden:
        words = " and ".join(hidden)
        parts.append(f"<p>What would tell who speaks was replaced by: {words}.</p>")
    parts += [entry_html(dimension) for dimension in scheme.dimensions]
    parts += [_sheet(sheet, scheme, asked[sheet.text.id]) for sheet in sheets]
    return document(f"Coding texts: {scheme.name}", parts)


def entry_html(dimension: Dimension) -> str:
    """The entry of a dimension in HTML: its definition, its levels with anchors, its examples."""
    parts = [f"<section><h2>{escaped(dimension.name)}</h2>"]
    parts += [paragraphs(text) for text in (dimension.brief, dimension.full) if text]
    if dimension.use:
        parts.append(f"<p><b>When to code it.</b> {escaped(dimension.use)}</p>")
    if dimension.not_use:
        parts.append(f"<p><b>When not.</b> {escaped(dimension.not_use)}</p>")
    if dimension.applies:
        parts.append(
            f"<p><b>First answer:</b> {escaped(dimension.applies)} If no, write"
            f" <b>{NOT_APPLICABLE}</b> and give no level.</p>"
        )
    rows = []
    for level in dimension.levels:
        rows.append((escaped(str(level.value)), escaped(level.name), escaped(level.anchor)))
    parts.append(table(("Level", "Name", "When it applies"), rows))
    if dimension.examples:
        parts.append("<p><b>Examples.</b></p>")
    for example in dimension.examples:
        why = f" {escaped(example.why)}" if example.why else ""
        verdict = f"<p><b>Level {escaped(str(example.level))}.</b>{why}</p>"
        parts.append(f"<div class=speech>{paragraphs(example.text)}{verdict}</div>")
    return f"{''.join(parts)}</section>"


def _level(level: Level) -> str:
    """A level with its name, where that says more."""
    value, name = str(level.value), level.name
    return escaped(value if name in ("", value) else f"{value} {name}")


def _sheet(sheet: CodingSheet, scheme: Scheme, asked: Sequence[str]) -> str:
    """A text with what came before it, and a box for the level of each dimension."""
    before = "".join([f"<div class=before>{paragraphs(said)}</div>" for said in sheet.text.context])
    if before:
        before = f"<p><i>What was said before (not to be coded):</i></p>{before}"
    rows = []
    for id in asked:
        dimension = scheme.dimension(id)
        levels = ", ".join(map(_level, dimension.levels))
        also = f", or {NOT_APPLICABLE}" if dimension.applies else ""
        named = f"<b>{escaped(dimension.name)}</b> <span class=column>{id}</span>"
        rows.append((named, levels + also, ""))
    return (
        f"<section><h2>Sheet <span class=code>{sheet.code}</span></h2>{before}"
        f"<div class=speech>{paragraphs(sheet.text.text)}</div>"
        f"{table(('Dimension', 'Levels', 'Your level'), rows)}</section>"
    )
