"""Having texts coded by language models: steps once a model and dimension, then the samples."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from delibsim.annotation.ask import could_not_be_asked
from delibsim.annotation.coding.tasks import SampleTask, StepsTask, unit_of
from delibsim.annotation.task import Task
from delibsim.conduct.asking.ask import Asked, Asking, Outcome, ask_waiting, outcome_of
from delibsim.conduct.coding.plan import CodingPlan
from delibsim.conduct.panel import kin_among
from delibsim.conduct.preflight import Notify
from delibsim.domain.annotation import Annotation, Unit
from delibsim.domain.coding import Sample
from delibsim.domain.language import word_count
from delibsim.domain.scheme import Dimension
from delibsim.domain.treatment import Wording
from delibsim.models.base import LanguageModel
from delibsim.prompts.coding import Steps, longest_coding_prompt
from delibsim.prompts.prompt import Prompt

STEPS_TOKENS = 1000
"""Tokens that the steps for a dimension may have, whatever the samples may."""
LONGEST_CHECKED = 10_000
"""Words of the longest text that a preflight looks at; what a longer one exceeds is its own fault,
and is told when it is asked.
"""
Key = tuple[str, str, str, str, int]


def kin_of(planned: CodingPlan) -> list[str]:
    """A warning for each coder that shares a family with a model that spoke in the study."""
    speaking: dict[str, Mapping[str, Any]] = {}
    for session in planned.runs.plans_by_name().values():
        speaking |= session.models
    judging = planned.models
    return kin_among(judging, speaking, ("coder", "speaker"))


async def ask_coding(
    planned: CodingPlan,
    notify: Notify = lambda line: None,
    models: Mapping[str, LanguageModel] | None = None,
) -> Outcome:
    """Have the samples of a plan given that there are not yet; WrongInput, before anything is asked
    or paid, where that cannot be done.

    `notify` is called with every issue of the preflight and with lines of progress. `models` are
    asked in place of those that the settings describe. Each sample is kept as soon as it is there;
    what was recorded is not asked again.
    """
    coding = _Coding(planned, {sample.key: sample for sample in planned.codings.samples()})
    waiting = {coder: _waiting(planned, coder, coding.done) for coder in planned.models}
    asking, faults = await ask_waiting(
        _asked(planned), waiting, partial(longest_prompt_of, planned), coding.of, notify, models
    )
    wanted = {key for coder in planned.models for key in planned.keys_of(coder)}
    return outcome_of(coding.done.values(), wanted, asking, faults)


def _asked(planned: CodingPlan) -> Asked:
    """What is asked, as all tasks about texts say it."""
    return Asked(
        runs=planned.runs,
        files=planned.codings.files,
        task=planned.task,
        models=planned.models,
        plan=planned.plan,
        population=planned.material.seed,
        called="the coding",
        noun="sample",
    )


class _Coding:
    """One command that asks coders: the samples there are, and the steps of each coder."""

    def __init__(self, planned: CodingPlan, done: dict[Key, Sample]) -> None:
        self.planned, self.done = planned, done
        self.steps = _kept_steps(planned)

    async def of(self, asking: Asking, coder: str, waiting: set[Key]) -> list[str]:
        """Have one coder asked for the samples that are waiting; why some could not be."""
        steps, faults, why = await self._steps_of(asking, coder, waiting)
        if not why:
            questions = self._questions(coder, waiting, steps)
            why = await asking.ask(coder, questions, partial(self._keep, asking))
        missed = sum(key not in self.done for key in waiting)
        return [*faults, *asking.told(coder, why, missed)]

    async def _steps_of(
        self, asking: Asking, coder: str, waiting: set[Key]
    ) -> tuple[dict[tuple[str, str], Steps], list[str], str]:
        """The steps of a coder by dimension and wording, why there are none for others, and why the
        coder cannot be asked at all, "" if it can.
        """
        model = asking.model(coder, temperature=0.0, max_tokens=STEPS_TOKENS)
        wanted = {key[1:4:2] for key in waiting}
        found: dict[tuple[str, str], Steps] = {}
        faults: list[str] = []
        asked = []
        for dimension, wording in _parts(self.planned):
            place = dimension.id, wording.id
            own = self.steps.get((dimension.id, coder, wording.id))
            if place not in wanted:
                continue
            if dimension.steps or own:
                found[place] = dimension.steps or own or ()
                continue
            task = StepsTask(
                self.planned.material,
                self.planned.scheme,
                dimension,
                wording,
                coder,
                self.planned.task["reasks"],
            )
            asked.append((task, unit_of(dimension)))

        def keep(task: Task, unit: Unit, answer: Annotation) -> None:
            assert isinstance(task, StepsTask)
            place = unit.id, task.wording.id
            if answer.value is not None:
                found[place] = answer.value
            else:
                faults.append(f"{coder}, {unit.id}: no code without steps: {answer.reason}")
            if not could_not_be_asked(answer):
                self._keep_steps(coder, place, answer)

        why = await asking.ask(coder, asked, keep, model)
        return found, faults, why

    def _keep_steps(self, coder: str, place: tuple[str, str], answer: Annotation) -> None:
        """Keep the steps of a coder, or why it wrote none, unless they are known."""
        dimension, wording = place
        value = None if answer.value is None else list(answer.value)
        line = {"dimension": dimension, "model": coder, "wording": wording, "steps": value}
        if value is None:
            line["missing"] = str(answer.reason)
        if (dimension, coder, wording) not in self.steps:
            self.steps[dimension, coder, wording] = tuple(value or ())
            self.planned.codings.add_steps(line)

    def _questions(
        self, coder: str, waiting: set[Key], steps: Mapping[tuple[str, str], Steps]
    ) -> Iterator[tuple[SampleTask, Unit]]:
        """The samples that are to be asked of a coder, in order, as tasks with their texts."""
        planned = self.planned
        for dimension, wording in _parts(planned):
            own = steps.get((dimension.id, wording.id))
            if own is None:
                continue
            tasks = sample_tasks(planned, dimension, wording, coder, own)
            for text in planned.coded(dimension):
                for task in tasks:
                    key = (text.id, dimension.id, coder, wording.id, task.index)
                    alike = {(id, *key[1:]) for id in planned.alike(text.id)}
                    if alike & waiting:
                        yield task, text

    def _keep(self, asking: Asking, task: Task, unit: Unit, answer: Annotation) -> None:
        """Keep the sample that an answer is; a call that failed is counted, and asked again when
        the command is given again.
        """
        assert isinstance(task, SampleTask)
        if could_not_be_asked(answer):
            asking.failed(task.coder, answer)
            return
        chosen = self.planned.chosen
        by_id = self.planned.by_id
        for id in self.planned.alike(unit.id):
            sample = task.sample(by_id[id], answer)
            if id in chosen and sample.key not in self.done:
                self.planned.codings.add_samples([sample])
                self.done[sample.key] = sample
                asking.kept(sample.missing)


def sample_tasks(
    planned: CodingPlan, dimension: Dimension, wording: Wording, coder: str, steps: Steps
) -> list[SampleTask]:
    """The tasks of a coder on a dimension, one for each sample of a text."""
    reasks = planned.task["reasks"]
    return [
        SampleTask(
            planned.material, planned.scheme, dimension, wording, coder, reasks, steps, index
        )
        for index in range(1, planned.settings.samples + 1)
    ]


def _waiting(planned: CodingPlan, coder: str, done: Mapping[Key, Sample]) -> set[Key]:
    """The keys of the samples that a coder is still to give."""
    return {key for key in planned.keys_of(coder) if key not in done}


def _parts(planned: CodingPlan) -> Iterator[tuple[Dimension, Wording]]:
    """Every dimension under every wording."""
    for dimension in planned.dimensions:
        for wording in planned.wordings.values():
            yield dimension, wording


def _kept_steps(planned: CodingPlan) -> dict[tuple[str, str, str], Steps]:
    """The steps that there are, by dimension, model and wording."""
    found = {}
    for line in planned.codings.steps():
        key = line["dimension"], line["model"], line["wording"]
        found[key] = tuple(line.get("steps") or ())
    return found


def longest_prompt_of(planned: CodingPlan) -> Prompt:
    """The longest prompt of a coding, texts beyond `LONGEST_CHECKED` words left out."""
    shown = planned.material.shown.values()
    usual = [text for text in shown if word_count(text.text) <= LONGEST_CHECKED]
    longest = max(usual or shown, key=lambda text: len(text.text) + sum(map(len, text.context)))
    lower = planned.scheme.lower_in_doubt
    wordings = planned.wordings.values()
    prompts = []
    for wording in wordings:
        prompts.append(longest_coding_prompt(planned.dimensions, lower, wording, longest))
    return max(prompts, key=lambda prompt: len(prompt.text))
