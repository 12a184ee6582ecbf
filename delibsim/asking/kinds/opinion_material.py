"""Opinions as summarisers see them: subsets, orders, parts, and which summaries are planned."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from delibsim.domain.seed import seed_of
from delibsim.domain.summary import OpinionSet, Slot

FEWEST = 2
"""Opinions below which there is nothing to summarise."""
Names = tuple[str | int, ...]
"""What seeds begin with: the name of the study and its seed."""


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


def named_in_parts(model: str, most: int) -> str:
    """The name under which a model summarises in parts of at most so many opinions.

    >>> named_in_parts("citizen", 50)
    'citizen_parts50'
    """
    return f"{model}_parts{most}"


def parts_of(ids: Sequence[str], most: int) -> list[list[str]]:
    """Opinions in as few parts as can be of at most so many, in their order, whose sizes differ by
    one at most; none where all fit in one.

    >>> parts_of(["a", "b", "c", "d", "e"], 2)
    [['a', 'b'], ['c', 'd'], ['e']]
    >>> parts_of(["a", "b"], 2)
    []
    """
    if len(ids) <= most:
        return []
    parts = np.array_split(np.arange(len(ids)), math.ceil(len(ids) / most))
    return [list(ids[part[0] : part[-1] + 1]) for part in parts]


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


def material_of(task: Mapping[str, Any], opinions: OpinionSet) -> OpinionMaterial:
    """The opinions of a task as summarisers see them, in the order in which they were kept."""
    texts = {text.id: text.text for text in opinions.texts}
    own = {id: texts[id] for id in task["texts"] if id in texts}
    names = task["study"], task["seed"]
    return OpinionMaterial(names, task["question"], own, task["grouped"])
