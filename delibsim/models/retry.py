"""The one retry loop: every call to a provider passes its gate, its budget and, after a passing
fault, another attempt.
"""

import asyncio
import random
from collections.abc import Iterable
from dataclasses import replace

from delibsim.domain.cost import failed_for_free
from delibsim.models.base import (
    FATAL,
    NO_USE,
    TRANSIENT,
    Announce,
    Cancelled,
    Capabilities,
    Completion,
    FailedAttempt,
    LanguageModel,
    Usage,
    capabilities_of,
)
from delibsim.models.clients.settings import Price
from delibsim.models.limits import Budget, Gate, HeldBudget, Limits, Overruns, tokens_of
from delibsim.prompts.prompt import Message, Prompt

GIVEN_UP = "given up in flight, because the process was asked to stop"
NOTEWORTHY = 1.1  # times the worst case that a call was estimated at
FIRST_WAIT = 1.0  # seconds; doubled with every attempt


class RetryingModel:
    """A language model behind limits and budget, asked again after transient faults as often as the
    limits say.

    Every attempt passes the gate. The wait is what the provider asked for (the newest word counts),
    else it doubles, with jitter; neither exceeds `longest_wait`. The attempts that failed are kept
    in the completion. After a fatal status (a wrong key, an empty account) the model is not asked
    again. It declares what the model behind it declares.
    """

    def __init__(
        self, model: LanguageModel, gate: Gate, limits: Limits, budget: Budget, price: Price
    ) -> None:
        self.name = model.name
        self.price = price
        self._model, self._max_tokens = model, capabilities_of(model).max_tokens
        self._gate, self._limits, self._budget = gate, limits, budget
        self._alone, self._begun = asyncio.Lock(), False
        self._fatal: Completion | None = None
        self._announces = not price.free or budget.tokens is not None
        self.retrying = 0  # calls that wait for another attempt now

    @property
    def capabilities(self) -> Capabilities:
        """What the model behind the limits declares now."""
        return capabilities_of(self._model)

    @property
    def closed(self) -> str:
        """Why no call can succeed any more: a fatal status of the model, or a budget that refused a
        call; "" if none was seen.
        """
        if self._fatal is not None:
            return f"{self.name}: {self._fatal.status}: {self._fatal.detail}"
        return f"{self.name}: budget: {self._spent}" if self._budget.refused else ""

    def ask_again(self) -> None:
        """Forget a fatal status: somebody may have acted, so the next call is sent."""
        self._fatal = None

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """The completion of the last attempt; status "budget", and no call, if the call could
        exceed the budget.
        """
        return await self.complete_announced(prompt, seed, lambda usd, tokens: None)

    async def complete_announced(self, prompt: Prompt, seed: int, announce: Announce) -> Completion:
        """The same; `announce` is called before each attempt that may cost or counts."""
        # The first call goes alone, unless a preflight was answered: a wrong key is found with one
        # attempt, not with many at once.
        self._begun = self._begun or self.capabilities.answering
        if not self._begun:
            async with self._alone:
                if not self._begun:
                    completion = await self._persist(prompt, seed, announce)
                    self._begun = True
                    return completion
        return await self._persist(prompt, seed, announce)

    async def _persist(self, prompt: Prompt, seed: int, announce: Announce) -> Completion:
        """The completion of the last attempt, however many there were."""
        tries: list[FailedAttempt] = []
        worst = worst_case(prompt.messages, self.price, self._max_tokens)
        jitter: random.Random | None = None
        while True:
            if self._fatal is not None:
                return replace(self._fatal, tries=tuple(tries))
            completion = await self._attempt(prompt, seed, worst, tries, announce)
            if completion.status in FATAL and self._fatal is None:
                detail = f"{completion.detail} (found before; not asked again)"
                self._fatal = replace(completion, usage=NO_USE, tries=(), detail=detail)
            if completion.status not in TRANSIENT or len(tries) + 1 >= self._limits.tries:
                return completion
            jitter = jitter or random.Random(seed)
            wait = self._wait(completion, len(tries), jitter)
            tries.append(_failed(completion, wait))
            self.retrying += 1
            try:
                await asyncio.sleep(wait)
            finally:
                self.retrying -= 1

    async def _attempt(
        self,
        prompt: Prompt,
        seed: int,
        worst: Usage,
        tries: list[FailedAttempt],
        announce: Announce,
    ) -> Completion:
        """One attempt, sent when the gate lets it through and the budget has room for it;
        Cancelled if the process is stopped.
        """

        def wanted() -> bool:
            return self._fatal is None and not self._budget.hopeless(self.name, worst)

        if not wanted():
            return self._unsent(tries)
        async with self._gate.enter(worst, self.name, wanted) as note:
            # Only now is known what the calls before this one have cost.
            held = None
            if self._fatal is None:
                held = self._budget.reserve(self.name, worst)
            if held is None:
                note(NO_USE)
                return self._unsent(tries)
            completion = await self._send(prompt, seed, held, tries, announce)
            note(charge(completion, worst))
        return replace(completion, detail=self._detail(completion), tries=tuple(tries))

    async def _send(
        self,
        prompt: Prompt,
        seed: int,
        held: HeldBudget,
        tries: list[FailedAttempt],
        announce: Announce,
    ) -> Completion:
        """What comes back from one request, with its cost; the budget counts it however it ends."""
        used = NO_USE
        try:
            if self._announces:
                announce(*_most(held, tries))
            used = Usage()
            completion = await self._model.complete(prompt, seed)
            completion = replace(completion, usage=self._priced(completion))
            used = use(completion)
            return completion
        except asyncio.CancelledError:
            given_up = Completion("", "cancelled", GIVEN_UP, model_requested=self.name)
            billed = replace(given_up, possibly_billed=True, tries=tuple(tries))
            raise Cancelled(billed) from None
        finally:
            self._budget.settle(held, used)

    def _unsent(self, tries: list[FailedAttempt]) -> Completion:
        """The completion of a call that is not sent: the model cannot be asked any more, or the
        budget does not allow it.
        """
        unsent = self._fatal
        if unsent is None:
            unsent = Completion("", "budget", self._spent, NO_USE, model_requested=self.name)
        return replace(unsent, tries=tuple(tries))

    @property
    def _spent(self) -> str:
        """Why a call does not fit into the budget."""
        known = self._budget.overruns.get(self.name, Overruns())
        if known.most < NOTEWORTHY:
            return self._budget.refused
        more = f"{self.name} used up to {known.most:.3g} times what a call may at most"
        return f"{self._budget.refused} ({more})"

    def _wait(self, completion: Completion, tries: int, jitter: random.Random) -> float:
        """Seconds until the next attempt; after a rate limit the model gets no call before then."""
        most, asked = self._limits.longest_wait, completion.retry_after
        if asked is None:
            return min(FIRST_WAIT * 2**tries, most) * (0.5 + jitter.random() / 2)
        wait = min(asked, most)
        if completion.status == "rate_limited":
            self._gate.close_for(wait, self.name)
        return wait

    def _detail(self, completion: Completion) -> str:
        """The detail, with what the provider asked for where that is more than the limits allow."""
        asked, most = completion.retry_after, self._limits.longest_wait
        if asked is None or asked <= most:
            return completion.detail
        limit = f"limits.longest_wait allows {most:g} s"
        return f"{completion.detail} (asks to wait {asked:.0f} s; {limit})"

    def _priced(self, completion: Completion) -> Usage:
        """Usage with its cost: the provider's own figure, else the price list's, else unknown."""
        usage = completion.usage
        if usage.cost_usd is not None:
            return usage
        return replace(usage, cost_usd=self.price.cost(usage))


