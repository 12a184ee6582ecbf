"""A page: what a report says, in the order in which it is read, before it is HTML or Markdown."""

import base64
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from delibsim.analysis.pages.cells import reading
from delibsim.analysis.result import Result
from delibsim.domain.text import safe

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True)
class Picture:
    """A figure of a page: an SVG document, a caption, and the alternative text for the blind.

    `name` names the file beside the page. `narrow` is the same figure drawn for a narrow screen,
    "" where `svg` is narrow enough.
    """

    name: str
    title: str
    caption: str
    alt: str
    svg: str
    narrow: str = ""


@dataclass(frozen=True)
class Entry:
    """A term and what is said of it; `open` marks what an author must still add."""

    term: str
    said: str
    open: bool = False


@dataclass(frozen=True)
class PagePart:
    """A part of a page: paragraphs, a list, terms, tables and figures, in this order.

    `id` is the anchor of the part.
    """

    id: str
    title: str
    paragraphs: Sequence[str] = ()
    sentences: Sequence[str] = ()
    entries: Sequence[Entry] = ()
    tables: Sequence[Result] = ()
    pictures: Sequence[Picture] = ()


@dataclass(frozen=True)
class Page:
    """A report: its title, the sentences and the picture of its first screen, and its parts.

    `kind` says what the page is, `warnings` what must be known before anything else. `finding` is
    the file beside it that says the same on one page, "" where there is none. `tables_in`
    and `figures_in` are the folders beside the page in which its tables and figures lie.
    """

    title: str
    kind: str
    summary: Sequence[str]
    parts: Sequence[PagePart]
    warnings: Sequence[str] = ()
    headline: Result | None = None
    finding: str = ""
    tables_in: str = "tables/"
    figures_in: str = "figures/"

    def tables(self) -> Iterator[Result]:
        """Every table that the page shows, each once, in order."""
        for part in self.parts:
            yield from part.tables

    def pictures(self) -> Iterator[Picture]:
        """Every figure that the page shows, in order."""
        for part in self.parts:
            yield from part.pictures


WIDTH = re.compile(r'<svg [^>]*?width="([0-9.]+)(?:pt|px)?"')
NARROW = 350.0
"""The width of a figure, in points, up to which it stands in half of the page."""


def html(page: Page) -> str:
    """The page as an HTML document with its style and figures inside.

    Its content security policy allows the one style sheet, by its hash, and images inside the
    file; scripts, frames, forms and anything from elsewhere are forbidden.
    """
    filters = {"reading": reading, "data_uri": data_uri, "is_wide": is_wide}
    return standalone("page.html", ("page.css",), filters, page=page)


def is_wide(svg: str) -> bool:
    """Whether a figure is drawn for the width of a page, by the width that its document states."""
    stated = WIDTH.search(svg[:2000])
    return stated is not None and float(stated[1]) > NARROW


def data_uri(svg: str) -> str:
    """An SVG document as the address of an image, in which it can run and fetch nothing."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


TEMPLATES = Path(__file__).parents[2] / "data" / "pages"
COMMAND = re.compile("`(delibsim [^`<>&]*)`")
"""A command in a sentence, without characters that markup escapes."""
INTERVAL = re.compile(r"\[([−\d.]+), ([−\d.]+)\]")
"""An interval in a sentence."""


def standalone(
    template: str,
    styles: Sequence[str],
    filters: Mapping[str, Callable[..., Any]] | None = None,
    **values: Any,
) -> str:
    """A template of `data/pages` filled with these values, every one escaped and inert.

    Its content security policy allows the one style sheet, made of these files, by its hash, and
    images inside the file; scripts, frames, forms and anything from elsewhere are forbidden.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_inert,
    )
    environment.filters.update({"commands": commands, **(filters or {})})
    style = "".join((TEMPLATES / name).read_text(encoding="utf-8") for name in styles)
    allowed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{allowed}'; img-src data:; base-uri 'none'"
    policy += "; form-action 'none'"
    ours = Markup(style)  # and no value of a study
    return environment.get_template(template).render(**values, style=ours, policy=policy) + "\n"


def commands(sentence: str) -> "Markup":
    """A sentence as markup in which a command between backticks stands as code and an interval on
    one line; the rest is escaped.
    """
    from markupsafe import Markup, escape

    told = INTERVAL.sub("[\\1,\u00a0\\2]", str(escape(safe(sentence))))
    return Markup(COMMAND.sub(r"<code>\1</code>", told))


def _inert(value: Any) -> Any:
    """Text without characters that change the direction of what surrounds it."""
    return safe(value) if type(value) is str else value
