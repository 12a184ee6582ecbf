"""Limits that everything in a process shares: those of each provider, and a budget."""

import asyncio
import math
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from asyncio_throttle import Throttler

from delibsim.models.base import Usage

MINUTE = 60.5
"""Seconds; half of one more, because the provider's clock and ours need not agree on where a minute
begins.
"""
LEARNED = 20
"""Calls after which their use of tokens is taken for typical."""


@dataclass(frozen=True)
class Limits:
    """What a study may use. None is no limit.

    `concurrency` calls in flight, `requests_per_minute` and `tokens_per_minute` for each provider;
    `tries` attempts a call, `longest_wait` seconds between two of them; `budget_usd` and
    `budget_tokens` for the whole process. `workers` processes share all this where a launcher
    starts several (None: as many as this machine has cores). With `durable` every line of a log is
    on the disk before its answer is used.
    """

    concurrency: int = 16
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    tries: int = 6
    longest_wait: float = 120.0
    budget_usd: float | None = None
    budget_tokens: int | None = None
    workers: int | None = None
    durable: bool = False

    def __post_init__(self) -> None:
        """Refuse limits that let nothing through."""
        per_minute = (self.requests_per_minute, self.tokens_per_minute)
        counts = (self.concurrency, self.tries, self.workers, *per_minute)
        if any(count is not None and count < 1 for count in counts):
            raise ValueError(
                "concurrency, tries, requests_per_minute, tokens_per_minute and workers are 1 or"
                " more"
            )
        if min(self.longest_wait, self.budget_usd or 0, self.budget_tokens or 0) < 0:
            raise ValueError("longest_wait, budget_usd and budget_tokens are 0 or more")


class Gate:
    """The limits of one provider: lets calls through as fast as they allow, in the order in which
    they came.
    """

    def __init__(self, limits: Limits) -> None:
        requests, tokens = limits.requests_per_minute, limits.tokens_per_minute
        self._seats = asyncio.Semaphore(limits.concurrency)
        self._requests = RateLimiter(requests) if requests else None
        self._tokens = TokenWindow(tokens) if tokens else None
        self._closed_until: dict[str, float] = {}

    @asynccontextmanager
    async def enter(self, worst: Usage, model: str = "") -> AsyncGenerator[Callable[[Usage], None]]:
        """Wait for the model to be ready, for a seat, for tokens and for a request; hold the seat
        during the call.

        Yields a function that notes the tokens that the call used; if it is not called, the call
        counts with all of `worst`.
        """
        while True:
            if (wait := self._wait(model)) > 0:
                await asyncio.sleep(wait)
            async with self._seats:
                # If the model was closed while this call waited, the seat is for calls to others.
                if self._wait(model) > 0:
                    continue
                taken = await self._tokens.take(worst) if self._tokens else None
                if self._requests:
                    await self._requests.take()
                if taken:  # counts from now, when it is sent
                    taken.when = asyncio.get_running_loop().time()
                yield partial(self._settle, taken)
                return

    def _settle(self, taken: "Reservation | None", used: Usage) -> None:
        if self._tokens and taken:
            self._tokens.settle(taken, used)

    def _wait(self, model: str) -> float:
        return self._closed_until.get(model, 0.0) - asyncio.get_running_loop().time()

    def close_for(self, seconds: float, model: str = "") -> None:
        """Let no call to a model through for so many seconds from now; the newest call counts."""
        self._closed_until[model] = asyncio.get_running_loop().time() + seconds


