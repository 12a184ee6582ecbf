"""The record of speech: turns, the statements made in them, and the silences where none was
made.
"""

from dataclasses import dataclass

PREPARATION = "preparation"
"""The task of writing notes before a debate; nobody hears what is said in such a turn but who said
it.
"""


@dataclass(frozen=True)
class Turn:
    """Who speaks next, to what task; `index` counts turns from 1, `round` counts rounds from 1."""

    index: int
    round: int
    speaker: str
    task: str = "speak"


@dataclass(frozen=True)
class Statement:
    """What was said in a turn, word for word; `cut` if more was said than the rules allow, and the
    rest was left out.
    """

    turn: Turn
    text: str
    cut: bool = False


@dataclass(frozen=True)
class Silence:
    """A turn in which nothing was said that counts: the status of the call, and the reason in
    words.
    """

    turn: Turn
    status: str
    reason: str


Transcript = tuple[Statement, ...]
