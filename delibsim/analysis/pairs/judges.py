"""Judges: who favours a place, who contradicts itself or goes round, and at what cost."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from delibsim.analysis.calls import cost_usd
from delibsim.analysis.pairs.fitted import Compared, Fitted, rows_of
from delibsim.analysis.study.result import Result
from delibsim.domain.comparison import Vote
from delibsim.measures.bradley_terry.counts import both_orders, triads

PAGE = "docs/compare.md#judges-and-places"

JUDGES = {
    "dimension": "the dimension",
    "judge": "the judge; all judges where they count as one",
    "votes": "votes with an outcome",
    "delta": "advantage of the text shown first, in log odds",
    "delta_low": "lower end of its interval",
    "delta_high": "upper end of its interval",
    "theta": "threshold of a tie (nu of Davidson)",
    "theta_low": "lower end of its interval",
    "theta_high": "upper end of its interval",
    "alpha": "discrimination: near 0 the judge tosses coins",
    "alpha_low": "lower end of its interval",
    "alpha_high": "upper end of its interval",
    "consistency": "share of pairs with the same outcome, by majority of runs, in both orders",
    "both_orders": "pairs that were judged in both orders",
    "missing": "votes without an outcome",
    "calls": "recorded calls, those that were asked again among them",
    "cost_usd": "US dollars of all calls on all dimensions; empty where that of one is unknown",
    "cost_per_vote": "US dollars of a vote with an outcome, over all dimensions",
    "note": "what could not be estimated, and why",
}


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
    definition = (
        "A row a judge. delta is 0 where no place bias is estimated. The geometric mean of the"
        " alphas is 1. Pairs that were judged in one order only say nothing of consistency."
        " Imported votes have no calls. delta, theta and alpha have intervals of the normal"
        " distribution; of adaptive designs they come from the random part of the votes alone."
    )
    return Result("judges", "Judges", definition, PAGE, rows_of(rows, JUDGES), JUDGES)


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


TRANSITIVITY = {
    "dimension": "the dimension",
    "judge": "the judge",
    "triangles": "three texts of which every pair was judged without a tie",
    "circular": "triangles that go round: A over B, B over C, C over A",
    "share": "share of triangles that go round; coins give 0.25",
}


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
    definition = (
        "A row a judge. Of several votes on a pair the majority counts; a pair without one is left"
        " out."
    )
    columns = TRANSITIVITY
    return Result("transitivity", "Transitivity", definition, PAGE, rows_of(rows, columns), columns)


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
