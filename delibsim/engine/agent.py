"""A participant in the room: it answers surveys and takes turns through its language model."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from delibsim.domain.hosting import STOOD_IN, stand_in_of
from delibsim.domain.participant import Participant
from delibsim.domain.reason import Reason
from delibsim.domain.run import Session
from delibsim.domain.survey import Phase, Response
from delibsim.domain.transcript import Silence, Statement, Turn
from delibsim.engine import mesa_core
from delibsim.engine.agenda import item_order
from delibsim.models.ask import ask
from delibsim.models.base import Completion, LanguageModel
from delibsim.prompts.facilitation import stated
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Prompt
from delibsim.prompts.session import reversed_for, speech_prompt, survey_prompt


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
