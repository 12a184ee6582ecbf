"""A conversation of people that was held elsewhere, as a plan knows it: its turns, what is known of
it, the votes of its audience.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from delibsim.domain.hosting import PERSON
from delibsim.domain.parentage import TurnSlot
from delibsim.domain.reason import Reason
from delibsim.domain.survey import Phase, Response
from delibsim.domain.text import in_short
from delibsim.domain.transcript import Turn

IMPORTED = "imported"
"""The kind of the model of a seat whose person spoke elsewhere, and cannot be asked."""
PEOPLE = "human"
"""What such a model is called."""
KINDS_OF_PEOPLE = (PERSON, "human", IMPORTED)
"""The kinds of models that are people: in a browser, at the terminal, elsewhere."""
NOT_THERE = Reason("person_not_there", "the person spoke elsewhere and cannot be asked again")
"""Why a person of an imported conversation has no answers in a fork."""
VOTES = ("for", "against", "undecided")
"""What an audience votes on a motion."""


@dataclass(frozen=True)
class HeldTurn:
    """A turn as people held it.

    `reply_to` is the number of the turn that it answers (None where that is not known), `time` is
    in ISO 8601 ("" where it is not known). `said` is for forks, which have the words before them in
    their plan; None where the run holds them.
    """

    turn: Turn
    reply_to: int | None = None
    time: str = ""
    said: str | None = None

    @property
    def slot(self) -> TurnSlot:
        """The turn with its words, where it holds them."""
        return TurnSlot(self.turn, self.said, recalled=self.said is not None)


@dataclass(frozen=True)
class Conversation:
    """Where a conversation comes from: `id` is its name in the file or folder `source`.

    `surveyed` says whether anybody's answers are known; without them nobody counts as surveyed.
    `votes` are shares of an audience, in percent, by phase and vote; `facts` are what else was
    declared of it. `responses` are for forks, as `HeldTurn.said` is. `waves` are the surveys
    between the first and the last, each with the number of the turn after which it was held.
    """

    source: str
    id: str
    turns: tuple[HeldTurn, ...]
    surveyed: bool = False
    votes: Mapping[Phase, Mapping[str, float]] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    responses: tuple[Response, ...] = ()
    waves: Mapping[Phase, int] = field(default_factory=dict)

    __repr__ = in_short

    def answered(self, participant: str, phase: Phase) -> Response | None:
        """What a person answered there; None where that is not known here."""
        for response in self.responses:
            if (response.participant, response.phase) == (participant, phase):
                return response
        return None
