"""The terminal of this process, which all people at it share, and what it shows of a prompt."""

import asyncio
import functools
import os
import re
import select
import shutil
import sys
import termios
import unicodedata
from typing import get_args

from delibsim.domain.survey import PHASES, WAVE, Phase
from delibsim.models.person.told import told
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.prompt import Prompt

LATER, DECLINE, DONE, BACK = "!later", "!decline", "!done", "!back"
"""What a person may say instead of an answer."""
HOW = f"{LATER} stops here, to go on another time; {DECLINE} declines to answer this"
BACK_IN_SURVEY = f"{BACK} returns to the question before"
BACK_IN_TEXT = f"{BACK} takes the last line back"
RULE = "=" * 72
BEGINNING = re.compile(r"> |\s*(?:\S{1,8} {2}|\S{1,8}\. )?")
"""The quotation mark of a line of speech; or the indent of a line, with its number or label."""
WIDE = ("W", "F")
"""The East Asian widths of characters that take two columns."""
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


def heading(prompt: Prompt) -> str:
    """What models are shown, without the marks, and without what is asked one by one below."""
    is_survey = isinstance(prompt.reply, SurveyAnswers)
    who = f"{title(prompt)} ({prompt.purpose.participant})"
    how = f"({HOW}; {BACK_IN_SURVEY if is_survey else BACK_IN_TEXT}.)"
    return f"\n{RULE}\n{who}\n{RULE}\n\n{told(prompt)}\n\n{how}\n"


def title(prompt: Prompt) -> str:
    """What a person is asked for, in a few words."""
    occasion, form = prompt.purpose.occasion, prompt.reply
    if prompt.purpose.attempt:
        return "Once more, please"
    if occasion.startswith("turn "):
        return "Your turn to speak"
    if occasion.startswith("vote "):
        return "Your vote on statements for the group"
    if occasion in ("position", "critique"):
        return f"Your {occasion}"
    if occasion not in get_args(Phase):
        return "A question to you"
    first = occasion == PHASES[0]
    if isinstance(form, SurveyAnswers) and len(form.survey.items) == 1:
        return f"Your view of the motion, {'before' if first else 'after'} the debate"
    if occasion.startswith(WAVE):
        return "The survey, so far"
    return "The survey, for the first time" if first else "The survey, for the second time"


def fitted(text: str, width: int) -> str:
    r"""A text in lines of at most so many columns, broken between words.

    A line goes on below its first word, quoted speech behind another quotation mark.

    >>> print(fitted("1/3  Reason one counts.\n> Said by another.", 12))
    1/3  Reason
         one
         counts.
    > Said by
    > another.
    """
    lines = []
    for line in text.replace(RULE, RULE[:width]).expandtabs(4).split("\n"):
        lines += [line] if columns(line) <= width else _parts(line, width)
    return "\n".join(lines)


def _parts(line: str, width: int) -> list[str]:
    """The lines that a line is broken into."""
    match = BEGINNING.match(line)
    first = match[0] if match and columns(match[0]) <= width // 2 else ""
    below = first if first == "> " else " " * columns(first)
    ending = " " if line.endswith(" ") else ""  # before the cursor
    room = width - columns(first) - len(ending)
    parts = [""]
    for word in line.removeprefix(first).split():
        for piece in _pieces(word, room):
            joined = f"{parts[-1]} {piece}".lstrip()
            if columns(joined) <= room:
                parts[-1] = joined
            else:
                parts.append(piece)
    parts = [f"{below if n else first}{part}" for n, part in enumerate(parts)]
    return [*parts[:-1], parts[-1] + ending]


def _pieces(word: str, room: int) -> list[str]:
    """A word, in pieces where it is wider than a line; text without blanks is such a word."""
    pieces = [""]
    for character in word:
        if pieces[-1] and columns(pieces[-1] + character) > room:
            pieces.append("")
        pieces[-1] += character
    return pieces


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    count = 0
    for character in text:
        if not unicodedata.combining(character):
            count += 2 if unicodedata.east_asian_width(character) in WIDE else 1
    return count
