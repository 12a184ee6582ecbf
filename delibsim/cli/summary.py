"""The summary of one run as `delibsim run` prints it."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from delibsim.analysis.run_headings import (
    design_in_words,
    speeches_in_words,
    stances_in_words,
    table_of_measures,
    who_and_how,
)
from delibsim.analysis.run_notes import notes
from delibsim.analysis.run_summary import run_summary
from delibsim.cli.table import show_table
from delibsim.cli.terminal import print_each, safe, shown
from delibsim.conduct.outcome import Outcome
from delibsim.conduct.score import measures_of, usual_scorers
from delibsim.domain.format import format_named
from delibsim.domain.measure import Measure
from delibsim.domain.score import Score
from delibsim.domain.text import quoted
from delibsim.store.runs import Runs

Result = dict[str, Any]


def summary(held: Outcome, scores: list[Score], runs: Runs) -> Result:
    """Everything the summary says, as plain values."""
    measures = measures_of(usual_scorers())
    result = run_summary(runs, held.session.id, scores, measures).plain()
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
        print_measures(result, measures, screen)
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


def print_measures(result: Result, measures: Mapping[str, Measure], screen: Console) -> None:
    """Print the measures of a run by phase, beside those of people where they are known."""
    show_table(table_of_measures(result, measures), screen)
