"""The room in which a session is held: one turn at a time, the forum naming the next speaker."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Literal

import mesa

from delibsim.domain.run import Session
from delibsim.domain.survey import Phase, Response
from delibsim.domain.transcript import PREPARATION, Silence, Statement, Turn
from delibsim.engine.agent import Agent
from delibsim.engine.event import Event, Watch
from delibsim.engine.network import network_of
from delibsim.models.base import LanguageModel


class Forum(mesa.Model, ABC):
    """A room with its agents.

    Mesa draws orders from the session's seed; formats differ only in their `agenda`.
    """

    def __init__(
        self, session: Session, language_models: Mapping[str, LanguageModel], watch: Watch
    ) -> None:
        super().__init__(rng=session.seed_for("forum"))
        self.session = session
        self.watch = watch
        self.seats: dict[str, Agent] = {}
        for person in session.participants:
            model = language_models[person.model]
            self.seats[person.id] = Agent(self, session, person, model)
        self.network = network_of(session)
        self.statements: list[Statement] = []
        self.silences: list[Silence] = []
        self.responses: dict[tuple[Phase, str], Response] = {}

    @abstractmethod
    def agenda(self) -> Iterator[Turn]:
        """The turns of the session, in order; drawn as they are needed."""

    async def hold_turn(self, turn: Turn) -> None:
        """Let the speaker of the turn speak."""
        self._tell("turn", turn.speaker, turn)
        earlier = self.responses.get(("pre", turn.speaker))
        said = await self.seats[turn.speaker].speak(turn, self.heard(turn.speaker), earlier)
        if isinstance(said, Statement):
            self.statements.append(said)
        else:
            self.silences.append(said)
        self._tell("turn", turn.speaker, turn, said)

    async def survey(self, phase: Phase) -> tuple[Response, ...]:
        """Ask all respondents the survey, all at once; responses in the order of seats."""

        async def answer(name: str, agent: Agent) -> Response:
            self._tell(phase, name)
            heard = self.heard(name) if phase == "post" else ()
            earlier = self.responses.get(("pre", name))
            response = await agent.respond(self.session.survey, phase, heard, earlier)
            self._tell(phase, name, said=response)
            return response

        # Whoever fails, the others finish first: what is in flight has been paid for and is to be
        # recorded.
        names = [person.id for person in self.session.respondents]
        answering = [answer(name, self.seats[name]) for name in names]
        settled = await asyncio.gather(*answering, return_exceptions=True)
        for outcome in settled:
            if isinstance(outcome, BaseException):
                raise outcome
        responses = tuple(outcome for outcome in settled if isinstance(outcome, Response))
        for response in responses:
            self.responses[phase, response.participant] = response
        return responses

    def heard(self, name: str) -> tuple[Statement, ...]:
        """The statements that a participant has heard so far: its own, and its neighbours'.

        Neighbours are those in the network; private notes are heard by their author alone.
        """
        heard = []
        for statement in self.statements:
            turn = statement.turn
            aloud = turn.task != PREPARATION and self.network.has_edge(turn.speaker, name)
            if aloud or turn.speaker == name:
                heard.append(statement)
        return tuple(heard)

    def dropped(self) -> dict[str, tuple[str, ...]]:
        """By model, the parameters that were requested and had no effect in some call."""
        found: dict[str, set[str]] = {}
        for agent in self.seats.values():
            found.setdefault(agent.participant.model, set()).update(agent.dropped)
        return {model: tuple(sorted(names)) for model, names in found.items() if names}

    def leave(self) -> None:
        """Empty the room, so that Mesa keeps nothing of it alive."""
        self.remove_all_agents()
        getattr(mesa.Agent, "_ids", {}).pop(self, None)

    def _tell(
        self,
        occasion: Literal["pre", "turn", "post"],
        name: str,
        turn: Turn | None = None,
        said: Statement | Silence | Response | None = None,
    ) -> None:
        self.watch(Event(self.session.id, occasion, name, turn, said is not None, said))
