"""Asking a coder about finished text: record, replay from the record, ask again, go on where it
stopped.

The coder is a language model of the pool, which keeps limits and budget. A `Record` stands before
it: what was asked before is answered from the file, everything else is asked once and appended.
The loop that asks until a reply can be read is that of participants too (`models/ask.py`).
"""

import asyncio
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import Path

from delibsim.asking.nouns import Question
from delibsim.domain.annotation import Annotation
from delibsim.models.ask import ask_until_read, raise_interrupted
from delibsim.models.base import FATAL, OUTCOMES, LanguageModel
from delibsim.models.replay import Diverged, Exchange, Recorder, Replay, exchanges_in
from delibsim.store.files import append_line, make_folder, read_lines
from delibsim.store.sent import SentLog

GIVEN_UP = 8
"""Calls to a model that fail one after the other before it is asked nothing more for now."""
HOPELESS = FATAL | {"budget"}
"""Statuses after which the next call to that model fails as well."""
DIVERGED = "diverged"
"""The status of a question that the record holds otherwise than it would be asked now."""
OF_THE_TEXT = (DIVERGED, "context_overflow")
"""Statuses that say nothing of the next question to the same coder."""


TEXT = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
PURPOSE = re.compile(
    rb'\{"hash":"[0-9a-f]{64}","model":%b,"seed":-?[0-9]+,"purpose":'
    rb'\{"participant":(%b),"occasion":(%b)' % (TEXT, TEXT, TEXT)
)
"""How the line of an exchange begins, up to whom it asks, and on which occasion."""
Asks = Collection[tuple[str, str]]
"""Participants, each with an occasion on which it is asked."""


class Record:
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

    def before(self, model: LanguageModel) -> LanguageModel:
        """The model, asked only for what the record does not hold, and recorded."""
        return Replay(model.name, self._known, then=Recorder(model, self._keep, self._sent.note))

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


async def answer_to(question: Question, model: LanguageModel) -> Annotation:
    """The same; Interrupted where the model could not be asked."""
    prompt, value, own = await ask_until_read(
        model, question.prompt(), question.seed, question.again, question.reasks
    )
    raise_interrupted(model.name, prompt, own)
    return Annotation(question.unit, model.name, value, own.status, own.detail)


async def ask_in_turn(
    questions: Iterable[Question],
    model: LanguageModel,
    on_reply: Callable[[Question, Annotation], None],
    at_once: int = 8,
) -> str:
    """Ask one coder many questions, at most so many at once, and hand over each reply as it comes.

    The coder is asked nothing more after a wrong key, an empty account, a spent budget, or
    `GIVEN_UP` calls in a row that failed. Returned is why, "" where all was asked.
    """
    waiting = iter(questions)
    state = _Standing()
    workers = [asyncio.create_task(_work(waiting, model, on_reply, state)) for _ in range(at_once)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    return state.given_up


class _Standing:
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
    state: _Standing,
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
