"""Who takes part in a session, and sets of personas for them."""

import math
import random
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

from delibsim.domain.errors import phrase
from delibsim.domain.text import in_short

Side = Literal["proposition", "opposition"]
SIDES: tuple[Side, Side] = get_args(Side)
AUDIENCE = "audience"
"""The role of those who listen to a debate."""


@dataclass(frozen=True)
class Participant:
    """A seat in the group.

    `id` is the name that the others hear, `persona` a description that only its holder sees, and
    `model` the name of the language model that speaks for it. `role` is "citizen" in a
    deliberation; in a debate it is a side or "audience".
    """

    id: str
    persona: str = ""
    model: str = "citizen"
    role: str = "citizen"

    __repr__ = in_short

    def __post_init__(self) -> None:
        """Refuse a name that is not one printable line without space around it."""
        categories = {unicodedata.category(character) for character in self.id}
        unprintable = categories & {"Cc", "Cs", "Zl", "Zp"}
        if not self.id or unprintable or self.id != self.id.strip() or self.id[0] in "<>":
            raise ValueError(phrase("no_name_of_a_participant", id=self.id))


Seating = Literal["in_turn", "balanced", "proportional", "people"]
SEATINGS: tuple[Seating, ...] = get_args(Seating)
Diversity = Literal["low", "high", "matched"]

CANDIDATES = 1000
"""How many groups are drawn at random to find one of the wanted diversity."""
SHARES = {"low": 0.1, "high": 0.9}
"""The share of random groups that are less diverse than a group of low, of high diversity."""


@dataclass(frozen=True)
class Personas:
    """A set of personas under one name.

    `seating` says how they are dealt out: "in_turn" (seat by seat, in their order), "balanced"
    (each as often as the others, in seats drawn anew for each replicate), "proportional" (drawn
    with the `sizes` as weights), "people" (every persona is one real person: disjoint groups, as
    long as people last). `answers` are those of the people behind each persona, raw, one row a
    persona: their mean where a persona stands for several. Raises ValueError where the parts do not
    fit together.
    """

    name: str
    texts: tuple[str, ...]
    seating: Seating = "in_turn"
    sizes: tuple[int, ...] = ()
    answers: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        """Refuse empty texts, sizes or answers of another number, and shares without sizes."""
        name, n = f"personas '{self.name}'", len(self.texts)
        if any(not text.strip() for text in self.texts):
            raise ValueError(f"{name}: a persona is a text that is not empty")
        if self.seating not in SEATINGS:
            known = ", ".join(SEATINGS)
            raise ValueError(f"{name}: seating is one of {known}, not {self.seating}")
        for what, parts in (("sizes", self.sizes), ("answers", self.answers)):
            if parts and len(parts) != n:
                raise ValueError(f"{name}: {len(parts)} {what} for {n} personas")
        if any(size < 1 for size in self.sizes):
            raise ValueError(f"{name}: sizes are whole numbers from 1")
        if self.seating == "proportional" and not self.sizes:
            raise ValueError(f"{name}: a sample in proportion needs the sizes of the personas")


@dataclass(frozen=True)
class Drawn:
    """The personas of one group, by their place in the set, and its diversity.

    `wanted` is the diversity that was asked for, `target` its value; `reached` is that of the
    group, and `people` that of all people.
    """

    seats: tuple[int, ...]
    wanted: str = ""
    target: float = math.nan
    reached: float = math.nan
    people: float = math.nan


def models_in_seats(names: Sequence[str], size: int, replicate: int) -> list[str]:
    """The model of each seat: in turn, moved on by one seat with every replicate.

    So seat and model are not confounded.

    >>> models_in_seats(["a", "b"], 3, 1), models_in_seats(["a", "b"], 3, 2)
    (['a', 'b', 'a'], ['b', 'a', 'b'])
    """
    return [names[(seat + replicate - 1) % len(names)] for seat in range(size)]


def personas_in_seats(personas: Personas, size: int, replicate: int, seed: int) -> tuple[int, ...]:
    """The place in the set of each seat's persona.

    `seed` is that of the study and the topic, and the same for all replicates. Raises ValueError
    where people are wanted and fewer than `size` are there.
    """
    k = len(personas.texts)
    if personas.seating == "people":
        if k < size:
            raise ValueError(f"personas '{personas.name}': {k} people for a group of {size}")
        # One deal gives floor(k / size) disjoint groups, then the people are dealt anew.
        deal, group = divmod(replicate - 1, k // size)
        order = random.Random(f"{seed}/deal {deal}").sample(range(k), k)
        return tuple(order[group * size : (group + 1) * size])
    rng = random.Random(f"{seed}/replicate {replicate}")
    if personas.seating == "proportional":
        return tuple(rng.choices(range(k), weights=personas.sizes, k=size))
    if personas.seating == "balanced":
        places: list[int] = []
        while len(places) < size:
            places += rng.sample(range(k), k)
        return tuple(places[:size])
    return tuple(seat % k for seat in range(size))


def group_of_diversity(
    personas: Personas, size: int, wanted: Diversity, people: float, draw: tuple[int, int]
) -> Drawn:
    """A group whose diversity on people's answers is as near as can be to what is wanted.

    `draw` is replicate and seed as above. Of CANDIDATES groups drawn at random (people without
    replacement, personas of several people with it) it is the one nearest to the tenth or ninetieth
    percentile of them all ("low", "high"), or to the diversity of all people, `people` ("matched").
    Raises ValueError where the personas do not come from people's answers, or too few people are
    there.
    """
    if not personas.answers:
        raise ValueError(phrase("personas_not_of_people", named=personas.name))
    if wanted == "matched" and math.isnan(people):
        raise ValueError(phrase("personas_without_answers", named=personas.name))
    k, alone = len(personas.texts), personas.seating == "people"
    if alone and k < size:
        raise ValueError(f"personas '{personas.name}': {k} people for a group of {size}")
    rng = random.Random(f"{draw[1]}/diversity/replicate {draw[0]}")
    groups = []
    for _ in range(CANDIDATES):
        group = rng.sample(range(k), size) if alone else rng.choices(range(k), k=size)
        groups.append(tuple(group))
    reached = _diversities(personas.answers, groups, size)
    if wanted == "matched":
        target = people
    else:
        target = sorted(reached)[int(SHARES[wanted] * (CANDIDATES - 1))]
    best = min(range(CANDIDATES), key=lambda i: (abs(reached[i] - target), i))
    return Drawn(groups[best], wanted, target, reached[best], people)


def _diversities(
    answers: Sequence[Sequence[float]], groups: Sequence[Sequence[int]], size: int
) -> list[float]:
    """The mean distance between two members of each group."""
    distances = []
    for own in answers:
        distances.append([math.dist(own, other) for other in answers])
    pairs = math.comb(size, 2)
    found = []
    for group in groups:
        total = sum(distances[a][b] for a, b in combinations(group, 2))
        found.append(total / pairs)
    return found
