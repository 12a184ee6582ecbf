"""Judges: who favours a place, who contradicts itself or goes round, and at what cost."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from delibsim.analysis.calls import cost_usd
from delibsim.analysis.pairs.fitted import Compared, Fitted
from delibsim.analysis.result import Result, make_table
from delibsim.domain.comparison import Vote
from delibsim.measures.bradley_terry.counts import both_orders, triads


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
