"""A debate: two sides speak in six turns of fixed order; whoever else is in the room listens."""

from collections.abc import Iterator

from delibsim.domain.errors import WrongInput
from delibsim.domain.reason import Reason
from delibsim.domain.run import Session
from delibsim.domain.survey import Phase, Response
from delibsim.domain.transcript import Turn
from delibsim.engine.forum import Forum

BROKEN_OFF = Reason(
    "debate_incomplete", "the debate broke off, so the survey after it was not held"
)


class Debate(Forum):
    """Opening, rebuttal and closing, the proposition first; a turn without a speech ends it."""

    @staticmethod
    def check(session: Session) -> None:
        """Refuse a debate without both sides, without rules or with another network; WrongInput."""
        procedure, format = session.procedure, session.kind
        roles = [participant.role for participant in session.participants]
        counts = [roles.count(side) for side in format.sides]
        if any(count != 1 for count in counts) or not set(roles) <= set(format.roles):
            raise WrongInput(
                "a debate has one proposition, one opposition and an audience; the roles given are"
                f" {', '.join(roles)}"
            )
        if procedure.rules is None:
            raise WrongInput(
                "a debate needs rules for its speeches: procedure=oxford, or procedure.rules"
            )
        if procedure.words is not None:
            raise WrongInput(
                "the length of a speech is procedure.rules.least and .most; procedure.words must be"
                " null in a debate"
            )
        if procedure.audience.network != "complete":
            raise WrongInput(
                "in a debate everybody hears both sides: procedure.audience.network must be"
                " complete"
            )

    def agenda(self) -> Iterator[Turn]:
        """Private notes where the rules ask for them, then the six turns.

        The first silence ends the agenda.
        """
        for turn in self.session.planned_turns:
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
