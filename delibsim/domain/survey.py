"""Topics, motions and surveys: what is deliberated on, and the items that are answered."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

from delibsim.domain.errors import phrase
from delibsim.domain.reason import Reason
from delibsim.domain.text import in_short


@dataclass(frozen=True)
class Topic:
    """A question put to an assembly, with its neutral background.

    `survey` is the id of the survey that goes with it by default.
    """

    id: str
    question: str
    background: str = ""
    survey: str = ""

    __repr__ = in_short


@dataclass(frozen=True)
class Motion:
    """A sentence that one side of a debate proposes and the other opposes.

    `tournament`: whether a tournament that names no motions takes this one.
    """

    id: str
    text: str
    theme: str = ""
    tournament: bool = True

    __repr__ = in_short

    @property
    def topic(self) -> Topic:
        """The motion as the topic of a session."""
        return Topic(self.id, self.text)

    @property
    def survey(self) -> "Survey":
        """The stance survey of a debate: the motion as one consideration, rated from 0 to 100."""
        item = Item("S1", "consideration", self.text)
        return Survey(f"stance_{self.id}", (item,), 0, 100)


Phase = Literal["pre", "wave_2", "wave_3", "wave_4", "wave_5", "post"]
"""Which survey of a session: the first, those between, the last. Every other phase of a session
stands once and none is left out between two surveys, so that there are six at most.
"""
WAVE = "wave_"
"""What the phase of a survey between the first and the last begins with; its number follows."""
LABEL = re.compile(r"[A-Za-z][A-Za-z_]*[0-9]+", re.ASCII)
PHASES: tuple[Phase, Phase] = ("pre", "post")
"""The first and the last survey, which every session has; see `Session.waves` for all."""
Rank1 = Literal["most_preferred", "least_preferred"]
"""What rank 1 means in ranks of preferences."""


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

    __repr__ = in_short


def waves_of(n: int) -> tuple[Phase, ...]:
    """The phases of so many surveys of one session, in order.

    >>> waves_of(2), waves_of(4)
    (('pre', 'post'), ('pre', 'wave_2', 'wave_3', 'post'))
    """
    every: tuple[Phase, ...] = get_args(Phase)
    return (*every[: n - 1], every[-1])


def fault_of_distribution(forced: Sequence[int] | None, scale: range, items: int) -> str:
    """Why so many items cannot be rated with a forced distribution; "" where they can."""
    if forced is None or (len(forced) == len(scale) and sum(forced) == items and min(forced) >= 0):
        return ""
    return phrase("counts_of_distribution", n=len(scale), items=items, list=list(forced))


@dataclass(frozen=True)
class Survey:
    """An instrument: considerations to be rated, and preferences to be ranked.

    Ratings go from `scale_min` to `scale_max`, ranks from 1 (most preferred).
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

    __repr__ = in_short

    def __hash__(self) -> int:
        """That of its id, which is quick: prompts look up what was made of a survey before."""
        return hash(self.id)

    def __post_init__(self) -> None:
        """Refuse an instrument that nobody could answer."""
        if self.scale_min >= self.scale_max:
            raise ValueError(
                f"scale_min ({self.scale_min}) must be smaller than scale_max ({self.scale_max})"
            )
        ids = [item.id for item in self.items]
        wrong = [id for id in ids if not LABEL.fullmatch(id)]
        if wrong:
            raise ValueError(
                f"item ids are letters followed by digits, such as C1; not {wrong[0]!r}"
            )
        twice = sorted({i for i in ids if ids.count(i) > 1})
        if twice:
            raise ValueError(f"item ids must be unique; used more than once: {', '.join(twice)}")
        c, p = len(self.considerations), len(self.preferences)
        if len(self.items) != 1 and (c < 2 or p < 2):
            raise ValueError("a survey needs at least two considerations and two preferences")
        fault = fault_of_distribution(self.forced_distribution, self.scale, c)
        if fault:
            raise ValueError(fault)

    @cached_property
    def scale(self) -> range:
        """Every value a consideration can take."""
        return range(self.scale_min, self.scale_max + 1)

    def mirrored(self, answers: Mapping[str, int]) -> dict[str, int]:
        """Answers with every rating seen from the other end of the scale; ranks stay.

        Doing it twice undoes it.
        """
        mirrored = dict(answers)
        for item in self.considerations:
            if item.id in answers:
                mirrored[item.id] = self.scale_min + self.scale_max - answers[item.id]
        return mirrored

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

    A missing answer is an absent key of `answers`; `missing` then gives the `Reason` under the same
    key. `order` holds the ids of the items in the order in which this participant was shown them.
    `reversed` says that it was shown the scale with its ends the other way round; `answers` are on
    the scale of the survey all the same.
    """

    participant: str
    phase: Phase
    answers: Mapping[str, int]
    missing: Mapping[str, Reason] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    reversed: bool = False

    __repr__ = in_short


def faults_of(values: Mapping[str, int], survey: Survey) -> list[str]:
    """What makes whole numbers no answer to this survey.

    That are ratings off the scale, ranks that are no permutation, and ratings that are not
    distributed as forced; what is missing is no fault.
    """
    ratings = {item.id: values[item.id] for item in survey.considerations if item.id in values}
    ranks = {item.id: values[item.id] for item in survey.preferences if item.id in values}
    faults = []
    for label, value in ratings.items():
        if value not in survey.scale:
            ends = f"{survey.scale_min} to {survey.scale_max}"
            faults.append(f"{label} has {value}, outside {ends}")
    faults += faults_of_ranks(ranks, len(survey.preferences))
    if not faults and len(ratings) == len(survey.considerations):
        faults += _faults_of_distribution(list(ratings.values()), survey)
    return faults


def faults_of_ranks(ranks: Mapping[str, int], m: int) -> list[str]:
    """Why ranks of all `m` options are no permutation; nothing where one is missing."""
    if len(ranks) < m or sorted(ranks.values()) == list(range(1, m + 1)):
        return []
    listed = ", ".join(f"{label}: {rank}" for label, rank in ranks.items())
    return [f"the ranks {listed} do not use each of 1 to {m} exactly once"]


def _faults_of_distribution(ratings: Sequence[int], survey: Survey) -> list[str]:
    """The values that are not used as often as the forced distribution says, if there is one."""
    if survey.forced_distribution is None:
        return []
    counts = Counter(ratings)
    faults = []
    for value, n in zip(survey.scale, survey.forced_distribution, strict=True):
        if counts[value] != n:
            faults.append(f"the value {value} is used {counts[value]} times instead of {n}")
    return faults
