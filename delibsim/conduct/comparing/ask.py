"""Having sheets judged by language models: every vote is kept as soon as it is there."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from delibsim.annotation.ask import could_not_be_asked
from delibsim.annotation.pairs import PairTask, unit_of
from delibsim.annotation.task import Task
from delibsim.conduct.asking.ask import Asked, Asking, Outcome, ask_waiting, outcome_of
from delibsim.conduct.comparing.plan import ComparisonPlan, Key, of_sheets
from delibsim.conduct.panel import kin_among
from delibsim.conduct.preflight import Notify
from delibsim.domain.annotation import Annotation, Text, Unit
from delibsim.domain.comparison import Sheet, Vote
from delibsim.models.base import LanguageModel
from delibsim.prompts.prompt import Prompt
from delibsim.store.gathered import gathered_and_own


def kin_of(planned: ComparisonPlan) -> list[str]:
    """A warning for each judge that shares a family with a model that spoke in the study."""
    speaking: dict[str, Mapping[str, object]] = {}
    for runs in planned.sources or gathered_and_own(planned.runs):
        for session in runs.plans_by_name().values():
            speaking |= session.models
    return kin_among(planned.models, speaking, ("judge", "speaker"))


async def ask_comparison(
    planned: ComparisonPlan,
    notify: Notify = lambda line: None,
    models: Mapping[str, LanguageModel] | None = None,
) -> Outcome:
    """Have the votes of a plan given that there are not yet; WrongInput, before anything is asked
    or paid, where that cannot be done.

    `notify` is called with every issue of the preflight and with lines of progress. `models` are
    asked in place of those that the settings describe. What was recorded is not asked again.
    """
    done = {vote.key: vote for vote in planned.comparisons.votes()}
    waiting = {}
    for judge in planned.models:
        waiting[judge] = {key for key in planned.keys_of(judge) if key not in done}

    async def of(asking: Asking, judge: str, keys: set[Key]) -> list[str]:
        keep = partial(keep_vote, planned, asking, done)
        given_up = await asking.ask(judge, questions(planned, judge, keys), keep)
        return asking.told(judge, given_up, sum(key not in done for key in keys))

    longest = partial(longest_prompt_of, planned)
    asking, faults = await ask_waiting(asked_of(planned), waiting, longest, of, notify, models)
    wanted = {key for judge in planned.models for key in planned.keys_of(judge)}
    return outcome_of(done.values(), wanted, asking, faults)


def asked_of(planned: ComparisonPlan) -> Asked:
    """What is asked, as all tasks about texts say it."""
    return Asked(
        runs=planned.runs,
        files=planned.comparisons.files,
        task=planned.task,
        models=planned.models,
        plan=planned.plan,
        population=planned.task["seed"],
        called="the comparison",
        noun="vote",
    )


def questions(
    planned: ComparisonPlan, judge: str, waiting: set[Key]
) -> Iterator[tuple[PairTask, Unit]]:
    """The votes that are to be asked of a judge, in order, as tasks with their sheets."""
    for tasks in tasks_of(planned, judge):
        for sheet in planned.sheets_on(tasks[0].dimension.id):
            unit = unit_of(sheet, planned.material)
            for task in tasks:
                key = (sheet.a, sheet.b, task.dimension.id, judge, task.run)
                if key in waiting:
                    yield task, unit


def tasks_of(planned: ComparisonPlan, judge: str) -> list[list[PairTask]]:
    """The tasks of a judge: for every dimension, one a run."""
    found = []
    for dimension in planned.dimensions:
        tasks = []
        for run in range(1, planned.settings.runs + 1):
            tasks.append(
                PairTask(
                    material=planned.material,
                    dimension=dimension,
                    manner=planned.manner,
                    wording=planned.wording,
                    judge=judge,
                    reasks=planned.task["reasks"],
                    run=run,
                )
            )
        found.append(tasks)
    return found


def keep_vote(
    planned: ComparisonPlan,
    asking: Asking,
    done: dict[Key, Vote],
    task: Task,
    unit: Unit,
    answer: Annotation,
) -> None:
    """Keep the vote that an answer is."""
    assert isinstance(task, PairTask)
    if could_not_be_asked(answer):
        asking.failed(task.judge, answer)
        return
    vote = task.vote(planned.material.sheets[unit.id], answer)
    planned.comparisons.add([vote])
    done[vote.key] = vote
    asking.kept(vote.missing)


def longest_prompt_of(planned: ComparisonPlan) -> Prompt:
    """The longest prompt of a comparison."""
    shown = planned.material.shown

    def length(sheet: Sheet) -> int:
        return len(shown[sheet.a].text) + len(shown[sheet.b].text)

    among = planned.sheets
    if planned.chains:  # any two texts of a group may meet
        longest = (_longest(ids, shown) for ids in planned.chains[0].groups.values())
        among = tuple(sheet for sheet in longest if sheet)
        planned = of_sheets(planned, {one.id: among for one in planned.dimensions})
    unit = unit_of(max(among, key=length), planned.material)
    prompts = [tasks[0].prompt(unit) for tasks in tasks_of(planned, "judge")]
    return max(prompts, key=lambda prompt: len(prompt.text))


def _longest(ids: Sequence[str], shown: Mapping[str, Text]) -> Sheet | None:
    """The two longest texts of a group; None where it has no two."""
    two = sorted(ids, key=lambda id: len(shown[id].text))[-2:]
    return Sheet(*two, shown[two[0]].group) if len(two) == 2 else None
