"""A debate: two sides speak in six turns of fixed order; whoever else is in the room listens."""

from collections.abc import Iterator

from delibsim.domain.reason import Reason
from delibsim.domain.survey import Phase, Response
from delibsim.domain.transcript import PREPARATION, Turn
from delibsim.engine.forum import Forum

BROKEN_OFF = Reason(
    "debate_incomplete", "the debate broke off, so the survey after it was not held"
)


class Debate(Forum):
    """Opening, rebuttal and closing, the proposition first; a turn without a speech ends it."""

    def agenda(self) -> Iterator[Turn]:
        """Private notes where the rules ask for them, then the six turns.

        The first silence ends the agenda.
        """
        if not self.session.treatment.interaction:
            return
        rules, format = self.session.procedure.rules, self.session.kind
        speakers = {person.role: person.id for person in self.session.participants}
        rounds = list(enumerate(format.tasks, 1))
        if rules is not None and rules.preparation:
            rounds.insert(0, (0, PREPARATION))
        index = 0
        for round_, task in rounds:
            for side in format.sides:
                if self.silences:
                    return
                index += 1
                yield Turn(index, round_, speakers[side], task)

    async def survey(self, phase: Phase) -> tuple[Response, ...]:
        """Ask the audience, but not after a debate that broke off: then all answers are missing."""
        if phase == "pre" or not self.silences:
            return await super().survey(phase)
        items = [item.id for item in self.session.survey.items]
        missing = dict.fromkeys(items, BROKEN_OFF)
        return tuple(Response(person.id, phase, {}, missing) for person in self.session.respondents)
