"""Designs of comparisons in pairs: which sheets there are, and how further ones are chosen."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from delibsim.domain.annotation import Text
from delibsim.domain.comparison import Orders, Pair, Scheme, Sheet
from delibsim.domain.seed import seed_of
from delibsim.measures import designs

Names = tuple[str | int, ...]
"""What seeds begin with: the name of the study and its seed."""


def groups_of(texts: Iterable[Text]) -> dict[str, list[str]]:
    """The ids of texts by their group, in order."""
    found: dict[str, list[str]] = {}
    for text in texts:
        found.setdefault(text.group, []).append(text.id)
    return found


@dataclass(frozen=True)
class Drawing:
    """How the pairs of every group are chosen: the scheme, comparisons a text (`ring`, `random`),
    the size of the groups of `groups`, the order of the texts, and the pairs of a `list`.
    """

    scheme: Scheme = "random"
    per_text: int = 10
    size: int = 8
    order: Orders = "one"
    listed: tuple[Pair, ...] = ()

    def design(self, n: int) -> tuple[Scheme, int]:
        """The design of a group of n texts, with its neighbours, its size or its pairs: all pairs
        where so many comparisons a text need them.

        >>> Drawing("random", per_text=10).design(30)
        ('random', 150)
        >>> Drawing("ring", per_text=10).design(8)
        ('all', 0)
        """
        if self.scheme in ("all", "list"):
            return self.scheme, 0
        if self.scheme == "groups":
            return ("all", 0) if n < self.size else ("groups", self.size)
        if self.per_text >= n - 1:
            return "all", 0
        if self.scheme == "ring":
            return "ring", self.per_text
        return "random", max(math.ceil(n * self.per_text / 2), n - 1)


def sheets_of(
    groups: Mapping[str, Sequence[str]], drawing: Drawing, layers: Sequence[int], names: Names
) -> list[Sheet]:
    """The sheets of a design within each group, in which no pair stands twice.

    `layers` are the numbers of comparisons a text that were asked for one after the other, the
    least first: each adds pairs, and pairs that were there keep their order. With order `one` every
    text is shown first in half of the sheets of a layer, give or take one.
    """
    found = []
    for group, ids in groups.items():
        known: set[tuple[int, int]] = set()
        for layer in layers if len(ids) > 1 else ():
            pairs = []
            for pair in _pairs(group, ids, replace(drawing, per_text=layer), names):
                if pair not in known:
                    pairs.append(pair)
            known |= set(pairs)
            if not pairs:
                continue
            shown = designs.shown(pairs, len(ids), seed_of(*names, "order", group, layer))
            for first, second in shown.tolist():
                sheet = Sheet(ids[first], ids[second], group)
                found += [sheet, sheet.turned] if drawing.order == "both" else [sheet]
    return found


def _pairs(group: str, ids: Sequence[str], drawing: Drawing, names: Names) -> list[tuple[int, int]]:
    """The pairs of one group by number, each with the lower first."""
    if drawing.scheme == "list":
        numbers = {id: number for number, id in enumerate(ids)}
        own = [pair for pair in drawing.listed if pair.group == group]
        listed = [sorted((numbers[pair.one], numbers[pair.other])) for pair in own]
        return [(low, high) for low, high in listed]
    n = len(ids)
    scheme, number = drawing.design(n)
    seed = seed_of(*names, "pairs", scheme, group)
    if scheme == "groups":
        found = designs.groups(n, number, seed)
    elif scheme == "ring":
        found = designs.ring(n, number, seed)
    elif scheme == "random":
        found = designs.random_pairs(n, number, seed)
    else:
        found = designs.all_pairs(n)
    return [(low, high) for low, high in found.tolist()]
