"""What one model is asked in a session: calls, and tokens of input, repeated input and output, as
ranges that hold whatever the tokenizer.
"""

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_letters

from delibsim.planning.dry_run import DryRunCall
from delibsim.prompts.prompt import Prompt

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


MESSAGE = 4
"""Tokens that a provider may count for the frame of a message."""


@dataclass(frozen=True)
class Load:
    """What one model is asked: sessions it sits in, calls, tokens.

    `prefix` is the part of input that an earlier prompt may have begun with, `longest` the number
    of occasions of its longest session, each of which waits for the one before.
    """

    sessions: int = 0
    calls: int = 0
    input: Range = Range()
    prefix: Range = Range()
    output: Range = Range()
    longest: int = 0

    def __add__(self, other: "Load") -> "Load":
        return Load(
            sessions=self.sessions + other.sessions,
            calls=self.calls + other.calls,
            input=self.input + other.input,
            prefix=self.prefix + other.prefix,
            output=self.output + other.output,
            longest=max(self.longest, other.longest),
        )


def tokens_of_prompt(prompt: Prompt) -> Range:
    """Tokens of one prompt, with the frames of its messages."""
    return tokens_of(prompt.text) + Range(0, MESSAGE * (len(prompt.messages) + 1))


def load_of(
    brief: Sequence[DryRunCall], long: Sequence[DryRunCall], depth: int, repeated: bool
) -> Load:
    """What one model is asked in one session.

    The same calls come from two dry runs, with brief and with long statements. `depth` is the
    number of occasions of the session; `repeated` says whether other sessions of the plan are on
    the same topic.
    """
    if not long:
        return Load(sessions=1)
    (low_in, low_prefix, low_out), (high_in, high_prefix, high_out) = (
        _tokens(brief, repeated),
        _tokens(long, repeated),
    )
    frames = MESSAGE * sum(len(call.prompt.messages) + 1 for call in long)
    return Load(
        sessions=1,
        calls=len(long),
        input=Range(low_in.low, high_in.high) + Range(0, frames),
        prefix=Range(low_prefix.low, high_prefix.high),
        output=Range(low_out.low, high_out.high),
        longest=depth,
    )


def _tokens(calls: Sequence[DryRunCall], repeated: bool) -> tuple[Range, Range, Range]:
    """Tokens of all prompts, of what earlier prompts began with, and of all replies."""
    texts = [call.prompt.text for call in calls]
    beginnings = _of_the_plan(calls, texts) if repeated else _of_the_session(texts)
    replies = [call.reply for call in calls]
    return (
        total(map(tokens_of, texts)),
        total(map(tokens_of, beginnings)),
        total(map(tokens_of, replies)),
    )


def _of_the_session(texts: Sequence[str]) -> list[str]:
    """The part of each prompt with which an earlier one of the session began."""
    return [shared_beginning(text, texts[:i]) for i, text in enumerate(texts)]


def _of_the_plan(calls: Sequence[DryRunCall], texts: Sequence[str]) -> list[str]:
    """The most of each prompt with which an earlier one of the plan may have begun.

    Surveys before the deliberation are the same under every treatment; any other prompt has a twin
    in a replicate, which begins as some prompt of its own session does.
    """
    found = []
    for i, (call, text) in enumerate(zip(calls, texts, strict=True)):
        if call.prompt.purpose.occasion == "pre":
            found.append(text)
        else:
            found.append(shared_beginning(text, [*texts[:i], *texts[i + 1 :]]))
    return found
