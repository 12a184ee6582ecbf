"""The audit of codes: whether a rationale concludes the level given, and kinds of failure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from delibsim.domain.coding import Sample
from delibsim.domain.data import read_data
from delibsim.domain.reason import Reason
from delibsim.domain.scheme import LevelValue

Outcome = Literal["agrees", "differs", "not_read"]
OUTCOMES: tuple[Outcome, ...] = ("agrees", "differs", "not_read")
"""What a reader of a rationale finds: three outcomes, never two."""
FailureKind = Literal["strict", "acknowledged", "over_read", "over_graded", "unstable", "other"]
KINDS: Mapping[FailureKind, str] = read_data("asked.yaml")["rationale"]["failures"]
"""Kinds of disagreement between the ensemble and a person, and what each means."""


@dataclass(frozen=True)
class Verdict:
    """The level that a reader finds concluded in the rationale of one sample, blind to its level.

    `level` is None where the rationale concludes none, or where the reader gave no answer, which
    `missing` then says. `pack` names the draw by which a person came to read it.
    """

    text: str
    dimension: str
    model: str
    index: int
    wording: str
    reader: str
    kind: Literal["human", "model"]
    level: LevelValue | None = None
    missing: Reason | None = None
    pack: str = ""

    @property
    def sample(self) -> tuple[str, str, str, str, int]:
        """The key of the sample (`Sample.key`)."""
        return self.text, self.dimension, self.model, self.wording, self.index

    @property
    def key(self) -> tuple[str, str, str, str, int, str]:
        """What no two verdicts of an audit share."""
        return (*self.sample, self.reader)

    def outcome(self, given: LevelValue | None) -> Outcome:
        """Whether the level it concludes is the one that was given."""
        return compared(self.level, given)


def compared(concluded: LevelValue | None, given: LevelValue | None) -> Outcome:
    """Whether the level that a rationale concludes is the one that was given.

    >>> compared(2, 2), compared(1, 2), compared(None, 2)
    ('agrees', 'differs', 'not_read')
    """
    if concluded is None:
        return "not_read"
    return "agrees" if concluded == given else "differs"


@dataclass(frozen=True)
class Reading:
    """What the rules find in the rationale of a sample: the level it concludes, its quotations, and
    those that are not in what the coder was shown; None where the text is not to be had.
    """

    sample: Sample
    level: LevelValue | None
    quotations: int
    misquoted: tuple[str, ...] | None

    @property
    def outcome(self) -> Outcome:
        """Whether the rationale concludes the level that was given."""
        return compared(self.level, self.sample.level)


@dataclass(frozen=True)
class Failure:
    """A disagreement between the ensemble and a person, with its kind as proposed or corrected."""

    text: str
    dimension: str
    person: str
    given: LevelValue
    ensemble: LevelValue
    proposed: FailureKind
    kind: FailureKind
    unstable: bool
