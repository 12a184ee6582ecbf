"""A debate: two sides speak in six turns of fixed order; whoever else is in the room listens."""

from collections.abc import Iterator

from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import SIDES
from delibsim.domain.run import Session
from delibsim.domain.survey import Phase, Response
from delibsim.domain.transcript import PREPARATION, Turn
from delibsim.engine.forum import Forum

TASKS = ("opening", "rebuttal", "closing")


class Debate(Forum):
    """Opening, rebuttal and closing, the proposition always first; a turn without a speech ends the
    debate.
    """

    @staticmethod
    def check(session: Session) -> None:
        """Refuse a debate without its two sides or its rules, or one in which somebody cannot hear;
        WrongInput.
        """
        roles = [participant.role for participant in session.participants]
        if any(roles.count(side) != 1 for side in SIDES) or not set(roles) <= {*SIDES, "audience"}:
            raise WrongInput(
                "a debate has one proposition, one opposition and an audience; the roles given are"
                f" {', '.join(roles)}"
            )
        if session.procedure.rules is None:
            raise WrongInput(
                "a debate needs rules for its speeches: procedure=oxford, or procedure.rules"
            )
        if session.procedure.words is not None:
            raise WrongInput(
                "the length of a speech is procedure.rules.least and .most; procedure.words must be"
                " null in a debate"
            )
        if session.procedure.audience.network != "complete":
            raise WrongInput(
                "in a debate everybody hears both sides: procedure.audience.network must be"
                " complete"
            )

    def agenda(self) -> Iterator[Turn]:
        """Notes in private where the rules ask for them, then the six turns; nothing after a turn
        in which nothing was said.
        """
        rules, speaker = (
            self.session.procedure.rules,
            {p.role: p.id for p in self.session.participants},
        )
        tasks = [PREPARATION] * bool(rules and rules.preparation) + [*TASKS]
        turns = [
            (tasks.index("opening") * -1 + i + 1, task, side)
            for i, task in enumerate(tasks)
            for side in SIDES
        ]
        for index, (round_, task, side) in enumerate(
            turns if self.session.treatment.interaction else (), 1
        ):
            if self.silences:
                return
            yield Turn(index, round_, speaker[side], task)

    async def survey(self, phase: Phase) -> tuple[Response, ...]:
        """Ask the audience; after a debate that broke off nobody is asked, and the answers are
        missing for that reason.
        """
        if phase == "post" and self.silences:
            items = [item.id for item in self.session.survey.items]
            reason = "debate_incomplete: the debate broke off, so the survey after it was not held"
            return tuple(
                Response(p.id, phase, {}, dict.fromkeys(items, reason))
                for p in self.session.respondents
            )
        return await super().survey(phase)
