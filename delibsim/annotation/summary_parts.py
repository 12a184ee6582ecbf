"""Summarising in two steps: a summariser before a part of the opinions, and what came of the parts.

A summary of summaries is another method than a summary, so whoever gives it has a name of its own.
"""

import math
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from delibsim.annotation.ask import could_not_be_asked
from delibsim.annotation.summaries import SummaryTask, unit_of
from delibsim.annotation.task import Task
from delibsim.domain.annotation import Annotation, Text, Unit
from delibsim.domain.reason import Reason
from delibsim.domain.seed import seed_of
from delibsim.domain.summary import Slot, Summary
from delibsim.prompts.prompt import Prompt, Purpose
from delibsim.prompts.summary import summary_prompt

Keep = Callable[[Task, Unit, Annotation], None]
Ask = Callable[[Iterable[tuple[Task, Unit]], Keep], Awaitable[str]]
"""Asks questions, hands over each answer, and says why the summariser was given up, "" if not."""


def named_in_parts(model: str, most: int) -> str:
    """The name under which a model summarises in parts of at most so many opinions.

    >>> named_in_parts("citizen", 50)
    'citizen_parts50'
    """
    return f"{model}_parts{most}"


def parts_of(ids: Sequence[str], most: int) -> list[list[str]]:
    """Opinions in as few parts as can be of at most so many, in their order, whose sizes differ by
    one at most; none where all fit in one.

    >>> parts_of(["a", "b", "c", "d", "e"], 2)
    [['a', 'b'], ['c', 'd'], ['e']]
    >>> parts_of(["a", "b"], 2)
    []
    """
    if len(ids) <= most:
        return []
    parts = np.array_split(np.arange(len(ids)), math.ceil(len(ids) / most))
    return [list(ids[part[0] : part[-1] + 1]) for part in parts]


def parts_in(task: SummaryTask, slot: Slot) -> list[list[str]]:
    """The ids of the opinions of each part of a summary; none where it is given in one step."""
    if slot.model not in task.chunks:
        return []
    return parts_of(task.material.shown(slot), task.chunks[slot.model])


@dataclass(frozen=True)
class PartTask:
    """One summariser before one part of the opinions of a summary; `number` counts from 1."""

    task: SummaryTask
    slot: Slot
    number: int
    ids: Sequence[str]
    name = "part"

    @property
    def reasks(self) -> int:
        """As often as for a summary."""
        return self.task.reasks

    def prompt(self, unit: Unit) -> Prompt:
        """The prompt with the opinions of the part: that of a summary of them."""
        material = self.task.material
        opinions = [material.opinions[id] for id in self.ids]
        return summary_prompt(
            material.question, opinions, self.task.wording, Purpose(self.slot.model, unit.id)
        )

    def again(self, fault: str) -> str:
        """The wording of the concrete fault."""
        return self.task.again(fault)

    def seed(self, unit: Unit, prompt: Prompt) -> int:
        """The seed of a call, from the summary, the part and the attempt."""
        own = (unit.id, self.task.wording.id, prompt.purpose.attempt)
        return seed_of(*self.task.material.names, "summary part", *own)


def questions_of(task: SummaryTask, slot: Slot) -> list[tuple[PartTask, Unit]]:
    """What is asked about the parts of a summary; nothing where it is given in one step."""
    found = []
    for number, ids in enumerate(parts_in(task, slot), 1):
        unit = Text(f"{slot.id} part {number}", "")
        found.append((PartTask(task, slot, number, ids), unit))
    return found


def prompts_of(task: SummaryTask, slot: Slot, words: int) -> list[Prompt]:
    """Every prompt that a summary takes, before anything is asked; in that of a second step, texts
    of so many words stand for the summaries of the parts.
    """
    own = [of.prompt(unit) for of, unit in questions_of(task, slot)]
    if not own:
        return [task.prompt(unit_of(slot))]
    return [*own, task.joined(slot, [" ".join(["tram"] * words)] * len(own))]


@dataclass(frozen=True)
class FirstStep:
    """What came of the parts: the task that asks for the summaries whose parts are there (`ready`),
    those that are missing because a part is, calls that failed, and why it was given up.
    """

    task: SummaryTask
    ready: tuple[Slot, ...]
    missing: tuple[Summary, ...]
    failed: tuple[tuple[PartTask, Annotation], ...]
    given_up: str = ""


async def ask_parts(task: SummaryTask, slots: Iterable[Slot], ask: Ask) -> FirstStep:
    """Have the parts of these summaries summarised, of those that are given in two steps."""
    found: defaultdict[Slot, dict[int, Annotation]] = defaultdict(dict)
    failed: list[tuple[PartTask, Annotation]] = []
    asked = {slot: questions_of(task, slot) for slot in slots}

    def keep(of: Task, unit: Unit, answer: Annotation) -> None:
        assert isinstance(of, PartTask)
        if could_not_be_asked(answer):
            failed.append((of, answer))
        else:
            found[of.slot][of.number] = answer

    given_up = ""
    if waiting := [one for own in asked.values() for one in own]:
        given_up = await ask(waiting, keep)
    ready, missing = [], []
    texts: dict[str, Sequence[str]] = {}
    for slot, own in asked.items():
        answers = found[slot]
        if len(answers) < len(own):
            continue
        reason = _why_missing(answers)
        if reason is None:
            ready.append(slot)
            if own:
                texts[slot.id] = [answers[number].value for number in sorted(answers)]
        else:
            missing.append(Summary(slot, reason=reason))
    second = replace(task, parts={**task.parts, **texts})
    return FirstStep(second, tuple(ready), tuple(missing), tuple(failed), given_up)


def _why_missing(answers: Mapping[int, Annotation]) -> Reason | None:
    """Why there is no summary of the parts: the first that is missing; None where none is."""
    for number in sorted(answers):
        answer = answers[number]
        if answer.value is None:
            why = answer.reason
            detail = f"part {number} of {len(answers)}"
            return Reason(why.code, f"{detail}: {why.detail}" if why.detail else detail)
    return None
