"""Asking a coder about finished text: record, replay from the record, ask again, go on where it
stopped.

The coder is a language model of the pool, which keeps limits and budget. A `Record` stands before
it: what was asked before is answered from the file, everything else is asked once and appended.
The loop that asks until a reply can be read is that of participants too (`models/ask.py`).
"""

import asyncio
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from delibsim.annotation.task import Task
from delibsim.domain.annotation import Annotation, Unit
from delibsim.models.ask import ask_until_read, raise_interrupted
from delibsim.models.base import FATAL, OUTCOMES, Completion, LanguageModel
from delibsim.models.replay import Diverged, Exchange, Recorder, Replay, exchanges_in
from delibsim.prompts.prompt import Prompt
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


async def ask(task: Task, unit: Unit, model: LanguageModel) -> Annotation:
    """The answer of a coder about one unit; Interrupted where the model could not be asked."""
    prompt, value, completion = await _reply(task, unit, model)
    raise_interrupted(model.name, prompt, completion)
    return Annotation(task.name, unit.id, model.name, value, completion.status, completion.detail)


async def ask_all(task: Task, units: Sequence[Unit], model: LanguageModel) -> list[Annotation]:
    """The answers of one coder about units, in their order.

    All are asked at once, as far as the limits of the model allow. Where the model could not be
    asked, the annotation says so (`could_not_be_asked`), and the others go on.
    """
    replies = await asyncio.gather(*(_reply(task, unit, model) for unit in units))
    annotations = []
    for unit, (_, value, own) in zip(units, replies, strict=True):
        annotations.append(
            Annotation(task.name, unit.id, model.name, value, own.status, own.detail)
        )
    return annotations


async def ask_in_turn(
    questions: Iterable[tuple[Task, Unit]],
    model: LanguageModel,
    on_answer: Callable[[Task, Unit, Annotation], None],
    at_once: int = 8,
) -> str:
    """Ask one coder many questions, at most so many at once, and hand over each answer as it comes.

    The coder is asked nothing more after a wrong key, an empty account, a spent budget, or
    `GIVEN_UP` calls in a row that failed. Returned is why, "" where all was asked.
    """
    waiting = iter(questions)
    state = _Standing()
    workers = [asyncio.create_task(_work(waiting, model, on_answer, state)) for _ in range(at_once)]
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

    def note(self, annotation: Annotation) -> None:
        """Take note of an answer, or of a call that gave none."""
        if annotation.status in OF_THE_TEXT:
            return
        if not could_not_be_asked(annotation):
            self.failed = 0
            return
        self.failed += 1
        if annotation.status in HOPELESS or self.failed >= GIVEN_UP:
            self.given_up = self.given_up or str(annotation.reason)


async def _work(
    waiting: Iterator[tuple[Task, Unit]],
    model: LanguageModel,
    on_answer: Callable[[Task, Unit, Annotation], None],
    state: _Standing,
) -> None:
    """Ask one question after the other while there are any and the coder can be asked."""
    for task, unit in waiting:
        try:
            _, value, own = await _reply(task, unit, model)
        except Diverged as error:
            fault = str(error).replace("\n", "; ")
            found = Annotation(task.name, unit.id, model.name, None, DIVERGED, fault)
        else:
            found = Annotation(task.name, unit.id, model.name, value, own.status, own.detail)
        state.note(found)
        on_answer(task, unit, found)
        if state.given_up:
            return


def could_not_be_asked(annotation: Annotation) -> bool:
    """Whether the call failed on the way, so that nothing is known of the coder's answer."""
    return annotation.status not in OUTCOMES


async def _reply(task: Task, unit: Unit, model: LanguageModel) -> tuple[Prompt, Any, Completion]:
    """The last prompt about a unit, the value of its reply, and the completion it was read from."""

    def seed(prompt: Prompt) -> int:
        return task.seed(unit, prompt)

    return await ask_until_read(model, task.prompt(unit), seed, task.again, task.reasks)
