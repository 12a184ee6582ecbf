"""A person at a terminal as a participant, who is asked item by item and speaks line by line; and
the terminal of this process, which all people at it share.
"""

import asyncio
import functools
import os
import re
import select
import shutil
import sys
import termios
import time
import unicodedata
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import get_args

from delibsim.domain.hosting import STOPPED
from delibsim.domain.survey import PHASES, WAVE, Phase
from delibsim.domain.text import safe as inert
from delibsim.models.base import Capabilities, Completion, Status
from delibsim.models.person.browser import Given, completion_of
from delibsim.models.person.fields import Field, Questionnaire, reply_of, told
from delibsim.models.person.questionnaire import questionnaire
from delibsim.prompts.forms.survey import RankingForm, SurveyAnswers
from delibsim.prompts.forms.words import Facilitation, Speech
from delibsim.prompts.prompt import Prompt, UnreadableReply

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


@dataclass(frozen=True)
class ItemSheet:
    """A survey or a vote item by item. `settled` is what was answered of the items before the one
    that is asked.
    """

    asked: Questionnaire

    @property
    def considerations(self) -> dict[str, str]:
        """The texts of what is rated, by label."""
        return {field.name: field.text for field in self.asked.of("scale")}

    @property
    def options(self) -> dict[str, str]:
        """The texts of what is ranked, by label."""
        return {field.name: field.text for field in self.asked.of("rank")}

    @property
    def before(self) -> dict[str, int]:
        """The answers of the first survey, where they are shown."""
        return {field.name: int(field.before) for field in self.asked.fields if field.before}

    @property
    def labels(self) -> list[str]:
        """The labels of all items, in the order in which they are asked."""
        return [field.name for field in self.asked.fields]

    def allowed(self, label: str, settled: Mapping[str, int]) -> Collection[int]:
        """The numbers that an item can be answered with."""
        left, field = self._left(label, settled), self._field(label)
        return range(field.low, field.high + 1) if left is None else left

    def question(self, label: str, settled: Mapping[str, int]) -> str:
        """What is asked of one item; the first option is shown with all others."""
        left, field = self._left(label, settled), self._field(label)
        if field.kind == "rank":
            first = next(iter(self.options)) == label
            ranks = ", ".join(map(str, left or ()))
            return f"{self._listed() if first else ''}rank of {label} [left: {ranks}]"
        number = f"{list(self.considerations).index(label) + 1}/{len(self.considerations)}"
        counts = ", ".join(f"{value} x{n}" for value, n in (left or {}).items())
        places = f" [left: {counts}]" if counts else ""
        low, high = self.asked.ends
        scale = f"{field.low} ({low}) to {field.high} ({high})"
        return f"\n{number}  {field.text}{_answered(field)}\n{scale}{places}"

    def last_question(self) -> str:
        """What is asked when every item is answered."""
        return (
            f"\nEnter hands the answers in; {BACK} or a question returns to it ({self.named()}): "
        )

    def named(self) -> str:
        """What a person may call the items: considerations by number, options by label."""
        numbers = f"1 to {len(self.considerations)}" if len(self.considerations) > 1 else "1"
        return ", ".join([numbers, *self.options])

    def place(self, name: str) -> int | None:
        """The place of the item that a person names among all; None where none is called so."""
        numbers = map(str, range(1, len(self.considerations) + 1))
        labels = [label.casefold() for label in self.options]
        names = [*numbers, *labels]
        return names.index(name.casefold()) if name.casefold() in names else None

    def _field(self, label: str) -> Field:
        return next(field for field in self.asked.fields if field.name == label)

    def _left(self, label: str, settled: Mapping[str, int]) -> dict[int, int] | None:
        """How often each number is left: each rank once; None where the scale is free."""
        ranked = label in self.options
        used = Counter(n for own, n in settled.items() if (own in self.options) == ranked)
        places = dict(self.asked.counts)
        if ranked:
            places = dict.fromkeys(range(1, len(self.options) + 1), 1)
        elif not places:
            return None
        return {number: n - used[number] for number, n in places.items() if n > used[number]}

    def _listed(self) -> str:
        """All options, above the rank of the first."""
        lines = []
        for field in self.asked.of("rank"):
            lines.append(f"  {field.name}. {field.text}{_answered(field)}\n")
        return f"\nRank the options, 1 for the one you prefer most:\n{''.join(lines)}"


