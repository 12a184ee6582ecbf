"""Judgments on paper: how far a summary carries an opinion, and which of two is better."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from delibsim.domain.errors import WrongInput
from delibsim.domain.reason import Reason
from delibsim.domain.text import one_name

DIMENSIONS = ("rep", "inf", "neu", "pol")
"""Representativeness, informativeness, neutrality, use for policy."""
LABELS = {
    "rep": "representativeness",
    "inf": "informativeness",
    "neu": "neutrality",
    "pol": "policy approval",
}
SCALE = (1, 5)
"""The ends of a rating, and of a comparison: 1 the first is much better, 5 the second."""
_NAMES, _LEVELS = frozenset(DIMENSIONS), frozenset(range(SCALE[0], SCALE[1] + 1))
Asked = Literal["rating", "comparison", "both"]
ASKED: tuple[Asked, ...] = get_args(Asked)
Role = Literal["reader", "author"]
ROLES: tuple[Role, ...] = get_args(Role)
"""Whether a judge is shown an opinion, or told that it is the person who wrote it."""


@dataclass(frozen=True, slots=True)
class Sitting:
    """What a judge sees at once: an opinion and a summary or, where `other` is not "", two of them,
    the first as A.

    `control` marks a summary that was written from other opinions: a placebo.
    """

    summary: str
    opinion: str
    other: str = ""
    control: bool = False

    @property
    def id(self) -> str:
        """The name of the sitting among those of its study.

        >>> Sitting("citizen 10.1.1", "o003").id
        'citizen 10.1.1 | o003'
        """
        both = (self.summary, self.other) if self.other else (self.summary,)
        return one_name(*both, self.opinion)


@dataclass(frozen=True, slots=True)
class Judgment:
    """What one judge says at a sitting: whole numbers from 1 to 5 by dimension.

    `values` lack what is missing; where nothing was given they are empty, and `missing` says why.
    `first` says of people which of two summaries they had rated before, "" elsewhere.
    """

    sitting: Sitting
    judge: str
    values: Mapping[str, int] = field(default_factory=dict)
    missing: Reason | None = None
    first: str = ""

    def __post_init__(self) -> None:
        """Refuse values that are none, and judgments that are missing without a reason."""
        if not _LEVELS.issuperset(self.values.values()) or not _NAMES.issuperset(self.values):
            listed = ", ".join(f"{name} {value}" for name, value in self.values.items())
            raise WrongInput(f"{self._place}: {listed}: each must be a whole number from 1 to 5")
        if not self.values and self.missing is None:
            raise WrongInput(f"{self._place} needs either values or a reason why they are missing")

    @property
    def _place(self) -> str:
        return f"the judgment of '{self.judge}' on '{self.sitting.id}'"

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from all others of its task."""
        return self.judge, self.sitting.id
