"""The phases of a deliberation, their order, and their turns: a briefing, witnesses, small groups,
and the rounds, with a facilitator or without.
"""

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from delibsim.domain.errors import phrase
from delibsim.domain.parentage import TurnSlot
from delibsim.domain.survey import Phase as SurveyPhase
from delibsim.domain.survey import waves_of
from delibsim.domain.text import in_short
from delibsim.domain.transcript import BRIEFING, FACILITATOR, QUESTION, WITNESS, Turn

if TYPE_CHECKING:
    from delibsim.domain.run import Session

Facilitation = Literal["opening", "rounds", "turns"]
"""When a facilitator speaks: it opens and closes the discussion; it also sums up every round; it
also responds to every turn.
"""
Order = Literal["pro-con", "con-pro"]
"""Which side of a briefing stands first."""
CLOSING = "closing"
"""The task of the last words of a facilitator."""
MOMENTS = ("opening", "round", "turn", CLOSING)
"""The tasks of a facilitator, each with a text of its preset."""
TESTIMONY, ANSWER = "testimony", "answer"
"""The tasks of witnesses."""
APART, REPORT = "apart", "report"
"""The tasks of speaking in a small group, and of reporting for it to all."""
BEFORE_ROUNDS = (QUESTION, APART, REPORT)
"""What participants do before the rounds."""
NAMED = {FACILITATOR: "Facilitator", BRIEFING: "Briefing"}
"""The names of those who speak and are no participants, by role."""


@dataclass(frozen=True)
class Facilitator:
    """Who leads a discussion without a part in it: it answers no survey and is in no measure.

    `model` is the name of the language model that speaks for it, `settings` are those of the model
    where no participant speaks by it. `instructions` are its treatment, `texts` the sentences
    around, by name; `name` is that of the preset of both.
    """

    name: str
    instructions: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    model: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    __repr__ = in_short


@dataclass(frozen=True)
class Briefing:
    """A text that all are given before the first round: a `background`, then what speaks for
    (`pro`) and against (`con`). ValueError without a text, and for one side alone.
    """

    name: str
    background: str = ""
    pro: str = ""
    con: str = ""

    __repr__ = in_short

    def __post_init__(self) -> None:
        """Refuse a briefing that says nothing, or that hears one side alone."""
        if not any(text.strip() for text in (self.background, self.pro, self.con)):
            raise ValueError(f"the briefing {self.name!r} has no text")
        if bool(self.pro.strip()) != bool(self.con.strip()):
            missing = "con" if self.pro.strip() else "pro"
            raise ValueError(f"the briefing {self.name!r} has one side alone; it lacks '{missing}'")

    def told(self, order: Order) -> str:
        r"""The whole text, with its sides in this order.

        >>> Briefing("tram", "", "It is clean.", "It is dear.").told("con-pro").split("\n\n")
        ['It is dear.', 'It is clean.']
        """
        sides = (self.pro, self.con) if order == "pro-con" else (self.con, self.pro)
        parts = [part.strip() for part in (self.background, *sides)]
        return "\n\n".join(part for part in parts if part)


@dataclass(frozen=True)
class Witness:
    """Who gives testimony and is no participant: in its own words (`testimony`), or by a `brief`.

    `model` is the name of the language model that speaks for it, `settings` are those of the model
    where no participant speaks by it. ValueError without any text.
    """

    name: str
    brief: str = ""
    testimony: str = ""
    model: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    __repr__ = in_short

    def __post_init__(self) -> None:
        """Refuse a witness who has nothing to say."""
        if not self.testimony.strip() and not self.brief.strip():
            raise ValueError(f"the witness {self.name!r} has neither a testimony nor a brief")


class Phase(Protocol):
    """A part of a deliberation in which something is said."""

    def turns(self, session: "Session", orders: Sequence[Sequence[str]]) -> Iterator[Turn]:
        """Its turns, not yet numbered; `orders` names the speakers of each round, as drawn."""
        ...


