"""Asking a coder about finished text: record, replay from the record, ask again, go on where it
stopped.

The coder is a language model of the pool, which keeps limits and budget. A `Record` stands before
it: what was asked before is answered from the file, everything else is asked once and appended.
The loop that asks until a reply can be read is that of participants too (`models/ask.py`).
"""

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from delibsim.asking.nouns import Question
from delibsim.domain.annotation import Annotation
from delibsim.domain.text import counted
from delibsim.models.ask import ask_until_read
from delibsim.models.base import FATAL, OUTCOMES, LanguageModel
from delibsim.models.clients.settings import price_in
from delibsim.models.counted import InputCounts, uncheckable
from delibsim.models.limits import Budget
from delibsim.models.pool import ModelPool
from delibsim.models.replay import Diverged, Exchange, Recorder, Replay, exchanges_in
from delibsim.models.retry import use, worst_case
from delibsim.store.annotations import AnnotationLog, TaskFolder, log_of_task
from delibsim.store.files import append_line, make_folder, read_lines
from delibsim.store.sent import Sent, SentLog

GIVEN_UP = 8
"""Calls to a model that fail one after the other before it is asked nothing more for now."""
HOPELESS = FATAL | {"budget"}
"""Statuses after which the next call to that model fails as well."""
DIVERGED = "diverged"
"""The status of a question that the record holds otherwise than it would be asked now."""
OF_THE_TEXT = (DIVERGED, "context_overflow", "truncated_prompt")
"""Statuses that say nothing of the next question to the same coder."""


TEXT = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
PURPOSE = re.compile(
    rb'\{"hash":"[0-9a-f]{64}","model":%b,"seed":-?[0-9]+,"purpose":'
    rb'\{"participant":(%b),"occasion":(%b)' % (TEXT, TEXT, TEXT)
)
"""How the line of an exchange begins, up to whom it asks, and on which occasion."""
Asks = Collection[tuple[str, str]]
"""Participants, each with an occasion on which it is asked."""


class ExchangeRecord:
    """The exchanges with coders in one file of JSON lines; `asked` counts those added by now. Who
    asked for it closes it.

    With `durable` each is on the disk before its answer is used. Of a long record only what is
    `needed` may be read, whole lines all the same.
    """

    def __init__(self, file: Path, durable: bool = False, needed: Asks | None = None) -> None:
        self.asked = 0
        self._file, self._durable = file, durable
        self._sent = SentLog(file, durable)
        wanted = None if needed is None else partial(_is_among, needed)
        self._known, _ = exchanges_in(read_lines(file, wanted)[0])
        self._counts: dict[str, InputCounts] = {}

    def before(self, model: LanguageModel) -> LanguageModel:
        """The model, asked only for what the record does not hold, and recorded."""
        if model.name not in self._counts:
            own = [one for one in self._known if one.model == model.name]
            self._counts[model.name] = InputCounts(own)
        recorder = Recorder(model, self._keep, self._sent.note, self._counts[model.name])
        return Replay(model.name, self._known, then=recorder)

    def unchecked(self) -> list[str]:
        """The models of which it cannot be said whether they read whole prompts, in sentences."""
        return uncheckable({name: own.unchecked for name, own in self._counts.items()})

    def _keep(self, exchange: Exchange) -> None:
        make_folder(self._file.parent, self._durable)
        append_line(self._file, exchange.record(), self._durable)
        self._sent.settle(exchange.model, exchange.seed, exchange.started)
        self.asked += 1

    def close(self) -> None:
        """Take note that nobody is asked any more."""
        self._sent.close()


def _is_among(needed: Asks, line: bytes) -> bool:
    """Whether the line of an exchange is one of those needed, or cannot be told from its
    beginning.
    """
    match = PURPOSE.match(line)
    if match is None:
        return True
    try:
        return (_unquoted(match[1]), _unquoted(match[2])) in needed
    except ValueError:  # damaged bytes, which whoever parses the line finds
        return True


def _unquoted(word: bytes) -> str:
    """A text of JSON; most hold nothing that has to be decoded."""
    return json.loads(word) if b"\\" in word else word[1:-1].decode()


async def reply_to(question: Question, model: LanguageModel) -> Annotation:
    """The reply of a coder to a question, or why the model could not be asked
    (`could_not_be_asked`).
    """
    _, value, own = await ask_until_read(
        model, question.prompt(), question.seed, question.again, question.reasks
    )
    return Annotation(question.unit, model.name, value, own.status, own.detail)


