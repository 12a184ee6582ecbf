"""How far a study is while it is held: sessions, calls a minute, money and time, also in words."""

import time
from collections import Counter, deque
from collections.abc import Sequence

from delibsim.conduct.outcome import Observer, SessionOutcome
from delibsim.domain.run import Session
from delibsim.domain.text import counted
from delibsim.engine.agenda import Event
from delibsim.models.pool import ModelPool
from delibsim.models.replay import Exchange

MINUTE = 60.0  # seconds over which calls and tokens are counted


class StudyProgress(Observer):
    """Counts sessions by combination of models, and calls; `held_before` sessions have a run
    already.

    It is read and written by one thread, that of the event loop which holds the sessions.
    """

    def __init__(self, sessions: Sequence[Session], pool: ModelPool, held_before: int = 0) -> None:
        self.pool = pool
        self.started = time.monotonic()
        self.held_before, self.total = held_before, held_before + len(sessions)
        self.combinations = {session.id: "+".join(session.models) for session in sessions}
        self.planned = Counter(self.combinations.values())
        self.done: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.running: set[str] = set()
        self.calls = 0
        self.asked = 0  # calls of the sessions that are over
        self.faults: Counter[str] = Counter()
        self.last_failure = ""
        # A second, the calls that came back in it, their tokens: a sum, as calls are thousands.
        self._recent: deque[tuple[int, int, int]] = deque()

    def on_event(self, event: Event) -> None:
        """Count a session that has begun."""
        self.running.add(event.session)

    def on_exchange(self, exchange: Exchange) -> None:
        """Count a call that came back."""
        self.calls += 1
        completion = exchange.completion
        if completion.status != "ok":
            self.faults[completion.status] += 1
        tokens = (completion.usage.input_tokens or 0) + (completion.usage.output_tokens or 0)
        second, calls = int(time.monotonic()), 1
        if self._recent and self._recent[-1][0] == second:
            _, before, known = self._recent.pop()
            calls, tokens = calls + before, tokens + known
        self._recent.append((second, calls, tokens))
        self._forget()

    def on_session(self, outcome: SessionOutcome) -> None:
        """Count a session that is over."""
        session = outcome.session.id
        self.asked += outcome.asked
        self.running.discard(session)
        if outcome.status:
            self.done[self.combinations[session]] += 1
        else:
            self.failed[self.combinations[session]] += 1
            self.last_failure = f"{session}: {outcome.fault}"

    @property
    def finished(self) -> int:
        """How many sessions have a run, those that were held before included."""
        return self.held_before + self.done.total()

    @property
    def seconds(self) -> float:
        """Seconds since the sessions began to be held."""
        return time.monotonic() - self.started

    def pace(self) -> tuple[float, float]:
        """Calls and tokens a minute, over the last minute."""
        self._forget()
        share = min(MINUTE, max(1.0, self.seconds)) / MINUTE
        calls = sum(n for _, n, _ in self._recent)
        tokens = sum(n for _, _, n in self._recent)
        return calls / share, tokens / share

    def sessions_left(self) -> int:
        """How many sessions are not over."""
        return self.total - self.finished - self.failed.total()

    def seconds_left(self) -> float | None:
        """An estimate of the seconds until the last session is over; None before the first is.

        Sessions are held side by side: those that are under way count half.
        """
        done, half = self.done.total(), len(self.running) / 2
        if not done:
            return None
        return self.seconds / (done + half) * (self.sessions_left() - half)

    def line(self) -> str:
        """How the study stands, in one line."""
        parts = [f"{len(self.running)} running"]
        if failed := self.failed.total():
            parts.append(f"{failed} failed")
        if waiting := sum(self.pool.retrying().values()):
            parts.append(f"{counted(waiting, 'call')} waiting to be tried again")
        return ", ".join([self._sessions(), *parts, *self._calls(), *self._money(), self._time()])

    def totals(self) -> str:
        """The same without what stands in the table by combination of models."""
        return ", ".join([self._sessions(), *self._calls(), *self._money(), self._time()])

    def workers_line(self, workers: int) -> str:
        """How the study stands by what so many workers have reported."""
        parts = [self._sessions(), counted(workers, "worker")]
        if failed := self.failed.total():
            parts.append(f"{failed} failed")
        return ", ".join(
            [*parts, f"{counted(self.asked, 'call')} of sessions that are over", self._time()]
        )

    def table(self) -> list[tuple[str, int, int, int, int, int]]:
        """For each combination of models how many sessions are done, planned, running and failed,
        and how many calls to its models wait to be tried again.
        """
        running = Counter(self.combinations[session] for session in self.running)
        retrying, rows = self.pool.retrying(), []
        for name, planned in self.planned.items():
            waiting = sum(retrying.get(model, 0) for model in name.split("+"))
            counts = (self.done[name], planned, running[name], self.failed[name], waiting)
            rows.append((name, *counts))
        return rows

    def _sessions(self) -> str:
        return f"{self.finished}/{self.total} sessions"

    def _calls(self) -> list[str]:
        limits, (calls, tokens) = self.pool.limits, self.pace()
        a_minute = f"{calls:,.0f}{_of(limits.requests_per_minute)} a minute"
        parts = [counted(self.calls, "call"), a_minute]
        if tokens:
            parts.append(f"{tokens:,.0f}{_of(limits.tokens_per_minute)} tokens a minute")
        return parts + [f"{n} {status}" for status, n in self.faults.most_common()]

    def _money(self) -> list[str]:
        """What is spent, with the worst case of calls in flight, so that it keeps to the budget."""
        budget, parts = self.pool.budget, []
        if budget.usd is not None:
            parts.append(f"{budget.spent_usd:.2f} of {budget.usd:g} USD spent or reserved")
        elif budget.spent_usd:
            parts.append(f"{budget.spent_usd:.2f} USD spent or reserved")
        if budget.tokens is not None:
            spent = f"{budget.spent_tokens:,} of {budget.tokens:,}"
            parts.append(f"{spent} tokens reserved or spent")
        return parts

    def _time(self) -> str:
        if not self.sessions_left():
            return f"{_clock(self.seconds)} in all"
        left = self.seconds_left()
        return f"{_clock(self.seconds)} so far" if left is None else f"about {_clock(left)} left"

    def _forget(self) -> None:
        """Leave out the calls that came back more than a minute ago."""
        since = time.monotonic() - MINUTE
        while self._recent and self._recent[0][0] < since:
            self._recent.popleft()


def _of(limit: int | None) -> str:
    return f" of {limit:,}" if limit else ""


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
