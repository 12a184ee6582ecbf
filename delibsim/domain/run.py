"""A session (planned) and a run (held)."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from delibsim.domain.consensus import MEDIATOR, Consensus, ConsensusRule
from delibsim.domain.conversation import IMPORTED, Conversation
from delibsim.domain.errors import phrase, shortened
from delibsim.domain.format import Format, format_named
from delibsim.domain.hosting import PERSON
from delibsim.domain.parentage import Parentage, TurnSlot, branched, position_of
from delibsim.domain.participant import Participant
from delibsim.domain.phases import (
    CLOSING,
    NAMED,
    SURVEY,
    TESTIMONY,
    Briefing,
    Facilitator,
    Order,
    Witness,
    places_of_waves,
    turns_of,
)
from delibsim.domain.reason import Gap
from delibsim.domain.seed import seed_of
from delibsim.domain.survey import PHASES, WAVE, Phase, Response, Survey, Topic, faults_of
from delibsim.domain.text import as_card, counted, in_short
from delibsim.domain.transcript import BRIEFING, FACILITATOR, WITNESS, Silence, Transcript, Turn
from delibsim.domain.treatment import Procedure, Treatment, Wording


@dataclass(frozen=True, slots=True)
class Session:
    """Everything needed to hold one deliberation, and to hold it again.

    `personas` names the set that the participants' personas come from, "" where they have none or
    it was not kept. `seed` is the study's; what is drawn in the session is seeded by `seed_for`.
    `models` gives, for every name in `Participant.model`, the plug-in of the model (`kind`) and
    its settings. `consensus` says how the group seeks a statement of its own after the last survey,
    None where it does not. A branch of a run (a fork or a probe) has a `parentage`, and `before` is
    the plan of that run, which is in force until the branch; its `replicate` numbers the branches
    that are alike, and its `seed` is its own. A session of people that was imported is a
    `conversation`. `facilitator` leads the discussion; before it, `briefing` is given to all and
    `witnesses` are heard. Raises ValueError for a group that cannot deliberate.
    """

    id: str
    topic: Topic
    survey: Survey
    participants: tuple[Participant, ...]
    treatment: Treatment
    format: str
    wording: Wording
    seed: int
    replicate: int = 1
    procedure: Procedure = Procedure()
    models: Mapping[str, Mapping[str, Any]] = field(
        default_factory=lambda: {"citizen": {"kind": "citizen"}}
    )
    personas: str = ""
    consensus: ConsensusRule | None = None
    parentage: Parentage | None = None
    before: "Session | None" = None
    conversation: Conversation | None = None
    facilitator: Facilitator | None = None
    briefing: Briefing | None = None
    witnesses: tuple[Witness, ...] = ()

    __repr__ = in_short

    def facts(self) -> dict[str, object]:
        """What it is, in words by name."""
        people, models = counted(len(self.participants), "participant"), ", ".join(self.models)
        rounds = counted(self.treatment.rounds, "round") if self.treatment.interaction else ""
        treated = f"{self.treatment.name}, {rounds}" if rounds else self.treatment.name
        survey = f"{self.survey.id}, {counted(len(self.survey.items), 'item')}"
        named: dict[str, object] = {"topic": self.topic.question, "treatment": treated}
        if self.conversation is not None:
            return {**named, "group": people, "origin": f"imported from {self.conversation.source}"}
        return {**named, "survey": survey, "group": f"{people} ({models})", "seed": self.seed}

    def _repr_html_(self) -> str:
        """A notebook shows what is planned."""
        return as_card(f"Session {self.id}, a {self.format}", self.facts())

    def seed_for(self, *names: str | int) -> int:
        """The seed of whatever these names name in this session.

        It comes from the study's seed, the topic and the replicate, so that the treatments and
        models of one replicate share people, orders and shuffles (common random numbers). A branch
        has those of its parent.
        """
        if self.before is not None:
            return self.before.seed_for(*names)
        return seed_of(self.seed, self.topic.id, self.replicate, *names)

    def seed_of_call(self, participant: str, occasion: str, attempt: int, named: str = "") -> int:
        """The seed of one call; `named` is the occasion after which it is named, where that is not
        the occasion itself.

        After a branch it is made of the seed that the call has in the parent, the branch's own seed
        and its replicate: so branches of one number share it, whatever else differs. The first
        probe after a turn has the seeds of its parent: it asks what the run would have asked.
        """
        now = self.in_force(participant, occasion)
        if now.before is None or now.parentage is None:
            return now.seed_for(participant, named or occasion, attempt)
        inherited = now.before.seed_of_call(participant, occasion, attempt, named)
        if now.parentage.stops and now.replicate == 1 and now.seed == now.before.seed:
            return inherited
        return seed_of("branch", now.seed, now.replicate, inherited)

    def in_force(self, participant: str, occasion: str) -> "Session":
        """The plan under which a participant is asked on an occasion.

        Before a branch it is that of the parent; who joins later is asked everything under the
        plan of the branch.
        """
        if self.parentage is None or self.before is None:
            return self
        known = (*self.before.seats, *(one.id for one in self.before.invited))
        if self.position_of(occasion) >= self.parentage.at or participant not in known:
            return self
        return self.before.in_force(participant, occasion)

    def position_of(self, occasion: str) -> int:
        """The position of an occasion in the session (see `parentage.position_of`); a survey in
        between has that of the turn before it.
        """
        if occasion.startswith(WAVE):
            return (self.before or self).wave_places.get(occasion, position_of(occasion))
        return position_of(occasion)

    @property
    def waves(self) -> tuple[Phase, ...]:
        """The phases of its surveys, in order."""
        return PHASES[0], *self.wave_places, PHASES[1]

    @property
    def wave_places(self) -> Mapping[Phase, int]:
        """The surveys between the first and the last, in order, each with the number of the turn
        after which it is held; of a probe those before it, since it asks the last survey at once.
        """
        phases, parentage = self.procedure.phases, self.parentage
        if self.before is not None and parentage is not None and parentage.stops:
            past = self.before.wave_places.items()
            return {wave: place for wave, place in past if place < parentage.at}
        if self.people is not None:
            return self.people.waves
        if phases is None or phases.count(SURVEY) == len(PHASES):
            return {}
        return places_of_waves(self, self.slots([self.founders] * self.most_rounds))

    @property
    def agrees_first(self) -> bool:
        """Whether the group seeks its statement before the last survey, which then shows it."""
        phases = self.procedure.phases
        return self.consensus is not None and phases is not None and phases[-1] == SURVEY

    def seated(self, name: str, occasion: str = "post") -> Participant:
        """The participant of this name on an occasion; of those who left, as they last sat there.
        A briefing has no model. KeyError for a name that nobody has.
        """
        plan = self.in_force(name, occasion)
        for person in (*plan.participants, *plan.invited):
            if person.id == name:
                return person
        if plan.briefing is not None and name == NAMED[BRIEFING]:
            return Participant(name, model="", role=BRIEFING)
        if plan.before is None:
            raise KeyError(name)
        return plan.before.seated(name, occasion)

    @property
    def invited(self) -> tuple[Participant, ...]:
        """Those who are asked to speak and are none of the group: facilitator and witnesses."""
        found = []
        if self.facilitator is not None:
            model = self.facilitator.model or self.leading
            found.append(Participant(NAMED[FACILITATOR], model=model, role=FACILITATOR))
        for one in self.witnesses:
            found.append(Participant(one.name, one.brief, one.model or self.leading, WITNESS))
        return tuple(found)

    @property
    def small_groups(self) -> tuple[tuple[str, ...], ...]:
        """The members of the small groups, drawn of those who sat there first; () without any."""
        n, names = self.procedure.small_groups, list(self.founders)
        if n is None:
            return ()
        random.Random(self.seed_for("small groups")).shuffle(names)
        return tuple(tuple(names[group::n]) for group in range(n))

    def model_of(self, turn: Turn) -> str:
        """The name of the model that speaks in a turn; "" for a briefing, which nobody speaks."""
        return self.seated(turn.speaker, f"turn {turn.index}").model

    @property
    def facilitated(self) -> bool:
        """Whether somebody facilitates, which nobody does where nobody speaks."""
        return self.facilitator is not None and self.most_rounds > 0

    @property
    def seats(self) -> tuple[str, ...]:
        """Whoever has had a seat at any time, in the order in which seats were taken."""
        own = tuple(person.id for person in self.participants)
        if self.before is None:
            return own
        return tuple(dict.fromkeys([*self.before.seats, *own]))

    @property
    def most_rounds(self) -> int:
        """The most rounds that are planned here, or in what it branches off."""
        own = self.treatment.rounds if self.treatment.interaction else 0
        return own if self.before is None else max(own, self.before.most_rounds)

    def slots(self, orders: Sequence[Sequence[str]] = ()) -> tuple[TurnSlot, ...]:
        """Its turns in order, with the words of those in which a fork says what is said.

        `orders` names the speakers of each of `most_rounds` rounds, as they were drawn of the
        `founders`; the format of a debate fixes them.
        """
        found = self._all_slots(orders)
        past = 0 if self.parentage is None else self.parentage.at
        kept = [slot for slot in found if slot.turn.index < past or self._plans(slot.turn)]
        return tuple(self._closed(slot) if slot.turn.role else slot for slot in kept)

    def _closed(self, slot: TurnSlot) -> TurnSlot:
        """A turn; the closing words belong to the last round that is held."""
        if slot.turn.task != CLOSING:
            return slot
        return replace(slot, turn=replace(slot.turn, round=self.treatment.rounds))

    def _plans(self, turn: Turn) -> bool:
        """Whether the treatment has a turn of that round; the rounds of a debate are fixed, and a
        briefing is given to those who do not interact too.
        """
        if turn.role == BRIEFING or turn.task == TESTIMONY:
            return True
        if turn.task == "round":  # the words that close the last round stand in its place
            return self.treatment.interaction and turn.round < self.treatment.rounds
        fixed = bool(self.kind.sides) or turn.task == CLOSING
        return self.treatment.interaction and (fixed or turn.round <= self.treatment.rounds)

    def _all_slots(self, orders: Sequence[Sequence[str]]) -> tuple[TurnSlot, ...]:
        """The turns of as many rounds as there are orders, whatever the treatment plans."""
        if self.conversation is not None:
            return tuple(held.slot for held in self.conversation.turns)
        if self.parentage is None or self.before is None:
            return tuple(TurnSlot(turn, self._given(turn)) for turn in self._turns(orders))
        earlier = self.before.seats
        past = [self._of_now(slot) for slot in self.before._all_slots(orders)]
        left = set(earlier) - {person.id for person in self.participants}
        new = [person.id for person in self.participants if person.id not in earlier]
        joined = {}
        for round_ in range(1, len(orders) + 1):
            joined[round_] = {name: self.seed_for("joined", name, round_) for name in new}
        return branched(past, self.parentage, left, joined)

    def _of_now(self, slot: TurnSlot) -> TurnSlot:
        """A turn of the parent in a branch: from there on a person's words are given, unless a
        model has the seat.
        """
        at = 0 if self.parentage is None else self.parentage.at
        if not slot.recalled or slot.turn.index < at:
            return slot
        given = slot.given if slot.turn.speaker in self.unasked else None
        return replace(slot, given=given, recalled=False)

    def _turns(self, orders: Sequence[Sequence[str]]) -> list[Turn]:
        """The turns of a session that is no branch, for as many rounds as there are orders."""
        if self.kind.sides:
            rules = self.procedure.rules
            preparation = rules is not None and rules.preparation
            return list(self.kind.turns(self.participants, self.treatment.rounds, preparation))
        return turns_of(self, orders)

    def _given(self, turn: Turn) -> str | None:
        """What is told in a turn whose words are given; None where its speaker is asked."""
        if turn.task == TESTIMONY:
            words = [one.testimony.strip() for one in self.witnesses if one.name == turn.speaker]
            return words[0] or None
        if turn.role != BRIEFING or self.briefing is None:
            return None
        return self.briefing.told(self.briefing_order or "pro-con")

    @property
    def briefing_order(self) -> Order | None:
        """Which side of its briefing stands first: what the procedure says, else another in every
        second replicate; None without sides.
        """
        if self.before is not None:
            return self.before.briefing_order
        if self.briefing is None or not self.briefing.pro.strip():
            return None
        drawn: Order = "pro-con" if self.replicate % 2 else "con-pro"
        return self.procedure.briefing_order or drawn

    @property
    def kind(self) -> Format:
        """What is known of its format; WrongInput if there is no such format."""
        return format_named(self.format)

    @property
    def cell(self) -> str:
        """The cell of the design that it lies in: its name without the replicate.

        A session that is named otherwise is a cell of its own.
        """
        return self.id.removesuffix(f".r{self.replicate}")

    @property
    def respondents(self) -> tuple[Participant, ...]:
        """Those who answer the survey: everybody but the two sides of a debate, and nobody of a
        conversation of people whose answers are not known.
        """
        if self.people is not None and not self.people.surveyed:
            return ()
        surveyed = self.kind.surveyed
        return tuple(person for person in self.participants if surveyed(person.role))

    @property
    def people(self) -> Conversation | None:
        """The conversation of people that it is, or that it branches off; None of any other."""
        return self.conversation if self.before is None else self.before.people

    @property
    def unasked(self) -> frozenset[str]:
        """The names of those who spoke elsewhere and cannot be asked."""
        elsewhere = {name for name, own in self.models.items() if own.get("kind") == IMPORTED}
        return frozenset(one.id for one in self.participants if one.model in elsewhere)

    @property
    def mediator(self) -> str:
        """The name of the model that mediates where a collective statement is sought: the one that
        is named, else the leading one.
        """
        return (self.consensus.mediator if self.consensus else "") or self.leading

    @property
    def leading(self) -> str:
        """The name of the first model of the group that is no person in a browser."""
        models = [name for name, own in self.models.items() if own.get("kind") != PERSON]
        return next(iter(models or self.models))

    @property
    def voices(self) -> Mapping[str, Mapping[str, Any]]:
        """The settings of all models that are asked, by name: the participants', and those of a
        facilitator, of witnesses and of a mediator by which no participant speaks.
        """
        if self.people is not None:
            own = self.models.items()
            return {name: one for name, one in own if one.get("kind") != IMPORTED}
        found = dict(self.models)
        for one in (self.facilitator, *self.witnesses):
            if one is not None and one.model and one.model not in found:
                found[one.model] = one.settings
        if self.consensus is not None and self.mediator not in found:
            found[self.mediator] = self.consensus.model
        return found

    @property
    def planned_turns(self) -> tuple[Turn, ...]:
        """The turns that are planned, as its format orders them; none without interaction."""
        if self.conversation is not None:
            return tuple(held.turn for held in self.conversation.turns)
        founders = self.founders
        return tuple(slot.turn for slot in self.slots([founders] * self.most_rounds))

    @property
    def founders(self) -> tuple[str, ...]:
        """Those who sat there first, in the order of seats: the order of speakers is drawn of
        them.
        """
        if self.before is not None:
            return self.before.founders
        return tuple(person.id for person in self.participants)

    @property
    def seats_of_people(self) -> list[str]:
        """The names of the participants whose seats are for people in a browser."""
        voices = self.voices
        people = (*self.participants, *self.invited)
        return [one.id for one in people if voices.get(one.model, {}).get("kind") == PERSON]

    def __post_init__(self) -> None:
        """Refuse a group of one, names used twice, and models without settings."""
        ids = [participant.id for participant in self.participants]
        if len(ids) < 2:
            raise ValueError(f"a group needs at least 2 participants, not {len(ids)}")
        if len(set(ids)) < len(ids):
            raise ValueError(f"participants need names of their own; given: {', '.join(ids)}")
        others = [one.id for one in self.invited] + [NAMED[BRIEFING]] * (self.briefing is not None)
        for name in others:
            if [*ids, *others].count(name) > 1:
                raise ValueError(f"two who speak have the name {name!r}; every name is one's own")
        if self.consensus is not None and MEDIATOR in ids:
            raise ValueError(f"no participant can have the name of the {MEDIATOR}")
        if self.consensus is not None and self.voices[self.mediator].get("kind") == PERSON:
            raise ValueError(phrase("no_page_to_mediate_on"))
        named = {participant.model for participant in self.participants}
        unknown = ", ".join(sorted(named - set(self.models)))
        if unknown:
            known = ", ".join(self.models)
            raise ValueError(
                f"no settings for the models {unknown}; there are settings for {known}"
            )
        if (self.parentage is None) != (self.before is None):
            raise ValueError("a branch has both a parentage and the plan of its parent")


@dataclass(frozen=True)
class Run:
    """A session that was held: answers, speech, and what is missing from them.

    `status` is "complete", or "partial" where an answer or a statement is missing. Runs are equal
    when what was asked and answered is equal; `provenance` (versions) is not compared, and neither
    is `dropped`: by model, the parameters that were requested and had no effect in some call, so
    that the run is not one under those parameters (None: held before this was recorded; the
    exchanges say it). `consensus` is what came of seeking a collective statement, None where none
    was sought.
    """

    session: Session
    responses: tuple[Response, ...]
    transcript: Transcript
    status: Literal["complete", "partial"]
    provenance: Mapping[str, str] = field(default_factory=dict, compare=False)
    silences: tuple[Silence, ...] = ()
    consensus: Consensus | None = None
    dropped: Mapping[str, tuple[str, ...]] | None = field(default=None, compare=False)

    __repr__ = in_short

    def _repr_html_(self) -> str:
        """A notebook shows what was held, and how it began."""
        said = counted(len(self.transcript), "statement")
        answered = sum(len(response.answers) for response in self.responses)
        held = {"status": self.status, "held": f"{said}, {counted(answered, 'answer')}"}
        lacking = Counter(gap.what for gap in self.gaps)
        held["missing"] = ", ".join(f"{n} {what}" for what, n in lacking.items())
        told = [f"{one.turn.speaker}: {one.text}" for one in self.transcript[:2]]
        facts = {**self.session.facts(), **held}
        return as_card(f"Run {self.session.id}", facts, [shortened(one) for one in told])

    def __post_init__(self) -> None:
        """Refuse a run that could not have been held.

        That is one with other people, a survey twice or never answered, or impossible answers.
        """
        self._refuse_other_responses()
        items = {item.id for item in self.session.survey.items}
        for response in self.responses:
            self._refuse_impossible(response, items)
        known = {*self.session.seats, *(one.id for one in self.session.invited)}
        said = (*self.transcript, *self.silences)
        speakers = {one.turn.speaker for one in said if one.turn.role != BRIEFING}
        strangers = sorted(speakers - known)
        if strangers:
            raise ValueError(f"transcript: {strangers[0]!r} is no participant")

    def _refuse_other_responses(self) -> None:
        respondents, waves = self.session.respondents, self.session.waves
        expected = Counter((person.id, phase) for person in respondents for phase in waves)
        given = Counter((response.participant, response.phase) for response in self.responses)
        if given != expected:
            raise ValueError(
                "responses: there must be one of every participant in every phase, and no other"
            )

    def _refuse_impossible(self, response: Response, items: Set[str]) -> None:
        unknown = sorted(response.answers.keys() - items)
        if unknown:
            faults = [f"{unknown[0]} is not in the survey"]
        else:
            faults = faults_of(response.answers, self.session.survey)
        if faults:
            raise ValueError(f"{response.participant}, {response.phase}: {faults[0]}")

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """What is missing: of each survey one gap a reason, then the turns without a statement."""
        found = []
        for response in self.responses:
            for reason, n in Counter(response.missing.values()).items():
                found.append(Gap(response.participant, response.phase, reason, n))
        for silence in self.silences:
            turn = silence.turn
            found.append(Gap(turn.speaker, f"turn {turn.index}", silence.why))
        if self.consensus is not None:
            found += [Gap(*gap) for gap in self.consensus.gaps]
        return tuple(found)

    @property
    def speech(self) -> Transcript:
        """What participants said: the transcript without facilitator, witnesses and briefing."""
        return tuple(said for said in self.transcript if not said.turn.role)

    def response(self, participant: str, phase: Phase) -> Response:
        """The answers of one participant in one phase; KeyError if it was not asked."""
        for response in self.responses:
            if (response.participant, response.phase) == (participant, phase):
                return response
        raise KeyError(f"{self.session.id}: no {phase} survey of {participant}")
