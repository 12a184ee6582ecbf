"""Pages from templates: every value is escaped, and every text of others is inert."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from delibsim.analysis.pages.page import commands
from delibsim.analysis.table import DisplayColumn
from delibsim.domain.score import heading_of
from delibsim.domain.survey import Phase
from delibsim.domain.text import brief, counted, safe
from delibsim.web.site import Site

DATA = Path(__file__).parents[1] / "data"
TEMPLATES = DATA / "reader"
ASSETS = {
    "reader.css": ("pages/page.css", "reader/reader.css"),
    "reader.js": ("reader/reader.js",),
    "htmx.min.js": ("reader/htmx.min.js",),
}
"""The files that pages load, by name, and what each is made of."""
KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""The media types of files that are served."""
LOGICAL = ("interaction", "null", "reasoning")
"""Columns of the design that hold yes or no."""
DASH = "–"
SHORT = 6_000
NEGATIVE = re.compile(r"(?<!\S)-(?=\d)")


def render(template: str, values: Mapping[str, Any]) -> str:
    """A page of a template."""
    return _environment().get_template(template).render(values)


def asset(name: str) -> bytes:
    """The content of a file that pages load; KeyError for any other name."""
    return b"\n".join((DATA / part).read_bytes() for part in ASSETS[name])


@cache
def installed_version() -> str:
    """The version of delibsim."""
    return version("delibsim")


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_inert,
    )
    filters = {
        "part": part,
        "groups": groups,
        "minus": minus,
        "known": known,
        "value": value,
        "choice": choice,
        "short": short,
        "sentence": sentence,
        "commands": commands,
        "occasion": occasion,
        "counted": counted,
        "place_of_fork": place_of_fork,
        "arrows": arrows,
    }
    made.filters.update(filters)
    return made


def _inert(given: Any) -> Any:
    """Text without characters that change the direction of what surrounds it."""
    return safe(given) if type(given) is str else given


def part(name: str) -> str:
    """A name as one part of an address.

    >>> part("a/../b?c")
    'a%2F..%2Fb%3Fc'
    """
    return quote(name, safe="")


def groups(columns: Sequence[DisplayColumn]) -> Iterator[tuple[str, int]]:
    """The groups of neighbouring columns, each with how many it has."""
    for group, own in groupby(columns, key=lambda column: column.group):
        yield group, len(list(own))


def minus(text: Any) -> Any:
    """Numbers that are text, with a true minus sign; a lone hyphen as a dash; other text as it is.

    >>> minus("-0.306"), minus("P1 -3"), minus("-"), minus("well-known 5-1")
    ('−0.306', 'P1 −3', '–', 'well-known 5-1')
    """
    if not isinstance(text, str):
        return text
    return DASH if text == "-" else NEGATIVE.sub("−", text)


def known(given: Any) -> str:
    """A value, or a dash where there is none."""
    return DASH if given is None else f"{given:,}"


def value(given: Any, column: str) -> str:
    """A value of the study table for reading: three decimals, whole numbers as they are."""
    if given is None:
        return DASH
    if column in LOGICAL:
        return "yes" if given else "no"
    if isinstance(given, float):
        digits = 2 if column.startswith("cost_") else 3
        sign = "+" if column.endswith("_change") else ""
        return f"{given:{sign},.{digits}f}".replace("-", "−")
    return f"{given:,}" if isinstance(given, int) else str(given)


def choice(given: str, column: str) -> str:
    """A value to filter by, for reading.

    >>> choice("1", "interaction"), choice("-", "temperature"), choice("", "setting")
    ('yes', 'none', 'none')
    """
    if given in ("-", ""):
        return "none"
    if column in LOGICAL:
        return "yes" if given == "1" else "no"
    return given


def short(text: str) -> str:
    """Text cut where it is very long."""
    shown, cut = brief(text, SHORT)
    return f"{shown} … {cut}" if cut else shown


def sentence(text: str) -> str:
    """A remark as a sentence: with a capital letter and a stop.

    >>> sentence("nobody changed")
    'Nobody changed.'
    """
    text = text.strip()
    stop = "" if text.endswith((".", "!", "?")) else "."
    return f"{text[:1].upper()}{text[1:]}{stop}"


def occasion(name: str) -> str:
    """An occasion in words.

    >>> occasion("pre"), occasion("wave_2"), occasion("turn 3")
    ('survey before', 'survey wave 2', 'turn 3')
    """
    return f"survey {heading_of(name)}" if name in get_args(Phase) else name


def place_of_fork(at: int) -> str:
    """Where a fork branches off, in words.

    >>> place_of_fork(0), place_of_fork(6)
    ('From the survey before', 'From turn 6')
    """
    return f"From turn {at}" if at > 0 else "From the survey before"


def arrows(text: str) -> str:
    """What differs, with true arrows.

    >>> arrows("treatment: none -> basic")
    'treatment: none → basic'
    """
    return text.replace(" -> ", " → ")


Trail = Sequence[tuple[str, str]]
STATIC_POLICY = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:;"
    " img-src 'self' file: data:; base-uri 'none'; form-action 'none'"
)
"""The content security policy within pages that are files."""


TURNS = 300
"""Turns on one page of a conversation."""


def page_name_of(turn: int) -> str:
    """The file of the page of a conversation that a turn stands on.

    >>> page_name_of(1), page_name_of(301)
    ('index.html', 'turns-301.html')
    """
    return page_name((max(turn, 1) - 1) // TURNS)


def page_name(number: int) -> str:
    """The file of a page of a conversation, counted from 0."""
    return "index.html" if number == 0 else f"turns-{number * TURNS + 1}.html"


def page(site: Site, template: str, up: str, trail: Trail, values: Mapping[str, Any]) -> str:
    """A page with what all have: where it is (`up` leads to the first page), who wrote it."""
    common = {
        "site": site,
        "up": up,
        "trail": trail,
        "version": installed_version(),
        "policy": STATIC_POLICY,
        "writes": not (site.read_only or site.static),
        "private": site.private,
    }
    return render(template, common | dict(values))
