"""Limits that everything in a process shares: concurrency, requests and tokens a minute for each provider, and a budget."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from asyncio_throttle import Throttler

from delibsim.models.base import Usage


@dataclass(frozen=True)
class Limits:
    """What a study may use. None is no limit.

    `concurrency` calls in flight, `requests_per_minute` and `tokens_per_minute` for each provider; `tries` attempts a call,
    `longest_wait` seconds between two of them; `budget_usd` and `budget_tokens` for the whole process. `workers` processes
    share all this where a launcher starts several (None: as many as this machine has cores).
    """

    concurrency: int = 16
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    tries: int = 6
    longest_wait: float = 120.0
    budget_usd: float | None = None
    budget_tokens: int | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        """Refuse limits that let nothing through."""
        counts = (self.concurrency, self.tries, self.requests_per_minute, self.tokens_per_minute, self.workers)
        if min(count for count in counts if count is not None) < 1 or self.longest_wait < 0:
            raise ValueError("limits: concurrency, tries, requests_per_minute, tokens_per_minute and workers are 1 or more")
        if min(self.budget_usd or 0, self.budget_tokens or 0) < 0:
            raise ValueError("limits: budget_usd and budget_tokens are 0 or more")


class Gate:
    """The door to one provider: lets calls through as fast as its limits allow, in the order in which they came."""

    def __init__(self, limits: Limits) -> None:
        self._seats = asyncio.Semaphore(limits.concurrency)
        # Half a second more than a minute: the provider's clock and ours need not agree on where a minute begins.
        self._requests = Throttler(limits.requests_per_minute, period=60.5) if limits.requests_per_minute else None
        self._tokens = TokenWindow(limits.tokens_per_minute) if limits.tokens_per_minute else None
        self._closed_until: dict[str, float] = {}

    @asynccontextmanager
    async def enter(self, tokens: int, model: str = "") -> AsyncGenerator[None]:
        """Wait for the model to be ready, for a seat, for tokens and for a request; hold the seat during the call."""
        while True:
            if (wait := self._wait(model)) > 0:
                await asyncio.sleep(wait)
            async with self._seats:
                # Closed for longer, or while it stood in line: the seat is for the calls to other models.
                if self._wait(model) > 0:
                    continue
                if self._tokens:
                    await self._tokens.take(tokens)
                if self._requests:
                    await self._requests.acquire()
                yield
                return

    def _wait(self, model: str) -> float:
        return self._closed_until.get(model, 0.0) - asyncio.get_running_loop().time()

    def close_for(self, seconds: float, model: str = "") -> None:
        """Let no call to a model through for a while; the newest word of the provider counts, so a shorter time opens sooner."""
        self._closed_until[model] = asyncio.get_running_loop().time() + seconds


class TokenWindow:
    """At most so many tokens in any sixty seconds, first come first served. A call larger than the limit waits for an empty window."""

    def __init__(self, per_minute: int, period: float = 60.5) -> None:
        self._limit, self._period = per_minute, period
        self._taken: deque[tuple[float, int]] = deque()
        self._turn = asyncio.Lock()

    async def take(self, tokens: int) -> None:
        """Wait until the tokens fit into the window, and take them."""
        async with self._turn:
            while True:
                now = asyncio.get_running_loop().time()
                while self._taken and self._taken[0][0] <= now - self._period:
                    self._taken.popleft()
                if not self._taken or sum(n for _, n in self._taken) + tokens <= self._limit:
                    self._taken.append((now, tokens))
                    return
                await asyncio.sleep(self._taken[0][0] + self._period - now)


class Budget:
    """What may still be spent, in US dollars and tokens, counting the worst case of every call in flight."""

    def __init__(self, usd: float | None = None, tokens: int | None = None, spent_usd: float = 0.0, spent_tokens: int = 0) -> None:
        self.usd, self.tokens = usd, tokens
        self.spent_usd, self.spent_tokens = spent_usd, spent_tokens
        self.refused = False  # whether a call did not fit

    def reserve(self, usd: float | None, tokens: int) -> bool:
        """Take the worst case of a call out of the budget; False, with nothing taken, if that could exceed it."""
        dear = self.usd is not None and (usd is None or self.spent_usd + usd > self.usd)
        if dear or (self.tokens is not None and self.spent_tokens + tokens > self.tokens):
            self.refused = True
            return False
        self.spent_usd += usd or 0.0
        self.spent_tokens += tokens
        return True

    def settle(self, usd: float | None, tokens: int, usage: Usage) -> None:
        """Put back what a call did not use; a call whose usage is unknown keeps its worst case."""
        if usd is not None and usage.cost_usd is not None:
            self.spent_usd += usage.cost_usd - usd
        if usage.input_tokens is not None and usage.output_tokens is not None:
            self.spent_tokens += usage.input_tokens + usage.output_tokens - tokens
