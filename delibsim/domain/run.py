"""A session (planned) and a run (held)."""

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any, Literal

from delibsim.domain.format import Format, format_named
from delibsim.domain.participant import Participant
from delibsim.domain.reason import Reason
from delibsim.domain.seed import seed_of
from delibsim.domain.survey import PHASES, Phase, Response, Survey, faults_of
from delibsim.domain.topic import Topic
from delibsim.domain.transcript import Silence, Transcript, Turn
from delibsim.domain.treatment import Procedure, Treatment, Wording


@dataclass(frozen=True)
class Session:
    """Everything needed to hold one deliberation, and to hold it again.

    `personas` names the set that the participants' personas come from, "" where they have none or
    it was not kept. `seed` is the study's; what is drawn in the session is seeded by `seed_for`.
    `models` gives, for every name in `Participant.model`, the plug-in of the model (`kind`) and
    its settings. Raises ValueError for a group that cannot deliberate.
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

    def seed_for(self, *names: str | int) -> int:
        """The seed of whatever these names name in this session.

        It comes from the study's seed, the topic and the replicate, so that the treatments and
        models of one replicate share people, orders and shuffles (common random numbers).
        """
        return seed_of(self.seed, self.topic.id, self.replicate, *names)

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
        """Those who answer the survey: everybody but the two sides of a debate."""
        surveyed = self.kind.surveyed
        return tuple(person for person in self.participants if surveyed(person.role))

    @property
    def planned_turns(self) -> tuple[Turn, ...]:
        """The turns that are planned, as its format orders them; none without interaction."""
        if not self.treatment.interaction:
            return ()
        rules = self.procedure.rules
        preparation = rules is not None and rules.preparation
        return self.kind.turns(self.participants, self.treatment.rounds, preparation)

    def __post_init__(self) -> None:
        """Refuse a group of one, names used twice, and models without settings."""
        ids = [participant.id for participant in self.participants]
        if len(ids) < 2:
            raise ValueError(f"a group needs at least 2 participants, not {len(ids)}")
        if len(set(ids)) < len(ids):
            raise ValueError(f"participants need names of their own; given: {', '.join(ids)}")
        named = {participant.model for participant in self.participants}
        unknown = ", ".join(sorted(named - set(self.models)))
        if unknown:
            known = ", ".join(self.models)
            raise ValueError(
                f"no settings for the models {unknown}; there are settings for {known}"
            )


@dataclass(frozen=True)
class Gap:
    """What is missing from a run for one reason: a statement, or so many `answers` to a survey."""

    participant: str
    occasion: str
    reason: Reason
    answers: int = 0


@dataclass(frozen=True)
class Run:
    """A session that was held: answers, speech, and what is missing from them.

    `status` is "complete", or "partial" where an answer or a statement is missing. Runs are equal
    when what was asked and answered is equal; `provenance` (versions) is not compared, and neither
    is `dropped`: by model, the parameters that were requested and had no effect in some call, so
    that the run is not one under those parameters (None: held before this was recorded; the
    exchanges say it).
    """

    session: Session
    responses: tuple[Response, ...]
    transcript: Transcript
    status: Literal["complete", "partial"]
    provenance: Mapping[str, str] = field(default_factory=dict, compare=False)
    silences: tuple[Silence, ...] = ()
    dropped: Mapping[str, tuple[str, ...]] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Refuse a run that could not have been held.

        That is one with other people, a survey twice or never answered, or impossible answers.
        """
        self._refuse_other_responses()
        items = {item.id for item in self.session.survey.items}
        for response in self.responses:
            self._refuse_impossible(response, items)
        people = {participant.id for participant in self.session.participants}
        speakers = {said.turn.speaker for said in (*self.transcript, *self.silences)}
        strangers = sorted(speakers - people)
        if strangers:
            raise ValueError(f"transcript: {strangers[0]!r} is no participant")

    def _refuse_other_responses(self) -> None:
        respondents = self.session.respondents
        expected = Counter((person.id, phase) for person in respondents for phase in PHASES)
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
        return tuple(found)

    def response(self, participant: str, phase: Phase) -> Response:
        """The answers of one participant in one phase; KeyError if it was not asked."""
        for response in self.responses:
            if (response.participant, response.phase) == (participant, phase):
                return response
        raise KeyError(f"{self.session.id}: no {phase} survey of {participant}")
