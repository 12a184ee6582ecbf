"""Two texts compared word by word: what both say, and what only one of them says; and
whether a text quotes what somebody wrote.
"""

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["same", "out", "in"]
WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+|\s+|[^\w\s]")
"""A word, a run of white space, a mark, or one character of a script without spaces."""
MOST = 4_000
"""Words and marks of a text that are compared; longer parts are taken to differ as a whole."""
AROUND = 8
"""Words of a text that are shown on each side of a difference where the rest is left out."""


@dataclass(frozen=True)
class Piece:
    """A part of two texts: in both ("same"), in the first alone ("out"), in the second ("in").

    The first text is all that is "same" or "out", joined; the second all that is "same" or "in".
    """

    kind: Kind
    text: str


def word_differences(a: str, b: str) -> tuple[Piece, ...]:
    """What two texts have in common and what not, in words, in the order of reading.

    >>> for piece in word_differences("We must act now.", "We may act."):
    ...     print(piece.kind, repr(piece.text))
    same 'We '
    out 'must'
    in 'may'
    same ' act'
    out ' now'
    same '.'
    """
    if a == b:
        return (Piece("same", a),) if a else ()
    first, second = WORDS.findall(a), WORDS.findall(b)
    shorter = min(len(first), len(second))
    start = 0
    while start < shorter and first[start] == second[start]:
        start += 1
    end = 0
    while end < shorter - start and first[-1 - end] == second[-1 - end]:
        end += 1
    middle = _middle(first[start : len(first) - end], second[start : len(second) - end])
    begin, rest = "".join(first[:start]), "".join(first[len(first) - end :])
    return _joined([Piece("same", begin), *middle, Piece("same", rest)])


def passages(a: str, b: str) -> list[tuple[Piece, ...]]:
    r"""The passages in which two long texts differ, in words: lines that both have are left out.

    >>> [marked(words) for words in passages("Hello.\nOne word.", "Hello.\nOne line.")]
    ['One [-word-]{+line+}.']
    """
    first, second = a.splitlines(), b.splitlines()
    found = []
    for tag, i, i_end, j, j_end in difflib.SequenceMatcher(None, first, second).get_opcodes():
        if tag != "equal":
            found.append(word_differences("\n".join(first[i:i_end]), "\n".join(second[j:j_end])))
    return found


def alike(pieces: Sequence[Piece]) -> float:
    """How much two texts have in common, from 0 to 1: twice the characters of both, as a share of
    all.

    >>> alike(word_differences("one two", "one six")), alike(word_differences("", ""))
    (0.5714285714285714, 1.0)
    """
    both = sum(len(piece.text) for piece in pieces if piece.kind == "same")
    every = both + sum(len(piece.text) for piece in pieces)
    return 2 * both / every if every else 1.0


def marked(pieces: Sequence[Piece], around: int | None = None) -> str:
    """Both texts as one: [-what only the first says-] and {+what only the second says+}.

    Of what both say only `around` words stand on each side of a difference, and "..." for the rest;
    all of it without a number.

    >>> marked(word_differences("one two three four", "one two three five"), around=1)
    '... three [-four-]{+five+}'
    """
    shown = []
    for i, piece in enumerate(pieces):
        if piece.kind == "out":
            shown.append(f"[-{piece.text}-]")
        elif piece.kind == "in":
            shown.append(f"{{+{piece.text}+}}")
        elif around is None:
            shown.append(piece.text)
        else:
            shown.append(_around(piece.text, around, i == 0, i == len(pieces) - 1))
    return "".join(shown)


def _around(text: str, words: int, first: bool, last: bool) -> str:
    """What both texts say, but for what is far from a difference."""
    tokens = re.findall(r"\s+|\S+", text)
    kept = 2 * words  # each word with the space beside it
    before, after = ([] if first else tokens[:kept]), ([] if last else tokens[-kept:])
    if len(before) + len(after) >= len(tokens):
        return text
    left, right = "".join(before).rstrip(), "".join(after).lstrip()
    parts = [f"{left} " if left else "", "...", f" {right}" if right else ""]
    return "".join(parts)


