"""A pager between a long output and the terminal; none where the output is no terminal."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import IO, Any

from rich.console import Console

from delibsim.cli.terminal import console

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
