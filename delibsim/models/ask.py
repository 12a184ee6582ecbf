"""Asking a language model until its reply can be read: the one loop, for participants and for
coders of finished text.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from os import getpid
from threading import Event, Thread, current_thread
from typing import Any, TypeVar

from delibsim.domain.measure import heading_of
from delibsim.domain.reason import Reason
from delibsim.domain.run import Session
from delibsim.models.base import OUTCOMES, Completion, LanguageModel, read
from delibsim.models.enforcing import format_in
from delibsim.prompts.prompt import Prompt
from delibsim.prompts.session import reask

TOO_LONG = (
    "a shorter session fits: fewer rounds, or procedure.transcript_window=N in a study of its own"
)
HELPS = {
    "context_overflow": f"; {TOO_LONG}",
    "truncated_prompt": f"; it needs a larger window, or {TOO_LONG}",
}
"""What helps, by the status of a call whose prompt was too long."""

T = TypeVar("T")


_LOOPS: dict[int, asyncio.AbstractEventLoop] = {}
"""The event loop of `wait`, by process: that of a parent does not run in a forked one."""


def wait(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine gives, such as that of `hold`, when it is done; in a script, and also where
    an event loop is running, as in a notebook.

    All that is waited for runs in one loop, in a thread of its own, so that models may be used
    again. An interrupt cancels it and waits for its end: calls in flight are recorded first.
    """
    loop = _LOOPS.get(getpid()) or _begin_loop()
    if current_thread().name == f"delibsim {getpid()}":  # what is waited for waits itself
        with ThreadPoolExecutor(1) as executor:
            return executor.submit(lambda: asyncio.run(coroutine)).result()
    over = Event()

    async def run() -> T:
        try:
            return await coroutine
        finally:
            over.set()

    found = asyncio.run_coroutine_threadsafe(run(), loop)
    try:
        return found.result()
    except KeyboardInterrupt:
        found.cancel()
        over.wait()
        raise


def _begin_loop() -> asyncio.AbstractEventLoop:
    loop = _LOOPS[getpid()] = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name=f"delibsim {getpid()}", daemon=True).start()
    return loop


class Interrupted(RuntimeError):
    """A model could not be asked, for the reason in `status`: the session stops here and can go on
    from its record.
    """

    def __init__(self, model: str, prompt: Prompt, completion: Completion) -> None:
        purpose = prompt.purpose
        occasion = heading_of(purpose.occasion)
        call = f"{model} ({purpose.participant}, {occasion})"
        fault = f"{call}: {completion.status}: {completion.detail}"
        fault += HELPS.get(completion.status, "")
        super().__init__(fault)
        self.status = completion.status
        self.reason = Reason(completion.status, completion.detail)


async def ask_until_read(
    model: LanguageModel,
    prompt: Prompt,
    seed: Callable[[Prompt], int],
    again: Callable[[str], str],
    reasks: int,
    on_reply: Callable[[Completion], None] = lambda completion: None,
) -> tuple[Prompt, Any, Completion]:
    """The last prompt, the value of its reply (None without one), and the completion.

    `seed` gives the seed of a prompt, `again` what is said to an unreadable reply with this fault.
    Such a reply is asked for again, at most `reasks` times. Any other completion is the last: a
    refusal or a truncated reply is an outcome, and of a call that failed on the way nothing is
    known (`raise_interrupted`). `on_reply` is called with every completion.
    """
    while True:
        value, completion = read(prompt, await model.complete(prompt, seed(prompt)))
        on_reply(completion)
        if completion.status != "unreadable" or prompt.purpose.attempt >= reasks:
            return prompt, value, completion
        prompt = prompt.again(completion.text, again(completion.detail))


async def ask(
    session: Session,
    model: LanguageModel,
    prompt: Prompt,
    on_reply: Callable[[Completion], None] = lambda completion: None,
    seeded: str = "",
) -> tuple[Any, Completion]:
    """The value of the first readable reply to a participant's prompt; None, or what the last reply
    is worth without ranks, with the completion that says why there is none. `seeded` is the
    occasion after which seeds are named, where that is not the prompt's own.

    Interrupted where the call failed on the way.
    """

    def seed(asked: Prompt) -> int:
        purpose = asked.purpose
        return session.seed_of_call(purpose.participant, purpose.occasion, purpose.attempt, seeded)

    def again(fault: str) -> str:
        return reask(session, fault)

    asked = prompt.in_json(format_in(session.voices.get(model.name, {})))
    last, value, completion = await ask_until_read(
        model, asked, seed, again, session.procedure.reasks, on_reply
    )
    raise_interrupted(model.name, last, completion)
    return value, completion


def raise_interrupted(model: str, prompt: Prompt, completion: Completion) -> None:
    """Raise Interrupted if the call failed on the way, so that it is no outcome."""
    if completion.status not in OUTCOMES:
        raise Interrupted(model, prompt, completion)
