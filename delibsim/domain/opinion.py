"""Opinions on paper: one question of a kind, and what its texts say of stance and minority."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from delibsim.domain.annotation import Text
from delibsim.domain.errors import WrongInput

Kind = Literal["open", "stance"]
KINDS: tuple[Kind, ...] = get_args(Kind)
STANCES = ("positive", "negative", "not sure")
MINORITIES = ("yes", "no", "not sure")
"""Whether one's view differs from that of most people, by one's own word."""
UNDECIDED = ("not sure", "unsure", "undecided", "don't know", "neutral", "0")
OF_STANCE: Mapping[str, tuple[str, ...]] = {
    "positive": ("positive", "pro", "for", "support", "agree", "yes", "1"),
    "negative": ("negative", "contra", "against", "oppose", "disagree", "no", "-1"),
    "not sure": UNDECIDED,
}
OF_MINORITY: Mapping[str, tuple[str, ...]] = {
    "yes": ("yes", "true", "1"),
    "no": ("no", "false", "0"),
    "not sure": ("not sure", "unsure", "don't know"),
}


@dataclass(frozen=True)
class OpinionSet:
    """The opinions of a study on one question, in the order in which they came.

    Empty and wordless ones are among them; `spoken` leaves them out.
    """

    study: str
    question: str
    kind: Kind
    texts: tuple[Text, ...]

    @property
    def spoken(self) -> tuple[Text, ...]:
        """The opinions that have a word: those that are summarised."""
        return tuple(text for text in self.texts if spoken(text.text))


def spoken(text: str) -> bool:
    """Whether a text has a letter or a digit."""
    return any(map(str.isalnum, text))


def alike(text: str) -> str:
    """What two texts share that are the same but for case, white space and forms of characters
    (Unicode NFKC).

    >>> alike("We  PAY.") == alike("we pay.")
    True
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def stance_of(cell: str) -> str:
    """The stance in a cell, "" in an empty one; WrongInput for any other word.

    >>> stance_of("Against"), stance_of("")
    ('negative', '')
    """
    return _named(cell, OF_STANCE, "stance", STANCES)


def minority_of(cell: str) -> str:
    """What a cell says of minority, "" in an empty one; WrongInput for any other word.

    >>> minority_of("TRUE")
    'yes'
    """
    return _named(cell, OF_MINORITY, "minority", MINORITIES)


def stance_at(answer: int, low: int, high: int) -> str:
    """The stance of an answer on a scale cut at its midpoint.

    >>> [stance_at(answer, 1, 7) for answer in (3, 4, 5)]
    ['negative', 'not sure', 'positive']
    """
    twice = 2 * answer - low - high
    if twice == 0:
        return "not sure"
    return "positive" if twice > 0 else "negative"


def _named(cell: str, words: Mapping[str, tuple[str, ...]], what: str, known: Sequence[str]) -> str:
    said = " ".join(cell.casefold().split())
    if not said:
        return ""
    for name, others in words.items():
        if said in others:
            return name
    raise WrongInput(f"{what} '{cell.strip()}'; write {', '.join(known)}, or leave the cell empty")
