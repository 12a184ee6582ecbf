"""The room in which a session is held: one turn at a time, the forum naming the next speaker."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import mesa

from delibsim.domain.run import Session
from delibsim.domain.survey import Phase, Response
from delibsim.domain.transcript import PREPARATION, Silence, Statement, Turn
from delibsim.engine.agent import Agent
from delibsim.engine.audience import audience_of
from delibsim.models.base import LanguageModel


@dataclass(frozen=True)
class Event:
    """Something to watch: a survey being answered by one participant, or a turn being taken; `done`
    when it is over.
    """

    session: str
    occasion: Literal["pre", "turn", "post"]
    participant: str
    turn: Turn | None = None
    done: bool = False
    said: Statement | Silence | Response | None = None


Watch = Callable[[Event], None]


class Forum(mesa.Model, ABC):
    """A room with its agents. Mesa draws orders from the session's seed; formats differ only in
    their `agenda`.
    """

    def __init__(self, session: Session, voices: Mapping[str, LanguageModel], watch: Watch) -> None:
        super().__init__(rng=session.seed_for("forum"))
        self.session = session
        self.watch = watch
        self.seats = {p.id: Agent(self, session, p, voices[p.model]) for p in session.participants}
        self.hears = audience_of(session)
        self.statements: list[Statement] = []
        self.silences: list[Silence] = []
        self.responses: dict[tuple[Phase, str], Response] = {}

    @staticmethod
    def check(session: Session) -> None:
        """Refuse, before anything is asked, a session that cannot be held in this format;
        WrongInput.
        """

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
            response = await agent.respond(
                self.session.survey, phase, heard, self.responses.get(("pre", name))
            )
            self._tell(phase, name, said=response)
            return response

        # Whoever fails, the others finish first: what is in flight has been paid for and is to be
        # recorded.
        asked = [(person.id, self.seats[person.id]) for person in self.session.respondents]
        settled = await asyncio.gather(
            *(answer(name, agent) for name, agent in asked), return_exceptions=True
        )
        for outcome in settled:
            if isinstance(outcome, BaseException):
                raise outcome
        responses = tuple(outcome for outcome in settled if isinstance(outcome, Response))
        self.responses |= {(phase, response.participant): response for response in responses}
        return responses

    def heard(self, name: str) -> tuple[Statement, ...]:
        """What this participant has heard so far: its own statements and those of its neighbours in
        the audience graph.
        """
        aloud = (s for s in self.statements if s.turn.speaker == name or s.turn.task != PREPARATION)
        return tuple(
            s for s in aloud if s.turn.speaker == name or self.hears.has_edge(s.turn.speaker, name)
        )

    def dropped(self) -> dict[str, tuple[str, ...]]:
        """The parameters that were requested of a model and had no effect in some call, by
        model.
        """
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
