"""A page as Markdown, for a repository or an appendix."""

from collections.abc import Iterator, Sequence

from delibsim.analysis.pages.cells import reading
from delibsim.analysis.pages.page import Page, Part
from delibsim.analysis.result import Result
from delibsim.domain.text import safe

MARKUP = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>#|$~"})


def markdown(page: Page) -> str:
    """The page as Markdown (CommonMark with tables); the texts of others are no markup."""
    lines = [f"# {escaped(page.title)}", escaped(page.kind)]
    lines += [f"> **Note.** {escaped(warning)}" for warning in page.warnings]
    lines += ["## Summary", _list(page.summary)]
    lines += _table(page, page.headline) if page.headline else []
    for part in page.parts:
        lines += _part(page, part)
    return "\n\n".join(line for line in lines if line) + "\n"


def escaped(text: str) -> str:
    r"""Text that is no markup and stays on one line.

    >>> print(escaped("a|b <script> *c*"))
    a\|b \<script\> \*c\*
    """
    return " ".join(safe(text).split()).translate(MARKUP)


def _part(page: Page, part: Part) -> Iterator[str]:
    yield f"## {escaped(part.title)}"
    yield from map(escaped, part.paragraphs)
    yield _list(part.sentences)
    entries = []
    for entry in part.entries:
        missing = "(to be added by the author) " if entry.open else ""
        entries.append(f"- **{escaped(entry.term)}**: {missing}{escaped(entry.said)}")
    yield "\n".join(entries)
    for picture in part.pictures:
        yield f"![{escaped(picture.alt)}]({page.figures_in}{picture.name}.svg)"
        yield f"**{escaped(picture.title)}.** {escaped(picture.caption)}"
    for result in part.tables:
        yield from _table(page, result)


def _table(page: Page, result: Result) -> list[str]:
    read = reading(result)
    title = f"**{escaped(result.title)}.** {escaped(read.in_words)}".rstrip()
    rows = [[head.name for head in read.heads], *read.rows]
    lines = [f"| {' | '.join(map(escaped, row))} |" for row in rows]
    rulers = ["---" if head.text else "---:" for head in read.heads]
    lines.insert(1, f"| {' | '.join(rulers)} |")
    below = [f"{len(read.rows)} rows of {len(result.rows)} are shown."] if read.left_out else []
    below += [f"{letter}: {text}" for letter, text in read.footnotes.items()]
    below += [*result.notes, result.definition]
    below.append(f"Source: {result.source}. File: {page.tables_in}{result.name}.csv")
    return [title, "\n".join(lines), *map(escaped, below)]


def _list(sentences: Sequence[str]) -> str:
    return "\n".join(f"- {escaped(sentence)}" for sentence in sentences)
