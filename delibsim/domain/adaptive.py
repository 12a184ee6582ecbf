"""Adaptive comparisons on paper: the batches of sheets of a dimension, and what ended them."""

from dataclasses import dataclass
from typing import Literal

from delibsim.domain.comparison import Pair, Sheet

Rule = Literal["se", "r", "apart", "usd", "per_text", "all", "no_votes"]
UNTIL: tuple[Rule, ...] = ("se", "r", "apart", "usd")
"""The rules that a user may set; the others always hold."""
RULES = {
    "se": "the mean standard error of the scores is small enough, by the votes on random pairs",
    "r": "the scores are expected to correlate with the truth by that much",
    "apart": "so large a share of adjacent ranks is told apart by the votes on random pairs",
    "usd": "the next batch could cost more US dollars than were allowed",
    "per_text": "every text has as many comparisons as were allowed, on average",
    "all": "all pairs are judged",
    "no_votes": "no vote says which text is better, so that nothing is known to choose by",
}


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
