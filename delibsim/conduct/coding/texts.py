"""Coding texts from Python: any texts, a scheme, and language models."""

import asyncio
from collections.abc import Mapping, Sequence

from delibsim.annotation.ask import ask_in_turn
from delibsim.annotation.coding.tasks import (
    Material,
    SampleTask,
    StepsTask,
    occurrences_of,
    unit_of,
    why_not_coded,
)
from delibsim.annotation.task import Task
from delibsim.conduct.coding.plan import wording_named
from delibsim.domain.annotation import Annotation, Text, Unit
from delibsim.domain.coding import Sample
from delibsim.domain.errors import WrongInput
from delibsim.domain.scheme import Dimension, Scheme
from delibsim.domain.treatment import Wording
from delibsim.models.base import LanguageModel
from delibsim.store.instruments.library import Library

REASKS = 3


async def code(
    texts: Sequence[Text | str],
    scheme: Scheme | str,
    voices: Mapping[str, LanguageModel],
    samples: int = 5,
    seed: int = 0,
    wording: str = "coding",
    at_once: int = 8,
) -> list[Sample]:
    """Samples of the level of each text on each dimension of a scheme, by every language model.

    `scheme` is a scheme or the id of one; a text that is a str has its place in the sequence, from
    1, as id. A sample that a model refused, or that could not be read or asked for, has no level
    and a reason. Texts that the scheme does not code have no samples. Nothing is recorded: for
    that, and for limits and a budget, use `delibsim code ask`. WrongInput for two texts of one id.
    """
    applied = Library().scheme(scheme) if isinstance(scheme, str) else scheme
    named = []
    for number, text in enumerate(texts, 1):
        named.append(Text(str(number), text) if isinstance(text, str) else text)
    shown = {text.id: text for text in named}
    if len(shown) < len(named):
        raise WrongInput("two texts have one id; give every text an id of its own")
    material = Material("", seed, shown, occurrences_of(named))
    sentences = wording_named(wording)
    found = await asyncio.gather(
        *(
            _by(voice, name, applied, sentences, material, samples, at_once)
            for name, voice in voices.items()
        )
    )
    return [sample for own in found for sample in own]


async def _by(
    voice: LanguageModel,
    coder: str,
    scheme: Scheme,
    wording: Wording,
    material: Material,
    samples: int,
    at_once: int,
) -> list[Sample]:
    """The samples of one coder, in the order of dimensions, texts and samples."""
    questions: list[tuple[SampleTask, Text]] = []
    found: dict[tuple[str, str, int], Sample] = {}
    for dimension in scheme.dimensions:
        steps = await _steps(voice, coder, scheme, dimension, wording, material)
        for text in material.shown.values():
            if why_not_coded(text.text, scheme, dimension) is not None:
                continue
            for index in range(1, samples + 1):
                task = SampleTask(
                    material, scheme, dimension, wording, coder, REASKS, steps.value or (), index
                )
                questions.append((task, text))
                if steps.value is None:
                    missing = Annotation(
                        "code", text.id, coder, None, "no_steps", str(steps.reason)
                    )
                    found[text.id, dimension.id, index] = task.sample(text, missing)

    def keep(task: Task, unit: Unit, answer: Annotation) -> None:
        assert isinstance(task, SampleTask)
        key = unit.id, task.dimension.id, task.index
        found[key] = task.sample(material.shown[unit.id], answer)

    waiting = [(task, text) for task, text in questions if _key(task, text) not in found]
    why = await ask_in_turn(waiting, voice, keep, at_once)
    for task, text in waiting:
        if _key(task, text) not in found:
            not_asked = Annotation("code", text.id, coder, None, "unavailable", why)
            found[_key(task, text)] = task.sample(text, not_asked)
    return [found[_key(task, text)] for task, text in questions]


def _key(task: SampleTask, text: Text) -> tuple[str, str, int]:
    return text.id, task.dimension.id, task.index


async def _steps(
    voice: LanguageModel,
    coder: str,
    scheme: Scheme,
    dimension: Dimension,
    wording: Wording,
    material: Material,
) -> Annotation:
    """The steps of a coder for a dimension: the scheme's own, or what it writes."""
    if dimension.steps:
        return Annotation("steps", dimension.id, coder, dimension.steps)
    found: list[Annotation] = []
    task = StepsTask(material, scheme, dimension, wording, coder, REASKS)
    await ask_in_turn(
        [(task, unit_of(dimension))], voice, lambda task, unit, answer: found.append(answer), 1
    )
    return found[0]
