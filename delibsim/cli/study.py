"""Holding a study from the command line: what is shown meanwhile, and printed at the end."""

import asyncio
import contextlib
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from typing import Any

from rich.console import Console

from delibsim.cli.session_view import SessionView
from delibsim.cli.study_view import StudyView, WorkersView
from delibsim.cli.terminal import console, echo_json, safe, shown
from delibsim.cli.view import View, keep_ticking
from delibsim.conduct.outcome import Outcome, exit_code, report
from delibsim.conduct.study import Prepared, hold_prepared, prepare
from delibsim.planning.compose import REPEATED, Plan
from delibsim.planning.effects import effects_of
from delibsim.store.account import account_of
from delibsim.store.runs import Runs

FAULTS = 10  # faults of sessions printed at the end
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
    account = account_of(runs)
    result["not_begun"] = len(account.not_begun)
    result["folder"] = shown(runs.folder)
    if as_json:
        echo_json(result)
    else:
        _print_report(result, account.notice(), console())
    return exit_code(outcomes)


def _print_report(result: Mapping[str, Any], notice: str, screen: Console) -> None:
    """Print what came of a plan, and what can be done next."""
    states, before, sessions = result["states"], result["held_before"], result["sessions"]
    counts = ", ".join(f"{n} {state}" for state, n in states.items() if n)
    lines = [f"study {result['study']}: {sessions} sessions, {counts}"]
    if before == sessions:
        lines.append("All were held before; nothing was asked now.")
    else:
        asked, recorded = result["calls_asked_now"], result["calls_from_the_record"]
        calls = f"{asked} calls were asked now, {recorded} came from the record"
        lines.append(f"{before} were held before; {calls}.")
    if repeated := result["combinations_without_a_session_of_their_own"]:
        lines.append(REPEATED.format(repeated))
    if damaged := result["damaged_lines"]:
        lines.append(
            f"{damaged} damaged line(s) in logs were left alone; what they held was asked again."
        )
    faults = Counter(entry["fault"] for entry in result["failed"])
    lines += [f"failed: {n} session(s): {fault}" for fault, n in faults.most_common(FAULTS)]
    if notice:
        lines.append(f"{notice}.")
    again = "; when the cause is mended, the same command goes on" if faults else ""
    place = result["folder"]
    lines += [f"Next  delibsim status {place}{again}", f"      delibsim score {place}"]
    for line in lines:
        screen.print(safe(line), soft_wrap=True)
