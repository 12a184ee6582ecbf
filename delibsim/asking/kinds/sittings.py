"""Which sittings there are of judges before summaries: ratings, controls, comparisons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from delibsim.domain.judgment import Sitting
from delibsim.domain.seed import seed_of
from delibsim.measures.designs import directed_ring

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
