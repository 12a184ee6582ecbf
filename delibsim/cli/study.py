"""Holding a study from the command line: what is shown meanwhile, and printed at the end."""

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import asdict

from rich.console import Console

from delibsim.cli.estimate import print_lines
from delibsim.cli.terminal import console, echo_json, print_each, safe, shown
from delibsim.cli.view import SessionView, StudyView, View, WorkersView, keep_ticking
from delibsim.conduct.cost import money_of
from delibsim.conduct.fork import Branches
from delibsim.conduct.outcome import (
    Outcome,
    causes_of,
    exit_code,
    failures,
    logs_of,
    report,
    report_in_words,
)
from delibsim.conduct.study import Prepared, hold_prepared, prepare
from delibsim.domain.text import counted, study_named
from delibsim.planning.compose import Plan
from delibsim.planning.effects import effects_of
from delibsim.planning.estimate import estimate
from delibsim.planning.estimate_tables import plain
from delibsim.store.account import account_of
from delibsim.store.runs import Runs

STOPPED = "Stopped. What was recorded is kept; the same command goes on from there."


def printer(screen: Console) -> Callable[[str], None]:
    """Prints notices, made safe for a terminal."""
    return lambda text: screen.print(safe(text), soft_wrap=True)


def hold(plan: Plan, runs: Runs, screen: Console, quiet: bool) -> list[Outcome]:
    """Hold the sessions of a plan that have no run yet, in this process or with the launcher it
    names.
    """
    if plan.sweep.launcher == "delibsim" and not plan.sweep.launcher_overrides:
        return asyncio.run(hold_shown(prepare(plan, runs, printer(screen)), screen, quiet))
    return _hold_in_workers(plan, runs, screen, quiet)


async def hold_shown(preparing: Awaitable[Prepared], screen: Console, quiet: bool) -> list[Outcome]:
    """Hold what is prepared, and show how it stands meanwhile."""
    prepared = await preparing
    if not prepared.waiting:
        return list(prepared.held)
    view: View = StudyView(prepared, screen, quiet)
    if len(prepared.plan.sessions) == 1:
        view = SessionView(prepared.plan.session, screen, quiet)
    with view:
        ticking = asyncio.create_task(keep_ticking(view))
        try:
            return await hold_prepared(prepared, view.observer)
        finally:
            ticking.cancel()


def _hold_in_workers(plan: Plan, runs: Runs, screen: Console, quiet: bool) -> list[Outcome]:
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


def conclude(plan: Plan, outcomes: Sequence[Outcome], runs: Runs, as_json: bool) -> int:
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


def print_estimate_of_branches(found: Branches, as_json: bool) -> None:
    """Print what branches will take that have no run yet; nobody is asked."""
    planned = found.plan
    expected = asyncio.run(
        estimate(planned.sessions, found.runs, planned.limits, planned.addresses, past=found.past)
    )
    if as_json:
        echo_json(plain(planned, expected))
        return
    screen = console()
    counts = f"{expected.held} held already, {expected.waiting} to be held"
    heading = f"{study_named(planned.study)}: {counted(expected.planned, 'branch', 'branches')}"
    screen.print(safe(f"{heading}, {counts}"), soft_wrap=True)
    print_lines(planned, expected, screen, "branches", found.runs)


def told(found: Branches, outcomes: Sequence[Outcome], what: tuple[str, str]) -> list[str]:
    """What came of holding branches, in sentences; `what` is the noun, singular and plural."""
    planned, runs = found.plan, found.runs
    result = report(planned, outcomes)
    states = ", ".join(f"{n} {state}" for state, n in result["states"].items() if n)
    lines = [f"{study_named(planned.study)}: {counted(result['sessions'], *what)}, {states}"]
    asked, before = result["calls_asked_now"], result["held_before"]
    lines.append(f"{before} held before; {counted(asked, 'call')} asked now.")
    lines += failures(result["failed"], logs_of(runs, outcomes))
    return [*lines, f"money: {money_of(runs, planned.sessions)}"]
