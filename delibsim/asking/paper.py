"""Packs on paper: pages to print, and a form to fill in with a line for each answer.

Pages say what is said on pages in a browser, and what is alike for all sheets once.
"""

import csv
import html
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from delibsim.asking.blinding import REMOVED, SOMEBODY
from delibsim.asking.people import Online, Pack, PackPlace, SheetStep
from delibsim.domain.annotation import DIMENSIONS
from delibsim.domain.data import DATA
from delibsim.domain.text import counted, safe
from delibsim.models.person.fields import Block, Field, Option, blocks_in, marked
from delibsim.models.person.questionnaire import questionnaire
from delibsim.prompts.forms.ballot import LABELS
from delibsim.prompts.forms.choice import NUMBERED, VerdictForm
from delibsim.store.files import write_atomically
from delibsim.store.reading import read_yaml

COLUMNS = ("pack", "sheet", "rater", "question", "answer")
WORDS = DATA / "people/en.yaml"
"""The words of the pages in a browser, which are those on paper."""
ON_SHEETS = ("motion",)
"""The blocks that stand on each sheet, although they are alike for several."""
SHORT = 40
"""Characters of what stands behind a box to tick; what is longer stands in front of the sheets."""
NAMES = {"WINNER": "winner", "S1": "after", "C1": "check"} | dict(
    zip(LABELS, [f"{letter}_{name}" for letter in "ab" for name in DIMENSIONS], strict=True)
)
"""What the labels of a ballot are called in a form."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = "".join((DATA / "pages/paper.css").read_text(encoding="utf-8").splitlines())


def hand_out(pack: Pack, folder: Path | None, online: Online | None = None) -> None:
    """Keep the key of a pack, and write the pages of every rater, and its form; nothing where it
    has no folder.
    """
    pack.register(online)
    if folder is None:
        return
    for place in pack.places():
        name = f"{pack.person or 'rater'}-{place.number}".replace(" ", "-")
        write_atomically(folder / f"{name}.html", page(pack, place))
    write_atomically(folder / "form.csv", form(pack))


def form(pack: Pack) -> str:
    """The form of a pack as CSV, every answer left empty."""
    rows = []
    for place in pack.places():
        for sheet in place.sheets:
            for step in steps_of(pack, sheet):
                for question, _ in asked_in(step):
                    rows.append((pack.name, sheet, place.rater, question, ""))
    return form_text(COLUMNS, rows)


def form_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows below columns as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()


def steps_of(pack: Pack, sheet: str) -> Iterator[SheetStep]:
    """Everything that a sheet asks, as it is asked on paper."""
    given: dict[str, Any] = {}
    while (step := pack.step(sheet, given)) is not None:
        yield step
        given[step.name] = pack.on_paper.get(step.name)


def asked_in(step: SheetStep) -> list[tuple[str, Field]]:
    """What a step asks for, each under its name in the form. Where a question decides whether
    another is asked, one cell answers both; reasons are not asked for.
    """
    if step.prompt is None:
        told = f"So that we know that this was read with care, write here the number {step.check}."
        return [(step.name, Field(step.name, "number", told, 0, 99))]
    fields = questionnaire(step.prompt, rationale=False).fields
    first = {one.unless[0] for one in fields if one.unless}
    left = [one for one in fields if one.name not in first]
    if len(left) > 1:
        left = [one for one in left if one.kind != "words"]
    if len(left) == 1:
        return [(step.name, left[0])]
    compared = isinstance(step.prompt.reply, VerdictForm) and step.prompt.reply.two
    names = NAMES | {label: f"c_{name}" if compared else name for label, name in NUMBERED.items()}
    return [(names.get(one.name, one.name), one) for one in left]


@cache
def _words() -> Mapping[str, Mapping[str, str]]:
    return read_yaml(WORDS)["texts"]


def page(pack: Pack, place: PackPlace) -> str:
    """The pages of one rater as one HTML document that needs no other file.

    What is alike for all sheets stands in front of them.
    """
    sheets = [(sheet, list(steps_of(pack, sheet))) for sheet in place.sheets]
    title, intro = pack.titles(_words()["rate"])
    number = f"{place.rater}. {counted(len(sheets), 'sheet')}."
    parts = [f"<h1>{escaped(title)}</h1><p>{escaped(number)}</p><p>{escaped(intro)}</p>"]
    front = _Front()
    on_sheets = "".join([_sheet(sheet, steps, front) for sheet, steps in sheets])
    hidden = [word for word in (REMOVED, SOMEBODY) if html.escape(word) in on_sheets]
    if hidden:
        words = " and ".join(hidden)
        parts.append(f"<p>What would tell who speaks was replaced by: {escaped(words)}.</p>")
    return document(title, [*parts, *front.parts, on_sheets])


@dataclass
class _Front:
    """What was said in front of the sheets: the blocks, the questions, and both as HTML."""

    known: set[Any] = field(default_factory=set)
    parts: list[str] = field(default_factory=list)

    def add(self, blocks: Sequence[Block], fields: Sequence[Field]) -> None:
        """Say once what a step says of all sheets, with levels that need more words than a box."""
        new = [one for one in blocks if one not in self.known]
        told = "".join(map(_block, new))
        for one in fields:
            if one not in self.known and not _brief(one.options):
                rows = [(escaped(str(own.value)), escaped(own.text)) for own in one.options]
                told += table(("Answer", "When it applies"), rows)
            self.known.add(one)
        self.known |= set(new)
        if told:
            self.parts.append(f"<div>{told}</div>")


def _sheet(code: str, steps: Sequence[SheetStep], front: _Front) -> str:
    """A sheet with all that it shows and asks; what two steps show alike is shown once."""
    parts: list[str] = []
    shown: Sequence[Block] = ()
    for number, step in enumerate(steps):
        fields, lead = asked_in(step), ""
        blocks: list[Block] = []
        if step.prompt is not None:
            asked = questionnaire(step.prompt, rationale=False)
            system = [one for one in step.prompt.messages if one.role == "system"]
            said = set(blocks_in(marked(replace(step.prompt, messages=tuple(system)))))
            alike = [one for one in asked.blocks if one in said and one.tag not in ON_SHEETS]
            front.add(alike, [one for one in asked.fields if one.options])
            blocks, lead = [one for one in asked.blocks if one not in alike], asked.lead
        if not number or (blocks and blocks != shown):
            again = " (continued)" if number else ""
            head = f"<h2>Sheet <span class=code>{code}</span>{again}</h2>"
            parts.append(f"</section><section>{head}{''.join(map(_block, blocks))}")
            shown = blocks
        parts.append(f"<p>{escaped(lead)}</p>" if lead else "")
        parts.append(_heading(step))
        parts += [_asked(question, one, fields) for question, one in fields]
    return "".join([*parts, "</section>"]).removeprefix("</section>")


def _heading(step: SheetStep) -> str:
    """The dimension that a step is about, and the question that decides whether it applies."""
    if step.prompt is None:
        return ""
    asked = questionnaire(step.prompt, rationale=False)
    names = [one.text for one in asked.blocks if one.tag == "dimension"]
    first = {one.unless[0] for one in asked.fields if one.unless}
    told = [one.text for one in asked.fields if one.name in first]
    return f"<p><b>{escaped(' '.join(names))}</b> {escaped(' '.join(told))}</p>"


def _block(one: Block) -> str:
    """A part of what is told; what somebody said stands apart, under who said it."""
    words = _words()["form"].get(f"told_{one.tag}", "")
    if not one.quoted:
        strong = ("<b>", "</b>") if one.tag == "dimension" else ("", "")
        head = f"<p><i>{escaped(words)}</i></p>" if words else ""
        return f"{head}{strong[0]}{paragraphs(one.text)}{strong[1]}"
    task = ("opening", "rebuttal", "closing")[min(max(one.round, 1), 3) - 1]
    who = f"{one.speaker}: {task}" if one.speaker else words
    head = f"<div class=who>{escaped(who)}</div>" if who else ""
    return f"<div class=speech>{head}{paragraphs(one.text)}</div>"


def _asked(question: str, one: Field, fields: Sequence[tuple[str, Field]]) -> str:
    """A question with its boxes to tick or its place to write, and its name in the form."""
    section, _, key = one.asked.partition(".")
    told = one.text or (_words()[section].get(key, "") if key else "")
    if one.speaker:
        told = f"Speaker {one.speaker}, {one.label}: {told}"
    ticks = [_tick(option) for option in one.options]
    if one.unless is not None:
        ticks.append("not applicable")
    ends = ("", "")
    if one.kind in ("slider", "scale"):
        low, high = one.ends
        ends = (f"{one.low} {low}".strip(), f"{one.high} {high}".strip())
    return (
        f"<p class=ask><span class=name>{escaped(told)}</span></p>"
        f"<p>{blank(question, *ticks, ends=ends)}</p>"
    )


def _brief(options: Sequence[Option]) -> bool:
    """Whether the words of all options can stand beside their boxes."""
    return all(len(option.text) <= SHORT for option in options)


def _tick(option: Option) -> str:
    """An option beside its box: its value, with its name where that is short."""
    text = option.text if len(option.text) <= SHORT else ""
    if not text and option.text.startswith("("):
        text = option.text[1:].partition("): ")[0]
    return escaped(f"{option.value} {text}".strip())


def document(title: str, parts: Iterable[str]) -> str:
    """Parts in HTML as one document that needs no other file, and can run nothing."""
    body = "\n".join(parts)
    head = (
        f'<head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<style>{STYLE}</style></head>"
    )
    return f'<!DOCTYPE html>\n<html lang="en">{head}\n<body><main>{body}</main></body></html>\n'


def escaped(text: str) -> str:
    """A text that others wrote, inert in HTML and without characters that change its direction."""
    return html.escape(safe(text))


def paragraphs(text: str) -> str:
    """A text that others wrote as paragraphs, a line each."""
    lines = filter(str.strip, safe(text).splitlines())
    return "".join([f"<p>{html.escape(line)}</p>" for line in lines])


def blank(column: str, *ticks: str, ends: tuple[str, str] = ("", "")) -> str:
    """A place to write in, between the words for its `ends`, or boxes to tick; and the column of
    the form that it goes into.
    """
    place = "<span class=write></span>"
    if any(ends):
        place = f"{html.escape(ends[0])} {place} {html.escape(ends[1])}"
    if ticks:
        boxes = [f"<span class=tick><span class=box></span> {tick}</span>" for tick in ticks]
        place = "".join(boxes)
    return f"{place} <span class=column>column {html.escape(column)}</span>"


def table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of cells in HTML below headings; an empty cell is one to write in."""
    heads = "".join([f"<th>{heading}</th>" for heading in headings])
    lines = [f"<tr>{heads}</tr>"]
    for row in rows:
        cells = [f"<td>{cell}</td>" if cell else "<td class=n></td>" for cell in row]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(lines)}</table>"
