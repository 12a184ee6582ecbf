"""Holding a session: the room, in which the forum names the next speaker and one turn is held at a
time; its participants, who answer surveys and take turns through their language models; and all
steps of the phases, one after the other.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from delibsim.domain.consensus import Consensus
from delibsim.domain.conversation import NOT_THERE
from delibsim.domain.hosting import STOOD_IN, stand_in_of
from delibsim.domain.parentage import TurnSlot
from delibsim.domain.participant import Participant
from delibsim.domain.phases import BEFORE_ROUNDS
from delibsim.domain.reason import Reason
from delibsim.domain.run import Run, Session
from delibsim.domain.survey import Phase, Response
from delibsim.domain.transcript import Silence, Statement, Turn
from delibsim.engine import mesa_core
from delibsim.engine.agenda import Event, Step, Watch, heard_by, item_order, steps
from delibsim.engine.check import check, provenance
from delibsim.engine.consensus import ConsensusContext, seek_consensus
from delibsim.engine.network import network_of
from delibsim.models.ask import ask
from delibsim.models.base import Completion, LanguageModel
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Prompt
from delibsim.prompts.session import reversed_for, speech_prompt, stated, survey_prompt


class Agent(mesa_core.Agent):
    """A participant in the room; it returns its answers and statements to the forum."""

    def __init__(
        self,
        room: mesa_core.Model,
        session: Session,
        participant: Participant,
        language_model: LanguageModel | None,
    ) -> None:
        super().__init__(room)
        self.sit(session, participant, language_model)
        member = participant.id in session.seats
        self.order = item_order(session, participant)
        self.reversed = member and reversed_for(session, participant)
        self.dropped: dict[str, set[str]] = {}
        """By model, the parameters that were requested and had no effect."""
        self.first_by: str | None = None
        """Who gave the first survey of this seat, as the record calls them."""

    def sit(
        self, session: Session, participant: Participant, language_model: LanguageModel | None
    ) -> None:
        """Be asked under this plan from now on, as this participant, who has the same name; without
        a language model nobody is asked.
        """
        self.session = session
        self.participant = participant
        self.language_model = language_model

    async def respond(
        self,
        phase: Phase,
        heard: Sequence[Statement] = (),
        earlier: Response | None = None,
        agreed: str = "",
    ) -> Response:
        """Answer the survey, after a collective statement that the group `agreed` on, if any.

        What cannot be read after the last re-ask, or is refused, is missing with the reason. So is
        what a stand-in answers in a seat in which somebody else was asked before.
        """
        order, reversed_, survey = self.order, self.reversed, self.session.survey
        prompt = survey_prompt(self.session, self.participant, phase, order, heard, earlier, agreed)
        answers, completion = await self._ask(prompt)
        if self.first_by is None:
            self.first_by = completion.model_returned
        missing = {}
        if completion.status != "ok":  # ratings may be there, and the ranks be missing
            reason = Reason.of_call(completion.status, completion.detail)
            lacking = (item.id for item in survey.items if item.id not in (answers or {}))
            missing = dict.fromkeys(lacking, reason)
        elif reason := self._no_answer_of_hers(completion):
            answers, missing = {}, dict.fromkeys((item.id for item in survey.items), reason)
        name = self.participant.id
        return Response(name, phase, answers or {}, missing, order, reversed_)

    async def speak(
        self,
        turn: Turn,
        heard: Sequence[Statement],
        earlier: Response | None = None,
        seeded: str = "",
    ) -> Statement | Silence:
        """Take a turn; a refused, truncated or unreadable reply is a silence with its reason.

        `seeded` is the occasion after which the seeds of its calls are named ("": its own).
        """
        prompt = speech_prompt(self.session, self.participant, turn, heard, earlier)
        words, completion = await self._ask(prompt, seeded)
        if words is None:
            return Silence(turn, completion.status, completion.detail)
        said = stated(turn, words)
        return replace(said, cut=not turn.role and words != Words().read(completion.text))

    def _no_answer_of_hers(self, completion: Completion) -> Reason | None:
        """Why answers count for nobody: a stand-in gave them after a person had the seat."""
        by = stand_in_of(completion.model_returned)
        if by and self.first_by and self.first_by != completion.model_returned:
            return Reason(STOOD_IN, f"by {by}")
        return None

    async def _ask(self, prompt: Prompt, seeded: str = "") -> tuple[Any, Completion]:
        def note(completion: Completion) -> None:
            of_model = self.dropped.setdefault(self.participant.model, set())
            of_model.update(completion.parameters_dropped)

        assert self.language_model is not None
        return await ask(self.session, self.language_model, prompt, note, seeded)


BROKEN_OFF = Reason(
    "debate_incomplete", "the debate broke off, so the survey after it was not held"
)

NOT_YET = Reason("not_there_yet", "the participant joined after that survey")


class Forum(mesa_core.Model):
    """A room with its agents; Mesa draws orders from the session's seed."""

    def __init__(
        self, session: Session, language_models: Mapping[str, LanguageModel], watch: Watch
    ) -> None:
        super().__init__(rng=session.seed_for("forum"))
        self.session = session
        self.watch = watch
        self.language_models = language_models
        self.seats: dict[str, Agent] = {}
        self.plan = self._sit(session.in_force(session.founders[0], "pre"))
        self.network = network_of(session)
        self.statements: list[Statement] = []
        self.silences: list[Silence] = []
        self.responses: dict[tuple[Phase, str], Response] = {}
        self.agreed = ""
        """The collective statement, once there is one."""
        self._dropped: dict[str, set[str]] = {}  # by model, also by that of the mediator

    def agenda(self) -> Iterator[Step]:
        """Everything that happens in the session, in order, drawn as it is needed."""
        return steps(self, self._drawn)

    def _drawn(self) -> Iterator[str]:
        """Those who sat there first, in an order that Mesa shuffles."""
        founders = {self.seats[name] for name in self.session.founders}
        for agent in list(self.agents.select(lambda agent: agent in founders).shuffle()):
            assert isinstance(agent, Agent)
            yield agent.participant.id

    async def reach(self, occasion: str) -> None:
        """Go by the plan that is in force on an occasion; who joins there is surveyed first."""
        plan = self.session.in_force(self.session.founders[0], occasion)
        if plan is self.plan:
            return
        self.plan = self._sit(plan)
        if missing := [one for one in plan.respondents if ("pre", one.id) not in self.responses]:
            await self._ask_all("pre", missing)
        held = {phase for phase, _ in self.responses} - {"pre", occasion}
        away = dict.fromkeys((item.id for item in plan.survey.items), NOT_YET)
        self._noted([Response(one.id, phase, {}, away) for phase in held for one in missing])

    def _sit(self, plan: Session) -> Session:
        """Seat everybody of a plan, with the models that it gives them; the plan."""
        for person in (*plan.participants, *plan.invited):
            model = None if person.id in plan.unasked else self.language_models[person.model]
            if person.id in self.seats:
                self.seats[person.id].sit(plan, person, model)
            else:
                self.seats[person.id] = Agent(self, plan, person, model)
        return plan

    async def hold_turn(self, slot: TurnSlot) -> None:
        """Let the speaker of the turn speak, or say what is given there."""
        turn = slot.turn
        await self.reach(f"turn {turn.index}")
        self._tell("turn", turn.speaker, turn)
        earlier = self.responses.get(("pre", turn.speaker))
        said: Statement | Silence
        if slot.given is not None:
            said = Statement(turn, slot.given, given=not slot.recalled)
        else:
            speaker, named = self.seats[turn.speaker], self._seeded(turn)
            said = await speaker.speak(turn, self.heard(turn.speaker), earlier, named)
        if isinstance(said, Statement):
            self.statements.append(said)
        else:
            self.silences.append(said)
        self._tell("turn", turn.speaker, turn, said)

    def _seeded(self, turn: Turn) -> str:
        """The occasion after which the seeds of a turn are named: those of participants count the
        turns of their rounds, so that they are the same with a facilitator and without, and
        whatever precedes the rounds.
        """
        past = [said.turn for said in (*self.statements, *self.silences)]
        if not turn.role and turn.task in BEFORE_ROUNDS:
            alike = [one for one in past if one.task == turn.task]
            return f"{turn.task} {len(alike) + 1}"
        others = [one for one in past if one.role or one.task in BEFORE_ROUNDS]
        return f"turn {turn.index if turn.role else len(past) - len(others) + 1}"

    async def survey(self, phase: Phase) -> tuple[Response, ...]:
        """Ask all respondents the survey, all at once; responses in the order of seats.

        After a debate that broke off nobody is asked, and all answers are missing.
        """
        if phase == "post" and self.silences and self.session.kind.sides:
            missing = dict.fromkeys((item.id for item in self.session.survey.items), BROKEN_OFF)
            names = [one.id for one in self.session.respondents]
            return self._noted([Response(name, phase, {}, missing) for name in names])
        await self.reach(phase)
        return await self._ask_all(phase, self.plan.respondents)

    async def _ask_all(self, phase: Phase, people: Sequence[Participant]) -> tuple[Response, ...]:
        """Ask these people the survey, all at once."""

        async def answer(name: str, agent: Agent) -> Response:
            if response := self._of_people(name, phase):
                return response
            self._tell(phase, name)
            heard = () if phase == "pre" else self.heard(name)
            earlier = self.responses.get(("pre", name))
            response = await agent.respond(phase, heard, earlier, self.agreed)
            self._tell(phase, name, said=response)
            return response

        # Whoever fails, the others finish first: what is in flight has been paid for and is to be
        # recorded.
        names = [person.id for person in people]
        answering = [answer(name, self.seats[name]) for name in names]
        settled = await asyncio.gather(*answering, return_exceptions=True)
        for outcome in settled:
            if isinstance(outcome, BaseException):
                raise outcome
        return self._noted([outcome for outcome in settled if isinstance(outcome, Response)])

    def _noted(self, responses: Sequence[Response]) -> tuple[Response, ...]:
        for response in responses:
            self.responses[response.phase, response.participant] = response
        return tuple(responses)

    def _of_people(self, name: str, phase: Phase) -> Response | None:
        """What a person of a conversation answered there before, or that nobody can ask again; None
        for whoever is asked.
        """
        if name not in self.plan.unasked or self.session.people is None:
            return None
        there = self.session.in_force(name, phase).conversation is not None
        if (there or phase == "pre") and (known := self.session.people.answered(name, phase)):
            return known
        return Response(name, phase, {}, {item.id: NOT_THERE for item in self.session.survey.items})

    async def seek_consensus(self) -> Consensus | None:
        """The group's own statement, where the session asks for one."""
        if self.session.consensus is None:
            return None

        def note(model: str, completion: Completion) -> None:
            self._dropped.setdefault(model, set()).update(completion.parameters_dropped)

        def tell(name: str) -> None:
            self.watch(Event(self.session.id, "consensus", name, done=True))

        rule = self.session.consensus
        room = ConsensusContext(self.session, rule, self.language_models, self.heard, note, tell)
        found = await seek_consensus(room)
        self.agreed = found.statement.text if found.statement else ""
        return found

    def heard(self, name: str) -> tuple[Statement, ...]:
        """The statements that a participant has heard so far (see `heard_by`)."""
        return heard_by(name, self.statements, self.session, self.network.has_edge)

    def dropped(self) -> dict[str, tuple[str, ...]]:
        """By model, the parameters that were requested and had no effect in some call."""
        found = {model: set(names) for model, names in self._dropped.items()}
        for agent in self.seats.values():
            for model, names in agent.dropped.items():
                found.setdefault(model, set()).update(names)
        return {model: tuple(sorted(names)) for model, names in found.items() if names}

    def leave(self) -> None:
        """Empty the room, so that Mesa keeps nothing of it alive."""
        self.remove_all_agents()
        getattr(mesa_core.Agent, "_ids", {}).pop(self, None)

    def _tell(
        self,
        occasion: str,
        name: str,
        turn: Turn | None = None,
        said: Statement | Silence | Response | None = None,
    ) -> None:
        self.watch(Event(self.session.id, occasion, name, turn, said is not None, said))


