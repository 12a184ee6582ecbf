"""Places: how far the text shown first gains, and what this changes of the scores."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.pairs.fitted import Compared, Fitted, errors_of
from delibsim.analysis.result import Result, make_table
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

    return make_table("pairs/order", rows, notes=notes)


def both_ways(own: Fitted) -> tuple[Fit, Fit]:
    """The fits with place bias and without; all judges count as one."""
    models = [replace(own.pooled, order=order) for order in (True, False)]
    return fit(own.counts, models[0]), fit(own.counts, models[1])


def _largest(changes: NDArray[np.float64]) -> float:
    known = np.abs(changes[~np.isnan(changes)])
    return float(known.max()) if known.size else NAN


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

    return make_table("pairs/order_scores", rows)
