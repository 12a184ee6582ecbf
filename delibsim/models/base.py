"""What a language model is to delibsim: one async method, from a prompt to a completion with a
typed status.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from delibsim.domain.cost import OUTCOMES as OUTCOMES
from delibsim.domain.text import in_short
from delibsim.prompts.prompt import LONGEST_REPLY, Prompt, UnreadableReply, without_ranks

Status = Literal[
    "ok",
    "refusal",
    "length",
    "content_filter",
    "unreadable",
    "absent",
    "rate_limited",
    "timeout",
    "unavailable",
    "authentication",
    "quota",
    "context_overflow",
    "truncated_prompt",
    "bad_request",
    "budget",
    "cancelled",
    "internal",
]
STATUSES: tuple[Status, ...] = get_args(Status)
FATAL: frozenset[str] = frozenset({"authentication", "quota"})
"""Statuses after which no call to that model can succeed until a person has acted."""
TRANSIENT: frozenset[str] = frozenset({"rate_limited", "timeout", "unavailable"})
"""Statuses after which another attempt may succeed."""


@dataclass(frozen=True)
class Usage:
    """Tokens and US dollars of one call; None where the provider did not say."""

    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None


NO_USE = Usage(0, 0, 0, 0, 0.0)
"""What a call used that cost nothing and no tokens."""


@dataclass(frozen=True)
class FailedAttempt:
    """An attempt that failed on the way and was followed by another, `waited` seconds later.

    `usage` is what it used, where that is known.
    """

    status: Status
    detail: str
    waited: float
    possibly_billed: bool = False
    usage: Usage = Usage()


@dataclass(frozen=True)
class Completion:
    """What came back from one call. Only status "ok" yields data; with others `detail` says why.

    `parameters_dropped` names the parameters that were requested and did not take effect;
    `provider` is the address or the name of who answered, without secrets; `tries` the attempts
    that failed before this one; `retry_after` the seconds the provider asked to wait;
    `possibly_billed` a call that may be charged although no answer came that could be used.
    """

    text: str
    status: Status = "ok"
    detail: str = ""
    usage: Usage = Usage()
    model_requested: str = ""
    model_returned: str = ""
    parameters_sent: Mapping[str, Any] = field(default_factory=dict)
    parameters_dropped: tuple[str, ...] = ()
    reasoning: str = ""
    finish_reason: str = ""
    response_id: str = ""
    fingerprint: str = ""
    provider: str = ""
    retry_after: float | None = None
    possibly_billed: bool = False
    tries: tuple[FailedAttempt, ...] = ()

    __repr__ = in_short


class Cancelled(asyncio.CancelledError):
    """A call was given up in flight, because the process was asked to stop.

    `completion` says so, to be recorded.
    """

    def __init__(self, completion: Completion) -> None:
        super().__init__(completion.detail)
        self.completion = completion


@runtime_checkable
class LanguageModel(Protocol):
    """Whatever can answer for a participant: a hosted model, the citizen, a recording, a person.

    A class may declare `without_effect`: the names of settings that never change what it answers
    (delibsim/domain/effect.py says what follows from it); and `without_effect_where`: by
    circumstance, such as "where nobody speaks", the names of settings that do not change it there.
    What else it can declare stands in `delibsim.models.base.Capabilities`.
    """

    @property
    def name(self) -> str:
        """The name under which participants and records know the model."""
        ...

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """Answer a prompt; a fault is a status of the completion, never an exception or a text."""
        ...


Announce = Callable[[float | None, int], None]
"""Told before an attempt is sent that may cost: the most that the call may have cost then, in US
dollars (None: nothing bounds it) and tokens, its earlier attempts among them.
"""


@runtime_checkable
class Announcing(Protocol):
    """A language model that says what a call may cost before it sends it."""

    async def complete_announced(self, prompt: Prompt, seed: int, announce: Announce) -> Completion:
        """Answer a prompt; where `announce` raises, nothing is sent."""
        ...


def read(prompt: Prompt, completion: Completion) -> tuple[Any, Completion]:
    """The value of a completion in the form its prompt asked for; None and a completion that says
    why not, if it holds none. Where a schema was sent, of an unreadable reply of which the ranks
    alone are at fault, what it is worth without them.
    """
    if completion.status != "ok":
        return _partial(prompt, completion)
    long = len(completion.text)
    if long > LONGEST_REPLY:
        fault = f"the reply has {long:,} characters; at most {LONGEST_REPLY:,} are read"
        return None, replace(completion, status="unreadable", detail=fault)
    try:
        return prompt.reply.read(completion.text), completion
    except UnreadableReply as error:
        fault = str(error)
    except RecursionError:
        fault = "the reply is nested too deeply"
    return _partial(prompt, replace(completion, status="unreadable", detail=fault))


def _partial(prompt: Prompt, completion: Completion) -> tuple[Any, Completion]:
    """A completion that cannot be read, with what it is worth without ranks."""
    rest = None
    if prompt.enforced and completion.status == "unreadable":
        rest = without_ranks(prompt.reply, completion.text)
    return (rest.partial if rest else None), completion


@dataclass(frozen=True)
class PreflightIssue:
    """One finding about one model: an "error" stops the study before it pays, a "warning" and a
    "note" do not.
    """

    level: Literal["error", "warning", "note"]
    model: str
    text: str


@dataclass(frozen=True)
class Capabilities:
    """What a language model declares in its attribute `capabilities`, all of it optional.

    The attribute belongs to the class or to the object, or is a property where its value changes.
    Nothing else is looked at: an attribute `max_tokens` or a method `close` of the model itself has
    no meaning. A model that declares nothing has the defaults: its calls pass the limits and the
    budget of the process, and it is its own provider.

    `provider`: whose limits the calls count against. Models of one provider share its limits. Empty
    stands for the name of the model.

    `max_tokens`: the most output tokens that one call can use. A budget needs it for every model
    that costs something.

    `preflight`: an async function without arguments. It finds out without paying whether the model
    can be asked, and returns a list of `PreflightIssue`.

    `answering`: True if a preflight has shown already that the model answers. Otherwise the first
    call is made alone, so that a wrong key costs one attempt and not many.

    `window`: the most tokens that a prompt and its reply can have together, where a preflight has
    found it out.

    `close`: an async function without arguments that closes connections. The model may be asked
    again afterwards.

    `for_population`: only for models that simulate persons on this machine. A function that takes
    the seed of a population and returns the model of those persons. It is called once for every
    session; sessions of one replicate have one seed. Calls to such a model pass neither limits nor
    budget.

    `enforces`: whether it is known to reply by the JSON schema that a call states. None: nobody
    knows, and it has to be asked (models/enforcing.py).
    """

    provider: str = ""
    max_tokens: int | None = None
    preflight: Callable[[], Awaitable[Sequence[PreflightIssue]]] | None = None
    answering: bool = False
    window: int | None = None
    close: Callable[[], Awaitable[None]] | None = None
    for_population: Callable[[int], LanguageModel] | None = None
    enforces: bool | None = None


NOTHING_DECLARED = Capabilities()


def capabilities_of(model: LanguageModel) -> Capabilities:
    """What a model declares; the defaults if its attribute `capabilities` is missing or is no
    `Capabilities`.
    """
    declared = getattr(model, "capabilities", NOTHING_DECLARED)
    return declared if isinstance(declared, Capabilities) else NOTHING_DECLARED