async def hold(
    session: Session, voices: Mapping[str, LanguageModel], watch: Watch = lambda event: None
) -> Run:
    """Hold a session and return the run.

    `voices` gives the language model of every name in `Participant.model`; `watch` is called with
    every event as it happens. Raises Interrupted when a model cannot be asked.
    """
    check(session)
    forum, consensus = Forum(session, voices, watch), None
    try:
        for step in forum.agenda():
            if isinstance(step, TurnSlot):
                await forum.hold_turn(step)
            elif step == "consensus":
                consensus = await forum.seek_consensus()
            else:
                await forum.survey(step)
    finally:
        forum.leave()
    # Of those who left in a fork only the statements remain.
    people = [person.id for person in session.respondents]
    phases = session.waves
    responses = tuple(forum.responses[phase, name] for phase in phases for name in people)
    unanswered = any(response.missing for response in responses)
    lacking = consensus is not None and any(consensus.gaps)
    run = Run(
        session=session,
        responses=responses,
        transcript=tuple(forum.statements),
        status="partial" if forum.silences or unanswered or lacking else "complete",
        provenance=provenance(),
        silences=tuple(forum.silences),
        consensus=consensus,
        dropped=forum.dropped(),
    )
    vars(forum).clear()  # a model of Mesa refers to itself, and its memory would wait for a sweep
    return run
