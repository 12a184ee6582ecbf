"""What the commands share: how numbers, paths and foreign text are printed."""

import json
import math
import sys
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import typer
from rich.console import Console

from delibsim.domain.errors import WrongInput
from delibsim.store.places import run_at as run_at  # for the commands, which all have both
from delibsim.store.places import study_at as study_at

T = TypeVar("T")
WIDTH = 100  # columns of a table


def console(**options: Any) -> Console:
    """A console for tables: as wide as the terminal, 100 columns at least, so that no number is
    cut; markup in data stays text.

    What is shown live, on stderr, is no wider than the terminal.
    """
    screen = Console(markup=False, highlight=False, emoji=False, **options)
    if screen.is_terminal and (screen.width >= WIDTH or options.get("stderr")):
        return screen
    return Console(markup=False, highlight=False, emoji=False, width=WIDTH, **options)


def safe(text: str) -> str:
    r"""Text made inert for a terminal: no control, escape or direction-changing characters; line
    ends and tabs stay.

    >>> safe("a\x1b[31mb")
    'a[31mb'
    """
    return "".join(
        c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co")
    )


LONGEST = 6_000  # characters of one text that are printed; about a thousand words


def brief(text: str, longest: int = LONGEST) -> tuple[str, str]:
    """Safe text, cut at `longest` characters, and a note of how much is not shown, or ""."""
    clean = safe(text[: 4 * longest])
    if len(clean) <= longest and len(text) <= 4 * longest:
        return clean, ""
    return clean[:longest].rstrip(), f"({len(text):,} characters in all)"


def number(value: float | None, signed: bool = False) -> str:
    """Three decimals, or a dash where there is no value."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:+.3f}" if signed else f"{value:.3f}"


def echo_json(value: Any) -> None:
    """Print plain values as JSON; NaN is printed as null, and what the encoding of stdout does not
    have as JSON escapes it.
    """
    plain = _without_nan(value)
    text = json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(plain, indent=2, allow_nan=False)
    typer.echo(text)


def readable(names: Iterable[str], read: Callable[[str], T]) -> tuple[list[T], list[str]]:
    """What can be read of the files named, and the faults of those that cannot."""
    found, faults = [], []
    for name in names:
        try:
            found.append(read(name))
        except WrongInput as error:
            faults.append(str(error))
    return found, faults


def report(faults: list[str]) -> None:
    """Name what could not be read, on stderr, and end with exit code 3 if there was any."""
    for fault in faults:
        typer.echo(f"left out: {safe(fault)}", err=True)
    if faults:
        raise typer.Exit(3)


def shown(path: Path) -> str:
    """A path as a user would type it: relative to the working folder where it lies below it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def exit_code(something: bool, whole: bool) -> int:
    """0 where all is there, 3 where something is missing, 4 where there is nothing.

    >>> exit_code(True, True), exit_code(True, False), exit_code(False, True)
    (0, 3, 4)
    """
    if not something:
        return 4
    return 0 if whole else 3
