"""Holding sessions in several processes from the command line: as `study.hold_plan` does, with one
of Hydra's launchers.
"""

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Generator, Sequence
from pathlib import Path
from types import TracebackType

from rich.console import Console, Group
from rich.text import Text

from delibsim.cli.progress import Progress
from delibsim.cli.study import cells_of, compared, held_before, say_edition, voices_for
from delibsim.cli.terminal import safe, shown
from delibsim.conduct.hold import Outcome
from delibsim.conduct.launch.hydra import Launch, check, held_as_told, most_workers, prepare, start
from delibsim.domain.run import Session
from delibsim.models.pool import ModelPool
from delibsim.models.retry import estimated_tokens
from delibsim.planning.compose import Plan
from delibsim.planning.presets import Presets
from delibsim.prompts.session import longest_prompt
from delibsim.store.runs import Runs

LOOK = 2.0  # seconds between two looks at what the workers have told


def launch_plan(plan: Plan, runs: Runs, screen: Console, quiet: bool) -> list[Outcome]:
    """Hold the sessions of a plan that have no run yet in several processes; WrongInput, before
    anything is begun, if that cannot be.

    KeyboardInterrupt where it was stopped. The folder is shared with the workers until the last of
    them has ended.
    """
    launcher, overrides = plan.sweep.launcher, plan.sweep.launcher_overrides
    check(launcher, overrides)
    Presets(Path.cwd()).launcher(launcher, overrides)
    manifest, waiting = compared(plan, runs)
    if not waiting:
        return held_before(plan, runs)
    voices = asyncio.run(_proven(plan, waiting, runs, screen))
    with runs.lock() as share:
        say_edition(runs, screen)
        runs.settle(manifest)
        before = held_before(plan, runs)
        launch = prepare(runs, waiting, plan.limits, _left(voices), _workers(plan, waiting, screen))
        share(launch.name)
        fault = ""
        with (
            Watching(launch, waiting, len(before), voices, screen, quiet),
            _in_order(launch, screen),
        ):
            try:
                start(launch, launcher, overrides, plan.addresses)
            except Exception as error:  # noqa: BLE001 - every launcher has errors of its own for a worker that died
                fault = f"{type(error).__name__}: {error}".splitlines()[0]
    if launch.stopped:
        raise KeyboardInterrupt
    if fault:
        screen.print(
            f"A worker did not end well: {safe(fault)}; what the launcher wrote is in"
            f" {shown(launch.place)}",
            soft_wrap=True,
        )
    return before + launch.outcomes(waiting, fault or "its worker ended before it began")


async def _proven(plan: Plan, waiting: Sequence[Session], runs: Runs, screen: Console) -> ModelPool:
    voices = await voices_for(waiting, runs, plan.limits, plan.addresses, screen)
    await voices.close()
    return voices


def _left(voices: ModelPool) -> tuple[float | None, int | None]:
    """US dollars and tokens that may still be spent."""
    budget = voices.budget
    usd = None if budget.usd is None else max(0.0, budget.usd - budget.spent_usd)
    return usd, None if budget.tokens is None else max(0, budget.tokens - budget.spent_tokens)


def _workers(plan: Plan, waiting: Sequence[Session], screen: Console) -> int:
    """How many workers there are to be: as many as are wanted, can be used, and the limits can be
    divided among.
    """
    wanted = min(plan.limits.workers or max(2, os.cpu_count() or 1), len(waiting))
    hosted = [
        s
        for s in cells_of(waiting).values()
        if any(settings["kind"] != "citizen" for settings in s.models.values())
    ]
    largest = max((_largest(session) for session in hosted), default=1)
    workers = most_workers(plan.limits, wanted, largest)
    if workers < wanted:
        told = (
            f"{workers} worker{'s' if workers > 1 else ''} instead of {wanted}: the limits cannot"
            " be divided further"
        )
        screen.print(f"{told} (the largest call may have {largest:,} tokens)", soft_wrap=True)
    return workers


def _largest(session: Session) -> int:
    answer = max(int(settings.get("max_tokens") or 0) for settings in session.models.values())
    return estimated_tokens(longest_prompt(session).messages) + answer


@contextlib.contextmanager
def _in_order(launch: Launch, screen: Console) -> Generator[None]:
    """Let the first interruption ask the workers to stop, and only the second end this process at
    once.
    """

    def first(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        launch.stop()
        screen.print(
            "The workers are stopping; a second interruption leaves at once.", soft_wrap=True
        )

    before = signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Watching(Progress):
    """Shows, in one line, what the workers of a launch have told so far."""

    def __init__(
        self,
        launch: Launch,
        sessions: Sequence[Session],
        before: int,
        voices: ModelPool,
        screen: Console,
        quiet: bool,
    ) -> None:
        super().__init__(sessions, before, voices, screen, quiet)
        self.launch = launch
        self.waiting = {session.id: session for session in sessions}
        self._over = threading.Event()
        self._looking = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Watching":
        super().__enter__()
        self._looking.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._looking.join()
        super().__exit__(kind, error, trace)

    def line(self) -> str:
        """How it stands, in one line."""
        parts = [f"{self._finished()}/{self.total} sessions", f"{len(self.launch.limits)} workers"]
        parts += [f"{failed} failed"] if (failed := self.failed.total()) else []
        return ", ".join([*parts, f"{self.calls:,} calls of sessions that are over", self._left()])

    def _view(self) -> Group:
        return Group(Text(self.line(), style="dim"))

    def _look(self) -> None:
        over = False
        while not over:
            over = self._over.wait(LOOK)
            for name, line in self.launch.told().items():
                if (session := self.waiting.pop(name, None)) is not None:
                    held = held_as_told(session, line)
                    self.calls += held.asked
                    self.tell(held)
