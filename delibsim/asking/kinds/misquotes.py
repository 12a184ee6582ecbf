"""Quotations in a rationale that are not in the text: words that its writer made up."""

import functools
import re
import unicodedata
from collections.abc import Iterable

from delibsim.domain.scheme import Dimension

QUOTATION = re.compile(
    r"“([^“”]{1,2000})”|«([^«»]{1,2000})»|„([^„“”]{1,2000})[“”]|\"([^\"]{1,2000})\""
    r"|(?<!\w)['‘]([^'‘’\n]{1,400})['’](?!\w)"
)
LEAST = 2
"""Words of a quotation that is looked for: a single word in quotes is often a term, not a quote."""
GAP = re.compile(r"\s*(?:\[[^\]]*\]|\(\s*(?:\.{3}|…)\s*\)|\.{3}|…)\s*")
"""What stands for words that were left out, or puts in others."""


def misquoted(rationale: str, text: str, also: Iterable[str] = ()) -> list[str]:
    """The quotations of two words or more that stand neither in the text nor in what else the
    coder was shown (`also`: what came before the text, the entry of the dimension, the steps).

    Case, spaces, marks and the shape of quotation marks and dashes do not count; what stands around
    "..." or "[...]" is looked for piece by piece, in order.

    >>> misquoted("It says “trees are dear” and “nobody knows”.", "Trees  are dear!")
    ['nobody knows']
    """
    quoted = quotations(rationale)
    if not quoted:
        return []
    shown = [_plain(text), *map(_plain, also)]
    found = []
    for quotation in quoted:
        if not any(_stands_in(quotation, one) for one in shown):
            found.append(quotation)
    return found


def quotations(rationale: str) -> list[str]:
    """The quotations of two words or more in a rationale."""
    found = []
    for match in QUOTATION.finditer(rationale):
        quotation = next(filter(None, match.groups())).strip()
        if len(_plain(quotation).split()) >= LEAST:
            found.append(quotation)
    return found


def entry_texts(dimension: Dimension) -> list[str]:
    """What a coder reads of a dimension, which a rationale may quote."""
    found = [dimension.name, dimension.brief, dimension.full, dimension.use, dimension.not_use]
    found += [dimension.applies, *dimension.steps]
    for level in dimension.levels:
        found += [f"{level.value} {level.name}", f"level {level.value}", level.name, level.anchor]
    for example in dimension.examples:
        found += [example.text, example.why]
    return [text for text in found if text]


def _stands_in(quotation: str, shown: str) -> bool:
    """Whether the pieces of a quotation stand in a plain text, as whole words and in order."""
    place = 0
    for piece in map(_plain, GAP.split(quotation)):
        if not piece:
            continue
        at = shown.find(piece, place)
        if at < 0:
            return False
        place = at + len(piece) - 1  # the space behind it may be that before the next
    return True


@functools.lru_cache(maxsize=4096)  # the entry of a dimension is looked through for each rationale
def _plain(text: str) -> str:
    """A text as its words alone, each between spaces."""
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())
    return f" {' '.join(words)} " if words else ""
