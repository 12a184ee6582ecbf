"""The settings of judging summaries, and the sittings that they ask for: ratings, controls,
comparisons.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from delibsim.asking.settings import (
    Called,
    CodersAsked,
    Settings,
    coders_asked,
    setting,
    settings_in,
    task_name,
)
from delibsim.domain.judgment import ASKED, ROLES, Asked, Role, Sitting
from delibsim.domain.seed import seed_of
from delibsim.measures.designs import directed_ring
from delibsim.planning.config import one_name, one_of, temperature, whole, yes_or_no

JUDGES = Called(
    coder="judge",
    people="language models and citizens are asked here, people by: delibsim judge handout",
    more="name several: 'group.models=[A,B]'",
)
DEFAULT_RING = 6


@dataclass(frozen=True)
class JudgingSettings(Settings):
    """What is set for judging beside models and limits.

    `summaries` names the task of summaries, "" the only one. `people`: what people have judged is
    judged too, beside the opinions that they wrote. `per_summary` 0: all opinions that a
    summary was written from. `temperature` None: none is sent.
    """

    name: str = setting("main", task_name)
    summaries: str = setting("", task_name)
    asked: Asked = setting("rating", one_of(ASKED))
    role: Role = setting("reader", one_of(ROLES))
    per_summary: int = setting(0, whole(0, 1_000_000))
    k: int = setting(DEFAULT_RING, whole(1, 100_000))
    both_ways: bool = setting(False, yes_or_no)
    controls: bool = setting(False, yes_or_no)
    people: bool = setting(False, yes_or_no)
    temperature: float | None = setting(0.0, temperature)
    max_tokens: int = setting(200, whole(1, 1_000_000))
    wording: str = setting("verdict", one_name)


def judging_asked(overrides: Sequence[str]) -> tuple[JudgingSettings, CodersAsked]:
    """What settings ask for, and the judges; WrongInput for a key or value that cannot be."""
    settings, others = settings_in(JudgingSettings, overrides, "setting of judging")
    return settings, coders_asked(others, settings.temperature, settings.max_tokens, JUDGES)


Names = tuple[str | int, ...]
"""What seeds begin with: the name of the study and its seed."""
EVERY = 0
"""All opinions that a summary was written from."""


@dataclass(frozen=True)
class JudgedMaterial:
    """The question, opinions and summaries by id as judges see them, the opinions that each summary
    was written from (`sources`), and the names that seeds begin with.
    """

    names: Names
    question: str
    opinions: Mapping[str, str]
    summaries: Mapping[str, str]
    sources: Mapping[str, Sequence[str]]


def rating_sittings(
    material: JudgedMaterial, per_summary: int = EVERY, controls: bool = False
) -> list[Sitting]:
    """Each summary before the opinions that it was written from, or so many of them, drawn.

    With `controls` each summary of at most half of the opinions also comes before as many that it
    was not written from.
    """
    found = []
    for summary, own in material.sources.items():
        for opinion in _drawn(material, own, per_summary, "raters", summary):
            found.append(Sitting(summary, opinion))
        if not controls:
            continue
        shown = set(own)
        others = [id for id in material.opinions if id not in shown]
        if len(own) <= len(others):
            wanted = per_summary or len(own)
            for opinion in _drawn(material, others, wanted, "controls", summary):
                found.append(Sitting(summary, opinion, control=True))
    return found


def comparison_sittings(
    material: JudgedMaterial, whole: Sequence[str], k: int, both_ways: bool
) -> list[Sitting]:
    """The `whole` summaries in a drawn order on a ring, each as A with the k that follow it, before
    an opinion that both were written from or, where there is none, one of either.
    """
    order = np.random.default_rng(seed_of(*material.names, "ring")).permutation(len(whole))
    found = []
    for i, j in directed_ring(len(whole), k).tolist():
        a, b = whole[order[i]], whole[order[j]]
        other = set(material.sources[b])
        shared = [id for id in material.sources[a] if id in other]
        either = shared or [*material.sources[a], *material.sources[b]]
        (opinion,) = _drawn(material, either, 1, "compares", a, b)
        found.append(Sitting(a, opinion, b))
        if both_ways:
            found.append(Sitting(b, opinion, a))
    return list(dict.fromkeys(found))


def _drawn(material: JudgedMaterial, ids: Sequence[str], n: int, *names: str) -> list[str]:
    """The first `n` of some ids in a drawn order, all of them where n is `EVERY`."""
    order = np.random.default_rng(seed_of(*material.names, *names)).permutation(len(ids))
    chosen = order if n == EVERY else order[:n]
    return [ids[place] for place in chosen.tolist()]
