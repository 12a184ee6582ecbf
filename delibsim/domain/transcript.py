"""The record of speech: turns, the statements made in them, and silences where none was made."""

from dataclasses import dataclass

from delibsim.domain.reason import Reason
from delibsim.domain.text import in_short

PREPARATION = "preparation"
"""The task of writing notes before a debate; only their author is shown them."""
QUESTION = "question"
"""The task of who puts a question to a witness."""
CITIZEN = "citizen"
"""The role of those who answer the surveys; a turn of theirs has none."""
FACILITATOR, WITNESS, BRIEFING = "facilitator", "witness", "briefing"
SPEAKING = (CITIZEN, FACILITATOR, WITNESS)
"""The roles of those whose words can be put before coders."""
"""The roles of those who speak in a session and are none of its participants."""
SMALL_GROUP = "small group "
"""What the label of a turn in a small group begins with; its number follows."""


@dataclass(frozen=True)
class Turn:
    """Who speaks next, to what task; `index` counts turns from 1, `round` counts rounds from 1, and
    what precedes the first round has the round 0. `role` is that of a speaker who is no participant
    of the group ("facilitator", "witness", "briefing"), "" of the others. What is said in a small
    group has its number as `group`, counted from 1; 0 is the plenary.
    """

    index: int
    round: int
    speaker: str
    task: str = "speak"
    role: str = ""
    group: int = 0

    @property
    def label(self) -> str:
        """What tells it from a word to all in a round: the role of its speaker, that it is a
        question, or the small group; "" for such a word.
        """
        if self.group:
            return f"{SMALL_GROUP}{self.group}"
        return self.role or (QUESTION if self.task == QUESTION else "")

    @property
    def shown(self) -> str:
        """Its speaker, with the label where the name does not say it.

        >>> Turn(1, 0, "Ann", "answer", "witness").shown, Turn(2, 1, "Ben").shown
        ('Ann (witness)', 'Ben')
        """
        said = self.label and self.label != self.speaker.casefold()
        return f"{self.speaker} ({self.label})" if said else self.speaker


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
