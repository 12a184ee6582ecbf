"""A person as a participant, who is asked item by item and speaks line by line."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Collection

from delibsim.models.base import Capabilities, Completion, Status, Usage
from delibsim.models.person.page import BACK, DECLINE, DONE, LATER, heading, inert
from delibsim.models.person.sheet import Sheet, sheet_of_vote
from delibsim.models.person.terminal import terminal
from delibsim.prompts.blocks import read_block, read_items
from delibsim.prompts.forms.survey import RankingForm, SurveyAnswers
from delibsim.prompts.forms.words import Speech
from delibsim.prompts.prompt import Prompt, UnreadableReply

Ask = Callable[[str], Awaitable[str]]
"""Shows a text and gives the line that is answered; EOFError when nobody will answer any more."""

STOPPED = "the person stopped here, to go on another time"
FREE = Usage(input_tokens=0, cached_tokens=0, output_tokens=0, reasoning_tokens=0, cost_usd=0.0)
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
            return await self._survey(prompt, form)
        if isinstance(form, RankingForm):
            return await self._vote(prompt)
        return await self._words(prompt)

    def _completion(self, text: str, status: Status = "ok", detail: str = "") -> Completion:
        return Completion(
            text=text,
            status=status,
            detail=detail,
            usage=FREE,
            model_requested=self.name,
            model_returned="a person",
            parameters_dropped=() if self.temperature is None else ("temperature",),
            finish_reason="stop",
        )

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

    async def _survey(self, prompt: Prompt, form: SurveyAnswers) -> str:
        """Every item in the order shown, first the considerations and then the options.

        BACK returns to the item before, and from the last one any item can be returned to; what was
        answered from there on is offered again.
        """
        text = "\n\n".join(message.content for message in prompt.messages)
        answers = read_block("answers", text) or ""
        before = {
            label: int(value)
            for label, value in re.findall(r"^(\w+): (-?\d+)$", answers, re.MULTILINE)
        }
        items = read_items("considerations", text), read_items("preferences", text)
        return await self._filled_in(Sheet(form, *items, before))

    async def _vote(self, prompt: Prompt) -> str:
        """How far the person agrees with every statement, and then the ranks."""
        statements = list(read_items("statements", prompt.text).values())
        answers = await self._filled_in(sheet_of_vote(statements))
        return answers if len(statements) > 1 else f"{answers}\nR1: 1"

    async def _filled_in(self, sheet: Sheet) -> str:
        """A sheet, item by item."""
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
        return "\n".join(f"{label}: {given[label]}" for label in labels)

    async def _last_look(self, sheet: Sheet) -> int:
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
