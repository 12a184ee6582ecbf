"""Holding a study from the command line: what is shown meanwhile, and printed at the end."""

import asyncio
import contextlib
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import asdict
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from delibsim.analysis.table import numbers, texts
from delibsim.cli.table import table_lines
from delibsim.cli.terminal import brief, console, echo_json, print_each, safe, shown
from delibsim.conduct.cost import money_of
from delibsim.conduct.forks import Branches, prepare_branches
from delibsim.conduct.outcome import (
    Observer,
    SessionOutcome,
    SessionProgress,
    StudyProgress,
    causes_of,
    exit_code,
    failures,
    logs_of,
    report,
    report_in_words,
)
from delibsim.conduct.study import Prepared, hold_prepared, prepare
from delibsim.domain.run import Session
from delibsim.domain.text import counted, study_named
from delibsim.domain.transcript import Silence, Statement
from delibsim.engine.agenda import Event
from delibsim.models.replay import Exchange
from delibsim.planning.compose import StudyPlan
from delibsim.planning.effects import effects_of
from delibsim.store.places import account_of
from delibsim.store.runs import Runs


def printer(screen: Console) -> Callable[[str], None]:
    """Prints notices, made safe for a terminal."""
    return lambda text: screen.print(safe(text), soft_wrap=True)


def hold(plan: StudyPlan, runs: Runs, screen: Console, quiet: bool) -> list[SessionOutcome]:
    """Hold the sessions of a plan that have no run yet, in this process or with the launcher it
    names.
    """
    if plan.sweep.launcher == "delibsim" and not plan.sweep.launcher_overrides:
        return asyncio.run(hold_shown(prepare(plan, runs, printer(screen)), screen, quiet))
    return _hold_in_workers(plan, runs, screen, quiet)


async def hold_shown(
    preparing: Awaitable[Prepared], screen: Console, quiet: bool
) -> list[SessionOutcome]:
    """Hold what is prepared, and show how it stands meanwhile."""
    prepared = await preparing
    if not prepared.waiting:
        return list(prepared.held)
    view: ProgressView = StudyView(prepared, screen, quiet)
    if len(prepared.plan.sessions) == 1:
        view = SessionView(prepared.plan.session, screen, quiet)
    with view:
        ticking = asyncio.create_task(keep_ticking(view))
        try:
            return await hold_prepared(prepared, view.observer)
        finally:
            ticking.cancel()


def hold_branches(found: Branches, quiet: bool) -> list[SessionOutcome]:
    """Hold the branches of a run that have no run yet."""
    screen = console(stderr=True)
    preparing = prepare_branches(found, printer(screen))
    return asyncio.run(hold_shown(preparing, screen, quiet))


def _hold_in_workers(
    plan: StudyPlan, runs: Runs, screen: Console, quiet: bool
) -> list[SessionOutcome]:
    """Hold a study in several processes; KeyboardInterrupt where it was stopped."""
    # Hydra takes a while to import, and few need it.
    from delibsim.conduct.launch.workers import hold_in_workers, launching, prepare_workers

    notify = printer(screen)
    prepared = asyncio.run(prepare_workers(plan, runs, notify))
    if not prepared.waiting:
        return list(prepared.held)
    with launching(prepared, notify) as launch:
        view = WorkersView(prepared, len(launch.limits), screen, quiet)
        with view, _stop_in_order(launch.stop, screen):
            outcomes = hold_in_workers(prepared, launch, view.observer, notify, view.tick)
    if launch.stopped:
        raise KeyboardInterrupt
    return outcomes


