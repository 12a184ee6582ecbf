"""`delibsim code schemes`: the schemes by which texts are coded."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from delibsim.analysis.table import texts
from delibsim.cli.options import Json
from delibsim.cli.table import print_table, print_text
from delibsim.cli.terminal import console, echo_json, readable, report, safe
from delibsim.domain.scheme import Dimension, Level, Scheme
from delibsim.domain.study import natural
from delibsim.domain.text import counted
from delibsim.store.instruments.library import Library
from delibsim.store.instruments.scheme_files import read_scheme

NAME = "Print this scheme whole: its name, or a file (YAML) to check."
PARTS = (("full", "definition"), ("use", "use"), ("not_use", "do not use"))
"""The parts of an entry that are texts, and what they are called in print."""
INDENT = 4


def schemes(
    name: Annotated[str | None, typer.Argument(help=NAME)] = None,
    as_json: Json = False,
) -> None:
    """List the schemes, or print and check one: delibsim code schemes dqi3

    Exit code 2, with every fault and its line, if the file of the scheme that is named is wrong; 3
    if one of those listed is.
    """
    library = Library()
    if name is not None:
        scheme = _named(name, library)
        if as_json:
            echo_json(asdict(scheme) | {"sha256": scheme.sha256})
        else:
            _print(scheme, console())
        return
    listed = sorted(library.schemes(), key=natural)
    found, faults = readable(listed, library.scheme)
    if as_json:
        echo_json([asdict(scheme) | {"sha256": scheme.sha256} for scheme in found])
    else:
        columns = texts("id", "name", "dimensions", "scales")
        print_table("", columns, [_cells(scheme) for scheme in found], console())
    report(faults)


def _named(name: str, library: Library) -> Scheme:
    """A scheme by its name, or the one in a file; WrongInput with all that is wrong with it."""
    if name.endswith((".yaml", ".yml")) or "/" in name:
        return read_scheme(Path(name))
    return library.scheme(name)


def _cells(scheme: Scheme) -> list[str]:
    ids = ", ".join(dimension.id for dimension in scheme.dimensions)
    scales = dict.fromkeys(dimension.scale for dimension in scheme.dimensions)
    return [scheme.id, safe(scheme.name), ids, ", ".join(scales)]


def _print(scheme: Scheme, screen: Console) -> None:
    screen.print(f"{scheme.id}: {safe(scheme.name)}, version {safe(scheme.version)}", style="bold")
    screen.print(f"SHA-256 {scheme.sha256}")
    for text in filter(None, (scheme.source, scheme.note)):
        print_text(safe(text), screen, "dim")
    print_text(f"texts: {_bounds(scheme)}", screen)
    if scheme.lower_in_doubt:
        print_text("in doubt between two neighbouring levels: the lower", screen)
    for dimension in scheme.dimensions:
        screen.print()
        _print_dimension(dimension, screen)


def _bounds(scheme: Scheme) -> str:
    """How many words a text must have, in words."""
    found = []
    if scheme.least_words:
        found.append(f"of {counted(scheme.least_words, 'word')} or more")
    if scheme.most_words is not None:
        found.append(f"of {counted(scheme.most_words, 'word')} at most")
    return " and ".join(found) or "of any length"


def _named_level(level: Level) -> str:
    """The value of a level, and its name where that says more."""
    if level.name == str(level.value):
        return level.name
    name = f"({level.name})" if isinstance(level.value, str) else level.name
    return f"{level.value} {name}"


def _print_dimension(dimension: Dimension, screen: Console) -> None:
    heading = f"{dimension.id}: {safe(dimension.name)} ({dimension.scale})"
    screen.print(heading, style="bold")
    if dimension.brief:
        print_text(safe(dimension.brief), screen)
    if dimension.least_words:
        words = counted(dimension.least_words, "word")
        print_text(f"only texts of {words} or more", screen)
    if dimension.applies:
        print_text(f"only if the answer is yes: {safe(dimension.applies)}", screen)
    for field, heading in PARTS:
        if text := getattr(dimension, field):
            print_text(f"{heading}: {safe(text)}", screen)
    for level in dimension.levels:
        print_text(f"{safe(_named_level(level))}: {safe(level.anchor)}", screen, indent=INDENT)
    for example in dimension.examples:
        why = f" ({safe(example.why)})" if example.why else ""
        level = safe(str(example.level))
        print_text(f"example of {level}: {safe(example.text)}{why}", screen, indent=INDENT)
    for n, step in enumerate(dimension.steps, 1):
        print_text(f"step {n}: {safe(step)}", screen, indent=INDENT)
