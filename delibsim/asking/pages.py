"""Pages on paper for people: what packs of debates, of texts and of rationales have in common."""

import html
import random
from collections.abc import Iterable

from delibsim.domain.seed import seed_of
from delibsim.domain.text import safe

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # none that look alike in handwriting
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = (
    "body{font:11pt/1.45 Georgia,serif;max-width:44em;margin:2em auto;padding:0 1em;color:#111}"
    "h1{font-size:1.4em}h2{font-size:1.15em}section{break-before:page}"
    ".speech{margin:1em 0;overflow-wrap:anywhere}.who{font-weight:bold}"
    "table{border-collapse:collapse;width:100%;margin:1em 0}"
    "td,th{border:1px solid #999;padding:.3em .5em;text-align:left}td.n{width:4.5em}"
    ".ask{margin:1.2em 0}.code{font-family:monospace}.before{color:#555}"
    ".column{font:.8em monospace;color:#555}.name{font-weight:bold}"
    ".write{display:inline-block;width:5em;border-bottom:1px solid #111}"
    ".box{display:inline-block;width:1em;height:1em;border:1px solid #111;vertical-align:-.1em}"
    ".tick{white-space:nowrap;margin-right:1.5em}th small{font-weight:normal}"
    "table,.ask,.speech{break-inside:avoid}"
)


def sheet_code(draw: random.Random) -> str:
    """The code of a sheet on paper: six letters and digits, which say nothing of the text."""
    return "".join(draw.choice(LETTERS) for _ in range(6))


def in_own_order(
    ids: Iterable[str], pack: str, person: str, taken: set[str]
) -> list[tuple[str, str]]:
    """What one person of a pack is given, by id, in an order of the person's own, each under a code
    that no other sheet has; `taken` are the codes of others, and these are added.

    All follows from the names.
    """
    found = []
    for id in sorted(ids, key=lambda one: seed_of(pack, "order", person, one)):
        draw = random.Random(seed_of(pack, "sheet", person, id))
        code = sheet_code(draw)
        while code in taken:
            code = sheet_code(draw)
        taken.add(code)
        found.append((code, id))
    return found


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
