"""Places: how far the text shown first gains, and what this changes of the scores."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.pairs.fitted import Compared, Fitted, errors_of, rows_of
from delibsim.analysis.pairs.judges import PAGE
from delibsim.analysis.study.result import Result
from delibsim.measures.bradley_terry.fit import Fit, fit
from delibsim.measures.bradley_terry.stability import jackknifed
from delibsim.measures.bradley_terry.strengths import mid_ranks
from delibsim.measures.bradley_terry.uncertainty import Uncertainty
from delibsim.measures.correlations import agreement_of_scores

FEW = 20
"""Votes a text below which place bias and threshold are biased upwards."""
FEW_VOTES = (
    "below 20 votes a text, delta and theta are too large; delta_jackknife is corrected, where half"
    " of the pairs gives an estimate"
)
SPLITS = 20
NAN = float("nan")

ORDER = {
    "dimension": "the dimension",
    "first": "share of votes without a tie for the text shown first",
    "delta": "advantage of the text shown first over all judges, in log odds",
    "low": "lower end of its interval",
    "high": "upper end of its interval",
    "delta_jackknife": "delta less its bias from few votes a text (below 20 votes a text)",
    "theta_jackknife": "the threshold less that bias",
    "r": "correlation of the scores with and without place bias",
    "largest": "the largest change of a score, in log odds",
    "note": "what could not be estimated, and why",
}


def order(compared: Compared, fits: Sequence[Fitted]) -> Result:
    """Place bias over all judges, and what it changes of the scores."""
    rows, notes = [], []
    for one in fits:
        own = one.base
        base = replace(own.pooled, order=True)
        biased, plain = both_ways(own)
        reason = own.errors.reason
        errors = Uncertainty(biased, False, reason) if reason else errors_of(biased)
        delta = errors.delta(own.settings.level)
        decided = own.outcome[own.outcome != 0]
        few = 2 * len(own.outcome) < FEW * len(own.ids)
        without_bias = (NAN, NAN)
        if few:
            notes = notes if np.isnan(delta.value[0]) else [FEW_VOTES]
            each = jackknifed(own.counts.pooled(), base, compared.seed, SPLITS)
            without_bias = float(each[0][0]), float(each[1][0])
        rows.append(
            {
                "dimension": own.dimension,
                "first": float((decided == 1).mean()) if len(decided) else NAN,
                "delta": delta.value[0],
                "low": delta.low[0],
                "high": delta.high[0],
                "delta_jackknife": without_bias[0],
                "theta_jackknife": without_bias[1],
                "r": agreement_of_scores(biased.scores, plain.scores).r,
                "largest": _largest(biased.scores - plain.scores),
                "note": " ".join(flag for flag in biased.flags if flag == "one_order") or reason,
            }
        )
    definition = (
        "A row a dimension; all judges count as one. Where every pair came in the order of a sorted"
        " file, place cannot be told from merit. Of adaptive designs all comes from the random part"
        " of the votes. Intervals are those of the normal distribution."
    )
    return Result("order", "Place bias", definition, PAGE, rows_of(rows, ORDER), ORDER, notes)


def both_ways(own: Fitted) -> tuple[Fit, Fit]:
    """The fits with place bias and without; all judges count as one."""
    models = [replace(own.pooled, order=order) for order in (True, False)]
    return fit(own.counts, models[0]), fit(own.counts, models[1])


def _largest(changes: NDArray[np.float64]) -> float:
    known = np.abs(changes[~np.isnan(changes)])
    return float(known.max()) if known.size else NAN


ORDER_SCORES = {
    "dimension": "the dimension",
    "group": "the group of the text",
    "id": "id of the text",
    "with_order": "score with place bias estimated, in log odds",
    "without_order": "score with no place bias",
    "rank_with": "rank of the first score in its component",
    "rank_without": "rank of the second",
}


def order_scores(fits: Sequence[Fitted]) -> Result:
    """Every text with its score with and without place bias."""
    rows = []
    for own in fits:
        biased, plain = both_ways(own)
        ranked = [mid_ranks(one.scores, one.graph.component) for one in (biased, plain)]
        for place, id in enumerate(own.ids):
            rows.append(
                {
                    "dimension": own.dimension,
                    "group": own.groups[place],
                    "id": id,
                    "with_order": biased.scores[place],
                    "without_order": plain.scores[place],
                    "rank_with": ranked[0][place],
                    "rank_without": ranked[1][place],
                }
            )
    definition = "A row a text; all judges count as one, and scores are in log odds."
    title = "Scores with and without place bias"
    table = rows_of(rows, ORDER_SCORES)
    return Result("order_scores", title, definition, PAGE, table, ORDER_SCORES)
