"""A study while it is held: a table by combination of models on a terminal, a line now and then
elsewhere.
"""

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from delibsim.cli.terminal import safe
from delibsim.cli.view import View
from delibsim.conduct.progress import StudyProgress
from delibsim.conduct.study import Prepared

HEADS = ("done", "of", "running", "failed", "to be tried again")


class StudyView(View):
    """Shows sessions by combination of models, calls and tokens a minute, money and time left."""

    def __init__(self, prepared: Prepared, screen: Console, quiet: bool = False) -> None:
        self.pool = prepared.pool
        self.progress = StudyProgress(prepared.waiting, len(prepared.held))
        self.observer = self.progress
        super().__init__(screen, quiet)

    def line(self) -> str:
        """How it stands, in one line."""
        parts = [f"{len(self.progress.running)} running"]
        if failed := self.progress.failed.total():
            parts.append(f"{failed} failed")
        if waiting := sum(self.pool.retrying().values()):
            parts.append(f"{waiting} calls waiting to be tried again")
        return ", ".join([self._sessions(), *parts, self._pace(), *self._money(), self._time()])

    def render(self) -> RenderableType:
        """The table, the totals, and the last failure."""
        foot = ", ".join([self._sessions(), self._pace(), *self._money(), self._time()])
        failure = self.progress.last_failure
        return Group(
            self._table(),
            Text(foot, style="dim"),
            Text(f"last failure: {safe(failure)}" if failure else "", style="dim"),
        )

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False)
        table.add_column("models", overflow="fold")
        for head in HEADS:
            table.add_column(head, justify="right")
        progress = self.progress
        running, retrying = progress.running_by_combination(), self.pool.retrying()
        for combination, planned in progress.planned.items():
            again = sum(retrying.get(model, 0) for model in combination.split("+"))
            done, failed = progress.done[combination], progress.failed[combination]
            numbers = (done, planned, running[combination], failed, again)
            table.add_row(safe(combination), *(str(n) if n else "-" for n in numbers))
        return table

    def _sessions(self) -> str:
        return f"{self.progress.finished}/{self.progress.total} sessions"

    def _pace(self) -> str:
        limits, (calls, tokens) = self.pool.limits, self.progress.pace()
        most = _of(limits.requests_per_minute)
        parts = [f"{self.progress.calls:,} calls", f"{calls:,.0f}{most} a minute"]
        if tokens:
            parts.append(f"{tokens:,.0f}{_of(limits.tokens_per_minute)} tokens a minute")
        parts += [f"{n} {status}" for status, n in self.progress.faults.most_common()]
        return ", ".join(parts)

    def _money(self) -> list[str]:
        """What is spent, with the worst case of the calls in flight, so that it never exceeds the
        budget.
        """
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
        if not self.progress.sessions_left():
            return f"{_clock(self.progress.seconds)} in all"
        left = self.progress.seconds_left()
        return (
            f"{_clock(self.progress.seconds)} so far"
            if left is None
            else f"about {_clock(left)} left"
        )


class WorkersView(StudyView):
    """Shows, in one line, what the workers have reported."""

    def __init__(self, prepared: Prepared, workers: int, screen: Console, quiet: bool) -> None:
        self.workers = workers
        super().__init__(prepared, screen, quiet)

    def line(self) -> str:
        """How it stands, in one line."""
        parts = [f"{self.workers} workers"]
        if failed := self.progress.failed.total():
            parts.append(f"{failed} failed")
        calls = f"{self.progress.asked:,} calls of sessions that are over"
        return ", ".join([self._sessions(), *parts, calls, self._time()])

    def render(self) -> RenderableType:
        """The line."""
        return Text(self.line(), style="dim")


def _of(limit: int | None) -> str:
    return f" of {limit:,}" if limit else ""


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
