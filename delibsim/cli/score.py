"""`delibsim score`: score every run of a study, or the texts of a file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from delibsim.analysis.calls import dropped_in
from delibsim.analysis.conditions import (
    ByCondition,
    Collected,
    MeasureMeans,
    by_condition,
    by_measure,
)
from delibsim.cli.effects import print_effects
from delibsim.cli.options import RUNS, Json, RunsFolder
from delibsim.cli.table import Column, print_table
from delibsim.cli.terminal import console, echo_json, exit_code, number, safe, shown, study_at
from delibsim.cli.texts import kept_if_stopped, people_lines, score_texts
from delibsim.conduct.score import (
    Scoring,
    measures_of,
    score_study,
    usual_scorers,
    without_scores,
)
from delibsim.conduct.texts import human_references
from delibsim.domain.errors import unknown
from delibsim.domain.measure import HEADINGS, Measure
from delibsim.domain.run import Run
from delibsim.planning.effects import effects_of
from delibsim.plugins import names
from delibsim.store.account import account_of
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)

COUNTS = ("planned", "held", "valid")
ALWAYS = ("measure", *COUNTS)
"""The columns that are printed even where they are empty."""
OF_RUNS = (*HEADINGS.values(), "SD")
"""The columns of values of the runs, beside which people's may stand."""
TEXTS = ("measure", "undefined because")


@app.command()
def score(
    study: Annotated[
        str,
        typer.Argument(
            help="Name or folder of the study; or the word texts, with a file of texts behind it."
        ),
    ],
    file: Annotated[
        Path | None, typer.Argument(help="With texts: a CSV file with a row a text.")
    ] = None,
    scorer: Annotated[
        list[str] | None,
        typer.Option(
            help="A scorer; may be given several times. Default: all that need not be asked for."
        ),
    ] = None,
    column: Annotated[str, typer.Option(help="With texts: the column that holds them.")] = "text",
    to: Annotated[
        Path | None, typer.Option(help="With texts: the file to write. Default: FILE.<scorer>.csv.")
    ] = None,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Score every run of a study. Exit code 0; 3 if a run could not be read, or --scorer gave no
    run a value; 4 if the study has no run.

    `delibsim score texts FILE --scorer aqua` scores texts that were not held here: one row a text,
    in a CSV file.
    """
    installed = names("delibsim.scorers")
    for name in scorer or []:
        if name not in installed:
            raise unknown("scorer", name, installed)
    if file is not None:
        raise typer.Exit(score_texts(study, file, column, to, scorer, as_json))
    raise typer.Exit(_score_study(study_at(study, root), scorer or [], as_json))


def _score_study(runs: Runs, scorers: Sequence[str], as_json: bool) -> int:
    """Score the runs of a study by the scorers named, or the usual ones; the exit code."""
    wanted, account = scorers or usual_scorers(), account_of(runs)
    any_held = bool(account.held)
    plans = runs.plans_by_name()
    collected = Collected(list(plans.values()))
    dropped: dict[str, Mapping[str, Sequence[str]]] = {}

    def on_run(run: Run) -> None:
        collected.add_run(run)
        dropped[run.session.id] = dropped_in(run, runs)

    done = Scoring([], [])
    if any_held:
        with kept_if_stopped() as watch:
            done = score_study(runs, wanted, collected.add_scores, on_run, watch, plans)
    faults, files = done.faults, done.files
    silent = without_scores(wanted, files) if any_held else []
    held = [plan for plan in collected.plans if plan.id in dropped]
    effects = effects_of(collected.plans, held, dropped)
    found = by_condition(collected, effects.same, effects.alike)
    if as_json:
        people = {name: vars(known) for name, known in human_references(scorers).items()}
        facts = {
            "not_begun": len(account.not_begun),
            "unreadable": faults,
            "people": people,
            "files": list(map(shown, files)),
            "without_scores": silent,
        }
        facts = found.plain() | effects.plain() | effects.recorded() | facts
        echo_json({"study": runs.study} | facts)
    else:
        screen = console()
        if not any_held:
            screen.print(f"study '{runs.study}' has no runs to score yet")
        if notice := account.notice():
            screen.print(f"{notice}.", soft_wrap=True)
        print_effects(effects, screen)
        print_conditions(found, measures_of(wanted), screen)
        for line in [*found.on_people, *people_lines(scorers)]:
            screen.print(line, soft_wrap=True)
        for fault in faults:
            screen.print(f"left out, damaged: {fault}", soft_wrap=True)
        for written in files:
            screen.print(f"written: {shown(written)}", soft_wrap=True)
        if silent:
            which = ", ".join(silent)
            screen.print(f"not written, because they have no score for any run: {which}")
    nothing_valid = bool(scorers) and not any(row.valid for row in found.means)
    return exit_code(bool(found.means), not (faults or nothing_valid))


def print_conditions(
    found: ByCondition,
    declared: Mapping[str, Measure],
    screen: Console,
) -> None:
    """Print a table for each condition; `declared` are the measures of the scorers, by id.

    Of a condition that equals another by construction only what differs is printed.
    """
    titles = {mean.condition: mean.title() for mean in found.means}
    for condition, measures in by_measure(found.means).items():
        screen.print(safe(titles[condition]), soft_wrap=True)
        if measures:
            _print_means(measures, declared, condition in found.null, screen)
        for gap in found.gaps:
            if gap.condition == condition:
                told = f"missing: {gap.n} {gap.what} in {gap.runs} run(s): {gap.reason}"
                screen.print(safe(told), soft_wrap=True)


def _print_means(
    measures: Sequence[MeasureMeans],
    declared: Mapping[str, Measure],
    null: bool,
    screen: Console,
) -> None:
    """Print the measures of one condition; of the values only the columns that are not empty."""
    rows = [_cells(own, declared.get(own.measure)) for own in measures]
    group = "null citizen" if null and any(row["people"] for row in rows) else ""
    columns = []
    for heading in rows[0]:
        if heading in ALWAYS or any(row[heading] for row in rows):
            own_group = group if heading in OF_RUNS else ""
            columns.append(Column(heading, text=heading in TEXTS, group=own_group))
    table = []
    for row in rows:
        table.append([row[column.heading] for column in columns])
    print_table("", columns, table, screen)


def _cells(own: MeasureMeans, declared: Measure | None) -> dict[str, str]:
    """The cells of one measure by the headings of their columns, in order; "" for what it has not.

    A change has its sign unless it is declared to have none.
    """
    signed = declared is None or declared.signed
    least, change = own.least, own.change
    sd = None if change is None else change.sd
    people = None if change is None else change.people
    cells = {"measure": safe(own.measure if declared is None else declared.label)}
    for name in COUNTS:
        cells[name] = str(getattr(least, name))
    for phase, heading in HEADINGS.items():
        cells[heading] = _value(own, phase, signed and phase == "change")
    cells["SD"] = "" if sd is None else number(sd)
    cells["people"] = "" if people is None else number(people, signed)
    cells["mean"] = _value(own, "", signed=False)
    reasons = ", ".join(f"{reason} ({n})" for reason, n in least.missing.items())
    return cells | {"undefined because": safe(reasons)}


def _value(own: MeasureMeans, phase: str, signed: bool) -> str:
    """The mean in a phase; "" where the measure has none there."""
    return number(own.mean(phase), signed) if phase in own.phases else ""
