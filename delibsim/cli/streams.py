"""The streams that a command writes to: any text can be written, and a reader may leave at any
time.
"""

import io
import os
import sys
from typing import TextIO

UNREAD = 141
"""The exit code where nobody read the output to its end: what a shell says of SIGPIPE."""


class Readable(io.TextIOWrapper):
    """A stream of text whose reader may leave before the end, as `head` does.

    What is written after that goes nowhere and is no fault: a study that is being held goes on.
    """

    unread = False

    def write(self, text: str) -> int:
        """Write a text, as far as somebody reads it."""
        try:
            return super().write(text)
        except BrokenPipeError:
            self._give_up()
            return len(text)

    def flush(self) -> None:
        """Write what was kept back, as far as somebody reads it."""
        try:
            super().flush()
        except BrokenPipeError:
            self._give_up()

    def _give_up(self) -> None:
        self.unread = True
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
