"""The two formats of a session: a deliberation, in which speakers are drawn, and a debate, whose
turns are fixed.
"""

from collections.abc import Iterator

from delibsim.domain.reason import Reason
from delibsim.domain.survey import Phase, Response
from delibsim.domain.transcript import Turn
from delibsim.engine.agenda import deliberation_slots
from delibsim.engine.agent import Agent
from delibsim.engine.forum import Forum


class Deliberation(Forum):
    """Everybody speaks once a round; without interaction nobody speaks."""

    def agenda(self) -> Iterator[Turn]:
        """Each round, all participants in an order that Mesa shuffles."""
        return self.as_given(deliberation_slots(self.session, self._drawn))

    def _drawn(self) -> Iterator[str]:
        founders = {self.seats[name] for name in self.session.founders}
        for agent in list(self.agents.select(lambda agent: agent in founders).shuffle()):
            assert isinstance(agent, Agent)
            yield agent.participant.id


BROKEN_OFF = Reason(
    "debate_incomplete", "the debate broke off, so the survey after it was not held"
)


class Debate(Forum):
    """Opening, rebuttal and closing, the proposition first; a turn without a speech ends it."""

    def agenda(self) -> Iterator[Turn]:
        """Private notes where the rules ask for them, then the six turns.

        The first silence ends the agenda.
        """
        for turn in self.as_given(self.session.slots()):
            if self.silences:
                return
            yield turn

    async def survey(self, phase: Phase) -> tuple[Response, ...]:
        """Ask the audience, but not after a debate that broke off: then all answers are missing."""
        if phase == "pre" or not self.silences:
            return await super().survey(phase)
        items = [item.id for item in self.session.survey.items]
        missing = dict.fromkeys(items, BROKEN_OFF)
        return tuple(Response(person.id, phase, {}, missing) for person in self.session.respondents)
