"""Comparisons on paper: two texts in an order, what a judge says of them, and the batches of sheets
of an adaptive comparison.
"""

from dataclasses import dataclass
from typing import Literal

from delibsim.domain.errors import WrongInput
from delibsim.domain.reason import Reason
from delibsim.domain.score import Measure
from delibsim.domain.text import in_short, one_name

Outcome = Literal["a", "b", "tie"]
"""The text shown first, the one shown second, or neither."""
OUTCOMES: tuple[Outcome, ...] = ("a", "b", "tie")
Scheme = Literal["all", "ring", "groups", "random", "adaptive", "list"]
SCHEMES: tuple[Scheme, ...] = ("all", "ring", "groups", "random", "adaptive", "list")
Orders = Literal["one", "both"]
ORDERS: tuple[Orders, ...] = ("one", "both")


@dataclass(frozen=True, order=True)
class Pair:
    """Two texts of one group by id, unordered: `one` is the id that sorts first.

    Raises WrongInput for a text paired with itself.

    >>> Pair("t2", "t1") == Pair("t1", "t2")
    True
    """

    one: str
    other: str
    group: str = ""

    def __post_init__(self) -> None:
        """Refuse a self pair, and put the ids in order."""
        if self.one == self.other:
            raise WrongInput(f"text '{self.one}' is paired with itself; name two texts")
        if self.one > self.other:
            one, other = self.other, self.one
            object.__setattr__(self, "one", one)
            object.__setattr__(self, "other", other)


@dataclass(frozen=True, order=True)
class Sheet:
    """A pair in one order: the text with the id `a` is shown first, `b` second.

    Raises WrongInput for a text paired with itself.
    """

    a: str
    b: str
    group: str = ""

    def __post_init__(self) -> None:
        """Refuse a self pair."""
        Pair(self.a, self.b, self.group)

    @property
    def id(self) -> str:
        """The name of the sheet among those of its study.

        >>> Sheet("t1", "t2").id
        't1 | t2'
        """
        return one_name(self.a, self.b)

    @property
    def pair(self) -> Pair:
        """The pair without its order."""
        return Pair(self.a, self.b, self.group)

    @property
    def turned(self) -> "Sheet":
        """The same pair in the other order."""
        return Sheet(self.b, self.a, self.group)


@dataclass(frozen=True)
class Vote:
    """What one judge says of one sheet on one dimension, in one run; runs count from 1.

    `outcome` is None where the vote is `missing`, which says why. `rationale` is what the
    judge wrote before its label, "" where it was not asked for. Raises WrongInput for an
    outcome that is none, and for a vote with neither or both of outcome and reason why.
    """

    sheet: Sheet
    judge: str
    dimension: str
    outcome: Outcome | None = None
    run: int = 1
    missing: Reason | None = None
    rationale: str = ""

    __repr__ = in_short

    def __post_init__(self) -> None:
        """Refuse outcomes that are none, and votes that are missing without a reason."""
        place = f"the vote of '{self.judge}' on '{self.sheet.a}' and '{self.sheet.b}'"
        if self.outcome is not None and self.outcome not in OUTCOMES:
            raise WrongInput(f"{place} is '{self.outcome}'; an outcome is a, b or tie")
        if (self.outcome is None) == (self.missing is None):
            raise WrongInput(f"{place} needs either an outcome or a reason why it is missing")

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        """What tells it from all other votes of its comparison; ids are unique in a study."""
        return self.sheet.a, self.sheet.b, self.dimension, self.judge, self.run

    @property
    def winner(self) -> str | None:
        """The id of the text that was preferred; None for a tie and for a missing vote.

        >>> Vote(Sheet("t1", "t2"), "judge 1", "logical", "b").winner
        't2'
        """
        if self.outcome == "a":
            return self.sheet.a
        return self.sheet.b if self.outcome == "b" else None


Rule = Literal["se", "r", "apart", "usd", "per_text", "all", "no_votes"]
UNTIL: tuple[Rule, ...] = ("se", "r", "apart", "usd")
"""The rules that a user may set; the others always hold."""


@dataclass(frozen=True)
class Batch:
    """The sheets of one dimension that were put to the judges together; batches count from 1.

    `drawn` are those of pairs drawn at random (a ring in the first batch, probe pairs later),
    `chosen` those of the pairs that taught most. `votes` is how many votes on the dimension there
    were when they were chosen: the first so many are what they follow from. `size` is how many
    pairs were asked for; there may be fewer.
    """

    dimension: str
    number: int
    votes: int
    drawn: tuple[Sheet, ...]
    chosen: tuple[Sheet, ...] = ()
    size: int = 0

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """All sheets, those that were drawn first."""
        return self.drawn + self.chosen

    @property
    def pairs(self) -> frozenset[Pair]:
        """The pairs of its sheets."""
        return frozenset(sheet.pair for sheet in self.sheets)


@dataclass(frozen=True)
class Stop:
    """Why no further batch was chosen after `batches` of them, with `votes` votes.

    `limit` is that of the rule, None where it has none. `se` is the mean standard error of the
    scores by the random part of the votes alone; `r` their expected correlation with the truth: the
    smaller of `r_fit`, by the errors of the fit, and `r_probe`, by the pairs drawn at random;
    `apart` the share of adjacent ranks that the
    random part tells apart. None is not known.
    """

    dimension: str
    batches: int
    votes: int
    rule: Rule
    limit: float | None = None
    se: float | None = None
    r: float | None = None
    r_fit: float | None = None
    r_probe: float | None = None
    apart: float | None = None

    @property
    def told(self) -> str:
        """The rule as it is set.

        >>> Stop("logical", 3, 90, "r", 0.9).told, Stop("logical", 3, 90, "all").told
        ('r:0.9', 'all')
        """
        return self.rule if self.limit is None else f"{self.rule}:{self.limit:g}"


PAIRS = "pairs"
"""The name of the scorer that gives them, and the first word of its measures."""
AS_SCORES = "docs/compare.md#studies"
"""Where a reader finds what comparisons are as scores."""


@dataclass(frozen=True)
class TextScore:
    """The score of one text of a run on one dimension of a comparison, in log odds.

    `coder` is the comparison; `text` the id of a statement (SESSION/INDEX), of a participant
    (SESSION/PARTICIPANT) or of an imported text. `value` is NaN where there is none, and `note`
    says why. `apart` is the reason why the mean over a run says nothing, "" where it does.
    """

    coder: str
    dimension: str
    text: str
    value: float
    note: str = ""
    apart: str = ""


def measure_of_pairs(coder: str, dimension: str) -> Measure:
    """The measure that the scorer `pairs` gives of a comparison on one dimension.

    >>> measure_of_pairs("ab", "logical").id
    'pairs.ab.logical'
    """
    return Measure(
        id=f"{PAIRS}.{coder}.{dimension}",
        label=f"{dimension}, compared in {coder}",
        definition="Strength of a text among those of its group, from judgments of pairs; of a"
        " participant and a run the mean over its texts.",
        source=AS_SCORES,
        unit="log odds",
        phases=(),
        in_summary=False,
    )
