"""`delibsim ratings report`: the analysis of a tournament, printed, as files and as JSON."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from delibsim.analysis.debates.pooled import Pooled
from delibsim.analysis.debates.rated import chosen, debates_of, edited, ids_of
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.ratings_pooled import print_pooled, print_warnings
from delibsim.cli.table import Column, print_table, print_text
from delibsim.cli.terminal import console, echo_json, exit_code, safe, shown, study_at
from delibsim.domain.rating import debated
from delibsim.store.files import write_atomically
from delibsim.store.instruments.covariates import read_covariates
from delibsim.store.ratings import Ratings

SMALL = 0.001
"""A p value below which it is printed as smaller than this."""


def report(
    study: StudyName,
    out: Annotated[
        Path | None,
        typer.Option(
            "--to", help="Write every table as CSV and every figure as SVG into this folder."
        ),
    ] = None,
    panel: Annotated[
        list[str] | None,
        typer.Option(help="Only the ratings of this panel or pack; may be given several times."),
    ] = None,
    source: Annotated[
        Literal["models", "people"] | None,
        typer.Option(help="Only the ratings of models, or of people."),
    ] = None,
    focus: Annotated[
        str | None,
        typer.Option(help="The debater to compare with the rest; default: models with people."),
    ] = None,
    people: Annotated[
        Path | None,
        typer.Option(help="CSV of debaters and raters: id, age, gender, education, expertise."),
    ] = None,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """The analysis of a tournament: who wins, how far raters agree, what makes a winner.

    Where both people and models debate, models are compared with people; --focus compares one
    debater with the rest. Whose ratings are pooled is said, with a warning where raters read
    different wordings or debates were held under different conditions. Exit code 0; 3 if something
    could not be read, a rating is lost, a debate is missing or was edited, 4 if no debate has been
    rated.
    """
    from delibsim.analysis.debates.report import LONG, tables

    runs = study_at(study, root)
    debates, faults = debates_of(runs)
    planned = len(runs.sessions())
    losses = Ratings.of(runs).losses(run.session.id for run in debates)
    changed = edited(debates)
    covariates = None if people is None else read_covariates(people, ids_of(debates))
    rated = chosen(debates, panel or [], source)
    found = tables(rated, focus=focus, people=covariates)
    pooled = Pooled.of(rated)
    if out is not None:
        _write(found, out)
    printed = {name: table for name, table in found.items() if name not in LONG}
    if as_json:
        plain: dict[str, Any] = {"study": runs.study, "planned": planned, "faults": faults}
        plain |= {"lost": losses, "edited": changed, **pooled.plain()}
        print_warnings(pooled, console(stderr=True))
        echo_json(plain | _records(printed))
    else:
        screen = console()
        print_pooled(pooled, screen)
        print_tables(printed, screen)
        waiting = planned - len(debates) - len(faults)
        _print_faults(faults, losses, changed, waiting, screen)
        if out is not None:
            screen.print(f"written: {shown(out.resolve())}")
    whole = not faults and not losses and not changed and len(debates) == planned
    complete = whole and all(map(debated, debates))
    raise typer.Exit(exit_code(not found["ratings"].empty, complete))


def _write(found: Mapping[str, Any], folder: Path) -> None:
    """Write every table as CSV and every figure as SVG."""
    from delibsim.analysis.debates.figures import figures

    for name, table in found.items():
        write_atomically(folder / f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))
    for name, drawing in figures(dict(found)).items():
        write_atomically(folder / f"{name}.svg", drawing)


def _records(printed: Mapping[str, Any]) -> dict[str, Any]:
    """The tables as lists of rows."""
    return {name: table.astype(object).to_dict("records") for name, table in printed.items()}


def _print_faults(
    faults: Sequence[str],
    losses: Sequence[str],
    changed: Sequence[str],
    waiting: int,
    screen: Console,
) -> None:
    """What the report does not rest on."""
    told = [f"left out, damaged: {fault}" for fault in faults]
    told += [f"lost: {loss}" for loss in losses]
    told += [f"warning: {line}" for line in changed]
    told += [f"planned and not held yet: {waiting}"] if waiting else []
    for line in told:
        screen.print(safe(line), soft_wrap=True)


def print_tables(printed: Mapping[str, Any], screen: Console) -> None:
    """Print every table under its title; those of models model by model."""
    from delibsim.analysis.debates.report import TITLES
    from delibsim.analysis.debates.sections import sections

    for name, title in TITLES.items():
        if name in printed:
            screen.print()
            screen.print(title, soft_wrap=True, style="bold")
            for section in sections(printed[name]):
                _print_section(section, screen)


def _print_section(section: Any, screen: Console) -> None:
    """Print one section of a table; what all of its rows share stands once, below it."""
    from delibsim.analysis.debates.sections import FIT, P_VALUES, headings

    table = section.table
    columns = []
    for name, (group, heading) in headings(table).items():
        text = str(table[name].dtype) in ("object", "str")
        columns.append(Column(heading, text=text, group=group))
    rows = []
    for values in table.itertuples(index=False):
        row = zip(table.columns, values, strict=True)
        rows.append([_cell(value, name in P_VALUES) for name, value in row])
    if section.name:
        screen.print()
        screen.print(safe(section.name), soft_wrap=True)
    print_table("", columns, rows, screen)
    fit = [f"{FIT[name]} {_cell(value, name in P_VALUES)}" for name, value in section.fit.items()]
    for line in (", ".join(fit), f"note: {section.note}" if section.note else ""):
        if line:
            print_text(safe(line), screen)


def _cell(value: Any, is_p: bool = False) -> str:
    """Three decimals, none of a whole number, a dash where there is no value."""
    if not isinstance(value, float):
        return safe(str(value))
    if value != value:
        return "-"
    if is_p and value < SMALL:
        return "< .001"
    whole = abs(value - round(value)) < 1e-9 and abs(value) > 0.5
    return f"{value:.0f}" if whole else f"{value:.3f}"
