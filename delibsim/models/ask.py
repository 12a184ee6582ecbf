"""Asking a language model until a reply can be read: once for participants, raters and whoever else
is asked.
"""

from collections.abc import Callable
from typing import Any

from delibsim.domain.reason import Reason
from delibsim.domain.run import Session
from delibsim.models.base import OUTCOMES, Completion, LanguageModel, read
from delibsim.prompts.prompt import Prompt
from delibsim.prompts.session import reask

TOO_LONG = (
    "a shorter session fits: fewer rounds, or procedure.transcript_window=N in a study of its own"
)


class Interrupted(RuntimeError):
    """A model could not be asked: the session stops here and can go on from its record. Holds the
    typed status.
    """

    def __init__(self, model: str, prompt: Prompt, completion: Completion) -> None:
        purpose = prompt.purpose
        fault = (
            f"{model} ({purpose.participant}, {purpose.occasion}): {completion.status}:"
            f" {completion.detail}"
        )
        super().__init__(
            f"{fault}; {TOO_LONG}" if completion.status == "context_overflow" else fault
        )
        self.status = completion.status
        self.reason = Reason(completion.status, completion.detail)


async def ask(
    session: Session,
    voice: LanguageModel,
    prompt: Prompt,
    heed: Callable[[Completion], None] = lambda completion: None,
) -> tuple[Any, Completion]:
    """The value of the first readable reply; None with the completion that says why there is none.
    `heed` is told of every reply.

    A refusal or a truncated reply is an outcome and is not asked again; a call that failed on the
    way is Interrupted.
    """
    while True:
        purpose = prompt.purpose
        seed = session.seed_for(purpose.participant, purpose.occasion, purpose.attempt)
        value, completion = read(prompt, await voice.complete(prompt, seed))
        heed(completion)
        if completion.status not in OUTCOMES:
            raise Interrupted(voice.name, prompt, completion)
        if completion.status != "unreadable" or purpose.attempt >= session.procedure.reasks:
            return value, completion
        prompt = reask(session, prompt, completion.text, completion.detail)
