"""What the commands share: where a run lies, and how numbers and foreign text are printed."""

import json
import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from os.path import isfile  # unlike Path.is_file, False for what can be no file name
from pathlib import Path
from typing import Any, TypeVar

import typer
from rich.console import Console

from delibsim.domain.errors import WrongInput, unknown
from delibsim.store.runs import Runs

T = TypeVar("T")
WIDTH = 100  # columns of a table
FEW = 5  # names listed in a message


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
    """Print plain values as JSON; NaN is printed as null."""
    typer.echo(json.dumps(_without_nan(value), ensure_ascii=False, indent=2, allow_nan=False))


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


def study_at(place: str, root: Path) -> Runs:
    """A study by the name it was given or by the path of its folder."""
    path = Path(place)
    if isfile(path / "study.json"):
        return Runs.at(path.resolve())
    return Runs.open(root, place)


def run_at(place: str, root: Path) -> tuple[Runs, str]:
    """A run by path (its folder or its run.json), by study/session, or by study where that has one
    session.
    """
    path = Path(place)
    folder = path.parent if path.name == "run.json" else path
    if isfile(folder / "session.json"):
        folder = folder.resolve()
        return Runs.at(folder.parent), folder.name
    study, _, session = place.rstrip("/").rpartition("/")
    if not study or isfile(path / "study.json"):
        runs = study_at(place, root)
        sessions = runs.sessions()
        if len(sessions) != 1:
            names = _few([f"{runs.study}/{session}" for session in sessions])
            raise WrongInput(
                f"study '{runs.study}' has {len(sessions)} sessions; name one: {names}"
            )
        return runs, sessions[0]
    runs = study_at(study, root)
    sessions = runs.sessions()
    if session not in sessions:
        raise unknown("session", session, sessions)
    return runs, session


def shown(path: Path) -> str:
    """A path as a user would type it: relative to the working folder where it lies below it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more


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