class RateLimiter:
    """At most so many requests in any minute, spread evenly: providers count by the second too."""

    def __init__(self, per_minute: int, period: float = MINUTE) -> None:
        together = max(1, per_minute // 60)
        span = period / (per_minute // together)
        self._throttler = Throttler(together, span, retry_interval=span / 100)
        self._line = asyncio.Lock()

    async def take(self) -> None:
        """Wait for one request's turn."""
        async with self._line:  # so that requests go in the order in which they came
            await self._throttler.acquire()


@dataclass(eq=False)
class Reservation:
    """Tokens that count against a window: reserved for a call, then what it used."""

    when: float
    worst: Usage
    tokens: int


class TokenWindow:
    """At most so many tokens in any sixty seconds.

    A call reserves what it may use and gives back what it did not. Once some calls have shown how
    much they use of what they may (of the estimated input the largest share, of output the largest
    number), that is reserved, and a fiftieth more: a call that uses more than any before it can
    exceed the limit by the difference. The largest that fits is let in, so that the gaps are left
    to the small, but whoever has waited for a whole window goes first. A call larger than the limit
    waits for an empty one.
    """

    def __init__(self, per_minute: int, period: float = MINUTE) -> None:
        self._limit, self._period = per_minute, period
        self._taken: list[Reservation] = []
        self._waiting: dict[asyncio.Future[Reservation], tuple[float, Usage]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._calls, self._share, self._longest = 0, 0.0, 0

    async def take(self, worst: Usage) -> Reservation:
        """Wait until the tokens fit into the window, and take them."""
        loop = asyncio.get_running_loop()
        place: asyncio.Future[Reservation] = loop.create_future()
        self._waiting[place] = loop.time(), worst
        self._admit()
        try:
            return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.settle(place.result(), Usage(input_tokens=0, output_tokens=0))
            raise
        finally:
            self._waiting.pop(place, None)

    def settle(self, taken: Reservation, used: Usage) -> None:
        """Count what a call used instead of what was reserved for it."""
        sent, received = used.input_tokens or 0, used.output_tokens or 0
        if sent:
            self._calls += 1
            self._share = max(self._share, sent / (taken.worst.input_tokens or sent))
            self._longest = max(self._longest, received)
        taken.tokens = sent + received
        self._admit()

    def _expected(self, worst: Usage) -> int:
        """What is reserved for a call."""
        most_sent, most_received = worst.input_tokens or 0, worst.output_tokens or 0
        if self._calls < LEARNED:
            return most_sent + most_received
        sent = min(most_sent, 1.02 * self._share * most_sent)
        return math.ceil(sent + min(most_received, 1.02 * self._longest))

    def _admit(self) -> None:
        """Let in every call that fits now, and look again when the window moves on."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        self._taken = [taken for taken in self._taken if taken.when > now - self._period]
        free = self._limit - sum(taken.tokens for taken in self._taken)
        for overdue, expected, place in self._in_line(now):
            if expected <= free or not self._taken:
                free -= expected
                taken = Reservation(now, self._waiting[place][1], expected)
                self._taken.append(taken)
                place.set_result(taken)
            elif overdue:
                break
        if self._timer:
            self._timer.cancel()
        waits = any(not place.done() for place in self._waiting)
        moves = min((taken.when for taken in self._taken), default=now) + self._period
        self._timer = loop.call_at(moves + 0.001, self._admit) if waits else None

    def _in_line(self, now: float) -> list[tuple[bool, int, asyncio.Future[Reservation]]]:
        """The calls that wait, as they are to be let in: whether each is overdue, and the tokens it
        reserves. Those overdue come first, in their order; then the largest.
        """
        waiting = [
            (now - since > self._period, self._expected(worst), place)
            for place, (since, worst) in self._waiting.items()
            if not place.done()
        ]
        return sorted(waiting, key=lambda call: (not call[0], 0 if call[0] else -call[1]))


class Budget:
    """What may still be spent, in US dollars and tokens, counting the worst of calls in flight."""

    def __init__(
        self,
        usd: float | None = None,
        tokens: int | None = None,
        spent_usd: float = 0.0,
        spent_tokens: int = 0,
    ) -> None:
        self.usd, self.tokens = usd, tokens
        self.spent_usd, self.spent_tokens = spent_usd, spent_tokens
        self.refused = False  # whether a call did not fit

    def reserve(self, usd: float | None, tokens: int) -> bool:
        """Take the worst case of a call out of the budget; False, with nothing taken, if that could
        exceed it.
        """
        dear = self.usd is not None and (usd is None or self.spent_usd + usd > self.usd)
        long = self.tokens is not None and self.spent_tokens + tokens > self.tokens
        if dear or long:
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
