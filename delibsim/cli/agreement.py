"""`delibsim agreement`: how far coders agree in any table of codes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from delibsim.cli.options import Json
from delibsim.cli.table import print_text, show_table
from delibsim.cli.terminal import console, echo_json, exit_code, print_each
from delibsim.domain.errors import WrongInput

app = typer.Typer(add_completion=False)

FILE = (
    "A CSV file: a row a code (columns text, coder, level, perhaps dimension), or a row a text and"
    " a column a coder. Behind it, where columns have other names, what they hold: text=NAME"
    " coder=NAME level=NAME dimension=NAME; of a row a text, each coder=NAME."
)
WEIGHTS = (
    "identity, linear, quadratic, ordinal, or a CSV file with a matrix of one's own. Default: that"
    " of the scale."
)
LEVELS = (
    "All levels that a coder could give, in order: 0,1,2,3; by dimension:"
    " 'groups=0,1,2;reasons=0,1'. Default: those that occur."
)
DRAWS = "Resamples of the texts for the intervals; 0: by t where there is a standard error."
BY = "A column that says from which debate or speaker a text is: these are resampled whole."
IN_ROWS = "A row is a coder and a column a text."
EXAMPLE = (
    "For example: delibsim agreement codes.csv --weights linear --levels 0,1,2,3 --draws 10000."
)
SCALE = "nominal, ordinal, interval or ratio. Default: that of the weights."


@app.command(epilog=EXAMPLE)
def agreement(
    file: Annotated[list[str], typer.Argument(metavar="FILE [ROLE=COLUMN]...", help=FILE)],
    weights: Annotated[str | None, typer.Option(help=WEIGHTS)] = None,
    levels: Annotated[str | None, typer.Option(help=LEVELS)] = None,
    draws: Annotated[int, typer.Option("--draws", min=0, help=DRAWS)] = 0,
    by: Annotated[str, typer.Option(metavar="COLUMN", help=BY)] = "",
    coders_in_rows: Annotated[bool, typer.Option("--coders-in-rows", help=IN_ROWS)] = False,
    scale: Annotated[str | None, typer.Option(help=SCALE)] = None,
    as_json: Json = False,
) -> None:
    """How far coders agree, people or models, in any table of codes.

    Percent agreement, Gwet's AC1 or AC2, Brennan-Prediger, the kappas of Cohen or Conger and of
    Fleiss, and Krippendorff's alpha, each with its interval. Exit code 0; 3 if a coefficient is
    undefined, 4 if all are.
    """
    from delibsim.analysis.agreement.agreement import agreement as agreement_in  # scipy is slow

    path, columns = _columns(file)
    chosen = _weights(weights)
    found = agreement_in(path, chosen, levels, draws, by, scale, coders_in_rows, columns)
    if as_json:
        echo_json(found.plain())
    else:
        _print(found, by, console())
    raise typer.Exit(exit_code(found.something, found.whole))


def _print(found: Any, by: str, screen: Console) -> None:
    from delibsim.analysis.agreement.tables import (
        counts_in_words,
        layout_in_words,
        notes_on,
        table_of,
    )

    print_text(layout_in_words(found), screen)
    for dimension in found.dimensions:
        screen.print()
        print_each(counts_in_words(dimension), screen)
        show_table(table_of(dimension), screen)
        print_each(notes_on(dimension, by), screen)
    screen.print()
    print_text("Which one to take, and what each means: docs/agreement.md.", screen)


def _columns(words: Sequence[str]) -> tuple[Path, dict[str, list[str]]]:
    """The file, and the columns by role."""
    path, *named = words
    columns: dict[str, list[str]] = {}
    for word in named:
        role, equals, name = word.partition("=")
        if not equals:
            raise WrongInput(f"one file at a time: {path} or {word}; a column is named text=NAME")
        columns.setdefault(role, []).append(name)
    return Path(path), columns


def _weights(given: str | None) -> Any:
    """The name of a weighting, or the matrix of a file."""
    if given is None or not Path(given).is_file():
        return given
    from delibsim.store.reading import file_text

    rows = [line.split(",") for line in file_text(Path(given)).splitlines() if line.strip()]
    if any(len(row) != len(rows) for row in rows):
        raise WrongInput(f"{given} holds weights: as many rows as columns, one for each level")
    try:
        return [list(map(float, row)) for row in rows]
    except ValueError as error:
        raise WrongInput(
            f"{given} holds numbers only, one for each pair of levels: {error}"
        ) from None
