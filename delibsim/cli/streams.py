"""The streams that a command writes to: any text can be written, a reader may leave at any time,
and what the system refuses to write is told once, at the end.
"""

import io
import os
import sys
from typing import TextIO

UNREAD = 141
"""The exit code where nobody read the output to its end: what a shell says of SIGPIPE."""


class Readable(io.TextIOWrapper):
    """A stream of text whose reader may leave before the end, as `head` does.

    What is written after that goes nowhere and is no fault: a study that is being held goes on, as
    it does on a full disk. `refused` is then the error.
    """

    unread = False
    refused: OSError | None = None

    def write(self, text: str) -> int:
        """Write a text, as far as somebody reads it."""
        try:
            return super().write(text)
        except OSError as error:
            self._give_up(error)
            return len(text)

    def flush(self) -> None:
        """Write what was kept back, as far as somebody reads it."""
        try:
            super().flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        if isinstance(error, BrokenPipeError):
            self.unread = True
        else:
            self.refused = error
        # Python writes what is left when it ends, and exits with 120 where it is refused again.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def prepare_streams() -> TextIO | None:
    r"""Let stdout and stderr take any text, and their readers leave; the new stdout.

    A character that an encoding does not have (`PYTHONIOENCODING=ascii`) is written as an escape,
    such as \u2019.
    """
    sys.stdout, sys.stderr = _readable(sys.stdout), _readable(sys.stderr)
    return sys.stdout


def flush_streams(stdout: TextIO | None) -> bool:
    """Write out what is left for stdout and stderr; whether somebody stopped reading stdout.

    Where typer writes past `stdout`, it finds that out itself, and puts another stream in its
    place.
    """
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None where it was closed (>&-)
        stream.flush()
    return sys.stdout is not stdout or (isinstance(stdout, Readable) and stdout.unread)


def end_streams() -> OSError | None:
    """Write out what is left for stdout and stderr; the error, where something was refused."""
    refused = None
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
        refused = refused or getattr(stream, "refused", None)
    return refused


def _readable(stream: TextIO) -> TextIO:
    """A stream of the process as one that takes any text; another, such as a test's, as it is."""
    if type(stream) is not io.TextIOWrapper:
        return stream
    stream.flush()
    return Readable(
        stream.buffer,
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
