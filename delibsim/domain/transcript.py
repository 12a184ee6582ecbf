"""The record of speech: turns, the statements made in them, and silences where none was made."""

from dataclasses import dataclass

from delibsim.domain.reason import Reason
from delibsim.domain.text import in_short

PREPARATION = "preparation"
"""The task of writing notes before a debate; only their author is shown them."""


@dataclass(frozen=True)
class Turn:
    """Who speaks next, to what task; `index` counts turns from 1, `round` counts rounds from 1."""

    index: int
    round: int
    speaker: str
    task: str = "speak"


@dataclass(frozen=True)
class Statement:
    """What was said in a turn, word for word; `cut` if the rules left out the rest, `given` if a
    fork gave the words, so that nobody was asked for them.
    """

    turn: Turn
    text: str
    cut: bool = False
    given: bool = False

    __repr__ = in_short


@dataclass(frozen=True)
class Silence:
    """A turn without a statement that counts.

    `status` is that of the call, and `reason` its detail in words.
    """

    turn: Turn
    status: str
    reason: str

    __repr__ = in_short

    @property
    def why(self) -> Reason:
        """Status and detail as one reason."""
        return Reason(self.status, self.reason)


Transcript = tuple[Statement, ...]
