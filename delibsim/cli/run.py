"""`delibsim run`: hold one session, watch it, and see what changed; all sessions of a sweep; or,
with --retry, again those of a study that have no run.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from delibsim.analysis.run.summary import notes
from delibsim.analysis.run.tables import speeches_in_words, stances_in_words, table_of_measures
from delibsim.analysis.run.view import design_in_words, who_and_how
from delibsim.cli.commands import STOPPED
from delibsim.cli.estimate import ask_first, show_estimate, show_waiting
from delibsim.cli.options import RUNS, Words, declared, study_first, with_runs
from delibsim.cli.study import conclude, hold, hold_shown, printer
from delibsim.cli.table import show_table
from delibsim.cli.terminal import console, echo_json, print_each, safe, shown, study_at, tell_folder
from delibsim.conduct.cost import money_of
from delibsim.conduct.outcome import SessionOutcome
from delibsim.conduct.retry import damaged, ended_in, plan_again, without_run
from delibsim.conduct.score import score_study, usual_scorers
from delibsim.conduct.scorers import measures_of
from delibsim.conduct.study import prepare_as_planned
from delibsim.conduct.view import run_view
from delibsim.domain.errors import WrongInput
from delibsim.domain.format import format_named
from delibsim.domain.score import Score
from delibsim.domain.text import counted, quoted, study_named
from delibsim.planning.compose import StudyPlan, plan
from delibsim.planning.debates import doubts
from delibsim.planning.effects import effects_of
from delibsim.store.places import account_of
from delibsim.store.runs import Runs
from delibsim.store.study_texts import refuse_texts

app = typer.Typer(add_completion=False)


@declared(app, "run", "run")
def run(
    study: str | None = None,
    settings: Words = None,
    multirun: bool = False,
    retry: bool = False,
    status: Words = None,
    only: bool = False,
    yes: bool = False,
    as_json: bool = False,
    quiet: bool = False,
    root: Path = RUNS,
) -> None:
    """Hold one deliberation (survey, rounds of speech, survey again), or with -m a whole study.
    Exit code 3 if a session is not complete; with --retry also if a run is damaged, or sessions of
    the study were never begun, which only the command of the study holds.
    """
    named, words = study_first(study, settings)
    if retry:
        if not named:
            raise WrongInput("--retry holds sessions of a study again: delibsim run STUDY --retry")
        runs = study_at(named, root)
        raise typer.Exit(_hold_again(runs, words, status or [], only, yes, as_json, quiet))
    if status:
        raise WrongInput("--status chooses among sessions to be held again, and needs --retry")
    planned = plan(with_runs(words, root, named), sweep=multirun, named=not only)
    if only:
        show_estimate(planned, as_json)
        return
    runs = Runs(planned.root, planned.study)
    tell_folder(runs)
    screen = console(stderr=True)
    print_each(effects_of(planned.sessions).warned(), screen)
    if multirun:
        print_each(doubts(planned.sessions, runs), screen)
    ask_first(planned, runs, yes)
    outcomes = hold(planned, runs, screen, quiet)
    if multirun:
        raise typer.Exit(conclude(planned, outcomes, runs, as_json))
    (outcome,) = outcomes
    if not outcome.status:
        raise typer.Exit(_print_fault(outcome, runs, screen))
    raise typer.Exit(_print_run(planned, outcome, runs, as_json))


def _hold_again(
    runs: Runs,
    settings: Sequence[str],
    statuses: Sequence[str],
    only: bool,
    yes: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Hold the sessions that were begun and have no run, and print what came of it; the exit code.
    What their records hold is not asked again.
    """
    refuse_texts(runs, "sessions are held again here")
    failed = without_run(runs)
    chosen = ended_in(runs, failed, statuses)
    if only:
        show_waiting(plan_again(runs, chosen, settings), runs, as_json)
        return 0
    never, faults = account_of(runs).notice(), damaged(runs)
    screen = console(stderr=True)
    print_each((f"damaged: {fault}" for fault in faults), screen)
    if not chosen:
        number = "1 session has" if len(failed) == 1 else f"{len(failed)} sessions have"
        ended = ", none that ended so." if failed else "."
        console().print(f"{study_named(runs.study)}: {number} no run{ended}")
        print_each([f"{never}."] if never else [], console())
        return 3 if failed or never or faults else 0
    planned = plan_again(runs, chosen, settings)
    ask_first(planned, runs, yes)
    preparing = prepare_as_planned(planned, runs, printer(screen))
    outcomes = asyncio.run(hold_shown(preparing, screen, quiet))
    code = conclude(planned, outcomes, runs, as_json)
    return 3 if (never or faults) and code == 0 else code


