"""Limits that everything in a process shares: those of each provider, and a budget."""

import asyncio
import math
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from asyncio_throttle import Throttler

from delibsim.domain.cost import dollars
from delibsim.domain.errors import phrase
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
            raise ValueError(phrase("limits_from_1"))
        amounts = (self.longest_wait, self.budget_usd or 0, self.budget_tokens or 0)
        if not all(0 <= amount < math.inf for amount in amounts):
            raise ValueError(
                "longest_wait, budget_usd and budget_tokens are finite numbers of 0 or more"
            )


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
    async def enter(
        self, worst: Usage, model: str = "", wanted: Callable[[], bool] = lambda: True
    ) -> AsyncGenerator[Callable[[Usage], None]]:
        """Wait for the model to be ready, for a seat, for tokens and for a request; hold the seat
        during the call.

        Yields a function that notes the tokens that the call used; if it is not called, the call
        counts with all of `worst`. A call that is not `wanted` any more will not be sent, and waits
        for nothing but a seat.
        """
        while True:
            if (wait := self._wait(model)) > 0 and wanted():
                await asyncio.sleep(wait)
            async with self._seats:
                # If the model was closed while this call waited, the seat is for calls to others.
                if self._wait(model) > 0 and wanted():
                    continue
                taken = await self._tokens.take(worst) if self._tokens and wanted() else None
                if self._requests:
                    await self._requests.take(wanted)
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

    async def take(self, wanted: Callable[[], bool] = lambda: True) -> None:
        """Wait for one request's turn; a request that is not wanted any more takes none."""
        async with self._line:  # so that requests go in the order in which they came
            if wanted():
                await self._throttler.acquire()


@dataclass(frozen=True)
class Overrun:
    """By how much calls exceeded their worst case: by this factor, or from 0 to this number."""

    factor: float = 1.0
    number: float = 0.0

    def after(self, worst: float, used: float) -> "Overrun":
        """What is known after a call that could use `worst` and used so much."""
        if used <= worst * self.factor:
            return self
        if worst:
            return replace(self, factor=used / worst)
        return replace(self, number=max(self.number, used))

    def of(self, worst: float) -> float:
        """The worst case of a later call."""
        return max(worst * self.factor, self.number)


@dataclass(frozen=True)
class Overruns:
    """By how much the calls of one model have exceeded their worst case, in US dollars and in
    tokens.
    """

    usd: Overrun = Overrun()
    tokens: Overrun = Overrun()

    def after(self, worst: Usage, used: Usage) -> "Overruns":
        """What is known after a call; what is unknown of it shows nothing."""
        usd, tokens = self.usd, self.tokens
        if worst.cost_usd is not None and used.cost_usd is not None:
            usd = usd.after(worst.cost_usd, used.cost_usd)
        expected, taken = tokens_of(worst), tokens_of(used)
        if expected is not None and taken is not None:
            tokens = tokens.after(expected, taken)
        return self if (usd, tokens) == (self.usd, self.tokens) else Overruns(usd, tokens)

    @property
    def most(self) -> float:
        """The larger of the two factors."""
        return max(self.usd.factor, self.tokens.factor)


@dataclass(eq=False)
class Reservation:
    """Tokens that count against a window: reserved for a call, then what it used."""

    when: float
    worst: Usage
    tokens: int
    counts: bool = True  # until the window has moved past it


