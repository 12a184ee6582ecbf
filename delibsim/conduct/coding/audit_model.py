"""Rationales read by another language model, which sees neither the text nor the level."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from delibsim.annotation.ask import Record, ask, ask_in_turn, could_not_be_asked
from delibsim.annotation.coding.audit import RationaleTask, unit_of
from delibsim.annotation.task import Task
from delibsim.conduct.asking.progress import AskingProgress
from delibsim.conduct.coding.audit import Audit
from delibsim.conduct.coding.audit_packs import draw_rationales
from delibsim.conduct.cost import budget_of
from delibsim.conduct.preflight import Notify, proven_pool
from delibsim.domain.annotation import Annotation, Unit
from delibsim.domain.audit import Verdict
from delibsim.domain.coding import Sample
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import study_named
from delibsim.models.planned import PlannedCalls
from delibsim.planning.coding import coding_asked
from delibsim.planning.compose import Plan
from delibsim.planning.dry_run import Asked, DryRunModel
from delibsim.planning.estimate import Estimate, estimate_ratings
from delibsim.store.audits import Audits


@dataclass(frozen=True)
class AuditPlan:
    """Which rationales a model is to read: `samples` those that it has not read yet.

    `before` counts those that it has; `settings` are the model's.
    """

    audit: Audit
    reader: str
    settings: Mapping[str, Any]
    samples: tuple[Sample, ...]
    before: int
    plan: Plan

    @property
    def audits(self) -> Audits:
        """Where verdicts are kept."""
        return Audits.of(self.audit.coding.runs, self.audit.coding.scheme.id)

    def tasks(self) -> Iterator[tuple[RationaleTask, Sample, Unit]]:
        """The question about each rationale."""
        coding = self.audit.coding
        for sample in self.samples:
            dimension = coding.scheme.dimension(sample.dimension)
            task = RationaleTask(coding.scheme, dimension, self.reader, coding.runs.study)
            yield task, sample, unit_of(sample)


@dataclass(frozen=True)
class AuditOutcome:
    """What came of asking a model: new verdicts, those before, calls made, why others failed."""

    new: int
    before: int
    asked: int
    unreadable: int
    faults: tuple[str, ...]


def plan_audit(audit: Audit, model: str, n: int | None, overrides: Sequence[str]) -> AuditPlan:
    """The rationales that a model is to read: all, or a stratified sample of `n`; nobody is asked.

    Raises WrongInput for a model that cannot read.
    """
    asked = coding_asked([f"model={model}", "temperature=0.0", *overrides])
    ((reader, settings),) = asked.models.items()
    if settings["kind"] == "citizen":
        raise WrongInput(
            f"--model {model}: a citizen is rule-based and reads no rationales; name a language"
            " model"
        )
    coding = audit.coding
    if any(reading.sample.model == reader for reading in audit.readings):
        raise WrongInput(
            f"--model {model}: it gave codes itself; a rationale is read by another model"
        )
    readings = [one for one in audit.readings if one.sample.rationale.strip()]
    if n is not None:
        readings = draw_rationales(readings, n, (coding.runs.study, coding.scheme.id, "audit"))
    if not readings:
        raise WrongInput(f"{study_named(coding.runs.study)} has no rationale to read")
    done = {one.sample for one in audit.verdicts if one.reader == reader and one.kind == "model"}
    waiting = [one.sample for one in readings if one.sample.key not in done]
    before = len(readings) - len(waiting)
    return AuditPlan(audit, reader, settings, tuple(waiting), before, asked.plan)


async def estimate_audit(planned: AuditPlan) -> Estimate:
    """What it will take to have the rationales read; nobody is asked."""
    calls = []
    for task, _, unit in planned.tasks():
        asked: list[Asked] = []
        await ask(task, unit, DryRunModel(planned.reader, 0, asked.append))
        calls.append(asked)
    models = {planned.reader: planned.settings}
    limits, addresses = planned.plan.limits, planned.plan.addresses
    return estimate_ratings(calls, planned.before, models, limits, addresses)


async def ask_reader(planned: AuditPlan, notify: Notify = lambda line: None) -> AuditOutcome:
    """Have the rationales read that the model has not read yet; each verdict is kept at once.

    What was recorded is not asked again. Raises WrongInput, before anything is asked or paid, where
    the model cannot be asked.
    """
    if not planned.samples:
        return AuditOutcome(0, planned.before, 0, 0, ())
    coding, audits, limits = planned.audit.coding, planned.audits, planned.plan.limits
    tasks = list(planned.tasks())
    longest = max(tasks, key=lambda one: len(one[1].rationale))
    models = {planned.reader: planned.settings}
    calls = PlannedCalls(
        f"the rationales of {coding.scheme.id}", models, longest[0].prompt(longest[2])
    )
    budget = budget_of(limits, coding.runs)
    pool = await proven_pool([calls], limits, planned.plan.addresses, budget, notify)
    by_unit = {unit.id: (task, sample) for task, sample, unit in tasks}
    progress = AskingProgress(len(tasks), pool, notify)
    verdicts: list[Verdict] = []
    faults: list[str] = []

    def keep(_: Task, unit: Unit, annotation: Annotation) -> None:
        if could_not_be_asked(annotation):
            faults.append(f"{unit.id}: {annotation.reason}")
            progress.note(annotation.status)
            return
        task, sample = by_unit[unit.id]
        verdict = task.verdict(sample, annotation)
        audits.add([verdict])
        verdicts.append(verdict)
        progress.note("" if verdict.missing is None else verdict.missing.code)

    try:
        with coding.runs.lock():
            audits.settle_models(coding.scheme.sha256, models)
            questions = [(task, unit) for task, _, unit in tasks]
            with closing(Record(audits.files.exchanges, limits.durable)) as record:
                model = record.before(pool.model(planned.reader, planned.settings))
                given_up = await ask_in_turn(questions, model, keep, limits.concurrency)
    finally:
        await pool.close()
    if given_up:
        faults.append(f"{planned.reader} was asked nothing more: {given_up}")
    unreadable = sum(verdict.missing is not None for verdict in verdicts)
    return AuditOutcome(len(verdicts), planned.before, record.asked, unreadable, tuple(faults))
