"""A person at a terminal as a participant, who is asked item by item and speaks line by line."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace

from delibsim.domain.hosting import STOPPED
from delibsim.domain.text import safe as inert
from delibsim.models.base import Capabilities, Completion, Status
from delibsim.models.person.browser import Given, completion_of
from delibsim.models.person.fields import Field, Questionnaire, reply_of
from delibsim.models.person.questionnaire import questionnaire
from delibsim.models.person.terminal import BACK, DECLINE, DONE, LATER, heading, terminal
from delibsim.prompts.forms.facilitation import Facilitation
from delibsim.prompts.forms.survey import RankingForm, SurveyAnswers
from delibsim.prompts.forms.words import Speech
from delibsim.prompts.prompt import Prompt, UnreadableReply


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