class Informed:
    """All are given the same briefing, where there is one."""

    def turns(self, session: "Session", orders: Sequence[Sequence[str]]) -> Iterator[Turn]:
        """The one turn, which nobody is asked for."""
        if session.briefing is not None:
            yield Turn(0, 0, NAMED[BRIEFING], BRIEFING, BRIEFING)


class Hearing:
    """Each witness gives testimony and answers the questions that participants put, one each."""

    def turns(self, session: "Session", orders: Sequence[Sequence[str]]) -> Iterator[Turn]:
        """Testimony, then questions and answers by turns; who does not interact asks nothing."""
        names = list(session.founders)
        random.Random(session.seed_for("questions")).shuffle(names)
        asking = itertools.cycle(names)
        questions = session.procedure.questions if session.treatment.interaction else 0
        for witness in session.witnesses:
            yield Turn(0, 0, witness.name, TESTIMONY, WITNESS)
            for _ in range(questions):
                yield Turn(0, 0, next(asking), QUESTION)
                yield Turn(0, 0, witness.name, ANSWER, WITNESS)


class Parted:
    """Parts of the group speak apart, then one of each reports to all."""

    def turns(self, session: "Session", orders: Sequence[Sequence[str]]) -> Iterator[Turn]:
        """The rounds of every small group, then the reports."""
        if not session.treatment.interaction:
            return
        rounds = range(session.procedure.small_group_rounds)
        for group, members in enumerate(session.small_groups, 1):
            for round_ in rounds:
                order = list(members)
                random.Random(session.seed_for("small group", group, round_)).shuffle(order)
                for name in order:
                    yield Turn(0, 0, name, APART, group=group)
        for members in session.small_groups:
            yield Turn(0, 0, members[0], REPORT)


class Plenary:
    """Everybody speaks once a round, with a facilitator or without."""

    def turns(self, session: "Session", orders: Sequence[Sequence[str]]) -> Iterator[Turn]:
        """The rounds; what a facilitator says in them stands where the procedure says so."""
        when = session.procedure.facilitation if session.facilitator else None
        last = len(orders)
        if when and last:
            yield _facilitated(0, "opening")
        for round_, order in enumerate(orders, 1):
            for place, name in enumerate(order, 1):
                yield Turn(0, round_, name)
                if when == "turns" and (round_ < last or place < len(order)):
                    yield _facilitated(round_, "turn")
            if when == "rounds" and round_ < last:
                yield _facilitated(round_, "round")
        if when and last:
            yield _facilitated(last, CLOSING)


DELIBERATED: Mapping[str, Phase] = {
    "briefing": Informed(),
    "witnesses": Hearing(),
    "small_groups": Parted(),
    "plenary": Plenary(),
}
"""The phases of a deliberation in which something is said, in their usual order."""
SURVEY, PLENARY, CONSENSUS = "survey", "plenary", "consensus"
PhaseName = Literal["survey", "briefing", "witnesses", "small_groups", "plenary", "consensus"]
USUAL = (SURVEY, *DELIBERATED, SURVEY, CONSENSUS)
"""The phases of a deliberation that names none, of which it holds those that it has."""
MAY_FOLLOW = {
    SURVEY: (*DELIBERATED, CONSENSUS),
    CONSENSUS: (SURVEY,),
    **dict.fromkeys(DELIBERATED, (*DELIBERATED, SURVEY, CONSENSUS)),
    PLENARY: ("briefing", "witnesses", "small_groups", SURVEY, CONSENSUS),
}
"""What may follow a phase, apart from what stands in the list already."""
REPEATED = (SURVEY, PLENARY)
"""The phases that may stand several times; the rounds are shared out among the plenaries."""


