"""A command at a pseudo-terminal of a given width: what it shows, and what is typed into it."""

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import termios

from warm import Process

MOVES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class AtTerminal:
    """A `delibsim` command at a terminal of `width` columns and 50 lines."""

    def __init__(self, folder, width, *words, pager="cat"):
        self.keyboard, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
        taken = ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR")
        environment = {name: value for name, value in os.environ.items() if name not in taken}
        environment["PAGER"] = pager
        self.process = Process(words, folder, {**environment, "TERM": "xterm"}, [terminal] * 3)
        os.close(terminal)
        self.written, self.seen = b"", 0

    @property
    def shown(self):
        """Everything that was shown, without what only moves the cursor or changes its colour."""
        return self._text().replace("\r", "")

    def _text(self):
        return MOVES.sub("", self.written.decode(errors="replace"))

    def until(self, text):
        """What is shown up to this text, from where it was read last."""
        while text not in self.shown[self.seen :]:
            assert select.select([self.keyboard], [], [], 60)[0], self.shown[-2000:]
            self.written += os.read(self.keyboard, 65_536)
        end = self.shown.index(text, self.seen) + len(text)
        part, self.seen = self.shown[self.seen : end], end
        return part

    def type(self, line):
        """Type a line."""
        os.write(self.keyboard, f"{line}\n".encode())

    def end(self):
        """The exit code, when nothing more is shown."""
        with contextlib.suppress(OSError):
            while more := os.read(self.keyboard, 65_536):
                self.written += more
        os.close(self.keyboard)
        return self.process.wait(60)

    def lines(self):
        """The lines that were shown; one that was drawn again stands as often as it was drawn."""
        return re.split(r"[\r\n]+", self._text())
