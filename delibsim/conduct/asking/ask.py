"""Asking several coders at once: the record before them, what is new, and why something is not."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from typing import Any, Protocol

from delibsim.annotation.ask import Record, ask_in_turn
from delibsim.annotation.task import Task
from delibsim.conduct.asking.progress import AskingProgress
from delibsim.conduct.cost import budget_of
from delibsim.conduct.preflight import Notify, proven_pool
from delibsim.domain.annotation import Annotation, Unit
from delibsim.domain.reason import Reason
from delibsim.domain.text import plural_of
from delibsim.models.base import LanguageModel
from delibsim.models.planned import PlannedCalls
from delibsim.models.pool import ModelPool
from delibsim.planning.compose import Plan
from delibsim.prompts.prompt import Prompt
from delibsim.store.annotations import TaskFolder
from delibsim.store.runs import Runs

NOT_MISSING = "not_applicable"
"""The reason for a missing value that says something of the text and not of a fault."""


class Answered(Protocol):
    """What is kept of an answer: a key that no other has, and why it is missing, if it is."""

    @property
    def key(self) -> Any:
        """What tells it from all others of its task."""
        ...

    @property
    def missing(self) -> Reason | None:
        """Why there is no value; None where there is one."""
        ...


@dataclass(frozen=True)
class Outcome:
    """What came of asking: answers that are new and that were there before, calls that were made,
    answers without a value by reason, and why others could not be asked for.
    """

    new: int
    before: int
    asked: int
    missing: Mapping[str, int]
    faults: tuple[str, ...]
    usable: int

    @property
    def whole(self) -> bool:
        """Whether every answer has a value, or the question does not apply to its text."""
        return not self.faults and not set(self.missing) - {NOT_MISSING}


@dataclass(frozen=True)
class Asked:
    """What a command asks: the study, the folder of the task and what is kept of it, the settings
    of the coders by name, the plan with their limits, and the seed of their population.

    `called` is the task in words ("the coding"), `noun` an answer ("sample"). `occasion` gives the
    occasion at which a coder is asked for what waits, where there is one for each: then only that
    part of a long record is read.
    """

    runs: Runs
    files: TaskFolder
    task: Mapping[str, Any]
    models: Mapping[str, Mapping[str, Any]]
    plan: Plan
    population: int
    called: str
    noun: str
    occasion: Callable[[Any], str] | None = None


class Asking:
    """One command that asks coders: the record, and what could not be asked, by coder."""

    def __init__(
        self,
        asked: Asked,
        pool: ModelPool,
        notify: Notify,
        total: int,
        needed: set[tuple[str, str]] | None = None,
    ) -> None:
        self.asked, self.pool = asked, pool
        self.record = Record(asked.files.exchanges, pool.limits.durable, needed)
        self.progress = AskingProgress(total, pool, notify, asked.noun)
        self.new = 0
        self._faults: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def model(self, coder: str, **changed: Any) -> LanguageModel:
        """A coder behind the record; `changed` settings replace its own where it has them."""
        own = self.asked.models[coder]
        settings = {**own, **{k: v for k, v in changed.items() if own.get(k) is not None}}
        return self.record.before(self.pool.model(coder, settings, self.asked.population))

    async def ask(
        self,
        coder: str,
        questions: Iterable[tuple[Task, Unit]],
        keep: Callable[[Task, Unit, Annotation], None],
        model: LanguageModel | None = None,
    ) -> str:
        """Ask one coder in turn; why it was given up, "" where all was asked."""
        at_once = self.pool.limits.concurrency
        return await ask_in_turn(questions, model or self.model(coder), keep, at_once)

    def kept(self, missing: Reason | None) -> None:
        """Take note that one answer was kept."""
        self.new += 1
        self.progress.note(missing.code if missing else "")

    def failed(self, coder: str, answer: Annotation) -> None:
        """Take note of a call that failed; it is made again when the command is given again."""
        self._faults[coder][_fault(answer)] += 1

    def told(self, coder: str, given_up: str, missed: int) -> list[str]:
        """Why a coder gave no answer to some questions, in sentences."""
        told = [f"{coder}: {fault} ({n:,})" for fault, n in self._faults[coder].items()]
        if given_up:
            rest = f"{missed:,} {plural_of(self.asked.noun)} are still to be given"
            told.append(f"{coder} was given up: {given_up}; {rest}")
        return told


async def ask_waiting(
    asked: Asked,
    waiting: Mapping[str, set[Any]],
    longest: Callable[[], Prompt],
    of: Callable[[Asking, str, set[Any]], Awaitable[Sequence[str]]],
    notify: Notify,
    models: Mapping[str, LanguageModel] | None = None,
) -> tuple[Asking | None, list[str]]:
    """Have every coder asked for what is waiting, all coders at once, and keep what is asked.

    `of` asks one coder and says why some of it could not be; `longest` gives the longest prompt.
    The first value is None where nothing was waiting. WrongInput, before anything is asked or
    paid, where it cannot be asked. `models` are asked in place of those that the settings describe.
    """
    if not any(waiting.values()):
        with asked.runs.lock():
            asked.files.settle(asked.task)
        return None, []
    needed = None
    if asked.occasion is not None:
        needed = {(coder, asked.occasion(key)) for coder, keys in waiting.items() for key in keys}
    total = sum(map(len, waiting.values()))
    async with asking_of(asked, total, longest, notify, models, needed) as asking:
        faults = await asyncio.gather(
            *(of(asking, coder, keys) for coder, keys in waiting.items() if keys)
        )
    return asking, [fault for own in faults for fault in own]


@asynccontextmanager
async def asking_of(
    asked: Asked,
    total: int,
    longest: Callable[[], Prompt],
    notify: Notify,
    models: Mapping[str, LanguageModel] | None = None,
    needed: set[tuple[str, str]] | None = None,
) -> AsyncGenerator[Asking]:
    """Coders who can be asked, behind the record, while the study is locked; what is asked is kept.

    `total` is how many answers they are to give; of the record only what is `needed` is read, all
    of it where that is None. Other arguments, and WrongInput, are those of
    `ask_waiting`.
    """
    runs, limits = asked.runs, asked.plan.limits
    runs.durable = runs.durable or limits.durable
    with runs.lock():
        budget = budget_of(limits, runs)
        if models is not None:
            pool = ModelPool(limits, budget, models=models)
        else:
            calls = PlannedCalls(asked.called, asked.models, longest())
            pool = await proven_pool([calls], limits, asked.plan.addresses, budget, notify)
        try:
            asked.files.settle(asked.task)
            asking = Asking(asked, pool, notify, total, needed)
            with closing(asking.record):
                yield asking
        finally:
            await pool.close()


def outcome_of(
    answers: Iterable[Answered], wanted: set[Any], asking: Asking | None, faults: Sequence[str]
) -> Outcome:
    """What came of a command, counted over the answers that it was to give."""
    own = [answer for answer in answers if answer.key in wanted]
    missing = Counter(answer.missing.code for answer in own if answer.missing)
    usable = len(own) - missing.total() + missing[NOT_MISSING]
    new = asking.new if asking else 0
    calls = asking.record.asked if asking else 0
    return Outcome(new, len(own) - new, calls, +missing, tuple(faults), usable)


def _fault(answer: Annotation) -> str:
    """Why a call gave no answer, without what differs from text to text."""
    reason = answer.reason
    if reason.code == "context_overflow":
        return f"{answer.unit}: the text is too long for it: {reason}"
    return str(reason)
