"""`delibsim ratings report`: the analysis of a tournament, printed, as files and as JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Table

from delibsim.analysis.debates.pooled import SOURCES, Pooled
from delibsim.cli.ratings_pooled import print_pooled, print_warnings
from delibsim.cli.terminal import console, echo_json, exit_code, safe, shown, study_at
from delibsim.conduct.annotate import debates_of, edited
from delibsim.domain.errors import unknown
from delibsim.domain.participant import SIDES
from delibsim.domain.rating import Rated, Rating, debated
from delibsim.domain.run import Run
from delibsim.store.files import write_atomically
from delibsim.store.instruments.covariates import read_covariates
from delibsim.store.ratings import Ratings

SHORT = {
    "coefficient": "estimate",
    "performance_low": "low",
    "performance_high": "high",
    "performance_rank": "rank",
    "residual_sd": "error sd",
    "win_low": "low",
    "win_high": "high",
}
"""Names of columns as the terminal has room for them."""
OF_THE_FIT = {
    "r2": "R2",
    "r2_adjusted": "adjusted R2",
    "r2_marginal": "marginal R2",
    "r2_conditional": "conditional R2",
    "pseudo_r2": "pseudo-R2",
    "log_likelihood": "log likelihood",
    "log_likelihood_null": "log likelihood of a constant alone",
    "f": "F against the winner alone",
    "f_p": "its p",
    "rater_sd": "rater SD",
    "residual_sd": "residual SD",
}
"""Columns of a model that are the same for all of its terms, and are printed once below them."""
PARTS = ("contrast", "model")
"""Columns by which a table is printed in parts."""


def report(
    study: Annotated[str, typer.Argument(help="Name or folder of the study.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Write every table as CSV and every figure as SVG into this folder."),
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
    root: Annotated[
        Path,
        typer.Option("--runs", help="The folder that holds all studies."),
    ] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print every table as JSON.")] = False,
) -> None:
    """The analysis of a tournament: who wins, how far raters agree, what makes a winner.

    Where both people and models debate, models are compared with people; --focus compares one
    debater with the rest. Whose ratings are pooled is said, with a warning where raters read
    different wordings or debates were held under different conditions. Exit code 0; 3 if something
    could not be read, a rating is lost, a debate is missing or was edited, 4 if no debate has been
    rated.
    """
    from delibsim.analysis.debates.figures import figures
    from delibsim.analysis.debates.report import LONG, tables

    runs = study_at(study, root)
    debates, faults = debates_of(runs)
    losses = Ratings.of(runs).losses(run.session.id for run in debates)
    changed = edited(debates)
    covariates = None if people is None else read_covariates(people, ids_of(debates))
    rated = chosen(debates, panel or [], source)
    found = tables(rated, focus=focus, people=covariates)
    pooled = Pooled.of(rated)
    if out is not None:
        for name, table in found.items():
            write_atomically(out / f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))
        for name, drawing in figures(found).items():
            write_atomically(out / f"{name}.svg", drawing)
    printed = {name: table for name, table in found.items() if name not in LONG}
    if as_json:
        plain = {name: _records(table) for name, table in printed.items()}
        told = {"study": runs.study, "planned": len(runs.sessions()), "faults": faults}
        told |= {"lost": losses, "edited": changed, **pooled.plain()}
        print_warnings(pooled, console(stderr=True))
        echo_json(told | plain)
    else:
        screen = console()
        print_pooled(pooled, screen)
        _print_tables(printed, screen)
        waiting = len(runs.sessions()) - len(debates) - len(faults)
        _print_faults(faults, losses, changed, waiting, screen)
        if out is not None:
            screen.print(f"written: {shown(out.resolve())}")
    whole = not faults and not losses and not changed and len(debates) == len(runs.sessions())
    complete = whole and all(map(debated, debates))
    raise typer.Exit(exit_code(not found["ratings"].empty, complete))


def chosen(debates: Iterable[Run], panels: Sequence[str], source: str | None) -> list[Rated]:
    """Debates with the ratings of these panels (of all where none is named) and of this source.

    WrongInput for an unknown panel.
    """
    rated = [run for run in debates if isinstance(run, Rated)]
    known = sorted({name for run in rated for name in run.panels})
    for name in panels:
        if name not in known:
            raise unknown("panel", name, known)

    def kept(rating: Rating) -> bool:
        wanted = source is None or SOURCES[rating.source] == source
        return wanted and (not panels or rating.panel in panels)

    return [replace(run, ratings=tuple(filter(kept, run.ratings))) for run in rated]


def ids_of(debates: Iterable[Run]) -> set[str]:
    """The names of all debaters and raters."""
    ids = set()
    for run in debates:
        ids |= {p.model for p in run.session.participants if p.role in SIDES}
        ids |= {rating.rater for rating in run.ratings} if isinstance(run, Rated) else set()
    return ids


def _records(table: Any) -> list[dict[str, Any]]:
    return table.astype(object).to_dict("records")


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


def _print_tables(printed: Mapping[str, Any], screen: Console) -> None:
    """Every table under its title; those of models part by part."""
    from delibsim.analysis.debates.report import TITLES

    for name, title in TITLES.items():
        if name not in printed:
            continue
        screen.print()
        screen.print(title, soft_wrap=True, style="bold")
        for part, own in _parts(printed[name]):
            _print(own, part, screen)


def _parts(table: Any) -> Iterator[tuple[str, Any]]:
    """The rows of each contrast or model, by its name; all rows of any other table."""
    column = next((name for name in PARTS if name in table.columns), None)
    if column is None or table.empty:
        yield "", table
        return
    for part, own in table.groupby(column, sort=False):
        yield str(part), own.drop(columns=column)


def _print(table: Any, part: str, screen: Console) -> None:
    """One table, or a part of it; what is the same for all of its terms stands once, below it."""
    of_the_fit, note = "", ""
    if "term" in table.columns:
        of_the_fit = _of_the_fit(table)
        table = table.drop(columns=[name for name in OF_THE_FIT if name in table.columns])
    if "note" in table.columns and table["note"].nunique() < 2:
        note = "".join(table["note"].unique())
        table = table.drop(columns="note")
    drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in map(str, table.columns):
        kind = str(table[column].dtype)
        justify = "left" if kind in ("object", "str") else "right"
        whole = column in ("debater", "debaters", "term", "dimension", "measure", "check")
        heading = SHORT.get(column, column.replace("_", " "))
        drawn.add_column(heading, "", overflow="fold", no_wrap=whole, justify=justify)
    for row in table.itertuples(index=False):
        drawn.add_row(*map(_cell, row))
    if part:
        screen.print()
        screen.print(safe(part), soft_wrap=True)
    screen.print(drawn)
    for line in filter(None, (of_the_fit, f"note: {note}" if note else "")):
        screen.print(safe(line), soft_wrap=True)


def _of_the_fit(table: Any) -> str:
    """How well a model fits, in words; what is undefined is left out."""
    first = table.iloc[0]
    names = [name for name in OF_THE_FIT if name in table.columns and first[name] == first[name]]
    return ", ".join(f"{OF_THE_FIT[name]} {_cell(float(first[name]))}" for name in names)


def _cell(value: Any) -> str:
    """Three decimals, none of a whole number, a dash where there is no value."""
    if not isinstance(value, float):
        return safe(str(value))
    if value != value:
        return "-"
    whole = abs(value - round(value)) < 1e-9 and abs(value) > 0.5
    return f"{value:.0f}" if whole else f"{value:.3f}"
