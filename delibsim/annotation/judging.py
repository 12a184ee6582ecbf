"""Judging summaries: which sittings there are, and what one judge is asked at each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from delibsim.domain.annotation import Annotation, Text, Unit
from delibsim.domain.judgment import Judgment, Role, Sitting
from delibsim.domain.seed import seed_of
from delibsim.domain.treatment import Wording
from delibsim.measures.designs import directed_ring
from delibsim.prompts.prompt import Prompt, Purpose
from delibsim.prompts.verdict import verdict_prompt, verdict_reask

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


@dataclass(frozen=True)
class VerdictTask:
    """One judge before the sittings of a study."""

    material: JudgedMaterial
    sittings: Mapping[str, Sitting]
    role: Role
    wording: Wording
    judge: str
    reasks: int
    name = "verdict"

    def prompt(self, unit: Unit) -> Prompt:
        """The prompt with the opinion and the summaries; no name of a summariser is shown."""
        sitting = self.sittings[unit.id]
        shown = [self.material.summaries[sitting.summary]]
        if sitting.other:
            shown.append(self.material.summaries[sitting.other])
        opinion = self.material.opinions[sitting.opinion]
        purpose = Purpose(self.judge, sitting.id)
        question = self.material.question
        return verdict_prompt(question, opinion, tuple(shown), self.role, self.wording, purpose)

    def again(self, fault: str) -> str:
        """The wording of the concrete fault."""
        return verdict_reask(self.wording, fault)

    def seed(self, unit: Unit, prompt: Prompt) -> int:
        """The seed of a call, from the sitting, the judge and the attempt."""
        own = (unit.id, self.judge, self.role, self.wording.id, prompt.purpose.attempt)
        return seed_of(*self.material.names, "verdict", *own)

    def judgment(self, unit: Unit, annotation: Annotation) -> Judgment:
        """The judgment that an answer is."""
        values = annotation.value
        reason = annotation.reason if values is None else None
        return Judgment(self.sittings[unit.id], self.judge, values or {}, reason)


def unit_of(sitting: Sitting) -> Unit:
    """A sitting as what a judge sees at once; its prompt shows the texts."""
    return Text(sitting.id, "")


def by_id(sittings: Iterable[Sitting]) -> dict[str, Sitting]:
    """Sittings by their names."""
    return {sitting.id: sitting for sitting in sittings}