def _answered(field: Field) -> str:
    return f"  (before: {field.before})" if field.before else ""


Ask = Callable[[str], Awaitable[str]]
"""Shows a text and gives the line that is answered; EOFError when nobody will answer any more."""

COMMAND = re.compile(r"![a-z]+", re.ASCII)


class _Stopped(Exception):
    """The person went away, or declined; holds the status."""

    def __init__(self, status: Status, detail: str) -> None:
        super().__init__(detail)
        self.status: Status = status


class Human:
    """A person who reads what language models read, and answers in the same form; what is no answer
    is asked again at once.

    `ask` shows a text and gives the line answered; without it, the terminal does, and what was
    typed before a question is no answer to it. One question is put at a time, so several people may
    share a terminal. A survey is recorded when it is whole: who stops within one begins it again.
    `temperature` has no meaning here and is reported as dropped. There is nothing to check before
    the first question and nothing to close.
    """

    without_effect = frozenset({"temperature"})
    capabilities = Capabilities()

    def __init__(
        self, name: str = "human", temperature: float | None = None, ask: Ask | None = None
    ) -> None:
        self.name, self.temperature = name, temperature
        self._terminal = None if ask else terminal()
        self._ask = ask or terminal().ask
        self._heading = ""
        self._turn = asyncio.Lock()

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """The person's answer; "cancelled" if they stop here (the session goes on from its record),
        "refusal" if they decline.
        """
        async with self._turn:
            self._heading = heading(prompt)
            try:
                return self._completion(await self._reply(prompt))
            except _Stopped as stop:
                return self._completion("", stop.status, str(stop))
            except EOFError:
                detail = "nobody is there to answer (the input ended)"
                return self._completion("", "cancelled", detail)

    async def _reply(self, prompt: Prompt) -> str:
        form = prompt.reply
        if isinstance(form, Speech):
            return await self._speech(form)
        if isinstance(form, SurveyAnswers):
            return await self._filled_in(questionnaire(prompt))
        if isinstance(form, RankingForm):
            return await self._vote(questionnaire(prompt))
        return await self._words(prompt)

    def _completion(self, text: str, status: Status = "ok", detail: str = "") -> Completion:
        return completion_of(self.name, self.temperature, Given(text, status, detail))

    async def _line(self, question: str, goes_on: bool = False) -> str:
        """One line of what the person says; the heading goes before the first.

        `goes_on`: the line continues a text that may be pasted whole, so nothing is discarded.
        """
        if self._terminal and not goes_on:
            self._terminal.discard()
        above, self._heading = self._heading, ""
        line = (await self._ask(above + inert(question))).strip()
        if line == LATER:
            raise _Stopped("cancelled", STOPPED)
        if line == DECLINE:
            raise _Stopped("refusal", "the person declined to answer")
        return line

    async def _words(self, prompt: Prompt) -> str:
        """A statement, line by line, until it can be read."""

        def mark(text: str, last: str | None) -> str:
            return f"({DONE} ends it) > " if last == "" else "> "

        question = f"What do you say? {DONE} on a line of its own ends it.\n"
        if isinstance(prompt.reply, Facilitation) and prompt.reply.waiting:
            question = f"{question}To name the next speaker, write before it: Next: NAME\n"
        while True:
            text = await self._lines(mark, question)
            try:
                prompt.reply.read(text)
            except UnreadableReply as error:
                question = f"That cannot be taken: {error}. Please say it anew.\n"
                continue
            return text

    async def _speech(self, form: Speech) -> str:
        """A speech, line by line, with the words so far and the time taken, which only informs; its
        rules are those of every debater.
        """
        started = time.monotonic()

        def so_far(text: str, last: str | None) -> str:
            minutes, seconds = divmod(int(time.monotonic() - started), 60)
            ending = f", {DONE} ends it" if last == "" else ""
            return f"[{len(text.split())} words, {minutes}:{seconds:02}{ending}] > "

        length = f"{form.rules.least} to {form.rules.most} words"
        question = f"Your speech, of {length}. {DONE} on a line of its own ends it.\n"
        return await self._lines(so_far, question)

    async def _lines(self, mark: Callable[[str, str | None], str], question: str) -> str:
        """Lines up to DONE, which no text holds by chance as it holds empty ones.

        `mark` gives what prompts for the next line, from the text so far and the last line.
        """
        lines: list[str] = []
        last, begun = None, False
        while True:
            line = await self._line(question + mark("\n".join(lines), last), goes_on=begun)
            text = "\n".join(lines).strip()
            if line == DONE and text:
                return text
            question, begun, last = "", True, ""
            if line == BACK:
                question = f"(taken back: {lines.pop()})\n" if lines else ""
            elif COMMAND.fullmatch(line) and line != DONE:
                question = f"({line} means nothing here. {BACK} takes the last line back.)\n"
            elif line != DONE:
                lines.append(line)
                last = line

    async def _vote(self, asked: Questionnaire) -> str:
        """How far the person agrees with every statement, and then the ranks."""
        fields = []
        for field in asked.fields:
            name = f"S{field.name[1:]}"
            text = f"the statement {name}" if field.kind == "rank" else f"{name}. {field.text}"
            fields.append(replace(field, text=text))
        return await self._filled_in(replace(asked, fields=tuple(fields)))

    async def _filled_in(self, asked: Questionnaire) -> str:
        """Every item in the order shown, first what is rated and then what is ranked.

        BACK returns to the item before, and from the last one any item can be returned to; what was
        answered from there on is offered again.
        """
        sheet = ItemSheet(asked)
        before = sheet.before
        given: dict[str, int] = {}
        labels, place = sheet.labels, 0
        while place < len(labels):
            label, settled = labels[place], {own: given[own] for own in labels[:place]}
            shown = given.get(label, before.get(label))
            question, allowed = sheet.question(label, settled), sheet.allowed(label, settled)
            value = await self._number(question, allowed, shown)
            if value is None:
                place = max(place - 1, 0)
                continue
            given[label] = value
            place += 1
            if place == len(labels):
                place = await self._last_look(sheet)
        return reply_of(asked, {label: [str(value)] for label, value in given.items()})

    async def _last_look(self, sheet: ItemSheet) -> int:
        """The place of the item that a person returns to, once all are answered; beyond the last
        one where the answers are handed in, as those are that come from a pipe or a file.
        """
        if self._terminal and not self._terminal.by_hand():
            return len(sheet.labels)
        question = sheet.last_question()
        while True:
            line = await self._line(question)
            if not line:
                return len(sheet.labels)
            place = len(sheet.labels) - 1 if line in (BACK, BACK[1:2]) else sheet.place(line)
            if place is not None:
                return place
            question = f"  please press Enter, or name a question: {sheet.named()}: "

    async def _number(
        self, question: str, allowed: Collection[int], shown: int | None
    ) -> int | None:
        """A number that is allowed; Enter keeps the one `shown` if it is. None for BACK."""
        kept = shown if shown in allowed else None
        hint = "" if kept is None else f" [Enter keeps {kept}]"
        question = f"{question}{hint}: "
        while True:
            line = await self._line(question)
            if line == BACK:
                return None
            if not line and kept is not None:
                return kept
            if re.fullmatch(r"[+-]?[0-9]{1,9}", line, re.ASCII) and int(line) in allowed:
                return int(line)
            question = f"  please answer with a whole number: {_listed(allowed)}{hint}: "


def _listed(allowed: Collection[int]) -> str:
    if isinstance(allowed, range):
        return f"{allowed[0]} to {allowed[-1]}"
    return ", ".join(map(str, allowed))
