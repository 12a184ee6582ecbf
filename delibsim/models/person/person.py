"""A person as a participant, through an awaitable that asks: at the terminal, the survey item by
item and every statement.
"""

import asyncio
import functools
import os
import re
import select
import sys
import termios
import time
import unicodedata
from collections.abc import Awaitable, Callable, Mapping

from delibsim.models.base import Completion, Status, Usage
from delibsim.prompts.blocks import block, read_block, read_items
from delibsim.prompts.forms.speech import Speech
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.prompt import Prompt, UnreadableReply

Ask = Callable[[str], Awaitable[str]]
"""Shows a text and gives the line that is answered; raises EOFError when nobody will answer any
more.
"""

LATER, DECLINE, DONE = "!later", "!decline", "!done"
STOPPED = "the person stopped here, to go on another time"
TYPED_AHEAD = "(What was typed before this was asked is not taken.)\n"
HOW = f"({LATER} stops here, to go on another time; {DECLINE} declines to answer this.)"
TAG = re.compile(r"^</?[a-z_]+>\n?", re.MULTILINE)


class _Stopped(Exception):
    """The person went away, or declined; holds the status."""

    def __init__(self, status: Status, detail: str) -> None:
        super().__init__(detail)
        self.status: Status = status


class Terminal:
    """Asks on stderr and reads lines from stdin without a thread, so that Ctrl-C ends it at
    once.
    """

    def __init__(self) -> None:
        self._typed = bytearray()

    async def ask(self, text: str) -> str:
        """Show a text and give the line that is answered; EOFError at the end of the input."""
        sys.stderr.write(text)
        sys.stderr.flush()
        while b"\n" not in self._typed:
            more = await self._read()
            if not more:
                raise EOFError
            self._typed += more
        line, _, rest = self._typed.partition(b"\n")
        self._typed = rest
        return line.decode(errors="replace")

    def discard(self) -> None:
        """Forget what was typed or pasted before it was asked for, and say so; a pipe or a file is
        left as it is.
        """
        source = sys.stdin.fileno()
        if not os.isatty(source):
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


@functools.cache
def terminal() -> Terminal:
    """The terminal of this process, which all people at it share."""
    return Terminal()


