"""Judges: their votes, who favours a place or contradicts itself, how they agree, at what cost."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.calls import cost_usd
from delibsim.analysis.pairs.fitted import Compared, Fitted, errors_of, spread_of
from delibsim.analysis.result import Result, make_table
from delibsim.domain.comparison import Vote
from delibsim.measures.bradley_terry.counts import both_orders, repeats, triads
from delibsim.measures.bradley_terry.fit import Fit, fit
from delibsim.measures.bradley_terry.stability import jackknifed
from delibsim.measures.bradley_terry.strengths import mid_ranks
from delibsim.measures.bradley_terry.uncertainty import Uncertainty
from delibsim.measures.correlations import agreement_of_scores
from delibsim.measures.reliability.ratings import krippendorff_alpha


def counts(compared: Compared, fits: Sequence[Fitted]) -> Result:
    """What was planned, asked, answered and used, by dimension and judge."""
    used = {own.dimension: _used(own) for own in fits}
    given: dict[tuple[str, str], list[Vote]] = {key: [] for key in _planned_first(compared)}
    for vote in compared.votes:
        given[vote.judge, vote.dimension].append(vote)
    rows = []
    for (judge, dimension), votes in given.items():
        missing = Counter(vote.missing.code for vote in votes if vote.missing)
        row: dict[str, Any] = {"dimension": dimension, "judge": judge}
        row["planned"] = compared.planned.get((judge, dimension), len(votes))
        row |= {"asked": len(votes), "answered": len(votes) - missing.total()}
        row["used"] = used.get(dimension, {}).get(judge, 0)
        row["missing"] = ", ".join(f"{n} {code}" for code, n in missing.items())
        rows.append(row)

    return make_table("pairs/counts", rows)


def _planned_first(compared: Compared) -> list[tuple[str, str]]:
    """Every judge and dimension that was planned or has a vote, by dimension."""
    there = {(vote.judge, vote.dimension): None for vote in compared.votes}
    keys = list(dict.fromkeys([*compared.planned, *there]))
    dimensions = list(dict.fromkeys(dimension for _, dimension in keys))
    return sorted(keys, key=lambda key: dimensions.index(key[1]))


def _used(own: Fitted) -> dict[str, int]:
    """How many votes of each judge the fit used."""
    found, model = own.fit, own.settings.model
    kept = np.isin(own.first, found.kept) & np.isin(own.second, found.kept)
    if model.kind == "bt" and model.ties == "dropped":
        kept &= own.outcome != 0
    if model.judges != "pooled":
        kept &= np.isin(own.judge, found.counts.judge)
    elif not len(found.counts.votes):
        kept[:] = False
    numbers = np.bincount(own.judge[kept], minlength=len(own.judges))
    return {judge: int(n) for judge, n in zip(own.judges, numbers, strict=True)}


def groups(fits: Sequence[Fitted]) -> Result:
    """Texts, pairs and votes of every group."""
    rows = []
    for own in fits:
        names = np.array(own.groups)
        of_votes = names[own.first] if len(own.first) else np.array([])
        for group in dict.fromkeys(own.groups):
            texts, votes = names == group, of_votes == group
            n = int(texts.sum())
            low = np.minimum(own.first[votes], own.second[votes])
            high = np.maximum(own.first[votes], own.second[votes])
            rows.append(
                {
                    "dimension": own.dimension,
                    "group": group,
                    "texts": n,
                    "pairs": len(np.unique(low * len(names) + high)),
                    "votes": int(votes.sum()),
                    "per_text": 2 * votes.sum() / n,
                    "ties": float((own.outcome[votes] == 0).mean()),
                    "components": len(np.unique(own.fit.graph.component[texts])),
                    "spread": spread_of(own.fit.scores[texts]),
                }
            )

    return make_table("pairs/groups", rows)


IDENTICAL = "runs_identical"


def runs(compared: Compared, fits: Sequence[Fitted]) -> Result:
    """How alike the votes of several runs of the same sheet are."""
    several = fits if compared.asked.runs > 1 else ()
    rows = [_runs(compared, own, judge) for own in several for judge in own.judges]

    return make_table("pairs/runs", rows)


def _runs(compared: Compared, own: Fitted, judge: str) -> dict[str, Any]:
    """How the votes of the runs of one judge agree, over sheets with a vote in each run."""
    labels: dict[tuple[str, str], list[int]] = defaultdict(list)
    place = own.judges.index(judge)
    for vote, outcome, by in zip(own.votes, own.outcome, own.judge, strict=True):
        if by == place:
            labels[vote.sheet.a, vote.sheet.b].append(int(outcome))
    whole = [given for given in labels.values() if len(given) == compared.asked.runs]
    found = repeats(np.array(whole).reshape(len(whole), compared.asked.runs))
    n = len(whole) or float("nan")
    drawn = bool(compared.asked.temperature) and len(whole) > 1
    row: dict[str, Any] = {"dimension": own.dimension, "judge": judge, "sheets": len(whole)}
    row |= {"runs": compared.asked.runs, "equal": found.equal / n, "some": found.some / n}
    row |= {"different": found.different / n, "alpha": krippendorff_alpha(whole) if whole else None}
    return row | {"note": IDENTICAL if drawn and found.identical else ""}


def judges(compared: Compared, fits: Sequence[Fitted]) -> Result:
    """Place bias, threshold and discrimination of every judge, whether both orders agree, and what
    its votes cost.
    """
    rows, costs = [], _costs(compared)
    for own in fits:
        level, errors = own.settings.level, own.base.errors
        delta, theta, alpha = (part(level) for part in (errors.delta, errors.theta, errors.alpha))
        pooled = own.settings.model.judges == "pooled"
        names = ["all"] if pooled else list(own.judges)
        for place, judge in enumerate(names):
            counts = own.counts if pooled else own.counts.only(own.counts.judge == place)
            orders = both_orders(counts)
            votes = int(counts.votes.sum())
            row: dict[str, Any] = {"dimension": own.dimension, "judge": judge, "votes": votes}
            for name, found in (("delta", delta), ("theta", theta), ("alpha", alpha)):
                row[name] = found.value[place]
                row[f"{name}_low"], row[f"{name}_high"] = found.low[place], found.high[place]
            row["consistency"] = orders.consistency
            row["both_orders"] = len(orders.pairs)
            row["missing"] = _missing(compared, own.dimension, None if pooled else judge)
            row |= costs[None if pooled else judge]
            row["note"] = own.base.fit.judge_notes[place] or errors.reason
            rows.append(row)

    return make_table("pairs/judges", rows)


def _missing(compared: Compared, dimension: str, judge: str | None) -> int:
    """Votes without an outcome on a dimension, of one judge or of all."""
    own = [vote for vote in compared.votes if vote.missing and vote.dimension == dimension]
    return sum(judge in (None, vote.judge) for vote in own)


def _costs(compared: Compared) -> dict[str | None, dict[str, Any]]:
    """Calls and cost of each judge by name, and of all together by None."""
    calls: dict[str | None, list[Mapping[str, Any]]] = defaultdict(list)
    for record in compared.asked.calls:
        calls[str(record.get("purpose", {}).get("participant"))].append(record)
        calls[None].append(record)
    answered = Counter[str | None](vote.judge for vote in compared.votes if vote.outcome)
    answered[None] = answered.total()
    found = {}
    for judge, votes in answered.items():
        spent = cost_usd(calls[judge]) if calls[judge] else None
        row: dict[str, Any] = {"calls": len(calls[judge]), "cost_usd": spent}
        found[judge] = row | {
            "cost_per_vote": spent / votes if votes and spent is not None else None
        }
    return found


def transitivity(fits: Sequence[Fitted]) -> Result:
    """How often judges go round in circles."""
    rows = []
    for own in fits:
        number = {id: place for place, id in enumerate(own.ids)}
        for judge in own.judges:
            winners = majorities([vote for vote in own.votes if vote.judge == judge])
            won = [number[winner] for winner, _ in winners]
            lost = [number[loser] for _, loser in winners]
            found = triads(len(own.ids), won, lost)
            rows.append(
                {
                    "dimension": own.dimension,
                    "judge": judge,
                    "triangles": found.triangles,
                    "circular": found.circular,
                    "share": found.share,
                }
            )
    return make_table("pairs/transitivity", rows)


def majorities(votes: Sequence[Vote]) -> list[tuple[str, str]]:
    """Winner and loser of every pair of which more than half of the votes name one text."""
    tallies: dict[tuple[str, str], dict[str | None, int]] = {}
    for vote in votes:
        own = tallies.setdefault((vote.sheet.pair.one, vote.sheet.pair.other), {})
        own[vote.winner] = own.get(vote.winner, 0) + 1
    found = []
    for (one, other), own in tallies.items():
        total = sum(own.values())
        if 2 * own.get(one, 0) > total:
            found.append((one, other))
        elif 2 * own.get(other, 0) > total:
            found.append((other, one))
    return found


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
