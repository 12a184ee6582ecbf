"""The summary of one run as `delibsim run` prints it."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from delibsim.analysis.run_notes import notes
from delibsim.analysis.run_summary import UNPHASED, run_summary
from delibsim.cli.table import Column, print_table
from delibsim.cli.terminal import number, safe, shown
from delibsim.conduct.outcome import Outcome
from delibsim.conduct.score import measures_of, usual_scorers
from delibsim.domain.format import format_named
from delibsim.domain.measure import HEADINGS, SCORE_PHASES, Measure
from delibsim.domain.score import Score
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
    }


def print_summary(result: Result, screen: Console) -> None:
    """Print a summary for reading."""
    screen.print()
    screen.print(safe(result["topic"]["question"]), style="bold")
    rounds = f"{result['rounds']} round{'' if result['rounds'] == 1 else 's'}"
    screen.print(
        f"{result['participants']} participants ({safe(', '.join(result['models']))}), treatment"
        f" {result['treatment']}, {rounds}, survey {result['survey']['id']}"
    )
    personas = f"{result['personas']} personas" if result["personas"] else "no personas"
    design = (
        f"seed {result['seed']}, replicate {result['replicate']}, temperature"
        f" {_temperatures(result)}, wording {result['wording']}"
    )
    screen.print(safe(f"{design}, {personas}, network {result['network']}"), style="dim")
    measures = measures_of(usual_scorers())
    if format_named(result["format"]).sides:
        _print_speeches(result, screen)
    else:
        print_measures(result, measures, screen)
    for label, note in notes(result, measures):
        screen.print(f"{label:<11}{safe(note)}", soft_wrap=True)
    place = result["folder"]
    files = f"\nFiles      {place}/run.json (the run), exchanges.jsonl (every call)"
    screen.print(files, soft_wrap=True)
    screen.print(f"Next       delibsim show {place}", soft_wrap=True)
    screen.print(f"           delibsim replay {place}", soft_wrap=True)


def _temperatures(result: Result) -> str:
    """The temperatures of the models of a run, in words."""
    dropped = result["calls"]["parameters_dropped"]
    stated = set()
    for model, temperature in result["temperature"].items():
        unset = "without effect" if "temperature" in dropped.get(model, ()) else "not set"
        stated.add(unset if temperature is None else f"{temperature:g}")
    return ", ".join(sorted(stated))


def _print_speeches(result: Result, screen: Console) -> None:
    for speech in result["speeches"]:
        remarks = [f"{speech['words']} words"]
        if speech["cut"]:
            remarks.append("cut because it was too long")
        if speech["broken"]:
            remarks.append(f"breaks the rules: {', '.join(speech['broken']).replace('_', ' ')}")
        heading = f"\n{safe(speech['speaker'])}, {speech['task']} ({', '.join(remarks)})"
        screen.print(heading, style="bold")
        screen.print(safe(speech["text"]))
    for name, *values in result["stances"]:
        before, after = ("-" if value is None else value for value in values)
        screen.print(f"\n{safe(name)}: stance {before} before, {after} after")
    screen.print()


def print_measures(
    result: Result,
    measures: Mapping[str, Measure],
    screen: Console,
) -> None:
    """Print the measures of a run by phase, beside those of people where they are known."""
    people, values = result["human"], result["measures"]
    unphased = any(UNPHASED in own for own in values.values())
    null = set(result["models"].values()) == {"citizen"}
    own_group = "null citizen" if null else "this group"
    columns = [Column("measure", text=True), *_phase_columns(own_group if people else "")]
    if unphased:
        columns.append(Column(UNPHASED))
    if people:
        columns += _phase_columns(f"people (n {people['n']})")
    rows = []
    for name, own in values.items():
        measure = measures[name]
        row = [safe(measure.label), *_phases(own, measure)]
        if unphased:
            row.append(number(own.get(UNPHASED)))
        if people:
            row += _phases({phase: people[phase].get(name) for phase in SCORE_PHASES}, measure)
        rows.append(row)
    print_table("", columns, rows, screen)


def _phase_columns(group: str) -> list[Column]:
    return [Column(heading, group=group) for heading in HEADINGS.values()]


def _phases(values: Mapping[str, float | None], measure: Measure) -> list[str]:
    """Values before, after and in change, the last with its sign where it is a difference."""
    before, after, change = (values.get(phase) for phase in SCORE_PHASES)
    return [number(before), number(after), number(change, measure.signed)]
