"""Having summaries judged by models: every judgment is kept as soon as it is there."""

from collections.abc import Iterator, Mapping
from functools import partial
from operator import itemgetter

from delibsim.annotation.ask import could_not_be_asked
from delibsim.annotation.judging import VerdictTask, unit_of
from delibsim.annotation.task import Task
from delibsim.conduct.asking.ask import Asked, Asking, Outcome, ask_waiting, outcome_of
from delibsim.conduct.judging.plan import JudgingPlan
from delibsim.conduct.preflight import Notify
from delibsim.domain.annotation import Annotation, Unit
from delibsim.domain.judgment import Judgment, Sitting
from delibsim.models.base import LanguageModel
from delibsim.prompts.prompt import Prompt

Key = tuple[str, str]
"""A judgment: judge, sitting."""


async def ask_judging(
    planned: JudgingPlan,
    notify: Notify = lambda line: None,
    models: Mapping[str, LanguageModel] | None = None,
) -> Outcome:
    """Have the judgments of a plan given that there are not yet; WrongInput, before anything is
    asked or paid, where that cannot be done.

    `notify` is called with every issue of the preflight and with lines of progress. `models` are
    asked in place of those that the settings describe. What was recorded is not asked again.
    """
    done = {one.key: one for one in planned.judgments.all()}
    ids = [sitting.id for sitting in planned.sittings]
    wanted = {(judge, id) for judge in planned.models for id in ids}
    waiting: dict[str, set[Key]] = {judge: set() for judge in planned.models}
    for key in wanted - done.keys():
        waiting[key[0]].add(key)

    async def of(asking: Asking, judge: str, keys: set[Key]) -> list[str]:
        keep = partial(_keep, planned, asking, done)
        given_up = await asking.ask(judge, questions(planned, judge, keys), keep)
        return asking.told(judge, given_up, sum(key not in done for key in keys))

    asked = Asked(
        runs=planned.runs,
        files=planned.judgments.files,
        task=planned.task,
        models=planned.models,
        plan=planned.plan,
        population=planned.task["seed"],
        called="the judging",
        noun="judgment",
        occasion=itemgetter(1),
    )
    longest = partial(longest_prompt_of, planned)
    asking, faults = await ask_waiting(asked, waiting, longest, of, notify, models)
    return outcome_of(done.values(), wanted, asking, faults)


def questions(
    planned: JudgingPlan, judge: str, waiting: set[Key]
) -> Iterator[tuple[VerdictTask, Unit]]:
    """The sittings that are to be asked of a judge, those of one summary after another."""
    task = planned.asking(judge)
    for sitting in planned.sittings:
        if (judge, sitting.id) in waiting:
            yield task, unit_of(sitting)


def _keep(
    planned: JudgingPlan,
    asking: Asking,
    done: dict[Key, Judgment],
    task: Task,
    unit: Unit,
    answer: Annotation,
) -> None:
    """Keep the judgment that an answer is."""
    assert isinstance(task, VerdictTask)
    if could_not_be_asked(answer):
        asking.failed(task.judge, answer)
        return
    found = task.judgment(unit, answer)
    planned.judgments.add([found])
    done[found.key] = found
    asking.kept(found.missing)


def longest_prompt_of(planned: JudgingPlan) -> Prompt:
    """The longest prompt of a plan."""
    material = planned.material
    opinions = {id: len(text) for id, text in material.opinions.items()}
    summaries = {id: len(text) for id, text in material.summaries.items()} | {"": 0}

    def length(sitting: Sitting) -> int:
        return summaries[sitting.summary] + summaries[sitting.other] + opinions[sitting.opinion]

    return planned.asking("judge").prompt(unit_of(max(planned.sittings, key=length)))
