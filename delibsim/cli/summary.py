"""The summary of one run as `delibsim run` prints it."""

from dataclasses import replace
from typing import Any

from rich.console import Console

from delibsim.analysis.run.summary import notes
from delibsim.analysis.run.tables import speeches_in_words, stances_in_words, table_of_measures
from delibsim.analysis.run.view import design_in_words, who_and_how
from delibsim.cli.table import show_table
from delibsim.cli.terminal import print_each, safe, shown
from delibsim.conduct.outcome import Outcome
from delibsim.conduct.scorers import measures_of, usual_scorers
from delibsim.conduct.view import run_view
from delibsim.domain.format import format_named
from delibsim.domain.score import Score
from delibsim.domain.text import quoted
from delibsim.store.runs import Runs

Result = dict[str, Any]


def summary(held: Outcome, scores: list[Score], runs: Runs) -> Result:
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
