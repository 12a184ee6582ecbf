"""A person as a participant, who is asked item by item and speaks line by line."""

import asyncio
import re
import time
import unicodedata
from collections.abc import Awaitable, Callable, Collection, Mapping

from delibsim.domain.survey import Survey
from delibsim.models.base import Completion, Status, Usage
from delibsim.models.capabilities import Capabilities
from delibsim.models.person.terminal import terminal
from delibsim.prompts.blocks import block, read_block, read_items
from delibsim.prompts.forms.speech import Speech
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.prompt import Prompt, UnreadableReply

Ask = Callable[[str], Awaitable[str]]
"""Shows a text and gives the line that is answered; EOFError when nobody will answer any more."""

LATER, DECLINE, DONE = "!later", "!decline", "!done"
STOPPED = "the person stopped here, to go on another time"
HOW = f"({LATER} stops here, to go on another time; {DECLINE} declines to answer this.)"
FREE = Usage(input_tokens=0, cached_tokens=0, output_tokens=0, reasoning_tokens=0, cost_usd=0.0)
TAG = re.compile(r"^</?[a-z_]+>\n?", re.MULTILINE)


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
            self._heading = _heading(prompt)
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
        heading, self._heading = self._heading, ""
        line = (await self._ask(heading + question)).strip()
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
        last = None
        while True:
            line = await self._line(question + mark("\n".join(lines), last), goes_on=not question)
            text = "\n".join(lines).strip()
            if line == DONE and text:
                return text
            question, last = "", line if line != DONE else ""
            lines += [line] if line != DONE else []

    async def _survey(self, prompt: Prompt, form: SurveyAnswers) -> str:
        """Every item in the order shown, first the considerations and then the options."""
        text = "\n\n".join(message.content for message in prompt.messages)
        answers = read_block("answers", text) or ""
        before = dict(re.findall(r"^(\w+): (-?\d+)$", answers, re.MULTILINE))
        given = await self._ratings(form, read_items("considerations", text), before)
        given |= await self._ranks(read_items("preferences", text), before)
        return "\n".join(f"{label}: {value}" for label, value in given.items())

    async def _ratings(
        self, form: SurveyAnswers, items: Mapping[str, str], before: Mapping[str, str]
    ) -> dict[str, int]:
        """A rating of each item on the scale; in a Q sort, of those of its values that are left."""
        left = _places(form.shown)
        given: dict[str, int] = {}
        for n, (label, item) in enumerate(items.items(), 1):
            allowed: Collection[int] = form.shown.scale
            question = f"\n{n}/{len(items)}  {item}{_before(before, label)}\n{form.scale}"
            if left:
                allowed = [value for value, count in left.items() if count]
                counts = ", ".join(f"{value} x{left[value]}" for value in allowed)
                question += f" [left: {counts}]"
            given[label] = await self._number(f"{question}: ", allowed)
            if left:
                left[given[label]] -= 1
        return given

    async def _ranks(self, options: Mapping[str, str], before: Mapping[str, str]) -> dict[str, int]:
        """A rank of each option, each rank used once."""
        shown = (f"  {label}. {text}{_before(before, label)}" for label, text in options.items())
        listed = "\n".join(shown)
        question = f"\nRank the options, 1 for the one you prefer most:\n{listed}\n"
        ranks = list(range(1, len(options) + 1))
        given: dict[str, int] = {}
        for label in options:
            left = ", ".join(map(str, ranks))
            given[label] = await self._number(f"{question}rank of {label} [left: {left}]: ", ranks)
            ranks.remove(given[label])
            question = ""
        return given

    async def _number(self, question: str, allowed: Collection[int]) -> int:
        while True:
            line = await self._line(question)
            if re.fullmatch(r"[+-]?[0-9]{1,9}", line, re.ASCII) and int(line) in allowed:
                return int(line)
            question = f"  please answer with a whole number: {_listed(allowed)}: "


def _heading(prompt: Prompt) -> str:
    """What models are shown, without the marks, and without what is asked one by one below."""
    messages = prompt.messages if prompt.purpose.attempt == 0 else prompt.messages[-1:]
    form, text = prompt.reply, "\n\n".join(message.content for message in messages)
    is_survey = isinstance(form, SurveyAnswers)
    for told in (form.rules(), form.ending()) if is_survey else (form.describe(),):
        text = re.sub(rf"{re.escape(told)}\n*", "", text)
    for tag in ("considerations", "preferences", "answers") if is_survey else ():
        shown = read_block(tag, text)
        if shown is not None:
            # with the line that introduces it
            text = re.sub(rf"(?:[^\n]*\n)?{re.escape(block(tag, shown))}\n*", "", text)
    line = "=" * 72
    who = f"{prompt.purpose.participant}, {prompt.purpose.occasion}"
    return f"\n{line}\n{who}\n{line}\n\n{inert(TAG.sub('', text)).strip()}\n\n{HOW}\n"


def inert(text: str) -> str:
    """Text that changes nothing on a terminal but what stands there: without control, escape or
    direction-changing characters.
    """
    hidden = ("Cc", "Cf", "Cs", "Co")
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in hidden)


def _places(survey: Survey) -> dict[int, int]:
    """How many items each value of a forced distribution takes; empty where none is forced."""
    if survey.forced_distribution is None:
        return {}
    return dict(zip(survey.scale, survey.forced_distribution, strict=True))


def _before(answers: Mapping[str, str], label: str) -> str:
    return f"  (before: {answers[label]})" if label in answers else ""


def _listed(allowed: Collection[int]) -> str:
    if isinstance(allowed, range):
        return f"{allowed[0]} to {allowed[-1]}"
    return ", ".join(map(str, allowed))
