"""Asking a language model until its reply can be read: the one loop, for participants and for
coders of finished text; and whether it is asked for JSON by a schema: what is set (`structured`),
and what its server turns out to enforce, which is asked once before a study begins.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from os import getpid
from threading import Event, Thread, current_thread
from typing import Any, TypeVar, get_args

from delibsim.domain.reason import Reason
from delibsim.domain.run import Session
from delibsim.domain.score import heading_of
from delibsim.models.base import (
    FATAL,
    OUTCOMES,
    TRANSIENT,
    Completion,
    LanguageModel,
    PreflightIssue,
    read,
)
from delibsim.models.retry import RetryingModel
from delibsim.prompts.forms.ballot import Choice
from delibsim.prompts.prompt import SAID, Message, Prompt, Purpose, SchemaFormat
from delibsim.prompts.session import reask

AUTO = "auto"
FORMATS: tuple[SchemaFormat, ...] = get_args(SchemaFormat)[1:]
"""Those of a schema, the usual one first."""


def format_in(settings: Mapping[str, Any]) -> SchemaFormat:
    """The format in which a model with these settings is sent schemas; "" for none.

    That is what was settled. Neither `auto` of a model that nobody has asked yet counts, nor a
    record of `true`, under which prompts did not ask for JSON.
    """
    settled = settings.get("structured")
    return settled if settled in FORMATS else ""


def as_format(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a model in which `structured=true` names the usual format."""
    meant = {"structured": FORMATS[0]} if settings.get("structured") is True else {}
    return {**settings, **meant}


def server_of(settings: Mapping[str, Any]) -> str:
    """What of the settings of a model decides on what its server enforces."""
    own = {k: v for k, v in settings.items() if k not in ("temperature", "structured")}
    return json.dumps(own, sort_keys=True)


Settled = Mapping[str, Any]
"""What `structured` turned out to be, by `server_of`."""


def settled_in(models: Iterable[Mapping[str, Any]]) -> Settled:
    """What was settled of these models."""
    return {server_of(own): own.get("structured", AUTO) for own in models}


def with_settled(settings: Mapping[str, Any], found: Settled) -> Mapping[str, Any]:
    """The settings of a model in which `auto` is replaced by what it turned out to be."""
    if settings.get("structured") != AUTO:
        return settings
    return {**settings, "structured": found.get(server_of(settings), AUTO)}


def models_settled(
    models: Mapping[str, Mapping[str, Any]], found: Settled
) -> dict[str, Mapping[str, Any]]:
    """The settings of models by name, in which `auto` is replaced."""
    return {name: with_settled(own, found) for name, own in models.items()}


PROBE = Prompt(
    (Message("user", SAID["probe"]),),
    Choice("colour", ("red", "blue")),
    Purpose("preflight", "schema"),
)
"""A question whose prompt does not ask for JSON."""


async def settle(model: RetryingModel, wanted: Any) -> tuple[SchemaFormat, list[PreflightIssue]]:
    """The format in which a model is sent schemas where `wanted` stands in its settings (auto, or a
    format), and what has to be known of it.

    Its server is asked where nobody knows and a call costs nothing.
    """
    given: SchemaFormat = "" if wanted == AUTO else wanted
    known = model.capabilities.enforces
    if known is not None:
        found: SchemaFormat | None = FORMATS[0] if known else ""
    elif not model.price.free:
        said = [] if given else [_issue("note", model, "not_asked")]
        return given, said
    else:
        found, fault = await _enforced(model, given or FORMATS[0])
        if found is None:
            return given, [_issue("error", model, "unanswered", fault=fault)]
    if given:
        if found == given:
            return given, [_issue("note", model, given)]
        return given, [_issue("warning", model, f"as_set_{found or 'nothing'}", given=given)]
    return found, [_issue("note", model, found or "nothing")]


def _issue(level: Any, model: RetryingModel, name: str, **told: str) -> PreflightIssue:
    return PreflightIssue(level, model.name, SAID["settled"][name].format(**told))


async def _enforced(model: RetryingModel, first: SchemaFormat) -> tuple[SchemaFormat | None, str]:
    """The format that a server enforces, "" for none; None with a fault where it did not answer."""
    for kind in sorted(FORMATS, key=lambda one: one != first):
        completion = await model.complete(replace(PROBE, enforced=kind), seed=1)
        if completion.status in FATAL | TRANSIENT | {"bad_request", "internal", "budget"}:
            return None, f"{completion.status}: {completion.detail}"
        sent = completion.parameters_sent.get("response_format", {}).get("type", "")
        value, _ = read(PROBE, completion)
        if value is not None and "response_format" not in completion.parameters_dropped:
            return sent, ""
        if sent != kind:  # it was refused, and so was the other one, or is ignored
            break
    return "", ""


def apart(models: Iterable[Mapping[str, Any]]) -> Iterator[PreflightIssue]:
    """A warning where some models are sent schemas and others, which could be, are not; and where
    that may turn out so, because of some of them it is not settled yet.
    """
    names: dict[str, list[str]] = {"sent": [], "free": [], "open": []}
    for settings in models:
        if "structured" in settings:
            way = "sent" if format_in(settings) else "free"
            way = "open" if settings["structured"] == AUTO else way
            names[way].append(str(settings["name"]))
    found = "apart" if names["sent"] and names["free"] else "perhaps_apart"
    needed = ("sent", "free") if found == "apart" else ("open", "free")
    if all(names[way] for way in needed):
        told = {way: ", ".join(own) for way, own in names.items()}
        said = SAID["settled"][found].format(**told)
        yield PreflightIssue("warning", names[needed[0]][0], said)


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
