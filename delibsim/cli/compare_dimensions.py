"""`delibsim compare dimensions`: the dimensions of argument quality on which texts are compared."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from delibsim.analysis.table import texts
from delibsim.cli.options import Json
from delibsim.cli.table import print_table, print_text
from delibsim.cli.terminal import console, echo_json, readable, report, safe
from delibsim.domain.scheme import QualityDimension
from delibsim.domain.study import natural
from delibsim.store.instruments.library import Library
from delibsim.store.instruments.scheme_files import read_dimension

NAME = "Print this dimension whole: its name, or a file (YAML) to check."


def dimensions(
    name: Annotated[str | None, typer.Argument(help=NAME)] = None,
    as_json: Json = False,
) -> None:
    """List the dimensions, or print and check one: delibsim compare dimensions logical

    Exit code 2, with every fault and its line, if the file of the dimension that is named is wrong;
    3 if one of those listed is.
    """
    library = Library()
    if name is not None:
        dimension = _named(name, library)
        if as_json:
            echo_json(_plain(dimension))
        else:
            _print(dimension, console())
        return
    listed = sorted(library.dimensions(), key=natural)
    found, faults = readable(listed, library.dimension)
    if as_json:
        echo_json([_plain(dimension) for dimension in found])
    else:
        print_table("", texts("id", "name", "asks"), [_cells(one) for one in found], console())
    report(faults)


def _named(name: str, library: Library) -> QualityDimension:
    """A dimension by its name, or the one in a file; WrongInput with all that is wrong with it."""
    if name.endswith((".yaml", ".yml")) or "/" in name:
        return read_dimension(Path(name))
    return library.dimension(name)


def _plain(dimension: QualityDimension) -> dict[str, object]:
    return dimension.plain() | {"sha256": dimension.sha256}


def _cells(dimension: QualityDimension) -> list[str]:
    asks = f"which text argues better {safe(dimension.adverb)}"
    return [dimension.id, safe(dimension.name), asks]


def _print(dimension: QualityDimension, screen: Console) -> None:
    heading = f"{dimension.id}: {safe(dimension.name)}, version {safe(dimension.version)}"
    screen.print(heading, style="bold")
    screen.print(f"SHA-256 {dimension.sha256}")
    for text in filter(None, (dimension.source, dimension.note)):
        print_text(safe(text), screen, "dim")
    print_text(safe(dimension.definition), screen)
    for number, question in enumerate(dimension.criteria, 1):
        print_text(f"{number}. {safe(question)}", screen, indent=4)
    for example in dimension.examples:
        label = {"a": "A", "b": "B", "tie": "Tie"}[example.answer]
        print_text(f"Example, {label}: {safe(example.why)}", screen)
        for name, text in (("A", example.a), ("B", example.b)):
            print_text(f"{name}: {safe(text)}", screen, indent=4)
