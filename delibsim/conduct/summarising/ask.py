"""Having opinions summarised: every summary is kept as soon as it is there."""

from collections.abc import Mapping
from functools import partial

from delibsim.annotation.ask import could_not_be_asked
from delibsim.annotation.summaries import SummaryTask, unit_of
from delibsim.annotation.summary_parts import ask_parts, prompts_of
from delibsim.annotation.task import Task
from delibsim.conduct.asking.ask import Asked, Asking, Outcome, ask_waiting, outcome_of
from delibsim.conduct.preflight import Notify
from delibsim.conduct.summarising.plan import LONG, SummaryPlan
from delibsim.domain.annotation import Annotation, Unit
from delibsim.domain.errors import WrongInput
from delibsim.domain.summary import Slot, Summary
from delibsim.models.base import LanguageModel
from delibsim.models.extractive import Copying
from delibsim.prompts.prompt import Prompt


async def ask_summaries(
    planned: SummaryPlan,
    notify: Notify = lambda line: None,
    models: Mapping[str, LanguageModel] | None = None,
) -> Outcome:
    """Have the summaries of a plan given that there are not yet; WrongInput, before anything is
    asked or paid, where that cannot be done.

    `notify` is called with every issue of the preflight and with lines of progress. `models` are
    asked in place of those that the settings describe. What was recorded is not asked again.
    """
    if too_long := list(planned.too_long()):
        advice = "leave that size out, or that model, or summarise in parts: plan=chunks part=100"
        raise WrongInput("; ".join([*too_long, advice]))
    done = {one.key: one for one in planned.summaries.all()}
    waiting = {}
    for model in planned.summarisers:
        waiting[model] = {slot for slot in planned.of(model) if slot not in done}
    task = planned.asking

    async def of(asking: Asking, name: str, slots: set[Slot]) -> list[str]:
        keep = partial(_keep, planned, asking, done)
        own = [slot for slot in planned.of(name) if slot in slots]
        floor = name in planned.floors
        voice = asking.record.before(Copying(name)) if floor else asking.model(name)
        first = await ask_parts(task, own, partial(asking.ask, name, model=voice))
        for _, answer in first.failed:
            asking.failed(name, answer)
        for summary in first.missing:
            _add(planned, asking, done, summary)
        questions = [(first.task, unit_of(slot)) for slot in first.ready]
        given_up = first.given_up
        if not given_up:
            given_up = await asking.ask(name, questions, keep, voice)
        return asking.told(name, given_up, sum(slot not in done for slot in slots))

    asked = Asked(
        runs=planned.runs,
        files=planned.summaries.files,
        task=planned.task,
        models=planned.models,
        plan=planned.plan,
        population=planned.task["seed"],
        called="the summaries",
        noun="summary",
    )
    longest = partial(longest_prompt_of, planned)
    asking, faults = await ask_waiting(asked, waiting, longest, of, notify, models)
    return outcome_of(done.values(), set(planned.slots), asking, faults)


def longest_prompt_of(planned: SummaryPlan) -> Prompt:
    """The longest prompt of a plan: one of the largest size."""
    largest = max(planned.slots, key=lambda slot: (not slot.group, slot.size))
    return max(prompts_of(planned.asking, largest, LONG), key=lambda prompt: len(prompt.text))


def _keep(
    planned: SummaryPlan,
    asking: Asking,
    done: dict[Slot, Summary],
    task: Task,
    unit: Unit,
    answer: Annotation,
) -> None:
    """Keep the summary that an answer is."""
    assert isinstance(task, SummaryTask)
    if could_not_be_asked(answer):
        asking.failed(task.slots[unit.id].model, answer)
        return
    _add(planned, asking, done, task.summary(unit, answer))


def _add(planned: SummaryPlan, asking: Asking, done: dict[Slot, Summary], found: Summary) -> None:
    planned.summaries.add([found])
    done[found.key] = found
    asking.kept(found.missing)
