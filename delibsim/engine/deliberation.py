"""A deliberation: rounds in which everybody speaks once, in an order drawn anew each round."""

from collections.abc import Iterator

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
