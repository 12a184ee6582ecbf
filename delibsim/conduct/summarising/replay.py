"""Computing the summaries of a set again from the recorded exchanges alone, and comparing them with
those that were kept.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

from delibsim.annotation.ask import ask_in_turn, could_not_be_asked
from delibsim.annotation.summaries import SummaryTask, unit_of
from delibsim.annotation.summary_parts import Keep, ask_parts
from delibsim.annotation.task import Task
from delibsim.conduct.asking.replay import Replayed, compared, outcomes_in
from delibsim.conduct.summarising.plan import material_of, task_asked, task_slots
from delibsim.domain.annotation import Annotation, Unit
from delibsim.domain.summary import Summary
from delibsim.models.replay import Replay
from delibsim.store.opinions import opinions_of
from delibsim.store.runs import Runs
from delibsim.store.summaries import summaries_begun

EDITED = "the opinion was edited or removed since it was summarised"


async def replay_summaries(runs: Runs, name: str = "") -> Replayed:
    """Compute the summaries of a set again from its record; nobody is asked."""
    summaries = summaries_begun(runs, name)
    task = summaries.files.task()
    recorded = {one.key: one for one in summaries.all()}
    opinions = opinions_of(runs)
    now = {text.id: text.sha256 for text in opinions.texts}
    lost = [id for id, digest in task["texts"].items() if now.get(id) != digest]
    if lost:
        return Replayed(summaries.name, 0, tuple(f"{id}: {EDITED}" for id in lost))
    material = material_of(task, opinions)
    slots = task_slots(task, material)
    asked = task_asked(task, material, slots)
    computed: dict[Any, Summary] = {}
    faults: dict[Any, str] = {}

    def keep(_: Task, unit: Unit, answer: Annotation) -> None:
        assert isinstance(asked, SummaryTask)
        slot = asked.slots[unit.id]
        if could_not_be_asked(answer):
            faults[slot] = answer.detail
        else:
            computed[slot] = asked.summary(unit, answer)

    exchanges = outcomes_in(summaries.files)
    for model in [*task["models"], *task["floors"]]:
        voice = Replay(model, exchanges)
        ask = partial(_ask, voice)
        of_model = [slot for slot in slots if slot.model == model]
        # Those that were never asked for come last: after some of them the record is given up.
        of_model.sort(key=lambda slot: slot not in recorded)
        first = await ask_parts(asked, of_model, ask)
        computed |= {one.key: one for one in first.missing}
        faults |= {of.slot: answer.detail for of, answer in first.failed}
        own = [(first.task, unit_of(slot)) for slot in first.ready]
        await ask(own, keep)
    words = (lambda one: one.id, _said, "summary")
    found = compared(recorded, computed, faults, words)
    return Replayed(summaries.name, len(computed), tuple(found))


async def _ask(voice: Replay, questions: Iterable[tuple[Task, Unit]], keep: Keep) -> str:
    """Ask the record, one question after another."""
    return await ask_in_turn(questions, voice, keep, at_once=1)


def _said(one: Summary) -> str:
    """What a summary says, in brief."""
    return str(one.missing) if one.missing else f"{one.words} words, {one.sha256[:8]}"
