"""Several judges in one fit, and agreement of their scores and labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.pairs.fitted import (
    MODELS,
    NAN,
    Fitted,
    aligned,
    errors_of,
    label_columns,
    said,
)
from delibsim.domain.text import counted
from delibsim.measures.bradley_terry.fit import Fit
from delibsim.measures.bradley_terry.judges import crowd_bt, likelihood_ratio
from delibsim.measures.bradley_terry.uncertainty import Interval, Uncertainty
from delibsim.measures.correlations import (
    ByCluster,
    agreement_of_scores,
    correlation_interval,
    resampled_correlations,
)
from delibsim.measures.inference.resampling import percentile_interval
from delibsim.measures.reliability.ratings import agreement_of_labels

Array = NDArray[np.float64]
Row = dict[str, Any]
LEFT_OUT = "judges_left_out"


def judge_models(whole: Fitted) -> Iterator[Row]:
    """Which model of the judges the votes bear out: each against the one before it."""
    own = whole.base
    before: Fit | None = None
    for model, one in own.judged.items() if len(own.judges) > 1 else ():
        row: Row = {"dimension": own.dimension, "model": model, "note": ""}
        row |= {"parameters": one.problem.basis.shape[1], "log_likelihood": one.log_likelihood}
        row["r"] = agreement_of_scores(one.scores, own.judged["pooled"].scores).r
        if before is not None:
            row |= _test(before, one)
        if own.errors.reason:
            row |= {"p": NAN, "note": own.errors.reason}
        before = one
        yield row


def _test(smaller: Fit, larger: Fit) -> Row:
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


def judge_parameters(whole: Fitted) -> Iterator[Row]:
    """The parameters of judges in the models in which they differ."""
    own = whole.base
    reason, level = own.errors.reason, own.settings.level
    for model in MODELS[1:] if len(own.judges) > 1 else ():
        found = own.judged[model]
        errors = Uncertainty(found, False, reason) if reason else errors_of(found)
        parts: dict[str, Interval] = {"delta": errors.delta(level), "theta": errors.theta(level)}
        if model == "discriminating":
            parts["alpha"] = errors.alpha(level)
        for parameter, part in parts.items():
            for place, judge in enumerate(own.judges):
                row: Row = {"dimension": own.dimension, "model": model, "judge": judge}
                row |= {"parameter": parameter, "value": part.value[place]}
                row |= {"low": part.low[place], "high": part.high[place]}
                yield row | {"note": found.judge_notes[place] or reason}


def crowd(whole: Fitted) -> Iterator[Row]:
    """Crowd-BT: how often each judge names the stronger text."""
    own = whole.base
    if len(own.judges) < 2:
        return
    found, reason = crowd_bt(own.counts), own.errors.reason
    r = agreement_of_scores(found.scores, own.judged["pooled"].scores).r
    for place, judge in enumerate(own.judges):
        row: Row = {"dimension": own.dimension, "judge": judge, "eta": found.eta[place], "r": r}
        row["low"] = NAN if reason else found.eta_low[place]
        row["high"] = NAN if reason else found.eta_high[place]
        yield row | {"note": " ".join(found.flags) or reason}


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
        both = ~np.isnan(one) & ~np.isnan(other)
        return cls(one[both], other[both], np.array(groups, dtype=object)[both])

    def unit(self, least: int = 2) -> str:
        """What is drawn or left out: topics where there are so many, else texts."""
        return TOPICS_DRAWN if len(set(self.groups)) >= least else TEXTS_DRAWN

    def units(self, least: int = 2) -> NDArray[Any]:
        """The number of the unit of each text (n,)."""
        if self.unit(least) == TOPICS_DRAWN:
            return np.unique(self.groups.astype(str), return_inverse=True)[1]
        return np.arange(len(self.one))

    @property
    def note(self) -> str:
        """What must be known of an interval over topics."""
        return few_topics(len(set(self.groups))) if self.unit() == TOPICS_DRAWN else ""

    def series(self, ranked: bool) -> list[Array]:
        """Both scores, or their mid-ranks."""
        from scipy.stats import rankdata

        return [rankdata(one) if ranked else one for one in (self.one, self.other)]

    def interval(self, ranked: bool, level: float) -> ByCluster:
        """The interval of r, or of rho; NaN below four texts."""
        if len(self.one) < 4:
            return ByCluster(NAN, NAN, 0)
        return correlation_interval(*self.series(ranked), self.units(), level)

    def draws(self, seed: int, ranked: bool = False) -> Array:
        """r, or rho of these ranks, in each resample; NaN below three texts."""
        if len(self.one) < 3:
            return np.full(RESAMPLES, NAN)
        units = self.units(FEW_TOPICS)
        return resampled_correlations(*self.series(ranked), units, RESAMPLES, seed)


def score_columns(both: Both, seed: int, level: float) -> Row:
    """The agreement of scores as columns of a table."""
    found = agreement_of_scores(both.one, both.other)
    row: Row = {**vars(found), "texts": found.n, "unit": both.unit()}
    row |= {"drawn": both.unit(FEW_TOPICS), "note": both.note if found.r == found.r else ""}
    for value, ranked, name in ((found.rho, True, "rho_"), (found.r, False, "")):
        ends = both.interval(ranked, level)
        row |= {f"{name}low": ends.low, f"{name}high": ends.high, "df": ends.df}
        if value == value:
            low, high = percentile_interval(both.draws(seed, ranked), level)
            row |= {f"published_{name}low": low, f"published_{name}high": high}
    return row


def few_topics(topics: int) -> str:
    """The note of an interval over so many topics.

    >>> few_topics(5), few_topics(2)
    ('', 'few_topics: 2 topics')
    """
    if topics >= SPEAKING:
        return ""
    return f"few_topics: {counted(topics, 'topic')}"


def agreement(own: Fitted) -> Iterator[Row]:
    """Every two judges: their labels on the same pairs, and their scores of the same texts."""
    if len(own.judges) < 2:
        return
    labels = {}
    for judge in own.judges:
        labels[judge] = said([vote for vote in own.base.votes if vote.judge == judge])
    scores = {judge: own.of_judge(place).scores for place, judge in enumerate(own.judges)}
    for a, b in combinations(own.judges, 2):
        _, first, second = aligned(labels[a], labels[b])
        row: Row = {"dimension": own.dimension, "a": a, "b": b}
        row |= label_columns(agreement_of_labels(first, second))
        both = Both.of(scores[a], scores[b], own.groups)
        yield row | score_columns(both, own.seed, own.settings.level)