def _print_fault(outcome: SessionOutcome, runs: Runs, screen: Console) -> int:
    """Print why there is no run, and how to go on; the exit code."""
    lines = [*outcome.damage(), f"No run: {outcome.fault}"]
    if outcome.stopped:
        print_each([*lines, STOPPED], screen)
        return 3
    exchanges = counted(outcome.recorded + outcome.asked, "exchange")
    again = "when the cause is mended, the same command goes on from there."
    lines.append(f"Kept: {exchanges}, in {shown(runs.path(outcome.session.id))}; {again}")
    lines.append(f"money: {money_of(runs, [outcome.session])}")
    print_each(lines, screen)
    return 4


def _print_run(planned: StudyPlan, outcome: SessionOutcome, runs: Runs, as_json: bool) -> int:
    """Score the study and print the summary of the run; the exit code."""
    screen = console(stderr=True)
    print_each(outcome.damage(), screen)
    own: list[Score] = []

    def take(_: str, scores: Sequence[Score]) -> None:
        own.extend(one for one in scores if one.target.split("/")[0] == planned.session.id)

    faults = score_study(runs, usual_scorers(), take).faults
    print_each((f"left out: {fault}" for fault in faults), screen)
    result = summary(outcome, own, runs)
    result["group"] = planned.manifest.components.get("groups", {}).get(planned.session.id)
    if as_json:
        echo_json(result)
    else:
        print_summary(result, console())
    return 0 if outcome.status == "complete" and not faults else 3


Result = dict[str, Any]


def summary(held: SessionOutcome, scores: list[Score], runs: Runs) -> Result:
    """Everything the summary says, as plain values."""
    own = [score for score in scores if score.unit == "run"]
    result = run_view(runs, held.session.id, own, measures_of(usual_scorers())).summary
    result["calls"]["asked_now"] = held.asked
    return result | {
        "already_held": held.already,
        "folder": shown(runs.path(held.session.id)),
        "study_folder": shown(runs.folder),
    }


def print_summary(result: Result, screen: Console) -> None:
    """Print a summary for reading."""
    screen.print()
    screen.print(safe(result["topic"]["question"]), style="bold")
    screen.print(safe(who_and_how(result)))
    screen.print(safe(design_in_words(result)), style="dim")
    measures = measures_of(usual_scorers())
    if format_named(result["format"]).sides:
        _print_speeches(result, screen)
    else:
        show_table(replace(table_of_measures(result, measures), title=""), screen)
    _print_statement(result, screen)
    print_each((f"{label:<11}{note}" for label, note in notes(result, measures)), screen)
    place = result["folder"]
    files = f"\nFiles      {place}/run.json (the run), exchanges.jsonl (every call)"
    following = (
        f"Next       delibsim show {quoted(place)}",
        f"           delibsim view {quoted(place)}",
        f"           delibsim analyze {quoted(result['study_folder'])}",
    )
    print_each((files, *following), screen)


def _print_speeches(result: Result, screen: Console) -> None:
    for heading, text in speeches_in_words(result):
        screen.print(f"\n{safe(heading)}", style="bold")
        screen.print(safe(text))
    for stance in stances_in_words(result):
        screen.print(f"\n{safe(stance)}")
    screen.print()


def _print_statement(result: Result, screen: Console) -> None:
    """Print the collective statement of a group that sought one."""
    found = result.get("consensus")
    if found is None:
        return
    screen.print("\nCollective statement", style="bold")
    lines = [found["statement"], found["chosen"], *found["remarks"]]
    print_each((line for line in lines if line), screen)
    screen.print()
