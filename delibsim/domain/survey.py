"""The instrument (a survey of considerations and preferences) and one participant's answers to
it.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

Phase = Literal["pre", "post"]
LABEL = re.compile(r"[A-Za-z][A-Za-z_]*[0-9]+", re.ASCII)
PHASES: tuple[Phase, Phase] = ("pre", "post")


@dataclass(frozen=True)
class Item:
    """One consideration (to be rated) or one preference (a policy option to be ranked).

    `reverse` marks a consideration that leans toward the other pole; answers are never recoded with
    it.
    """

    id: str
    kind: Literal["consideration", "preference"]
    text: str
    reverse: bool = False


@dataclass(frozen=True)
class Survey:
    """An instrument: considerations rated from `scale_min` to `scale_max`, preferences ranked from
    1 (most preferred).

    `forced_distribution` makes it a Q sort: how many considerations take each value, from
    `scale_min` upward. Raises ValueError where the parts contradict each other.
    """

    id: str
    items: tuple[Item, ...]
    scale_min: int = 1
    scale_max: int = 7
    forced_distribution: tuple[int, ...] | None = None
    validated: bool = False
    source: str = ""

    def __post_init__(self) -> None:
        """Refuse an instrument nobody could answer."""
        if self.scale_min >= self.scale_max:
            raise ValueError(
                f"scale_min ({self.scale_min}) must be smaller than scale_max ({self.scale_max})"
            )
        ids = [item.id for item in self.items]
        if wrong := [id for id in ids if not LABEL.fullmatch(id)]:
            raise ValueError(
                f"item ids are letters followed by digits, such as C1; not {wrong[0]!r}"
            )
        twice = sorted({i for i in ids if ids.count(i) > 1})
        if twice:
            raise ValueError(f"item ids must be unique; used more than once: {', '.join(twice)}")
        if len(self.items) != 1 and (len(self.considerations) < 2 or len(self.preferences) < 2):
            raise ValueError("a survey needs at least two considerations and two preferences")
        forced = self.forced_distribution
        if forced is not None and (
            len(forced) != len(self.scale)
            or sum(forced) != len(self.considerations)
            or min(forced) < 0
        ):
            raise ValueError(
                f"forced_distribution must hold {len(self.scale)} counts (one a scale point) that"
                f" add up to {len(self.considerations)} considerations, not {list(forced)}"
            )

    @cached_property
    def scale(self) -> range:
        """Every value a consideration can take."""
        return range(self.scale_min, self.scale_max + 1)

    def mirrored(self, answers: Mapping[str, int]) -> dict[str, int]:
        """Answers with every rating seen from the other end of the scale; ranks stay. Doing it
        twice undoes it.
        """
        rated = {item.id for item in self.considerations}
        return {
            label: self.scale_min + self.scale_max - value if label in rated else value
            for label, value in answers.items()
        }

    @cached_property
    def considerations(self) -> tuple[Item, ...]:
        """The items to be rated."""
        return tuple(item for item in self.items if item.kind == "consideration")

    @cached_property
    def preferences(self) -> tuple[Item, ...]:
        """The items to be ranked."""
        return tuple(item for item in self.items if item.kind == "preference")


@dataclass(frozen=True)
class Response:
    """One participant's answers in one phase.

    A missing answer is an absent key of `answers`; `missing` then gives the reason under the same
    key. `order` holds the ids of the items in the order in which this participant was shown them.
    `reversed` says that it was shown the scale with its ends the other way round; `answers` are on
    the scale of the survey all the same.
    """

    participant: str
    phase: Phase
    answers: Mapping[str, int]
    missing: Mapping[str, str] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    reversed: bool = False


def faults_of(values: Mapping[str, int], survey: Survey) -> list[str]:
    """What makes whole numbers no answer to this survey: ratings off the scale, ranks that are no
    permutation.
    """
    faults = [
        f"{item.id} has {values[item.id]}, outside {survey.scale_min} to {survey.scale_max}"
        for item in survey.considerations
        if item.id in values and values[item.id] not in survey.scale
    ]
    ranks = {item.id: values[item.id] for item in survey.preferences if item.id in values}
    m = len(survey.preferences)
    if len(ranks) == m and sorted(ranks.values()) != list(range(1, m + 1)):
        faults.append(
            f"the ranks {', '.join(f'{k}: {v}' for k, v in ranks.items())} do not use each of 1 to"
            f" {m} exactly once"
        )
    ratings = [values[item.id] for item in survey.considerations if item.id in values]
    if (
        survey.forced_distribution is not None
        and not faults
        and len(ratings) == len(survey.considerations)
    ):
        counts = Counter(ratings)
        faults += [
            f"the value {value} is used {counts[value]} times instead of {n}"
            for value, n in zip(survey.scale, survey.forced_distribution, strict=True)
            if counts[value] != n
        ]
    return faults
