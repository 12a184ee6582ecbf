"""Reading rationales of codes: by rule, and by a model that sees neither the text nor the level.

A unit is the rationale of one sample; the answer is the level at which it arrives.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from delibsim.asking.kinds.audit import Audit, audit_of
from delibsim.asking.kinds.code_plan import coding_asked
from delibsim.asking.kinds.coding import coding_of
from delibsim.asking.kinds.rationale_people import draw_rationales
from delibsim.asking.nouns import Growth, Kind, Outcome, Plan, Question, Round
from delibsim.asking.road import missing_reason
from delibsim.domain.annotation import Annotation, Text
from delibsim.domain.coding import Sample, Verdict
from delibsim.domain.errors import WrongInput
from delibsim.domain.scheme import Scheme
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted, study_named
from delibsim.models.ask import settled_in, with_settled
from delibsim.planning.load import Load, Range, tokens_of, tokens_of_prompt
from delibsim.prompts.coding import NO_LEVEL, audit_prompt, audit_reask
from delibsim.prompts.prompt import Prompt
from delibsim.store.answers import Audits
from delibsim.store.runs import Runs

REASKS = 3


@dataclass(frozen=True)
class Rationales:
    """The samples whose rationales are to be read, and the scheme by which they were given."""

    scheme: Scheme
    study: str
    samples: tuple[Sample, ...]


class RationaleKind(Kind):
    """The kind: verdicts of a reader on rationales."""

    noun = "rationale"
    called = "the rationales"
    growth = Growth(fixed=())

    def kept(self, runs: Runs, name: str) -> Plan:
        """Audits are not replayed."""
        raise WrongInput(f"the audit of scheme {name} is not replayed: its record is of one reader")

    def keys(self, plan: Plan, coder: str) -> Iterable[Any]:
        """One verdict a rationale."""
        return ((*sample.key, coder) for sample in plan.about.samples)

    def rounds(
        self, plan: Plan, coder: str, keys: set[Any], done: Mapping[Any, Any], faults: list[str]
    ) -> Iterator[Round]:
        """All rationales at once."""
        wanted = [one for one in plan.about.samples if (*one.key, coder) in keys]
        yield Round(question(plan.about, sample, coder) for sample in wanted)

    def longest(self, plan: Plan) -> Prompt:
        """That of the longest rationale."""
        longest = max(plan.about.samples, key=lambda sample: len(sample.rationale))
        return question(plan.about, longest, next(iter(plan.models))).prompt()

    def load(self, plan: Plan, coder: str, waiting: set[Any]) -> Load:
        """A call a rationale."""
        found = Load()
        for sample in plan.about.samples:
            if (*sample.key, coder) in waiting:
                prompt = question(plan.about, sample, coder).prompt()
                reply = tokens_of(prompt.reply.example(""))
                found += Load(1, 1, tokens_of_prompt(prompt), Range(), reply, 1)
        return found

    def named(self, answer: Verdict) -> str:
        """The sample and the reader."""
        return f"{answer.text}, {answer.dimension}, {answer.model}, {answer.reader}"

    def said(self, answer: Verdict) -> str:
        """The level."""
        return str(answer.missing) if answer.missing else f"level {answer.level}"

    def plain(self, plan: Plan, outcome: Outcome) -> Mapping[str, Any]:
        """The whole audit, and what came of asking."""
        (reader,) = plan.models
        reading = {
            "reader": reader,
            "new": outcome.new,
            "before": outcome.before,
            "asked": outcome.asked,
            "unreadable": sum(outcome.missing.values()),
            "faults": list(outcome.faults),
        }
        return audit_of_plan(plan).plain() | {"reading": reading}

    def told(self, plan: Plan, outcome: Outcome) -> list[str]:
        """How many rationales a model read."""
        (reader,) = plan.models
        unreadable = sum(outcome.missing.values())
        without = f", of them without a verdict {unreadable}" if unreadable else ""
        read = f"{counted(outcome.new, 'rationale')} read now{without}, {outcome.before} before"
        return [f"{reader}: {read}; {counted(outcome.asked, 'call')}"]


RATIONALES = RationaleKind()


def question(about: Rationales, sample: Sample, reader: str) -> Question:
    """Which level the rationale of a sample concludes, asked of one reader."""
    dimension = about.scheme.dimension(sample.dimension)
    unit = unit_of(sample)

    def seed(prompt: Prompt) -> int:
        own = (reader, unit.id, prompt.purpose.attempt)
        return seed_of(about.study, about.scheme.id, "audit", *own)

    def read(reply: Annotation) -> list[Verdict]:
        levels = {str(level): level for level in dimension.values}
        level = None if reply.value in (None, NO_LEVEL) else levels[reply.value]
        reason = missing_reason(reply)
        text, _, model, wording, index = sample.key
        own = (text, dimension.id, model, index, wording, reader)
        return [Verdict(*own, "model", level, reason)]

    return Question(
        unit=unit.id,
        prompt=partial(audit_prompt, dimension, unit, reader),
        seed=seed,
        again=audit_reask,
        reasks=REASKS,
        keys=((*sample.key, reader),),
        read=read,
    )


def unit_of(sample: Sample) -> Text:
    """The rationale of a sample as a unit, under a name that no other sample has."""
    names = (sample.text, sample.dimension, sample.model, sample.wording, str(sample.index))
    return Text(" ".join(names), sample.rationale)


def plan_audit(audit: Audit, model: str, n: int | None, overrides: Sequence[str]) -> Plan:
    """The rationales that a model is to read: all, or a stratified sample of `n`; nobody is asked.

    Raises WrongInput for a model that cannot read.
    """
    _, asked = coding_asked([f"model={model}", "temperature=0.0", *overrides])
    ((reader, settings),) = asked.models.items()
    if settings["kind"] == "citizen":
        raise WrongInput(
            f"model={model}: a citizen is rule-based and reads no rationales; name a language model"
        )
    coding = audit.coding
    if any(reading.sample.model == reader for reading in audit.readings):
        raise WrongInput(
            f"model={model}: it gave codes itself; a rationale is read by another model"
        )
    readings = [one for one in audit.readings if one.sample.rationale.strip()]
    if n is not None:
        readings = draw_rationales(readings, n, (coding.runs.study, coding.scheme.id, "audit"))
    if not readings:
        raise WrongInput(f"{study_named(coding.runs.study)} has no rationale to read")
    audits = Audits.of(coding.runs, coding.scheme.id)
    known = audits.files.task().get("models", {})
    settings = with_settled(settings, settled_in(known.values()))
    task = {"scheme_sha256": coding.scheme.sha256, "models": {**known, reader: settings}}
    samples = tuple(one.sample for one in readings)
    return asked.planned(
        RATIONALES,
        coding.runs,
        audits,
        None,
        task=task,
        about=Rationales(coding.scheme, coding.runs.study, samples),
    )


def audit_of_plan(plan: Plan) -> Audit:
    """The audit of the coding whose rationales were read, with what was read now."""
    return audit_of(coding_of(plan.runs, plan.about.scheme.id))
