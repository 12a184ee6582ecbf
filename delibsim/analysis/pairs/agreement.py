"""Agreement of scores and labels between judges, with intervals over topics or texts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.pairs.fitted import Compared, Fitted, rows_of
from delibsim.analysis.pairs.labels import LABELS, compared_labels, label_columns, said
from delibsim.analysis.study.result import Result
from delibsim.domain.text import counted
from delibsim.measures.correlations import (
    Agreement,
    ByCluster,
    agreement_of_scores,
    correlation_interval,
    resampled_correlations,
)
from delibsim.measures.inference.resampling import percentile_interval

Array = NDArray[np.float64]
PAGE = "docs/compare.md#agreement"
RESAMPLES = 10_000
FEW_TOPICS = 8
"""Topics below which the published bootstrap draws texts in their place."""
TOPICS_DRAWN, TEXTS_DRAWN = "topics", "texts"
SPEAKING = 5
"""Topics below which an interval over topics is marked: so few say little of topics like these."""
DRAWN = (
    "Intervals are by t on Fisher's z, with the errors of a jackknife over topics, or over texts"
    " where there is one topic; df are the topics or texts less one."
    f" Published: the percentile interval of {RESAMPLES:,} resamples of topics, or of texts where"
    f" there are fewer than {FEW_TOPICS} topics. Both keep the ranks of all texts for rho."
)

SCORES = {
    "texts": "texts with both scores",
    "r": "Pearson correlation of the scores",
    "unit": "what the interval rests on: topics; texts where there is one topic",
    "low": "lower end of its interval by t over these units",
    "high": "upper end of this interval",
    "df": "its degrees of freedom",
    "rho": "Spearman correlation, mid-ranks",
    "rho_low": "lower end of its interval",
    "rho_high": "upper end of its interval",
    "tau": "Kendall's tau-b",
    "mae": "mean absolute difference of z scores",
    "rmse": "root of their mean squared difference, sqrt(2 (1 - r))",
    "published_low": "lower end of the published interval of r, by resamples",
    "published_high": "upper end of this interval",
    "published_rho_low": "lower end of the published interval of rho",
    "published_rho_high": "upper end of this interval",
    "drawn": "what was drawn for the published intervals: topics with all their texts, or texts",
    "note": "what must be known of the interval",
}
AGREEMENT = {
    "dimension": "the dimension",
    "a": "a judge",
    "b": "another judge",
    **LABELS,
    **SCORES,
}


@dataclass(frozen=True, eq=False)
class Both:
    """Two scores of the same texts (n,) without NaN, and the group of each text."""

    one: Array
    other: Array
    groups: NDArray[Any]

    @classmethod
    def of(cls, one: Array, other: Array, groups: Sequence[str]) -> "Both":
        """The texts that have both scores."""
        known = ~np.isnan(one) & ~np.isnan(other)
        return cls(one[known], other[known], np.array(groups, dtype=object)[known])

    @property
    def topics(self) -> int:
        """The topics that these texts are of."""
        return len(set(self.groups))

    @property
    def unit(self) -> str:
        """What an interval rests on."""
        return TOPICS_DRAWN if self.topics > 1 else TEXTS_DRAWN

    @property
    def units(self) -> NDArray[Any]:
        """The number of the unit of each text (n,)."""
        if self.topics > 1:
            return np.unique(self.groups.astype(str), return_inverse=True)[1]
        return np.arange(len(self.one))

    @property
    def note(self) -> str:
        """What must be known of an interval over topics."""
        return few_topics(self.topics) if self.topics > 1 else ""

    @property
    def drawn(self) -> str:
        """What the published bootstrap draws."""
        return TOPICS_DRAWN if len(set(self.groups)) >= FEW_TOPICS else TEXTS_DRAWN

    @property
    def clusters(self) -> NDArray[Any]:
        """What belongs together in a draw (n,)."""
        if self.drawn == TOPICS_DRAWN:
            return np.unique(self.groups.astype(str), return_inverse=True)[1]
        return np.arange(len(self.one))

    def series(self, ranked: bool) -> list[Array]:
        """Both scores, or their mid-ranks."""
        from scipy.stats import rankdata

        return [rankdata(one) if ranked else one for one in (self.one, self.other)]

    def interval(self, ranked: bool, level: float) -> ByCluster:
        """The interval of r, or of rho; NaN below four texts."""
        if len(self.one) < 4:
            return ByCluster(np.nan, np.nan, 0)
        return correlation_interval(*self.series(ranked), self.units, level)

    def draws(self, seed: int, ranked: bool = False) -> Array:
        """r, or rho of these ranks, in each resample; NaN below three texts."""
        if len(self.one) < 3:
            return np.full(RESAMPLES, np.nan)
        series = self.series(ranked)
        return resampled_correlations(*series, self.clusters, RESAMPLES, seed)


def score_columns(both: Both, seed: int, level: float) -> dict[str, Any]:
    """The agreement of scores as columns of a table."""
    found: Agreement = agreement_of_scores(both.one, both.other)
    row: dict[str, Any] = {"texts": found.n, "r": found.r, "unit": both.unit}
    of_r, of_rho = (both.interval(ranked, level) for ranked in (False, True))
    row |= {"low": of_r.low, "high": of_r.high, "df": of_r.df}
    row |= {"rho": found.rho, "rho_low": of_rho.low, "rho_high": of_rho.high}
    row |= {"tau": found.tau, "mae": found.mae, "rmse": found.rmse}
    ends = _ends(both.draws(seed), found.r, level), _ends(both.draws(seed, True), found.rho, level)
    row["published_low"], row["published_high"] = ends[0]
    row["published_rho_low"], row["published_rho_high"] = ends[1]
    return row | {"drawn": both.drawn, "note": both.note if found.r == found.r else ""}


def few_topics(topics: int) -> str:
    """The note of an interval over so many topics.

    >>> few_topics(5), few_topics(2)
    ('', 'few_topics: 2 topics')
    """
    if topics >= SPEAKING:
        return ""
    return f"few_topics: {counted(topics, 'topic')}"


def _ends(draws: Array, value: float, level: float) -> tuple[float, float]:
    """The interval of a value that is defined."""
    return percentile_interval(draws, level) if value == value else (np.nan, np.nan)


def agreement(compared: Compared, fits: Sequence[Fitted]) -> Result:
    """Every two judges: their labels on the same pairs, and their scores of the same texts."""
    rows: list[dict[str, Any]] = []
    for own in fits:
        rows += _pairs(compared, own)
    definition = (
        "A row two judges. Labels are those of pairs that both judged, in the order in which a saw"
        f" them, of adaptive designs on random pairs; scores those of the votes of each alone."
        f" {DRAWN} Beside an agreement stands what"
        " one reaches who always says the same."
    )
    return Result(
        name="agreement",
        title="Agreement between judges",
        definition=definition,
        source=PAGE,
        rows=rows_of(rows, AGREEMENT),
        meanings=AGREEMENT,
        why_not="" if rows else "one_judge",
        detail="" if rows else "there is one judge only",
    )


def _pairs(compared: Compared, own: Fitted) -> Iterator[dict[str, Any]]:
    if len(own.judges) < 2:
        return
    labels = {}
    for judge in own.judges:
        labels[judge] = said([vote for vote in own.base.votes if vote.judge == judge])
    scores = [own.of_judge(place).scores for place in range(len(own.judges))]
    for i, j in combinations(range(len(own.judges)), 2):
        a, b = own.judges[i], own.judges[j]
        row: dict[str, Any] = {"dimension": own.dimension, "a": a, "b": b}
        row |= label_columns(compared_labels(labels[a], labels[b]))
        both = Both.of(scores[i], scores[j], own.groups)
        yield row | score_columns(both, compared.seed, own.settings.level)