class Human:
    """A person who reads what language models read, and answers in the same form; what is no answer
    is asked again at once.

    `ask` shows a text and gives the line answered; without it, the terminal does, and what was
    typed before a question is no answer to it. One question is put at a time, so several people may
    share a terminal. A survey is recorded when it is whole: who stops within one begins it again.
    `temperature` has no meaning here and is reported as dropped.
    """

    without_effect = frozenset({"temperature"})

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
            try:
                self._heading = _heading(prompt)
                form = prompt.reply
                if isinstance(form, Speech):
                    text = await self._speech(form)
                else:
                    text = (
                        await self._survey(prompt, form)
                        if isinstance(form, SurveyAnswers)
                        else await self._words(prompt)
                    )
            except _Stopped as stop:
                return self._completion("", stop.status, str(stop))
            except EOFError:
                return self._completion(
                    "", "cancelled", "nobody is there to answer (the input ended)"
                )
        return self._completion(text)

    def _completion(self, text: str, status: Status = "ok", detail: str = "") -> Completion:
        return Completion(
            text=text,
            status=status,
            detail=detail,
            usage=Usage(
                input_tokens=0, cached_tokens=0, output_tokens=0, reasoning_tokens=0, cost_usd=0.0
            ),
            model_requested=self.name,
            model_returned="a person",
            parameters_dropped=() if self.temperature is None else ("temperature",),
            finish_reason="stop",
        )

    async def _line(self, question: str, goes_on: bool = False) -> str:
        """One line of what the person says; the heading goes before the first. `goes_on`: in the
        midst of what may be pasted whole.
        """
        if self._terminal and not goes_on:
            self._terminal.discard()
        heading, self._heading = self._heading, ""
        line = (await self._ask(heading + question)).strip()
        if line == LATER:
            raise _Stopped("cancelled", STOPPED)
        if line == DECLINE:
            raise _Stopped("refusal", "the person declined to answer")
        return line

    async def _words(self, prompt: Prompt) -> str:
        question = f"What do you say? {DONE} on a line of its own ends it.\n"
        while True:
            text = await self._lines(
                lambda _, last: f"({DONE} ends it) > " if last == "" else "> ", question
            )
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
            seconds = int(time.monotonic() - started)
            return (
                f"[{len(text.split())} words,"
                f" {seconds // 60}:{seconds % 60:02}{f', {DONE} ends it' if last == '' else ''}] > "
            )

        question = (
            f"Your speech, of {form.rules.least} to {form.rules.most} words. {DONE} on a line of"
            " its own ends it.\n"
        )
        return await self._lines(so_far, question)

    async def _lines(self, mark: Callable[[str, str | None], str], question: str) -> str:
        """Lines up to DONE, which no text holds by chance as it holds empty ones; `mark` (text so
        far, last line) prompts for the next.
        """
        lines: list[str] = []
        last = None
        while True:
            line = await self._line(question + mark("\n".join(lines), last), goes_on=not question)
            text = "\n".join(lines).strip()
            if line == DONE and text:
                return text
            question, last = "", line if line != DONE else ""
            lines += [line] if line != DONE else []

    async def _survey(self, prompt: Prompt, form: SurveyAnswers) -> str:
        """Every item in the order shown: ratings on the scale (in a Q sort, what is left of each),
        then ranks, each used once.
        """
        text = "\n\n".join(message.content for message in prompt.messages)
        before = dict(
            re.findall(r"^(\w+): (-?\d+)$", read_block("answers", text) or "", re.MULTILINE)
        )
        items, survey = read_items("considerations", text), form.shown
        left = (
            None
            if survey.forced_distribution is None
            else dict(zip(survey.scale, survey.forced_distribution, strict=True))
        )
        given: dict[str, int] = {}
        for n, (label, item) in enumerate(items.items(), 1):
            head = f"\n{n}/{len(items)}  {item}{_before(before, label)}\n{form.scale}"
            open_ = (
                survey.scale if left is None else [value for value, count in left.items() if count]
            )
            room = "" if left is None else f" [left: {', '.join(f'{v} x{left[v]}' for v in open_)}]"
            given[label] = await self._number(f"{head}{room}: ", open_)
            if left is not None:
                left[given[label]] -= 1
        options = read_items("preferences", text)
        listed = "\n".join(
            f"  {label}. {option}{_before(before, label)}" for label, option in options.items()
        )
        question = f"\nRank the options, 1 for the one you prefer most:\n{listed}\n"
        ranks = list(range(1, len(options) + 1))
        for label in options:
            given[label] = await self._number(
                f"{question}rank of {label} [left: {', '.join(map(str, ranks))}]: ", ranks
            )
            ranks.remove(given[label])
            question = ""
        return "\n".join(f"{label}: {value}" for label, value in given.items())

    async def _number(self, question: str, allowed: range | list[int]) -> int:
        while True:
            line = await self._line(question)
            if re.fullmatch(r"[+-]?[0-9]{1,9}", line, re.ASCII) and int(line) in allowed:
                return int(line)
            question = f"  please answer with a whole number: {_listed(allowed)}: "


def _heading(prompt: Prompt) -> str:
    """What models are shown, without the marks, and without what is asked one by one below."""
    messages = prompt.messages if prompt.purpose.attempt == 0 else prompt.messages[-1:]
    form, text = prompt.reply, "\n\n".join(message.content for message in messages)
    for said in (
        (form.rules(), form.ending()) if isinstance(form, SurveyAnswers) else (form.describe(),)
    ):
        text = re.sub(rf"{re.escape(said)}\n*", "", text)
    if isinstance(form, SurveyAnswers):
        for tag in ("considerations", "preferences", "answers"):
            if (shown := read_block(tag, text)) is not None:
                text = re.sub(
                    rf"(?:[^\n]*\n)?{re.escape(block(tag, shown))}\n*", "", text
                )  # with the line that introduces it
    line = "=" * 72
    who = f"{prompt.purpose.participant}, {prompt.purpose.occasion}"
    return f"\n{line}\n{who}\n{line}\n\n{inert(TAG.sub('', text)).strip()}\n\n{HOW}\n"


def inert(text: str) -> str:
    """Text that changes nothing on a terminal but what stands there: without control, escape or
    direction-changing characters.
    """
    return "".join(
        c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co")
    )


def _before(answers: Mapping[str, str], label: str) -> str:
    return f"  (before: {answers[label]})" if label in answers else ""


def _listed(allowed: range | list[int]) -> str:
    return (
        f"{allowed[0]} to {allowed[-1]}"
        if isinstance(allowed, range)
        else ", ".join(map(str, allowed))
    )
