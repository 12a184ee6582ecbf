"""Several judges in one fit, and agreement of their scores and labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.pairs.fitted import (
    Compared,
    Fitted,
    compared_labels,
    errors_of,
    label_columns,
    said,
)
from delibsim.analysis.result import Result, make_table
from delibsim.domain.text import counted
from delibsim.measures.bradley_terry.fit import Fit, fit
from delibsim.measures.bradley_terry.judges import crowd_bt, likelihood_ratio
from delibsim.measures.bradley_terry.uncertainty import Interval, Uncertainty
from delibsim.measures.correlations import (
    Agreement,
    ByCluster,
    agreement_of_scores,
    correlation_interval,
    resampled_correlations,
)
from delibsim.measures.inference.resampling import percentile_interval

NAN = float("nan")
Judged = Literal["pooled", "own_bias", "discriminating"]
MODELS: tuple[Judged, ...] = ("pooled", "own_bias", "discriminating")
"""From the smallest model to the largest; each holds the one before it."""
LEFT_OUT = "judges_left_out"


def judge_models(fits: Sequence[Fitted]) -> list[Result]:
    """Which model of the judges the votes bear out, with its parameters; and Crowd-BT."""
    tests: list[dict[str, Any]] = []
    parameters: list[dict[str, Any]] = []
    crowd: list[dict[str, Any]] = []
    for own in (one.base for one in fits if len(one.judges) > 1):
        found = _fits(own)
        tests += _tests(own, found)
        for model in MODELS[1:]:
            parameters += _parameters(own, model, found[model])
        crowd += _crowd(own, found["pooled"])
    return [
        make_table("pairs/judge_models", tests),
        make_table("pairs/judge_parameters", parameters, why="" if tests else "one_judge"),
        make_table("pairs/crowd_bt", crowd, why="" if tests else "one_judge"),
    ]


def _fits(own: Fitted) -> dict[str, Fit]:
    """The fit of every model of the judges; that of the report is not made again."""
    found = {}
    for judged in MODELS:
        model = replace(own.settings.model, judges=judged)
        found[judged] = own.fit if model == own.settings.model else fit(own.counts, model)
    return found


def _tests(own: Fitted, found: dict[str, Fit]) -> Iterator[dict[str, Any]]:
    before: Fit | None = None
    for model, one in found.items():
        row: dict[str, Any] = {"dimension": own.dimension, "model": model}
        row |= {"parameters": one.problem.basis.shape[1], "log_likelihood": one.log_likelihood}
        row["r"] = agreement_of_scores(one.scores, found["pooled"].scores).r
        row["note"] = ""
        if before is not None:
            row |= _test(before, one)
        if own.errors.reason:
            row |= {"p": NAN, "note": own.errors.reason}
        before = one
        yield row


def _test(smaller: Fit, larger: Fit) -> dict[str, Any]:
    """The likelihood-ratio test of two fits of the same votes."""
    if smaller.counts.votes.sum() != larger.counts.votes.sum():
        return {"note": LEFT_OUT}
    if "not_converged" in (*smaller.flags, *larger.flags):
        return {"note": "not_converged"}
    more = larger.problem.basis.shape[1] - smaller.problem.basis.shape[1]
    if more < 1:
        return {"note": "no_parameters"}
    tested = likelihood_ratio(smaller.objective, larger.objective, more)
    return {"statistic": tested.statistic, "df": tested.df, "p": tested.p}


def _parameters(own: Fitted, model: str, found: Fit) -> Iterator[dict[str, Any]]:
    reason, level = own.errors.reason, own.settings.level
    errors = Uncertainty(found, False, reason) if reason else errors_of(found)
    parts: dict[str, Interval] = {"delta": errors.delta(level), "theta": errors.theta(level)}
    if model == "discriminating":
        parts["alpha"] = errors.alpha(level)
    for parameter, part in parts.items():
        for place, judge in enumerate(own.judges):
            row: dict[str, Any] = {"dimension": own.dimension, "model": model, "judge": judge}
            row |= {"parameter": parameter, "value": part.value[place]}
            row |= {"low": part.low[place], "high": part.high[place]}
            yield row | {"note": found.judge_notes[place] or reason}


def _crowd(own: Fitted, pooled: Fit) -> Iterator[dict[str, Any]]:
    found, reason = crowd_bt(own.counts), own.errors.reason
    for place, judge in enumerate(own.judges):
        yield {
            "dimension": own.dimension,
            "judge": judge,
            "eta": found.eta[place],
            "low": NAN if reason else found.eta_low[place],
            "high": NAN if reason else found.eta_high[place],
            "r": agreement_of_scores(found.scores, pooled.scores).r,
            "note": " ".join(found.flags) or reason,
        }


Array = NDArray[np.float64]
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

    return make_table("pairs/agreement", rows, drawn=DRAWN)


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
