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
from delibsim.measures.correlation_draws import resampled_correlations
from delibsim.measures.correlations import Agreement, agreement_of_scores
from delibsim.measures.inference.resampling import percentile_interval

Array = NDArray[np.float64]
PAGE = "docs/compare.md#agreement"
RESAMPLES = 10_000
FEW_TOPICS = 8
"""Topics below which texts are drawn in their place."""
TOPICS_DRAWN, TEXTS_DRAWN = "topics", "texts"
DRAWN = (
    f"Intervals are those of {RESAMPLES:,} resamples of topics, or of texts where there are fewer"
    f" than {FEW_TOPICS} topics; those of rho keep the ranks of all texts."
)

SCORES = {
    "texts": "texts with both scores",
    "r": "Pearson correlation of the scores",
    "low": "lower end of its interval",
    "high": "upper end of its interval",
    "rho": "Spearman correlation, mid-ranks",
    "rho_low": "lower end of its interval",
    "rho_high": "upper end of its interval",
    "tau": "Kendall's tau-b",
    "mae": "mean absolute difference of z scores",
    "rmse": "root of their mean squared difference, sqrt(2 (1 - r))",
    "drawn": "what was drawn for the intervals: topics with all their texts, or texts",
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
    def drawn(self) -> str:
        """What is drawn for an interval."""
        return TOPICS_DRAWN if len(set(self.groups)) >= FEW_TOPICS else TEXTS_DRAWN

    @property
    def clusters(self) -> NDArray[Any]:
        """What belongs together in a draw (n,)."""
        if self.drawn == TOPICS_DRAWN:
            return np.unique(self.groups.astype(str), return_inverse=True)[1]
        return np.arange(len(self.one))

    def draws(self, seed: int, ranked: bool = False) -> Array:
        """r, or rho of these ranks, in each resample; NaN below three texts."""
        if len(self.one) < 3:
            return np.full(RESAMPLES, np.nan)
        from scipy.stats import rankdata

        series = [rankdata(one) if ranked else one for one in (self.one, self.other)]
        return resampled_correlations(*series, self.clusters, RESAMPLES, seed)


def score_columns(both: Both, seed: int, level: float) -> dict[str, Any]:
    """The agreement of scores as columns of a table."""
    found: Agreement = agreement_of_scores(both.one, both.other)
    row: dict[str, Any] = {"texts": found.n, "r": found.r}
    row["low"], row["high"] = _ends(both.draws(seed), found.r, level)
    row["rho"] = found.rho
    row["rho_low"], row["rho_high"] = _ends(both.draws(seed, True), found.rho, level)
    row |= {"tau": found.tau, "mae": found.mae, "rmse": found.rmse}
    return row | {"drawn": both.drawn}


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
        f" them; scores those of the votes of each alone. {DRAWN} Beside an agreement stands what"
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
        labels[judge] = said([vote for vote in own.votes if vote.judge == judge])
    scores = [own.of_judge(place).scores for place in range(len(own.judges))]
    for i, j in combinations(range(len(own.judges)), 2):
        a, b = own.judges[i], own.judges[j]
        row: dict[str, Any] = {"dimension": own.dimension, "a": a, "b": b}
        row |= label_columns(compared_labels(labels[a], labels[b]))
        both = Both.of(scores[i], scores[j], own.groups)
        yield row | score_columns(both, compared.seed, own.settings.level)
