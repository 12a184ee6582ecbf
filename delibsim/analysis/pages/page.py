"""A page: what a report says, in the order in which it is read, before it is HTML or Markdown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from delibsim.analysis.result import Result


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