def fault_of_order(phases: Sequence[str]) -> str:
    """Why phases cannot be held in this order, and what may follow what; "" where they can.

    >>> fault_of_order(["survey", "plenary", "survey", "consensus", "survey"])
    ''
    >>> fault_of_order(["survey", "briefing", "survey", "briefing", "survey"])
    'phases: briefing cannot stand twice, only survey and plenary can'
    """
    surveys = [place for place, name in enumerate(phases) if name == SURVEY]
    if len(surveys) < 2 or surveys[0] or set(phases[surveys[-1] + 1 :]) - {CONSENSUS}:
        return phrase("phases_begin_with_a_survey")
    for place, name in enumerate(phases):
        before = phases[place - 1] if place else ""
        if name not in REPEATED and name in phases[:place]:
            return f"phases: {name} cannot stand twice, only survey and plenary can"
        if before and name not in MAY_FOLLOW[before]:
            past = set(phases[:place]) - {*REPEATED}
            may = [one for one in MAY_FOLLOW[before] if one not in past]
            return f"phases: {name} cannot follow {before}; what may: {', '.join(may)}"
    return ""


def phase_of(turn: Turn) -> str:
    """The phase that a turn of a deliberation belongs to."""
    if turn.role == BRIEFING:
        return "briefing"
    if turn.role == WITNESS or turn.task == QUESTION:
        return "witnesses"
    return "small_groups" if turn.task in (APART, REPORT) else "plenary"


def part_of(turn: Turn, phases: Sequence[str], rounds: int) -> int:
    """The place in the list of the phase that a turn belongs to, in a session of so many rounds.

    Several plenaries share the rounds as evenly as can be, the earlier ones having one more.

    >>> phases = ["survey", "plenary", "survey", "plenary", "survey"]
    >>> [part_of(Turn(1, number, "Ada"), phases, 3) for number in (1, 2, 3)]
    [1, 1, 3]
    """
    name = phase_of(turn)
    places = [place for place, one in enumerate(phases) if one == name]
    if name != PLENARY or len(places) == 1:
        return places[0]
    each, more = divmod(rounds, len(places))
    for number, place in enumerate(places, 1):
        if turn.round <= number * each + min(number, more):
            return place
    return places[-1]


def rounds_shared(session: "Session") -> int:
    """The rounds that plenaries share: those of the session that a branch goes back to."""
    while session.before is not None:
        session = session.before
    return session.treatment.rounds


def in_words(phase: str) -> str:
    """The name of a phase as a heading.

    >>> in_words("small_groups")
    'Small groups'
    """
    return phase.replace("_", " ").capitalize()


def places_of_waves(session: "Session", slots: Sequence[TurnSlot]) -> dict[SurveyPhase, int]:
    """The surveys between the first and the last of a session with these turns, each with the
    number of the turn after which it is held; 0 where nothing is said before. What a fork inserts
    belongs to the turn it precedes.
    """
    phases, rounds = session.procedure.phases or (), rounds_shared(session)
    own, part = [], len(phases)
    for slot in reversed(slots):
        part = part if slot.inserted else part_of(slot.turn, phases, rounds)
        own.append((slot.turn.index, part))
    surveys = [place for place, name in enumerate(phases) if name == SURVEY]
    found = {}
    for wave, place in list(zip(waves_of(len(surveys)), surveys, strict=True))[1:-1]:
        found[wave] = max((index for index, part in own if part < place), default=0)
    return found


def turns_of(session: "Session", orders: Sequence[Sequence[str]]) -> list[Turn]:
    """All turns of a deliberation that is no branch, in order, numbered from 1."""
    phases = session.procedure.phases or tuple(DELIBERATED)
    found: list[Turn] = []
    for place, name in enumerate(phases):
        for turn in DELIBERATED[name].turns(session, orders) if name in DELIBERATED else ():
            if part_of(turn, phases, session.treatment.rounds) == place:
                found.append(replace(turn, index=len(found) + 1))
    return found


def _facilitated(round_: int, task: str) -> Turn:
    return Turn(0, round_, NAMED[FACILITATOR], task, FACILITATOR)
