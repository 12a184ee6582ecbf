"""Tokens of texts, as ranges that hold whatever the tokenizer."""

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_letters

ASCII = (5.6, 3.2)
"""Characters a token in text of ASCII, at most and at least.

Prompts and speech on all topics of the package lie between under four tokenizers.
"""
OTHERS = (9.5, 1.5)
"""Bytes of UTF-8 a token in all other characters, at most and at least."""


@dataclass(frozen=True)
class Range:
    """From the lowest to the highest that is expected."""

    low: float = 0.0
    high: float = 0.0

    def __add__(self, other: "Range") -> "Range":
        return Range(self.low + other.low, self.high + other.high)

    def times(self, n: int) -> "Range":
        """So many of it."""
        return Range(n * self.low, n * self.high)


def total(ranges: Iterable[Range]) -> Range:
    """The sum of ranges.

    >>> total([Range(1, 2), Range(3, 5)])
    Range(low=4.0, high=7.0)
    """
    return functools.reduce(Range.__add__, ranges, Range())


def tokens_of(text: str) -> Range:
    """Tokens of a text.

    A text of which less than half is letters, such as a survey filled in, may have a token for
    every character.
    """
    encoded, plain = text.encode(errors="replace"), text.encode("ascii", errors="ignore")
    others = len(encoded) - len(plain)
    low = len(plain) / ASCII[0] + others / OTHERS[0]
    high = len(plain) / ASCII[1] + others / OTHERS[1]
    letters = len(plain) - len(plain.translate(None, ascii_letters.encode())) + others
    if 2 * letters < len(encoded):
        high = len(plain) + others / OTHERS[1]
    return Range(low, high)


def common(a: str, b: str) -> int:
    """Length of the longest common beginning.

    >>> common("deliberate", "delight")
    4
    """
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def shared_beginning(text: str, others: Iterable[str]) -> str:
    """The longest beginning that a text has in common with one of the others."""
    lengths = [common(text, other) for other in others]
    return text[: max(lengths, default=0)]