def _middle(first: Sequence[str], second: Sequence[str]) -> list[Piece]:
    """The pieces of two lists of words that begin and end differently."""
    if max(len(first), len(second)) > MOST:
        return [Piece("out", "".join(first)), Piece("in", "".join(second))]
    found = []
    blocks = difflib.SequenceMatcher(str.isspace, first, second).get_opcodes()
    for tag, i, i_end, j, j_end in blocks:
        if tag == "equal":
            found.append(Piece("same", "".join(first[i:i_end])))
        else:
            found += [Piece("out", "".join(first[i:i_end])), Piece("in", "".join(second[j:j_end]))]
    return found


def _joined(found: Iterable[Piece]) -> tuple[Piece, ...]:
    """Pieces without empty ones; a difference is not parted by marks and spaces alone."""
    pieces: list[Piece] = []
    out, new, between = "", "", ""
    for piece in found:
        if piece.kind != "same":
            out += between + (piece.text if piece.kind == "out" else "")
            new += between + (piece.text if piece.kind == "in" else "")
            between = ""
        elif (out or new) and not any(map(str.isalnum, piece.text)):
            between += piece.text
        else:
            pieces += [Piece("out", out), Piece("in", new), Piece("same", between + piece.text)]
            out, new, between = "", "", ""
    pieces += [Piece("out", out), Piece("in", new), Piece("same", between)]
    return tuple(_tidy(pieces))


def _tidy(pieces: Iterable[Piece]) -> list[Piece]:
    """Pieces that are not empty, of which no two neighbours are in both texts."""
    found: list[Piece] = []
    for piece in filter(lambda one: one.text, pieces):
        if found and piece.kind == found[-1].kind == "same":
            found[-1] = Piece("same", found[-1].text + piece.text)
        else:
            found.append(piece)
    return found


RUN = 6
"""So many words in a row that two texts share are a quotation."""
LEAST = 3
"""Texts of fewer words are too common to be told as somebody's."""
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Quoted:
    """What somebody wrote, as runs of words in lower case; see `quoted`."""

    runs: frozenset[tuple[str, ...]]

    def within(self, text: str) -> bool:
        """Whether a text holds any of these runs.

        >>> own = quoted(["Buses should be free for all who live here."])
        >>> own.within("She said: 'BUSES should be free for all', and left."), own.within("Buses!")
        (True, False)
        """
        words = words_of(text)
        for length in {len(run) for run in self.runs}:
            if any(run in self.runs for run in _runs(words, length)):
                return True
        return False


def quoted(texts: Iterable[str], but: Iterable[str] = ()) -> Quoted:
    """What was written in these texts, but not what stands in others, as in a questionnaire. Runs
    of which less than half are words are forms filled in, and nobody's.

    >>> quoted(["I agree with this."], but=["I agree with this."]).runs
    frozenset()
    >>> quoted(["A1: 61, A2: 70, WINNER: A"]).runs
    frozenset()
    """
    common = [words_of(text) for text in but]
    found: set[tuple[str, ...]] = set()
    for text in texts:
        words = words_of(text)
        if len(words) >= LEAST:
            found.update(filter(_is_prose, _runs(words, min(RUN, len(words)))))
    for length in {len(run) for run in found}:
        for words in common:
            found.difference_update(_runs(words, length))
    return Quoted(frozenset(found))


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, without marks."""
    return WORD.findall(text.lower())


def _is_prose(run: tuple[str, ...]) -> bool:
    """Whether at least half of a run are words without digits."""
    return 2 * sum(word.isalpha() for word in run) >= len(run)


def _runs(words: list[str], length: int) -> Iterable[tuple[str, ...]]:
    for start in range(len(words) - length + 1):
        yield tuple(words[start : start + length])
