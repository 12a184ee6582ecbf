"""The terminal of this process, which all people at it share."""

import asyncio
import functools
import os
import select
import shutil
import sys
import termios

from delibsim.models.person.page import fitted

TYPED_AHEAD = "(What was typed before this was asked is not taken.)\n"


class Terminal:
    """Asks on stderr and reads lines from stdin without a thread, so Ctrl-C ends it at once."""

    def __init__(self) -> None:
        self._typed = bytearray()

    async def ask(self, text: str) -> str:
        """Show a text and give the line that is answered; EOFError at the end of the input."""
        sys.stderr.write(fitted(text, _width()) if sys.stderr.isatty() else text)
        sys.stderr.flush()
        while b"\n" not in self._typed:
            more = await self._read()
            if not more:
                raise EOFError
            self._typed += more
        line, _, rest = self._typed.partition(b"\n")
        self._typed = rest
        return line.decode(errors="replace")

    def by_hand(self) -> bool:
        """Whether somebody types, and the input is no pipe or file."""
        return os.isatty(sys.stdin.fileno())

    def discard(self) -> None:
        """Forget what was typed or pasted before a question was put, and say so; a pipe or a file
        is left as it is.
        """
        source = sys.stdin.fileno()
        if not self.by_hand():
            return
        ahead = self._typed or select.select([source], [], [], 0)[0]
        self._typed.clear()
        termios.tcflush(source, termios.TCIFLUSH)
        if ahead:
            sys.stderr.write(TYPED_AHEAD)

    async def _read(self) -> bytes:
        loop, source = asyncio.get_running_loop(), sys.stdin.fileno()
        ready = loop.create_future()
        try:
            loop.add_reader(source, lambda: ready.done() or ready.set_result(None))
        except PermissionError:  # a file, which is always ready
            return os.read(source, 65_536)
        try:
            await ready
        finally:
            loop.remove_reader(source)
        return os.read(source, 65_536)


def _width() -> int:
    """The width of the terminal, one column of which is left to the cursor."""
    return max(shutil.get_terminal_size().columns - 1, 20)


@functools.cache
def terminal() -> Terminal:
    """The one terminal of this process."""
    return Terminal()
