"""Statements of a study that hold the words of a search, with the words around each hit."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from delibsim.conduct.reading.index import TURNS, StudyIndex

LONGEST = 200
"""Characters of a search that count."""
PART = re.compile(r'"([^"]*)"?|(\S+)')
WORDS = 24
"""Words of a statement that are shown around a hit."""
AROUND = 80
"""Characters that are shown on each side of a hit where words have no spaces."""
LONG = 20_000
"""Characters of a statement above which the words around a hit are not found by SQLite, whose time
grows with the square of the hits.
"""
OPEN, CLOSE = "\x02", "\x03"
UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR")
"""Scripts whose words need not stand apart, by how the names of their characters begin."""


@dataclass(frozen=True)
class Match:
    """A search as a condition on the statements of the index: SQL, and its value; and the first of
    the words that were searched for.
    """

    sql: str
    value: str
    whole_words: bool
    first: str


@dataclass(frozen=True)
class Hit:
    """A statement that was found, as parts of its text: (text, whether it was searched for)."""

    turn: int
    speaker: str
    parts: tuple[tuple[str, bool], ...]


def match_of(search: str) -> Match | None:
    """A search as a condition; None where it holds no word.

    All words must occur, in any order; words in quotation marks as a phrase; the last word may be
    the beginning of one. Case and accents do not count.

    >>> match_of('climate "too much" pol').value
    '"climate" "too much" "pol"*'
    >>> match_of("OR ( NEAR").value, match_of(" - *")
    ('"OR" "NEAR"*', None)
    """
    text = search.replace("\0", " ")[:LONGEST]
    if any(map(_is_unspaced, text)):
        wanted = text.strip().strip('"').lower()
        return Match("instr(lower(said.text), ?)", wanted, whole_words=False, first=wanted)
    parts = []
    for phrase, word in PART.findall(text):
        said = (phrase or word).replace('"', " ")
        if any(character.isalnum() for character in said):
            parts.append((said, bool(word)))
    if not parts:
        return None
    marked = [f'"{said}"' for said, _ in parts]
    if parts[-1][1]:
        marked[-1] += "*"
    return Match("said MATCH ?", " ".join(marked), whole_words=True, first=parts[0][0].lower())


def hits_in(index: StudyIndex, match: Match, run: int, most: int) -> list[Hit]:
    """The first statements of a run that match; `run` is its id in the index."""
    shown = "NULL"
    if match.whole_words:
        shown = f"snippet(said, 0, '{OPEN}', '{CLOSE}', '…', {WORDS})"
    rows = index.rows(
        f"SELECT rowid, speaker, CASE WHEN length(said.text) <= {LONG} THEN {shown} END"
        f" FROM said WHERE {match.sql} AND rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ?",
        [match.value, run * TURNS, run * TURNS + TURNS - 1, most],
    )
    found = []
    for row, speaker, snippet in rows:
        if snippet is not None:
            parts = _marked(snippet)
        else:
            ((text,),) = index.rows("SELECT text FROM said WHERE rowid = ?", [row])
            parts = _around(text, match.first)
        found.append(Hit(row % TURNS, speaker, parts))
    return found


def _marked(snippet: str) -> tuple[tuple[str, bool], ...]:
    """The parts of a snippet; a statement that holds the marks itself only shows others."""
    parts = []
    for n, part in enumerate(re.split(f"[{OPEN}{CLOSE}]", snippet)):
        if part:
            parts.append((part, n % 2 == 1))
    return tuple(parts)


def _around(text: str, wanted: str) -> tuple[tuple[str, bool], ...]:
    at = max(text.lower().find(wanted), 0)
    end = at + len(wanted)
    before = ("…" if at > AROUND else "") + text[max(0, at - AROUND) : at]
    after = text[end : end + AROUND] + ("…" if len(text) > end + AROUND else "")
    return ((before, False), (text[at:end], True), (after, False))


def _is_unspaced(character: str) -> bool:
    return character > "\u0dff" and unicodedata.name(character, "").startswith(UNSPACED)


def count(index: StudyIndex, match: Match) -> tuple[int, int]:
    """How many statements match, in how many runs."""
    sql = f"SELECT count(*), count(DISTINCT rowid / {TURNS}) FROM said WHERE {match.sql}"
    found: Sequence[int] = index.rows(sql, [match.value])[0]
    return found[0], found[1]
