"""A deliberation: rounds in which everybody speaks once, in an order drawn anew each round."""

from collections.abc import Iterator

from delibsim.domain.transcript import Turn
from delibsim.engine.agent import Agent
from delibsim.engine.forum import Forum


class Deliberation(Forum):
    """Everybody speaks once a round; without interaction nobody speaks."""

    def agenda(self) -> Iterator[Turn]:
        """Each round, all participants in an order that Mesa shuffles."""
        treatment = self.session.treatment
        rounds = treatment.rounds if treatment.interaction else 0
        index = 0
        for round_ in range(1, rounds + 1):
            for agent in list(self.agents.shuffle()):
                assert isinstance(agent, Agent)
                index += 1
                yield Turn(index, round_, agent.participant.id)
