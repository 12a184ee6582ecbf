"""The transcripts of two runs, turn beside turn, with what differs in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import zip_longest
from typing import Any

from delibsim.domain.run import Run
from delibsim.domain.transcript import Statement, Turn
from delibsim.domain.word_differences import Piece, word_differences


def in_pieces(pieces: Sequence[Piece]) -> list[list[str]]:
    """The pieces of two texts as plain values."""
    return [[piece.kind, piece.text] for piece in pieces]


@dataclass(frozen=True)
class Said:
    """What was said in a turn; `missing` says why nothing was, and is "" where something was.

    `given`: a fork gave the words, and nobody was asked for them.
    """

    turn: Turn
    text: str
    missing: str = ""
    given: bool = False

    @property
    def words(self) -> tuple[str, str, str, str]:
        """Who said what to which task, or why nothing was said."""
        return self.turn.speaker, self.turn.task, self.text, self.missing

    @property
    def place(self) -> tuple[int, str, str]:
        """Whose turn it was, in which round."""
        return self.turn.round, self.turn.speaker, self.turn.task

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        words = {"text": self.text, "missing": self.missing, "given": self.given}
        return vars(self.turn) | words


@dataclass(frozen=True)
class TurnPair:
    """A turn of two runs with one speaker and task; None where one run has no such turn."""

    a: Said | None
    b: Said | None

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The differences in words; none where only one run has a statement."""
        if self.a is None or self.b is None or self.a.missing or self.b.missing:
            return ()
        return word_differences(self.a.text, self.b.text)

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        sides: dict[str, Any] = {}
        for name, said in (("a", self.a), ("b", self.b)):
            sides[name] = None if said is None else said.plain()
        return sides | {"same": self.same, "words": in_pieces(self.pieces)}

    @property
    def same(self) -> bool:
        """Whether the same was said, word for word, or nothing for the same reason."""
        if self.a is None or self.b is None:
            return False
        return (self.a.text, self.a.missing) == (self.b.text, self.b.missing)


def turns_of(run: Run) -> list[Said]:
    """The turns of a run in order, with those in which nothing was said that counts."""
    found = []
    for one in sorted([*run.transcript, *run.silences], key=lambda one: one.turn.index):
        if isinstance(one, Statement):
            found.append(Said(one.turn, one.text, given=one.given))
        else:
            found.append(Said(one.turn, "", str(one.why)))
    return found


def turn_pairs(a: Run, b: Run) -> tuple[TurnPair, ...]:
    """The turns of two runs beside each other, none left out.

    Where the same speakers had the same tasks, as far as both runs go, turns go together by number.
    Otherwise those with the same words go together first; then, between these, those of one
    speaker in the same order; then what one speaker said in one round. A turn that was inserted
    or left out stands alone. Turns stand in the order of the first run.
    """
    first, second = turns_of(a), turns_of(b)
    if all(one.words[:2] == other.words[:2] for one, other in zip(first, second, strict=False)):
        return tuple(TurnPair(*pair) for pair in zip_longest(first, second))
    together = _together(first, second)
    partner = {j: i for i, j in together.items()}
    placed = []
    for i, one in enumerate(first):
        j = together.get(i)
        placed.append(((i, 0, 0), TurnPair(one, None if j is None else second[j])))
    last = -1
    for j, one in enumerate(second):
        last = partner.get(j, last)
        if j not in partner:
            placed.append(((last, 1, j), TurnPair(None, one)))
    return tuple(pair for _, pair in sorted(placed, key=lambda place: place[0]))


def _together(first: Sequence[Said], second: Sequence[Said]) -> dict[int, int]:
    """Which turns of the second run go with which of the first, by their places."""
    found: dict[int, int] = {}
    whole = [(0, len(first), 0, len(second))]
    for key in ("words", "place"):
        gaps = []
        keys = [getattr(one, key) for one in first]
        others = [getattr(one, key) for one in second]
        for i, i_end, j, j_end in whole:
            parts = keys[i:i_end], others[j:j_end]
            for tag, k, k_end, m, m_end in SequenceMatcher(None, *parts, False).get_opcodes():
                if tag == "equal":
                    found.update(zip(range(i + k, i + k_end), range(j + m, j + m_end), strict=True))
                else:
                    gaps.append((i + k, i + k_end, j + m, j + m_end))
        whole = gaps
    left: dict[tuple[int, str, str], list[int]] = {}
    taken = set(found.values())
    for j, one in enumerate(second):
        if j not in taken:
            left.setdefault(one.place, []).append(j)
    for i, one in enumerate(first):
        if i not in found and left.get(one.place):
            found[i] = left[one.place].pop(0)
    return found


def same_until(pairs: Sequence[TurnPair]) -> int:
    """How many turns at the beginning are the same in both runs."""
    n = 0
    while n < len(pairs) and pairs[n].same:
        n += 1
    return n