@contextlib.contextmanager
def _stop_in_order(stop: Callable[[], None], screen: Console) -> Generator[None]:
    """Let the first interruption stop the workers, and only the second end this process at once."""

    def first(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stop()
        text = "The workers are stopping; a second interruption leaves at once."
        screen.print(text, soft_wrap=True)

    before = signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def conclude(plan: StudyPlan, outcomes: Sequence[SessionOutcome], runs: Runs, as_json: bool) -> int:
    """Print what came of a plan; the exit code."""
    result = report(plan, outcomes) | effects_of(plan.sessions).plain()
    account, spent = account_of(runs), money_of(runs, plan.sessions)
    logs = logs_of(runs, outcomes)
    result["not_begun"] = len(account.not_begun)
    result["folder"] = shown(runs.folder)
    if as_json:
        plain = {"money": asdict(spent), "causes": [one.plain() for one in causes_of(logs)]}
        echo_json(result | plain)
    else:
        print_each(report_in_words(result, account.notice(), spent, logs), console())
    return exit_code(outcomes)


def told(found: Branches, outcomes: Sequence[SessionOutcome], what: tuple[str, str]) -> list[str]:
    """What came of holding branches, in sentences; `what` is the noun, singular and plural."""
    planned, runs = found.plan, found.runs
    result = report(planned, outcomes)
    states = ", ".join(f"{n} {state}" for state, n in result["states"].items() if n)
    lines = [f"{study_named(planned.study)}: {counted(result['sessions'], *what)}, {states}"]
    asked, before = result["calls_asked_now"], result["held_before"]
    lines.append(f"{before} held before; {counted(asked, 'call')} asked now.")
    lines += failures(result["failed"], logs_of(runs, outcomes))
    return [*lines, f"money: {money_of(runs, planned.sessions)}"]


TICK = 0.25  # seconds between two ticks
BETWEEN = 10.0  # seconds between two lines where there is no terminal


class ProgressView(ABC):
    """Paints on a terminal at every tick how something stands; elsewhere prints a line at times.

    The screen is that of stderr, so that what a command prints stays clean.
    """

    observer: Observer
    """Learns what is to be shown."""

    def __init__(self, screen: Console, quiet: bool, live: bool = True) -> None:
        self.screen, self.quiet = screen, quiet
        self.started = self._printed = time.monotonic()
        self._live = None
        if live and screen.is_terminal and not quiet:
            # A thread of its own would read what is shown while it changes.
            self._live = Live(console=screen, auto_refresh=False, get_renderable=self.render)

    @abstractmethod
    def render(self) -> RenderableType:
        """What is painted now."""

    def line(self) -> str:
        """How it stands, in one line; "" where lines are printed otherwise."""
        return ""

    def tick(self) -> None:
        """Show how it stands now."""
        if self._live:
            self._live.refresh()
        elif time.monotonic() - self._printed >= BETWEEN:
            self._print_line()

    def _print_line(self) -> None:
        self._printed = time.monotonic()
        line = self.line()
        if line and not self.quiet:
            self.screen.print(line, soft_wrap=True)

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live:
            self._live.stop()
        else:
            self._print_line()


async def keep_ticking(view: ProgressView) -> None:
    """Let a view tick until this task is cancelled."""
    while True:
        await asyncio.sleep(TICK)
        view.tick()


LONGEST = 1_500  # characters of a statement that are shown


class SessionView(ProgressView, Observer):
    """Shows phase, speaker, what is said, calls and time."""

    def __init__(self, session: Session, screen: Console, quiet: bool = False) -> None:
        self.session, self.observer = session, self
        self.progress = SessionProgress(session)
        self.now = Text("")
        self.last = Text("")
        # A person who is asked at this terminal needs it whole.
        asks = any(settings.get("kind") == "human" for settings in session.voices.values())
        super().__init__(screen, quiet, live=not asks)

    def on_event(self, event: Event) -> None:
        """Take note of who is asked, or of what was said."""
        self.progress.on_event(event)
        if not event.done:
            self.now = Text(self.progress.asked(event))
            return
        if isinstance(event.said, Statement):
            self.last = Text(f"{event.participant}: {brief(event.said.text, LONGEST)[0]}")
        elif isinstance(event.said, Silence):
            self.last = Text(f"{event.participant} said nothing that counts: {event.said.status}")
        line = self.progress.line(event)
        if line and not self.quiet and not self._live:
            self.screen.print(f"{self.progress.seconds:6.1f}s  {safe(line)}")

    def on_exchange(self, exchange: Exchange) -> None:
        """Count a call that came back."""
        self.progress.on_exchange(exchange)

    def render(self) -> Panel:
        """Phases, who is asked now, what was said last, and calls."""
        phases = Text()
        for name, done, planned in self.progress.phases():
            begun = "bold" if done else "dim"
            style = "green" if planned and done == planned else begun
            phases.append(f"{name} {done}/{planned}   ", style=style)
        foot = Text(f"{self.progress.calls()}, {self.progress.seconds:.1f} s", style="dim")
        lines = Group(phases, self.now, self.last, foot)
        return Panel(lines, title=self.session.id, title_align="left")


HEADS = ("done", "of", "running", "failed", "to be tried again")


class StudyView(ProgressView):
    """Shows sessions by combination of models, calls and tokens a minute, money and time left."""

    def __init__(self, prepared: Prepared, screen: Console, quiet: bool = False) -> None:
        self.progress = StudyProgress(prepared.waiting, prepared.pool, len(prepared.held))
        self.observer = self.progress
        super().__init__(screen, quiet)

    def line(self) -> str:
        """How it stands, in one line."""
        return self.progress.line()

    def render(self) -> RenderableType:
        """The table, the totals, and the last failure."""
        columns = [*texts("models"), *numbers(HEADS)]
        rows = []
        for combination, *counts in self.progress.table():
            # The models may stand on several lines, each whole.
            models = safe(combination).replace("+", " + ")
            rows.append([models, *(str(n) if n else "-" for n in counts)])
        lines = table_lines(columns, rows, self.screen.width, self.screen)
        table = Group(*(Text(line, style=style) for line, style in lines))
        failure = self.progress.last_failure
        last = f"last failure: {safe(failure)}" if failure else ""
        return Group(table, Text(self.progress.totals(), style="dim"), Text(last, style="dim"))


class WorkersView(StudyView):
    """Shows, in one line, what the workers have reported."""

    def __init__(self, prepared: Prepared, workers: int, screen: Console, quiet: bool) -> None:
        self.workers = workers
        super().__init__(prepared, screen, quiet)

    def line(self) -> str:
        """How it stands, in one line."""
        return self.progress.workers_line(self.workers)

    def render(self) -> RenderableType:
        """The line."""
        return Text(self.line(), style="dim")
