"""Reasons: why an answer, a statement, a rating or a value is missing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from delibsim.domain.data import read_data
from delibsim.domain.text import in_short

SEPARATOR = ": "
CODED = re.compile(r"([a-z]+(?:_[a-z0-9]+)+|missing|unpaired|shared)(?:: ?(.+))?", re.DOTALL)
"""A part of a note that begins with a code, or is one."""
NAMED = re.compile(r"\b[a-z]+(?:_[a-z0-9]+)+\b")
"""What may be a code within a sentence."""
IN_GROUP = "_in_group"
"""What ends the code of a reason that lies with another of the group."""
MEANINGS: Mapping[str, str] = read_data("reasons.yaml")
"""The reason codes in words."""


@dataclass(frozen=True)
class Reason:
    """Why something is missing: a `code` that is counted, and the `detail` in words, "" if none.

    The code is the status of a call, such as "refusal" or "unreadable", or names what was not done,
    such as "debate_incomplete" or "not_given".
    """

    code: str
    detail: str = ""

    @classmethod
    def of_call(cls, status: str, detail: str) -> "Reason":
        """Why a call gave no answer: its status, and its detail without a colon at the end.

        >>> Reason.of_call("unreadable", "the reply is empty: ")
        Reason(code='unreadable', detail='the reply is empty')
        """
        return cls(status, detail.rstrip(SEPARATOR))

    def __str__(self) -> str:
        """As it stands in files, in tables and on the screen.

        >>> str(Reason("refusal", "the model declined")), str(Reason("not_given"))
        ('refusal: the model declined', 'not_given')
        """
        return f"{self.code}{SEPARATOR}{self.detail}" if self.detail else self.code


def reason_from_text(text: str) -> Reason:
    """The reason that a file gives as text; only the codecs of the store call this.

    >>> reason_from_text("unreadable: C1 is missing")
    Reason(code='unreadable', detail='C1 is missing')
    """
    code, _, detail = text.partition(SEPARATOR)
    return Reason(code, detail)


def for_readers(note: str) -> str:
    """A note without its codes, as pages print it: each part in words, with its detail.

    >>> for_readers("one_model: no test; unpaired: 1 session has no counterpart")
    'no test; 1 session has no counterpart'
    >>> for_readers("not_rated"), for_readers("the mean of 3 topics")
    ('nobody has rated the debate', 'the mean of 3 topics')
    """
    told = [_part_for_readers(part) for part in note.split("; ")]
    text = "; ".join(dict.fromkeys(told))
    return NAMED.sub(lambda code: MEANINGS.get(code[0], code[0]), text)


def _part_for_readers(part: str) -> str:
    codes = part.split()
    if codes and MEANINGS.keys() >= set(codes):
        return ", ".join(MEANINGS[code] for code in codes)
    coded = CODED.fullmatch(part)
    if coded is None:
        return part
    code, detail = coded[1], coded[2] or ""
    own = code.removesuffix(IN_GROUP)
    meaning = MEANINGS.get(own, "")
    if meaning and own != code:
        meaning = f"in the group: {meaning}"
    if not meaning and not detail:
        return part.replace("_", " ")
    return ": ".join(filter(None, (meaning, detail)))


def in_words(code: str) -> str:
    """A reason code and what it means; a code of a plug-in alone.

    >>> in_words("not_rated"), in_words("my_code")
    ('not_rated (nobody has rated the debate)', 'my_code')
    >>> in_words("constant_ratings_in_group")
    'constant_ratings_in_group (in the group: a participant answered all items of one kind alike)'

    Of several codes each is told.
    """
    several = code.split()
    if len(several) > 1 and MEANINGS.keys() >= set(several):
        return ", ".join(map(in_words, several))
    own = code.removesuffix(IN_GROUP)
    if own not in MEANINGS:
        return code
    meaning = MEANINGS[own]
    if own != code:
        meaning = f"in the group: {meaning}"
    return f"{code} ({meaning})"


@dataclass(frozen=True)
class Gap:
    """What is missing from a run for one reason: a statement, or so many `answers` to a survey."""

    participant: str
    occasion: str
    reason: Reason
    answers: int = 0

    __repr__ = in_short

    @property
    def what(self) -> str:
        """What is missing, as it is counted; see `missing_kind`."""
        return missing_kind(self.occasion, self.answers)


OF_CONSENSUS = {"position": "positions", "critique": "critiques", "vote": "ballots"}
"""What is missing on an occasion of seeking a collective statement, by its first word."""


def missing_kind(occasion: str, answers: int) -> str:
    """What is missing on an occasion: "answers" (so many of them), "statements" of a turn, and of a
    collective statement "positions", "critiques", "ballots" or "candidates".

    >>> missing_kind("pre", 3), missing_kind("turn 2", 0), missing_kind("vote 1", 0)
    ('answers', 'statements', 'ballots')
    """
    kind = occasion.partition(" ")[0]
    if answers:
        return "answers"
    return "statements" if kind == "turn" else OF_CONSENSUS.get(kind, "candidates")