class TokenWindow:
    """At most so many tokens in any sixty seconds.

    A call reserves what it may use and gives back what it did not. Once some calls have shown how
    much they use of what they may (of the estimated input the largest share, of output the largest
    number), that is reserved, and a fiftieth more: a call that uses more than any before it can
    exceed the limit by the difference. Where a call has used more than it was expected to use at
    most, more is reserved for all later ones. The largest that fits is let in, so that the gaps are
    left to the small, but whoever has waited for a whole window goes first. A call larger than the
    limit waits for an empty one.
    """

    def __init__(self, per_minute: int, period: float = MINUTE) -> None:
        self._limit, self._period = per_minute, period
        self._taken: deque[Reservation] = deque()  # in the order in which they were let in
        self._sum = 0  # of their tokens
        self._waiting: dict[asyncio.Future[Reservation], tuple[float, Usage]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._calls, self._share, self._longest = 0, 0.0, 0
        self._over = Overrun()  # of output

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
            self._over = self._over.after(taken.worst.output_tokens or 0, received)
        if taken.counts:
            self._sum += sent + received - taken.tokens
        taken.tokens = sent + received
        self._admit()

    def _expected(self, worst: Usage) -> int:
        """What is reserved for a call."""
        most_sent = max(1.0, self._share) * (worst.input_tokens or 0)
        most_received = self._over.of(worst.output_tokens or 0)
        if self._calls < LEARNED:
            return math.ceil(most_sent + most_received)
        sent = min(most_sent, 1.02 * self._share * (worst.input_tokens or 0))
        return math.ceil(sent + min(most_received, 1.02 * self._longest))

    def _admit(self) -> None:
        """Let in every call that fits now, and look again when the window moves on."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        while self._taken and self._taken[0].when <= now - self._period:
            past = self._taken.popleft()
            past.counts = False
            self._sum -= past.tokens
        for overdue, expected, place in self._in_line(now):
            if self._sum + expected <= self._limit or not self._taken:
                self._sum += expected
                taken = Reservation(now, self._waiting[place][1], expected)
                self._taken.append(taken)
                place.set_result(taken)
            elif overdue:
                break
        if self._timer:
            self._timer.cancel()
        waits = any(not place.done() for place in self._waiting)
        moves = (self._taken[0].when if self._taken else now) + self._period
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


@dataclass(frozen=True)
class HeldBudget:
    """What one call in flight takes of a budget, in US dollars and tokens: its worst case, raised
    by what earlier calls of its model have shown. `worst` is that case as it was estimated.
    """

    model: str
    usd: float | None
    tokens: int
    worst: Usage


class Budget:
    """What may still be spent, in US dollars and tokens, counting the worst of calls in flight.

    Where a call has used more than its worst case, the worst cases of all later calls to its model
    are raised by the same factor. So no more is spent than the budget and, of the calls that were
    in flight together, what each used above its own worst case.

    `spent_usd` is what earlier calls count with, `assumed_usd` the part of it that is the worst
    case of calls whose cost is not known; `overruns` says what earlier processes have seen of this.
    """

    def __init__(
        self,
        usd: float | None = None,
        tokens: int | None = None,
        spent_usd: float = 0.0,
        spent_tokens: int = 0,
        overruns: Mapping[str, Overruns] | None = None,
        assumed_usd: float = 0.0,
    ) -> None:
        self.usd, self.tokens = usd, tokens
        self.overruns = dict(overruns or {})
        self.refused = ""
        """What is left, and what the last call needs that did not fit; "" if all have fitted."""
        self.assumed_usd = assumed_usd
        self._paid_usd, self._paid_tokens = spent_usd, spent_tokens
        self._held_usd, self._held_tokens, self._in_flight = 0.0, 0, 0

    @property
    def spent_usd(self) -> float:
        """US dollars that are spent, or held for calls in flight."""
        return self._paid_usd + self._held_usd

    @property
    def spent_tokens(self) -> int:
        """Tokens that are spent, or held for calls in flight."""
        return self._paid_tokens + self._held_tokens

    def hopeless(self, model: str, worst: Usage) -> bool:
        """Whether a call could exceed the budget even if nothing were in flight; it never fits
        again.
        """
        held = self._held_for(model, worst)
        if not self._exceeds(held, self._paid_usd, self._paid_tokens):
            return False
        self.refused = self._shortfall(held)
        return True

    def reserve(self, model: str, worst: Usage) -> HeldBudget | None:
        """Take the worst case of a call, which is sent next, out of the budget; None, with nothing
        taken, if that could exceed it.
        """
        held = self._held_for(model, worst)
        if self._exceeds(held, self.spent_usd, self.spent_tokens):
            self.refused = self._shortfall(held)
            return None
        self._held_usd += held.usd or 0.0
        self._held_tokens += held.tokens
        self._in_flight += 1
        return held

    def settle(self, held: HeldBudget, used: Usage) -> None:
        """Count what a call used instead of what was held for it; what is unknown counts as it was
        held.
        """
        self._in_flight -= 1
        # Without a call in flight nothing is held; sums of fractions would leave a little.
        self._held_usd = self._held_usd - (held.usd or 0.0) if self._in_flight else 0.0
        self._held_tokens -= held.tokens
        usd, tokens = used.cost_usd, tokens_of(used)
        self.assumed_usd += (held.usd or 0.0) if usd is None else 0.0
        self._paid_usd += (held.usd or 0.0) if usd is None else usd
        self._paid_tokens += held.tokens if tokens is None else tokens
        known = self.overruns.get(held.model, Overruns())
        self.overruns[held.model] = known.after(held.worst, used)

    def assume(self, usd: float, tokens: int) -> None:
        """Count what a call may have cost at most of which nothing else is known."""
        self.assumed_usd, self._paid_usd = self.assumed_usd + usd, self._paid_usd + usd
        self._paid_tokens += tokens

    def _held_for(self, model: str, worst: Usage) -> HeldBudget:
        known = self.overruns.get(model, Overruns())
        usd = None if worst.cost_usd is None else known.usd.of(worst.cost_usd)
        return HeldBudget(model, usd, math.ceil(known.tokens.of(tokens_of(worst) or 0)), worst)

    def _exceeds(self, held: HeldBudget, usd: float, tokens: int) -> bool:
        dear = self.usd is not None and (held.usd is None or usd + held.usd > self.usd)
        return dear or (self.tokens is not None and tokens + held.tokens > self.tokens)

    def _shortfall(self, held: HeldBudget) -> str:
        """What a call that does not fit needs, and what is left, in words."""
        parts = []
        if self.usd is not None:
            need = "an unknown amount" if held.usd is None else f"{dollars(held.usd)} USD"
            reserved = self._held_usd + self.assumed_usd  # of calls in flight, or of unknown cost
            parts.append(
                f"of limits.budget_usd={self.usd:g} {dollars(self.spent_usd - reserved)} USD are"
                f" spent and {dollars(reserved)} reserved, and the next call may cost up to {need}"
            )
        if self.tokens is not None:
            parts.append(
                f"of limits.budget_tokens={self.tokens} {self.spent_tokens:,} are spent or"
                f" reserved, and the next call may take up to {held.tokens:,}"
            )
        return f"{'; '.join(parts)}; a larger budget lets it go on"


def tokens_of(usage: Usage) -> int | None:
    """Tokens in both directions; None if one of them is unknown."""
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return usage.input_tokens + usage.output_tokens
