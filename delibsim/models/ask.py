"""Asking a language model until its reply can be read, for participants and raters alike."""

from collections.abc import Callable
from typing import Any

from delibsim.domain.measure import HEADINGS
from delibsim.domain.reason import Reason
from delibsim.domain.run import Session
from delibsim.models.base import OUTCOMES, Completion, LanguageModel, read
from delibsim.prompts.prompt import Prompt
from delibsim.prompts.session import reask

TOO_LONG = (
    "a shorter session fits: fewer rounds, or procedure.transcript_window=N in a study of its own"
)


class Interrupted(RuntimeError):
    """A model could not be asked, for the reason in `status`: the session stops here and can go on
    from its record.
    """

    def __init__(self, model: str, prompt: Prompt, completion: Completion) -> None:
        purpose = prompt.purpose
        occasion = HEADINGS.get(purpose.occasion, purpose.occasion)
        call = f"{model} ({purpose.participant}, {occasion})"
        fault = f"{call}: {completion.status}: {completion.detail}"
        if completion.status == "context_overflow":
            fault = f"{fault}; {TOO_LONG}"
        super().__init__(fault)
        self.status = completion.status
        self.reason = Reason(completion.status, completion.detail)


async def ask(
    session: Session,
    model: LanguageModel,
    prompt: Prompt,
    on_reply: Callable[[Completion], None] = lambda completion: None,
) -> tuple[Any, Completion]:
    """The value of the first readable reply; None with the completion that says why there is none.

    `on_reply` is called with every reply. A refusal or a truncated reply is an outcome and is not
    asked again; a call that failed on the way is Interrupted.
    """
    while True:
        purpose = prompt.purpose
        seed = session.seed_for(purpose.participant, purpose.occasion, purpose.attempt)
        value, completion = read(prompt, await model.complete(prompt, seed))
        on_reply(completion)
        if completion.status not in OUTCOMES:
            raise Interrupted(model.name, prompt, completion)
        if completion.status != "unreadable" or purpose.attempt >= session.procedure.reasks:
            return value, completion
        prompt = reask(session, prompt, completion.text, completion.detail)
