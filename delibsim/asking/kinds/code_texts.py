"""Coding texts from Python: any texts, a scheme, and language models."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from delibsim.asking.kinds.code import CODES, CodingMaterial, Key
from delibsim.asking.kinds.code_plan import wording_named
from delibsim.asking.kinds.coding import occurrences_of, uncoded_of
from delibsim.asking.nouns import Plan, Question
from delibsim.asking.record import ask_in_turn
from delibsim.domain.annotation import Annotation, Text
from delibsim.domain.coding import Sample, Steps
from delibsim.domain.errors import WrongInput
from delibsim.domain.reason import Reason
from delibsim.domain.scheme import Scheme
from delibsim.models.base import LanguageModel
from delibsim.models.limits import Limits
from delibsim.store.codings import Codings
from delibsim.store.instruments.library import Library
from delibsim.store.runs import Runs

REASKS = 3
NOWHERE = Runs(Path(), "texts")
"""Nothing is recorded."""


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
    sentences = wording_named(wording)
    about = CodingMaterial(
        names=("", seed),
        scheme=applied,
        dimensions=applied.dimensions,
        wordings={sentences.id: sentences},
        texts=tuple(named),
        shown=shown,
        occurrences=occurrences_of(named),
        chosen=frozenset(shown),
        reasks=REASKS,
        samples=samples,
        uncoded=uncoded_of(applied, applied.dimensions, named),
    )
    found = await asyncio.gather(*(_by(about, one, name, at_once) for name, one in voices.items()))
    return [sample for own in found for sample in own]


async def _by(
    about: CodingMaterial, voice: LanguageModel, coder: str, at_once: int
) -> list[Sample]:
    """The samples of one coder, in the order of dimensions, texts and samples."""
    plan = Plan(
        kind=CODES,
        runs=NOWHERE,
        answers=Codings.of(NOWHERE, about.scheme.id),
        settings=None,
        models={},
        limits=Limits(),
        addresses={},
        task={},
        about=about,
    )
    keys = list(CODES.keys(plan, coder))
    done: dict[Any, Any] = {}

    def keep(question: Question, reply: Annotation) -> None:
        done.update({answer.key: answer for answer in question.read(reply)})

    why = ""
    for one in CODES.rounds(plan, coder, set(keys), done, []):
        why = why or await ask_in_turn(one.questions, voice, keep, at_once)
    return [done.get(key) or _missing(about, key, done, why) for key in keys]


def _missing(about: CodingMaterial, key: Key, done: Mapping[Any, Any], why: str) -> Sample:
    """A sample that was not given: the coder wrote no steps, or was asked nothing more."""
    text, dimension, coder, wording, index = key
    steps = done.get(Steps(dimension, coder, wording).key)
    reason = Reason("unavailable", why)
    if steps is not None and steps.missing:
        reason = Reason("no_steps", str(steps.missing))
    own = (text, about.by_id[text].sha256, dimension, coder, index)
    return Sample(*own, None, "", reason, wording)
