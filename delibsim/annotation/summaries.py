"""Summarising opinions: which subsets in which order, and what one summariser is asked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from delibsim.domain.annotation import Annotation, Text, Unit
from delibsim.domain.seed import seed_of
from delibsim.domain.summary import Slot, Summary
from delibsim.domain.treatment import Wording
from delibsim.prompts.prompt import Prompt, Purpose
from delibsim.prompts.summary import summary_prompt, summary_reask

Names = tuple[str | int, ...]
"""What seeds begin with: the name of the study and its seed."""
FEWEST = 2
"""Opinions below which there is nothing to summarise."""


@dataclass(frozen=True)
class OpinionMaterial:
    """The question, the opinions that are summarised by id, in the order of import, the group of
    each ("" where it is of none), and the names that seeds begin with.
    """

    names: Names
    question: str
    opinions: Mapping[str, str]
    groups: Mapping[str, str]

    def subset(self, size: int, draw: int) -> list[str]:
        """The ids of a drawn subset: the first of one permutation a draw, so that the sizes of a
        draw are nested.
        """
        ids = list(self.opinions)
        order = np.random.default_rng(seed_of(*self.names, "subset", draw)).permutation(len(ids))
        return [ids[place] for place in order[:size].tolist()]

    def shown(self, slot: Slot) -> list[str]:
        """The ids of the opinions of a summary in the order in which they are shown, which is drawn
        for every run; of a group, its members in the subset.
        """
        ids = self.subset(slot.size, slot.draw)
        if slot.group:
            ids = [id for id in ids if self.groups.get(id) == slot.group]
        own = ("order", slot.size, slot.draw, slot.run, slot.group)
        order = np.random.default_rng(seed_of(*self.names, *own)).permutation(len(ids))
        return [ids[place] for place in order.tolist()]


def slots_of(
    material: OpinionMaterial,
    models: Iterable[str],
    sizes: Sequence[int],
    draws: int,
    runs: int,
) -> list[Slot]:
    """The summaries that are planned; those of a whole set are drawn once, and groups of fewer than
    two opinions are left out.
    """
    groups = ["", *sorted(set(filter(None, material.groups.values())))]
    found = []
    for model in models:
        for size in sizes:
            whole = size >= len(material.opinions)
            for draw in range(1, (1 if whole else draws) + 1):
                for group in groups:
                    first = Slot(model, size, draw, 1, group)
                    if len(material.shown(first)) < FEWEST:
                        continue
                    found += [Slot(model, size, draw, run, group) for run in range(1, runs + 1)]
    return found


@dataclass(frozen=True)
class SummaryTask:
    """One summariser before the opinions of a set.

    `chunks` holds, by summariser, how many opinions a part has at most where the summary is given
    in two steps; `parts` the summaries of the parts, by the id of the slot, which are summarised in
    the words of `joining`.
    """

    material: OpinionMaterial
    wording: Wording
    slots: Mapping[str, Slot]
    reasks: int
    chunks: Mapping[str, int] = field(default_factory=dict)
    joining: Wording | None = None
    parts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    name = "summary"

    def prompt(self, unit: Unit) -> Prompt:
        """The prompt with all opinions of the summary, or with the summaries of its parts."""
        slot = self.slots[unit.id]
        if slot.id in self.parts:
            return self.joined(slot, self.parts[slot.id])
        opinions = [self.material.opinions[id] for id in self.material.shown(slot)]
        purpose = Purpose(slot.model, slot.id)
        return summary_prompt(self.material.question, opinions, self.wording, purpose)

    def joined(self, slot: Slot, parts: Sequence[str]) -> Prompt:
        """The prompt of the second step, with these summaries of parts."""
        assert self.joining is not None
        purpose = Purpose(slot.model, slot.id)
        return summary_prompt(self.material.question, parts, self.joining, purpose)

    def again(self, fault: str) -> str:
        """The wording of the concrete fault."""
        return summary_reask(self.wording, fault)

    def seed(self, unit: Unit, prompt: Prompt) -> int:
        """The seed of a call, from the summary and the attempt."""
        slot = self.slots[unit.id]
        own = (slot.model, slot.size, slot.draw, slot.run, slot.group, self.wording.id)
        return seed_of(*self.material.names, "summary", *own, prompt.purpose.attempt)

    def summary(self, unit: Unit, annotation: Annotation) -> Summary:
        """The summary that an answer is."""
        text = annotation.value
        reason = annotation.reason if text is None else None
        return Summary(self.slots[unit.id], text or "", reason)


def unit_of(slot: Slot) -> Unit:
    """A planned summary as what a summariser sees at once; its prompt shows the opinions."""
    return Text(slot.id, "")