async def ask_in_turn(
    questions: Iterable[Question],
    model: LanguageModel,
    on_reply: Callable[[Question, Annotation], None],
    at_once: int = 8,
    standing: "Standing | None" = None,
) -> str:
    """Ask one coder many questions, at most so many at once, and hand over each reply as it comes.

    The coder is asked nothing more after a wrong key, an empty account, a spent budget, or
    `GIVEN_UP` calls in a row that failed. Returned is why, "" where all was asked. `standing` knows
    of what it was asked before.
    """
    waiting = iter(questions)
    state = standing or Standing()
    workers = [asyncio.create_task(_work(waiting, model, on_reply, state)) for _ in range(at_once)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    return state.given_up


class Standing:
    """Whether a coder can still be asked: calls that failed in a row, and why it was given up."""

    def __init__(self) -> None:
        self.failed, self.given_up = 0, ""

    def note(self, reply: Annotation) -> None:
        """Take note of a reply, or of a call that gave none."""
        if reply.status in OF_THE_TEXT:
            return
        if not could_not_be_asked(reply):
            self.failed = 0
            return
        self.failed += 1
        if reply.status in HOPELESS or self.failed >= GIVEN_UP:
            self.given_up = self.given_up or str(reply.reason)


async def _work(
    waiting: Iterator[Question],
    model: LanguageModel,
    on_reply: Callable[[Question, Annotation], None],
    state: Standing,
) -> None:
    """Ask one question after the other while there are any and the coder can be asked."""
    for question in waiting:
        try:
            found = await reply_to(question, model)
        except Diverged as error:
            fault = str(error).replace("\n", "; ")
            found = Annotation(question.unit, model.name, None, DIVERGED, fault)
        state.note(found)
        on_reply(question, found)
        if state.given_up:
            return


def could_not_be_asked(reply: Annotation) -> bool:
    """Whether the call failed on the way, so that nothing is known of the coder's answer."""
    return reply.status not in OUTCOMES


def spent_on(folder: TaskFolder) -> float:
    """US dollars that the exchanges of one task have cost so far."""
    account = Budget()
    charge(account, log_of_task(folder))
    return account.spent_usd


def charge(account: Budget, log: AnnotationLog) -> None:
    """Charge each call of a task."""
    records, _, lost = log.read()
    charge_calls(account, records, log.models, lost)


def charge_calls(
    account: Budget,
    records: Iterable[Mapping[str, Any]],
    models: Mapping[str, Mapping[str, Any]],
    lost: Iterable[Sent],
) -> None:
    """Charge each attempt of the recorded calls, and the calls that were cut off."""
    for exchange in exchanges_in(records)[0]:
        settings = models.get(exchange.model, {})
        worst = worst_case(exchange.messages, price_in(settings), settings.get("max_tokens"))
        completion = exchange.completion
        for attempt in (*completion.tries, completion):
            held = account.reserve(exchange.model, worst)
            if held is not None:
                account.settle(held, use(attempt))
    for sent in lost:
        account.assume(sent.usd or 0.0, sent.tokens)


EVERY = 5.0
"""Seconds between two lines of progress."""


class AskingProgress:
    """Counts answers as they come, and says now and then how many there are and what is left.

    `noun` is what one of them is called, such as "sample".
    """

    def __init__(
        self, total: int, pool: ModelPool, say: Callable[[str], None], noun: str = "sample"
    ) -> None:
        self._total, self._pool, self._say, self._noun = total, pool, say, noun
        self._begun = self._last = time.monotonic()
        self._done = 0
        self.missing: Counter[str] = Counter()
        """How many answers are missing, by the code of the reason."""

    def expect(self, total: int) -> None:
        """Say how many answers there will be at most."""
        self._total = total

    def note(self, missing: str) -> None:
        """Take note of an answer; `missing` is the code of the reason why it is missing, or ""."""
        self._done += 1
        if missing:
            self.missing[missing] += 1
        now = time.monotonic()
        if now - self._last >= EVERY:
            self._last = now
            self._say(self.line())

    def line(self) -> str:
        """How asking stands, in one line."""
        seconds = max(time.monotonic() - self._begun, 0.001)
        parts = [
            f"{self._done:,} of {counted(self._total, self._noun)}",
            f"{60 * self._done / seconds:,.0f} a minute",
        ]
        parts += [f"{n:,} {code}" for code, n in self.missing.most_common()]
        budget = self._pool.budget
        if budget.usd is not None:
            parts.append(f"{budget.spent_usd:.2f} of {budget.usd:g} USD spent or reserved")
        elif budget.spent_usd:
            parts.append(f"{budget.spent_usd:.2f} USD spent or reserved")
        left = self._total - self._done
        if self._done and left:
            minutes, rest = divmod(round(left * seconds / self._done), 60)
            parts.append(f"about {minutes} min {rest} s left")
        return ", ".join(parts)
