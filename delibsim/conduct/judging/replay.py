"""Computing the judgments of a set again from the recorded exchanges alone, and comparing them with
those that were kept.
"""

from typing import Any

from delibsim.annotation.ask import ask_in_turn, could_not_be_asked
from delibsim.annotation.judging import VerdictTask, unit_of
from delibsim.annotation.task import Task
from delibsim.conduct.asking.replay import Replayed, compared, outcomes_in
from delibsim.conduct.judging.plan import (
    judged_material,
    planned_of,
    task_asked,
    with_people,
)
from delibsim.domain.annotation import Annotation, Unit
from delibsim.domain.errors import WrongInput
from delibsim.domain.judgment import Judgment
from delibsim.models.replay import Replay
from delibsim.store.judgments import judgments_begun
from delibsim.store.opinions import opinions_of
from delibsim.store.runs import Runs
from delibsim.store.summaries import Summaries


async def replay_judging(runs: Runs, name: str = "") -> Replayed:
    """Compute the judgments of a set again from its record; nobody is asked.

    WrongInput for judgments of people alone, which have no record.
    """
    judgments = judgments_begun(runs, name)
    task = judgments.files.task()
    recorded = {one.key: one for one in judgments.all()}
    if not recorded:
        raise WrongInput(f"judgments {judgments.name} are of people alone, so there is no record")
    summaries = Summaries.of(runs, task["summaries"])
    every = {one.id: one for one in summaries.all() if one.missing is None}
    made = [every[id] for id in task["judged"] if id in every]
    changed = [id for id, digest in task["judged"].items() if _digest(every, id) != digest]
    if changed:
        told = tuple(f"{id}: the summary was edited or removed" for id in changed)
        return Replayed(judgments.name, 0, told)
    material = judged_material(runs, summaries, opinions_of(runs), made)
    material = with_people(material, judgments)
    sittings = list(planned_of(task, material, made, judgments))
    computed: dict[Any, Judgment] = {}
    faults: dict[Any, str] = {}

    def keep(asked: Task, unit: Unit, answer: Annotation) -> None:
        assert isinstance(asked, VerdictTask)
        found = asked.judge, unit.id
        if could_not_be_asked(answer):
            faults[found] = answer.detail
        else:
            computed[found] = asked.judgment(unit, answer)

    exchanges = outcomes_in(judgments.files)
    for judge in task["models"]:
        asked = task_asked(task, material, sittings, judge)
        questions = [(asked, unit_of(sitting)) for sitting in sittings]
        await ask_in_turn(questions, Replay(judge, exchanges), keep, at_once=1)
    words = (_named, _said, "judgment")
    found = compared(recorded, computed, faults, words)
    return Replayed(judgments.name, len(computed), tuple(found))


def _digest(every: dict[str, Any], id: str) -> str:
    return every[id].sha256 if id in every else ""


def _named(one: Judgment) -> str:
    return f"{one.sitting.id}, {one.judge}"


def _said(one: Judgment) -> str:
    """What a judgment says, in brief."""
    if one.missing:
        return str(one.missing)
    return ", ".join(f"{name} {value}" for name, value in one.values.items())
