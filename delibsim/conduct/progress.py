"""How far a study is while it is held: sessions, calls and tokens a minute, failures, time left."""

import time
from collections import Counter, deque
from collections.abc import Sequence

from delibsim.conduct.observe import Observer
from delibsim.conduct.outcome import Outcome
from delibsim.domain.run import Session
from delibsim.engine.forum import Event
from delibsim.models.replay import Exchange

MINUTE = 60.0  # seconds over which calls and tokens are counted


class StudyProgress(Observer):
    """Counts sessions by combination of models, and calls; `held_before` sessions have a run
    already.

    It is read and written by one thread, that of the event loop which holds the sessions.
    """

    def __init__(self, sessions: Sequence[Session], held_before: int = 0) -> None:
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
        self._recent: deque[tuple[float, int]] = deque()  # when a call came back, and its tokens

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
        self._recent.append((time.monotonic(), tokens))
        self._forget()

    def on_session(self, outcome: Outcome) -> None:
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

    def running_by_combination(self) -> Counter[str]:
        """How many sessions are under way, by combination of models."""
        return Counter(self.combinations[session] for session in self.running)

    def pace(self) -> tuple[float, float]:
        """Calls and tokens a minute, over the last minute."""
        self._forget()
        share = min(MINUTE, max(1.0, self.seconds)) / MINUTE
        tokens = sum(n for _, n in self._recent)
        return len(self._recent) / share, tokens / share

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

    def _forget(self) -> None:
        """Leave out the calls that came back more than a minute ago."""
        since = time.monotonic() - MINUTE
        while self._recent and self._recent[0][0] < since:
            self._recent.popleft()