def _failed(completion: Completion, wait: float) -> FailedAttempt:
    """What is kept of an attempt that another one follows after `wait` seconds."""
    return FailedAttempt(
        completion.status,
        completion.detail,
        round(wait, 3),
        completion.possibly_billed,
        completion.usage,
    )


def _most(held: HeldBudget, tries: Iterable[FailedAttempt]) -> tuple[float | None, int]:
    """The most that a call may have cost with the attempt that is sent next, in US dollars (None
    where its price is unknown) and tokens.
    """
    earlier = [charge(attempt, held.worst) for attempt in tries]
    tokens = held.tokens + sum(tokens_of(used) or 0 for used in earlier)
    if held.usd is None:
        return None, tokens
    return held.usd + sum(used.cost_usd or 0.0 for used in earlier), tokens


def use(attempt: Completion | FailedAttempt) -> Usage:
    """What an attempt used, as far as it is known: nothing if it failed for free."""
    used = attempt.usage
    if failed_for_free(attempt.status, attempt.possibly_billed, used != Usage()):
        return Usage(input_tokens=0, output_tokens=0, cost_usd=0.0)
    return used


def charge(attempt: Completion | FailedAttempt, worst: Usage) -> Usage:
    """What an attempt counts against limits: what it used; the worst case where it is not known."""
    used = use(attempt)
    known = worst if tokens_of(used) is None else used
    cost = worst.cost_usd if used.cost_usd is None else used.cost_usd
    return Usage(input_tokens=known.input_tokens, output_tokens=known.output_tokens, cost_usd=cost)


def worst_case(messages: Iterable[Message], price: Price, max_tokens: int | None) -> Usage:
    """The most that a call with these messages can use."""
    tokens = estimated_tokens(messages)
    return Usage(
        input_tokens=tokens,
        output_tokens=max_tokens or 0,
        cost_usd=price.worst(tokens, max_tokens or 0),
    )


def estimated_tokens(messages: Iterable[Message]) -> int:
    """An estimate of input tokens from above, in any script: one for every three bytes of UTF-8,
    and four a message.
    """
    return sum(_bytes_of(message.content) // 3 + 4 for message in messages) + 4


def _bytes_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="replace"))
