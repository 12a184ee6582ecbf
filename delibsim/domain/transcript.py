"""The record of speech: turns, the statements made in them, and silences where none was made."""

from dataclasses import dataclass

from delibsim.domain.reason import Reason
from delibsim.domain.text import in_short

PREPARATION = "preparation"
"""The task of writing notes before a debate; only their author is shown them."""
FACILITATOR, BRIEFING = "facilitator", "briefing"
"""The roles of those who speak in a session and are none of its participants."""


@dataclass(frozen=True)
class Turn:
    """Who speaks next, to what task; `index` counts turns from 1, `round` counts rounds from 1, and
    what precedes the first round has the round 0. `role` is that of a speaker who is no participant
    of the group ("facilitator", "briefing"), "" of the others.
    """

    index: int
    round: int
    speaker: str
    task: str = "speak"
    role: str = ""


@dataclass(frozen=True)
class Statement:
    """What was said in a turn, word for word; `cut` if the rules left out the rest, `given` if the
    words were given by a fork or a briefing, so that nobody was asked for them. `names` is whom a
    facilitator said it would like to hear next, as it wrote the name; "" where it named nobody.
    """

    turn: Turn
    text: str
    cut: bool = False
    given: bool = False
    names: str = ""

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
