"""Watching a study while it is held: a live table by set-up of models on a terminal, a plain line
now and then elsewhere.
"""

import time
from collections import Counter, deque
from collections.abc import Sequence
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live as RichLive
from rich.table import Table
from rich.text import Text

from delibsim.cli.terminal import safe
from delibsim.conduct.hold import Outcome
from delibsim.domain.run import Session
from delibsim.engine.forum import Event
from delibsim.models.pool import ModelPool
from delibsim.models.replay import Exchange

EVERY = 10.0  # seconds between two lines where there is no terminal
MINUTE = 60.0


class Progress:
    """Shows what is done, running, failed and retried by set-up, calls and tokens a minute, money,
    and the time left; on stderr.
    """

    def __init__(
        self,
        sessions: Sequence[Session],
        before: int,
        voices: ModelPool,
        screen: Console,
        quiet: bool = False,
    ) -> None:
        self.voices, self.screen, self.quiet = voices, screen, quiet
        self.started = self.told = time.monotonic()
        self.before, self.total = before, before + len(sessions)
        self.setups = {session.id: "+".join(session.models) for session in sessions}
        self.planned = Counter(self.setups.values())
        self.done: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.running: set[str] = set()
        self.calls, self.faults = 0, Counter[str]()
        self.minute: deque[tuple[float, int]] = deque()  # when a call came back, and its tokens
        self.last = ""
        self._rich = (
            RichLive(console=screen, refresh_per_second=4, get_renderable=self._view)
            if screen.is_terminal and not quiet
            else None
        )

    def __enter__(self) -> "Progress":
        if self._rich:
            self._rich.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._rich:
            self._rich.stop()
        elif not self.quiet:
            self.screen.print(self.line(), soft_wrap=True)

    def watch(self, moment: Event) -> None:
        """Take note that a session has begun."""
        self.running.add(moment.session)

    def heed(self, exchange: Exchange) -> None:
        """Take note of a call that came back."""
        self.calls += 1
        completion = exchange.completion
        if completion.status != "ok":
            self.faults[completion.status] += 1
        now = time.monotonic()
        self.minute.append(
            (now, (completion.usage.input_tokens or 0) + (completion.usage.output_tokens or 0))
        )
        while self.minute[0][0] < now - MINUTE:
            self.minute.popleft()
        self._now_and_then(now)

    def tell(self, held: Outcome) -> None:
        """Take note of a session that is over."""
        session, setup = held.session.id, self.setups[held.session.id]
        self.running.discard(session)
        if held.status:
            self.done[setup] += 1
        else:
            self.failed[setup] += 1
            self.last = f"{session}: {held.fault}"
        self._now_and_then(time.monotonic())

    def line(self) -> str:
        """How it stands, in one line."""
        parts = [f"{self._finished()}/{self.total} sessions", f"{len(self.running)} running"]
        parts += [f"{failed} failed"] if (failed := self.failed.total()) else []
        parts += (
            [f"{waiting} calls waiting to be tried again"]
            if (waiting := sum(self.voices.retrying().values()))
            else []
        )
        return ", ".join([*parts, self._pace(), *self._money(), self._left()])

    def _now_and_then(self, now: float) -> None:
        if not self._rich and not self.quiet and now - self.told >= EVERY:
            self.told = now
            self.screen.print(self.line(), soft_wrap=True)

    def _finished(self) -> int:
        return self.before + self.done.total()

    def _pace(self) -> str:
        limits, seconds = self.voices.limits, min(MINUTE, max(1.0, time.monotonic() - self.started))
        calls, tokens = (
            len(self.minute) * MINUTE / seconds,
            sum(n for _, n in self.minute) * MINUTE / seconds,
        )
        most = [
            f" of {limit:,}" if limit else ""
            for limit in (limits.requests_per_minute, limits.tokens_per_minute)
        ]
        paced = f"{self.calls:,} calls, {calls:,.0f}{most[0]} a minute" + (
            f", {tokens:,.0f}{most[1]} tokens a minute" if tokens else ""
        )
        return paced + "".join(f", {n} {status}" for status, n in self.faults.most_common())

    def _money(self) -> list[str]:
        budget = self.voices.budget
        most = f" of {budget.usd:g}" if budget.usd is not None else ""
        tokens = (
            [f"{budget.spent_tokens:,} of {budget.tokens:,} tokens reserved or spent"]
            if budget.tokens is not None
            else []
        )
        # The worst case of what is in flight is in it, so that it never grows beyond the cap.
        return (
            [f"{budget.spent_usd:.2f}{most} USD spent or reserved"]
            if budget.spent_usd or most
            else []
        ) + tokens

    def _left(self) -> str:
        finished, seconds = self.done.total(), time.monotonic() - self.started
        left = self.total - self.before - finished - self.failed.total()
        if left == 0:
            return f"{_clock(seconds)} in all"
        # Sessions run side by side: those that are under way count half.
        share = finished + len(self.running) / 2
        return (
            f"about {_clock(seconds / share * (left - len(self.running) / 2))} left"
            if finished
            else f"{_clock(seconds)} so far"
        )

    def _view(self) -> Group:
        table = Table(box=None, pad_edge=False)
        table.add_column("models", overflow="fold")
        for head in ("done", "of", "running", "failed", "to be tried again"):
            table.add_column(head, justify="right")
        running, retrying = (
            Counter(self.setups[session] for session in self.running),
            self.voices.retrying(),
        )
        for setup, planned in self.planned.items():
            again = sum(n for model, n in retrying.items() if model in setup.split("+"))
            numbers = (self.done[setup], planned, running[setup], self.failed[setup], again)
            table.add_row(safe(setup), *(str(n) if n else "-" for n in numbers))
        foot = ", ".join(
            [
                f"{self._finished()}/{self.total} sessions",
                self._pace(),
                *self._money(),
                self._left(),
            ]
        )
        return Group(
            table,
            Text(foot, style="dim"),
            Text(f"last failure: {safe(self.last)}" if self.last else "", style="dim"),
        )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
