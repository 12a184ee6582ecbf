"""Codes: the level that a coder gives a text on a dimension, or why there is none;
and the audit of codes: whether a rationale concludes the level given, and kinds of failure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from delibsim.domain.data import read_data
from delibsim.domain.reason import Reason
from delibsim.domain.scheme import Dimension, LevelValue, Scheme
from delibsim.domain.score import ENSEMBLE as ENSEMBLE
from delibsim.domain.score import Measure
from delibsim.domain.text import in_short

NO_CODE = ("", "na", "n/a", "nan", ".")
"""What stands in a cell of a table without a code, whatever the case of its letters."""
CODES = "codes"
"""The scorer whose measures are those of the schemes by which a study was coded."""
CoderKind = Literal["model", "human", "ensemble"]


@dataclass(frozen=True)
class Sample:
    """One reply of one model about one text and one dimension.

    `text` is the text's id and `text_sha256` that of what was read; `index` counts from 1;
    `wording` names the sentences around scheme and text. `level` is None where none could be read,
    and `missing` then says why. Raises ValueError for a level and a reason, or neither.
    """

    text: str
    text_sha256: str
    dimension: str
    model: str
    index: int
    level: LevelValue | None = None
    rationale: str = ""
    missing: Reason | None = None
    wording: str = "coding"

    __repr__ = in_short

    def __post_init__(self) -> None:
        """Refuse a level with a reason why it is missing, and none without a reason."""
        if (self.level is None) != (self.missing is not None):
            raise ValueError(
                f"{self.text}, {self.dimension}, {self.model} {self.index}: a sample has a level or"
                " a reason why it has none"
            )

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        """What no two samples of a scheme share."""
        return self.text, self.dimension, self.model, self.wording, self.index


@dataclass(frozen=True)
class Steps:
    """The steps by which a model applies a dimension, which it writes before it gives samples; none
    where they are `missing`.
    """

    dimension: str
    model: str
    wording: str
    steps: tuple[str, ...] = ()
    missing: Reason | None = None

    __repr__ = in_short

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What no other steps of a scheme share."""
        return "steps", self.dimension, self.model, self.wording


@dataclass(frozen=True)
class Code:
    """The level that one coder gives one text on one dimension, or why there is none.

    Codes of people were given by them; those of models and of the ensemble are computed from
    samples. `votes` is how many samples (of a model) or models (of the ensemble) stand behind it.
    A code of a `training` round is kept apart. `pack` names the pack or draw by which a person
    came to read the text, "" if none.
    """

    text: str
    dimension: str
    coder: str
    kind: CoderKind
    level: LevelValue | None = None
    missing: Reason | None = None
    votes: int = 1
    training: bool = False
    pack: str = ""
    text_sha256: str = ""

    def __post_init__(self) -> None:
        """Refuse a level with a reason why it is missing, and none without a reason."""
        if (self.level is None) != (self.missing is not None):
            raise ValueError(
                f"{self.text}, {self.dimension}, {self.coder}: a code has a level or a reason why"
                " it has none"
            )

    @property
    def key(self) -> tuple[str, str, str, bool]:
        """What no two codes of a scheme share."""
        return self.text, self.dimension, self.coder, self.training


AS_SCORES = "docs/coding.md#as-scores"
"""Where a reader finds what codes are as scores."""


def measures_of_scheme(scheme: Scheme) -> tuple[Measure, ...]:
    """The measures that the scorer `codes` gives of a scheme, in the order of its dimensions.

    One a dimension in order or on an interval scale, `SCHEME.DIMENSION`; one a level of a nominal
    dimension, `SCHEME.DIMENSION.LEVEL`, which is 1 where the level was given, otherwise 0.
    """
    found: list[Measure] = []
    for dimension in scheme.dimensions:
        if dimension.scale == "nominal":
            found += [_measure_of_level(scheme, dimension, value) for value in dimension.values]
        else:
            found.append(_measure(scheme, dimension))
    return tuple(found)


def measure_id(scheme: str, dimension: str, level: LevelValue | None = None) -> str:
    """The id of a measure of a scheme; `level` is that of a nominal dimension.

    >>> measure_id("dqi3", "justification"), measure_id("complaint", "about", "delivery")
    ('dqi3.justification', 'complaint.about.delivery')
    """
    return f"{scheme}.{dimension}" if level is None else f"{scheme}.{dimension}.{level}"


def _measure(scheme: Scheme, dimension: Dimension) -> Measure:
    first, last = dimension.levels[0], dimension.levels[-1]
    numbers = [float(value) for value in dimension.values]
    told = f"The level given, from {first.value} ({first.name}) to {last.value} ({last.name})"
    return Measure(
        id=measure_id(scheme.id, dimension.id),
        label=f"{dimension.name or dimension.id} ({scheme.id})",
        definition=f"{told}; of a participant and a run the mean over coded texts.",
        source=AS_SCORES,
        range=(min(numbers), max(numbers)),
        phases=(),
        comparable=True,
        in_summary=False,
    )


def _measure_of_level(scheme: Scheme, dimension: Dimension, level: LevelValue) -> Measure:
    return Measure(
        id=measure_id(scheme.id, dimension.id, level),
        label=f"{dimension.name or dimension.id}: {level} ({scheme.id})",
        definition=f"1 where the level {level} was given, otherwise 0; of a participant and a run"
        " the share of coded texts.",
        source=AS_SCORES,
        range=(0, 1),
        phases=(),
        comparable=True,
        in_summary=False,
    )


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
