"""What the commands share: how numbers, paths and foreign text are printed."""

import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from delibsim.analysis.table import number as number
from delibsim.cli.table import named_width, wrapped, wraps
from delibsim.domain.errors import WrongInput, told
from delibsim.domain.text import brief as brief
from delibsim.domain.text import safe as safe
from delibsim.domain.text import study_named

if TYPE_CHECKING:
    from delibsim.store.runs import Runs

T = TypeVar("T")
ASKED_ABOVE = 5.0
"""US dollars above which a command on a terminal asks whether to go on."""
WIDTH = 100  # columns of a table
PAUSE = 10.0  # seconds between two lines of progress
COMMANDS = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that JSON leaves as they are and by which a text could command a terminal."""


class CommandConsole(Console):
    """What commands print on: a terminal, on which every text is wrapped between words, or a pipe
    or file, where `soft_wrap` keeps a text on one line for the program that reads it, unless that
    names its width in COLUMNS.

    It prints no character by which a text could command the terminal, whoever wrote it: a model, a
    provider, a file.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """What is printed, without such characters; the console's own commands stay."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(safe(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """Print nothing more where the reader has left, which is no fault."""
        self.quiet = True

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as rich does, texts wrapped below where they begin; in a pipe each on its line."""
        if wraps(self) and objects and isinstance(objects[0], str):
            text = "\n".join(wrapped(objects[0], self.width, self))
            options["soft_wrap"] = True
            super().print(text, *objects[1:], **options)
        else:
            options.setdefault("soft_wrap", True)
            super().print(*objects, **options)


def console(**options: Any) -> Console:
    """A console as wide as the terminal; where there is none as COLUMNS says, or 100 columns.
    Markup in data stays text.
    """
    screen = CommandConsole(markup=False, highlight=False, emoji=False, **options)
    if screen.is_terminal:
        return screen
    return CommandConsole(
        markup=False, highlight=False, emoji=False, width=named_width() or WIDTH, **options
    )


def say(text: str, err: bool = False) -> None:
    """Print a sentence: wrapped on a terminal, one line elsewhere."""
    console(stderr=err).print(text, soft_wrap=True)


def print_each(lines: Iterable[str], screen: Console, style: str = "") -> None:
    """Print sentences, one below the other: wrapped on a terminal, a line each elsewhere."""
    for line in lines:
        screen.print(safe(line), style=style, soft_wrap=True)


def echo_json(value: Any) -> None:
    """Print plain values as JSON; NaN is printed as null, a character that could command a terminal
    and what the encoding of stdout does not have as JSON escapes it.
    """
    plain = _without_nan(value)
    text = json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(plain, indent=2, allow_nan=False)
    typer.echo(COMMANDS.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


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
        say(f"left out: {told(safe(fault))}", err=True)
    if faults:
        raise typer.Exit(3)


def on_terminal() -> bool:
    """Whether somebody is there to be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def agreed(usd: float, yes: bool) -> None:
    """On a terminal, without `yes`, ask whether to go on where it may cost more than 5 USD; exit
    code 3 where not.
    """
    if yes or usd <= ASKED_ABOVE or not on_terminal():
        return
    if not typer.confirm(f"This may cost {usd:,.2f} USD. Go on?", err=True):
        say("Nothing was asked.", err=True)
        raise typer.Exit(3)


def study_at(place: str, root: Path) -> "Runs":
    """A study by its name or folder, as `store.places` finds it: slow to import, so only here."""
    from delibsim.store import places

    return places.study_at(place, root)


def run_at(place: str, root: Path) -> tuple["Runs", str]:
    """A run by its name or folder, as `store.places` finds it."""
    from delibsim.store import places

    return places.run_at(place, root)


def tell_folder(runs: "Runs") -> None:
    """Say where a study lies whose name cannot be that of its folder."""
    if runs.folder.name != runs.study.rpartition("/")[2]:
        named = f"{study_named(runs.study)} lies in the folder {shown(runs.folder.resolve())}"
        say(f"{named}; names of a-z, 0-9, '-', '_' and '.' are kept as they are", err=True)


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


def progress(quiet: bool = False) -> Callable[[str, int, int], None]:
    """Prints progress on stderr, unless `quiet`: what is done, how many are done, and of how
    many.
    """
    screen = console(stderr=True)
    last = time.monotonic()

    def on_progress(what: str, done: int, among: int) -> None:
        nonlocal last
        if quiet:
            return
        if screen.is_terminal:
            screen.print(f"{what} {done} of {among}", end="\r" if done < among else "\n")
        elif time.monotonic() - last > PAUSE:
            last = time.monotonic()
            screen.print(f"{what} {done} of {among}")

    return on_progress


USUAL = "less"
LESS = "FRX"
"""Options of less where the user has none: quit if all fits, show colours, leave the text."""


@contextmanager
def paged() -> Generator[Console]:
    """A console for what may be longer than the screen.

    On a terminal it writes to the program that PAGER names (`cat` for none), or else to less where
    it is installed; elsewhere straight to stdout. A reader who leaves the pager early misses the
    rest, which is no fault.
    """
    pager = _pager()
    if pager is None:
        yield console()
        return
    pipe: IO[str] = pager.stdin
    shown = console()
    screen = console(
        file=pipe, force_terminal=True, width=shown.width, color_system=_colours(shown)
    )
    try:
        with suppress(BrokenPipeError):
            yield screen
    finally:
        with suppress(BrokenPipeError):
            pipe.close()
        _wait(pager)


def _colours(shown: Console) -> Any:
    return shown.color_system or "standard" if not shown.no_color else None


def _pager() -> Any:
    """The pager as a process that reads text, or None where there is no need or no such program."""
    if not sys.stdout.isatty() or os.environ.get("TERM", "") in ("", "dumb"):
        return None
    words = shlex.split(os.environ.get("PAGER", "")) or [USUAL]
    program = shutil.which(words[0])
    if program is None or words == ["cat"]:
        return None
    environment = {"LESS": LESS, **os.environ}
    with suppress(OSError):
        return subprocess.Popen(
            [program, *words[1:]],
            stdin=subprocess.PIPE,
            env=environment,
            text=True,
            encoding="utf-8",
            errors="backslashreplace",
        )
    return None


def _wait(pager: Any) -> None:
    """Wait until the reader leaves; Ctrl-C is the pager's."""
    while True:
        with suppress(KeyboardInterrupt):
            pager.wait()
            return
