"""`delibsim agreement`: how far coders agree in any table of codes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from delibsim.cli.options import declared
from delibsim.cli.table import print_text, show_table
from delibsim.cli.terminal import console, echo_json, exit_code, print_each
from delibsim.domain.errors import WrongInput

app = typer.Typer(add_completion=False)


@declared(app, "agreement", "agreement")
def agreement(
    file: list[str],
    weights: str | None = None,
    levels: str | None = None,
    draws: int = 0,
    by: str = "",
    coders_in_rows: bool = False,
    scale: str | None = None,
    as_json: bool = False,
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
    from delibsim.analysis.agreement.agreement import (
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
