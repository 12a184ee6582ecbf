"""Computing the samples of a coding again from the recorded exchanges alone, and comparing them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from delibsim.annotation.ask import ask_in_turn, could_not_be_asked
from delibsim.annotation.coding.tasks import Material, SampleTask, StepsTask, unit_of, why_not_coded
from delibsim.annotation.task import Task
from delibsim.conduct.asking.replay import Replayed, compared, outcomes_in
from delibsim.conduct.asking.texts import IMPORTED, study_texts
from delibsim.conduct.coding.plan import material_of, twins_of
from delibsim.domain.annotation import Annotation, Text, Unit
from delibsim.domain.coding import Sample
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.scheme import Dimension, Scheme
from delibsim.domain.text import study_named
from delibsim.domain.treatment import Wording
from delibsim.models.replay import Exchange, Replay
from delibsim.prompts.coding import Steps
from delibsim.store.annotations import tasks_of
from delibsim.store.codings import PREFIX, Codings
from delibsim.store.runs import Runs


@dataclass(frozen=True)
class _Kept:
    """A coding as it was kept, with the texts of the study now, and its exchanges by coder."""

    codings: Codings
    task: Mapping[str, Any]
    scheme: Scheme
    texts: Mapping[str, Text]
    material: Material
    twins: Mapping[str, tuple[str, ...]]
    exchanges: tuple[Exchange, ...]

    def model(self, coder: str) -> Replay:
        """The coder as its record answers; calls that failed on the way are left out."""
        return Replay(coder, self.exchanges)

    def parts(self) -> Iterator[tuple[Dimension, Wording, str]]:
        """Every dimension that was coded, under every wording, by every coder."""
        wordings = [Wording(name, texts) for name, texts in self.task["wordings"].items()]
        for name in self.task["dimensions"]:
            for wording in wordings:
                for coder in self.task["models"]:
                    yield self.scheme.dimension(name), wording, coder

    def alike(self, text: str) -> tuple[str, ...]:
        """The ids of the texts that one answer is for."""
        return self.twins.get(text, (text,))


def scheme_begun(runs: Runs, scheme: str = "") -> str:
    """The scheme that is named, or the only one by which models coded texts of a study; WrongInput
    where there is none or several.
    """
    known = [task.removeprefix(PREFIX) for task in tasks_of(runs, PREFIX)]
    named = study_named(runs.study)
    if not known:
        raise WrongInput(
            f"{named} has no codes of models; ask for them: delibsim code ask {runs.study}"
        )
    if scheme and scheme not in known:
        raise unknown(f"scheme of {named}", scheme, known)
    if not scheme and len(known) > 1:
        raise WrongInput(f"{named} was coded by several schemes; name one: scheme={known[0]}")
    return scheme or known[0]


async def replay_coding(runs: Runs, scheme: str = "") -> Replayed:
    """Compute the steps and samples of a coding again from its record, and compare them with those
    that were kept; nobody is asked.
    """
    kept = _kept(Codings.of(runs, scheme_begun(runs, scheme)))
    recorded = {sample.key: sample for sample in kept.codings.samples()}
    computed: dict[tuple[str, str, str, str, int], Sample] = {}
    faults: dict[tuple[str, str, str, str, int], str] = {}

    def keep(task: Task, unit: Unit, answer: Annotation) -> None:
        assert isinstance(task, SampleTask)
        for id in kept.alike(unit.id):
            key = id, task.dimension.id, task.coder, task.wording.id, task.index
            if could_not_be_asked(answer):
                faults[key] = answer.detail
            else:
                computed[key] = task.sample(kept.texts[id], answer)

    differing = _edited(kept)
    for dimension, wording, coder in kept.parts():
        steps, fault = await _steps(kept, dimension, wording, coder)
        differing += fault
        if steps is not None:
            questions = _questions(kept, dimension, wording, coder, steps)
            await ask_in_turn(questions, kept.model(coder), keep, at_once=1)
    differing += compared(recorded, computed, faults, (_named, _said, "sample"))
    return Replayed(kept.scheme.id, len(computed), tuple(differing))


def _kept(codings: Codings) -> _Kept:
    """A coding from its files, beside the texts of its study."""
    runs, task = Runs.at(codings.files.folder.parents[1]), codings.files.task()
    scheme = codings.scheme()
    by = "statement" if task["unit"] == IMPORTED else task["unit"]
    texts = []
    for text in study_texts(runs, by, task["context"], []):
        if task["texts"].get(text.id) == text.sha256:
            texts.append(text)
    material = material_of(runs, task, texts)
    return _Kept(
        codings=codings,
        task=task,
        scheme=scheme,
        texts={text.id: text for text in texts},
        material=material,
        twins=twins_of(material, texts) if task["same"] == "once" else {},
        exchanges=outcomes_in(codings.files),
    )


def _edited(kept: _Kept) -> list[str]:
    """The texts of the record that the study does not hold, or holds otherwise."""
    lost = [id for id in kept.task["texts"] if id not in kept.texts]
    return [f"{id}: the text was edited or removed since it was coded" for id in lost]


async def _steps(
    kept: _Kept, dimension: Dimension, wording: Wording, coder: str
) -> tuple[Steps | None, list[str]]:
    """The steps of a coder as its record gives them, and how they differ from those kept."""
    if dimension.steps:
        return dimension.steps, []
    found: list[Annotation] = []

    def keep(task: Task, unit: Unit, answer: Annotation) -> None:
        found.append(answer)

    reasks = kept.task["reasks"]
    task = StepsTask(kept.material, kept.scheme, dimension, wording, coder, reasks)
    await ask_in_turn([(task, unit_of(dimension))], kept.model(coder), keep, at_once=1)
    written = None
    for line in kept.codings.steps():
        if (line["dimension"], line["model"], line["wording"]) == (dimension.id, coder, wording.id):
            written = tuple(line.get("steps") or ())
    value = found[0].value
    if written is None:
        return value, []
    if tuple(value or ()) != written:
        why = found[0].detail or "other steps"
        return value, [f"steps of {coder} for {dimension.id}, {wording.id}: {why}"]
    return value, []


def _questions(
    kept: _Kept, dimension: Dimension, wording: Wording, coder: str, steps: Steps
) -> Iterator[tuple[SampleTask, Unit]]:
    """Every sample that may have been asked of a coder on a dimension under a wording."""
    tasks = []
    for index in range(1, kept.task["samples"] + 1):
        reasks = kept.task["reasks"]
        tasks.append(
            SampleTask(kept.material, kept.scheme, dimension, wording, coder, reasks, steps, index)
        )
    for text in kept.texts.values():
        if kept.alike(text.id) and why_not_coded(text.text, kept.scheme, dimension) is None:
            for task in tasks:
                yield task, text


def _named(sample: Sample) -> str:
    place = f"{sample.text}, {sample.dimension}, {sample.model}"
    return f"{place}, {sample.wording}, sample {sample.index}"


def _said(sample: Sample) -> str:
    """What a sample says, in brief."""
    return str(sample.missing) if sample.missing else f"level {sample.level}"
