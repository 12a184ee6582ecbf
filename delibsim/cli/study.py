"""Holding sessions from the command line: what is checked first, what is shown meanwhile, what is
said at the end.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from delibsim.cli.live import Live
from delibsim.cli.progress import Progress
from delibsim.cli.terminal import console, echo_json, safe, shown
from delibsim.conduct.cost import spent
from delibsim.conduct.hold import Outcome, hold_all
from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Session
from delibsim.domain.study import cell_of
from delibsim.engine.hold import check, prompt_hash, provenance
from delibsim.models.limits import Budget, Limits
from delibsim.models.person.person import STOPPED
from delibsim.models.pool import ModelPool
from delibsim.planning.compose import Plan
from delibsim.planning.effects import effects_of
from delibsim.store.editions import NOW
from delibsim.store.manifest import SCHEMA, Manifest, commits
from delibsim.store.runs import Runs

FAULTS = 10  # failed sessions listed at the end
REPEATED = "{} combinations are the same session as another, such as more rounds without speech."


async def hold_plan(plan: Plan, runs: Runs, screen: Console, quiet: bool) -> list[Outcome]:
    """Hold the sessions of a plan that have no run yet; WrongInput, before anything is written,
    asked or paid, if that cannot be.
    """
    manifest, waiting = compared(plan, runs)
    if not waiting:
        return held_before(plan, runs)
    return await hold_waiting(plan, waiting, runs, screen, quiet, manifest)


def compared(plan: Plan, runs: Runs) -> tuple[Manifest, list[Session]]:
    """The manifest of a plan and its sessions that have no run yet; WrongInput if it would change
    what the study is.
    """
    manifest = frozen(plan)
    runs.compare(manifest)
    for session in plan.sessions:
        runs.compare_plan(session)
    return manifest, [session for session in plan.sessions if not runs.held(session.id)]


def held_before(plan: Plan, runs: Runs) -> list[Outcome]:
    """The sessions of a plan that have a run already."""
    return [
        Outcome(session, None, runs.status(session.id), already=True)
        for session in plan.sessions
        if runs.held(session.id)
    ]


async def hold_waiting(
    plan: Plan,
    waiting: Sequence[Session],
    runs: Runs,
    screen: Console,
    quiet: bool,
    manifest: Manifest | None = None,
) -> list[Outcome]:
    """Hold sessions and show how it goes; the outcomes of those that were held before come
    first.
    """
    if runs.holder():
        with runs.lock():  # says who holds it, before anybody is asked anything
            pass
    voices = await voices_for(waiting, runs, plan.limits, plan.addresses, screen)
    if manifest is not None:
        with runs.lock():
            say_edition(runs, screen)
            runs.settle(manifest)
    before = held_before(plan, runs)
    view = (
        Live(plan.session, screen, quiet)
        if len(plan.sessions) == 1
        else Progress(waiting, len(before), voices, screen, quiet)
    )
    with view:
        # Twice as many sessions as calls may be in flight: while one prepares its next prompt,
        # another is asking.
        return before + await hold_all(
            waiting, runs, view.watch, view.heed, voices, 2 * plan.limits.concurrency, view.tell
        )


def say_edition(runs: Runs, screen: Console) -> None:
    """Say once, when a study of an earlier edition goes on, that it keeps its prompts."""
    old = runs.manifest()
    if old is not None and old.edition != NOW and old.schema < SCHEMA:
        screen.print(
            f"study {safe(runs.study)} was begun under the presets of version {old.edition} and"
            " keeps them: the treatment's text stands in its surveys too"
            " (procedure.instructions=everywhere), and its wordings, motions and sampling are"
            " those of that version. A new study tells the treatment in speaking turns only;"
            " docs/studies.md says what else is new.",
            soft_wrap=True,
        )


def frozen(plan: Plan) -> Manifest:
    """The manifest of a plan: what is asked, when, with which versions, from which commit."""
    cells = cells_of(plan.sessions)
    for session in cells.values():
        check(session)
    begun = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": provenance(),
        "commit": commits({"delibsim": Path(__file__).parents[2], "study": plan.root.parent}),
    }
    return replace(
        plan.manifest,
        begun=begun,
        prompts={cell: prompt_hash(session) for cell, session in cells.items()},
    )


def cells_of(sessions: Iterable[Session]) -> dict[str, Session]:
    """One session of every cell of the design, by the name that its replicates share."""
    cells: dict[str, Session] = {}
    for session in sessions:
        cells.setdefault(cell_of(session), session)
    return cells


async def voices_for(
    sessions: Sequence[Session],
    runs: Runs,
    limits: Limits,
    addresses: Mapping[str, str],
    screen: Console,
) -> ModelPool:
    """The voices of sessions, proven by a preflight; WrongInput if one of them cannot speak."""
    usd, tokens = (
        spent(runs)
        if limits.budget_usd is not None or limits.budget_tokens is not None
        else (0.0, 0)
    )
    voices = ModelPool(
        limits, Budget(limits.budget_usd, limits.budget_tokens, usd, tokens), addresses
    )
    findings = await voices.preflight(cells_of(sessions).values())
    for finding in findings:
        screen.print(f"{finding.level}: {finding.model}: {finding.text}", soft_wrap=True)
    if any(finding.level == "error" for finding in findings):
        await voices.close()
        raise WrongInput(
            "nothing was asked and nothing was paid; mend what is said above and give the command"
            " again"
        )
    return voices


def conclude(plan: Plan, held: Sequence[Outcome], runs: Runs, as_json: bool) -> int:
    """Print what came of a plan; the exit code."""
    result = report(plan, held, runs)
    if as_json:
        echo_json(result)
    else:
        print_report(result, console())
    return exit_code(held)


def report(plan: Plan, held: Sequence[Outcome], runs: Runs) -> dict[str, Any]:
    """What came of a plan, as plain values."""
    states = Counter(outcome.status or "failed" for outcome in held)
    return {
        "study": plan.study,
        "sessions": len(plan.sessions),
        "combinations_without_a_session_of_their_own": plan.repeated,
        **effects_of(plan.sessions).plain(),
        "held_before": sum(outcome.already for outcome in held),
        "states": {state: states[state] for state in ("complete", "partial", "failed")},
        "calls_asked_now": sum(outcome.asked for outcome in held),
        "calls_from_the_record": sum(outcome.recorded for outcome in held),
        "damaged_lines": sum(outcome.damaged_lines for outcome in held),
        "failed": [
            {"session": outcome.session.id, "fault": outcome.fault}
            for outcome in held
            if not outcome.status
        ],
        "folder": shown(runs.folder),
    }


def print_report(result: Mapping[str, Any], screen: Console) -> None:
    """Print what came of a plan, and what can be done next."""
    states, before = result["states"], result["held_before"]
    counts = ", ".join(f"{n} {state}" for state, n in states.items() if n)
    screen.print(
        f"study {safe(result['study'])}: {result['sessions']} sessions, {counts}", soft_wrap=True
    )
    if before == result["sessions"]:
        screen.print("All were held before; nothing was asked now.")
    else:
        calls = (
            f"{result['calls_asked_now']} calls were asked now, {result['calls_from_the_record']}"
            " came from the record"
        )
        screen.print(f"{before} were held before; {calls}.")
    if repeated := result["combinations_without_a_session_of_their_own"]:
        screen.print(REPEATED.format(repeated), soft_wrap=True)
    if lines := result["damaged_lines"]:
        screen.print(
            f"{lines} damaged line(s) in logs were left alone; what they held was asked again.",
            soft_wrap=True,
        )
    for fault, n in Counter(entry["fault"] for entry in result["failed"]).most_common(FAULTS):
        screen.print(f"failed: {n} session(s): {safe(fault)}", soft_wrap=True)
    place = result["folder"]
    screen.print(
        f"Next  delibsim status {place}"
        + ("; when the cause is mended, the same command goes on" if result["failed"] else "")
    )
    screen.print(f"      delibsim score {place}")


def exit_code(held: Sequence[Outcome]) -> int:
    """0 if every session is complete, 4 if there is no run at all and no person stopped to go on
    another time, else 3.
    """
    if all(outcome.status == "complete" for outcome in held):
        return 0
    return 3 if any(outcome.status or stopped(outcome) for outcome in held) else 4


def stopped(held: Outcome) -> bool:
    """Whether a person at the terminal stopped a session, which is no failure and ends as Ctrl-C
    does.
    """
    return held.fault.endswith(STOPPED)
