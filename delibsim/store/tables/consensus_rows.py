"""The rows of a collective statement: what was written, and how everybody voted."""

from collections.abc import Iterator

from delibsim.domain.consensus import MEDIATOR, Consensus, Contribution, Vote
from delibsim.store.tables.calls import Row

Rows = Iterator[tuple[str, Row]]


def consensus_rows(consensus: Consensus) -> Rows:
    """Rows as (table, values by column): texts first, then votes."""
    yield from _contributions("position", consensus.positions)
    yield from _statements(consensus)
    yield from _contributions("critique", consensus.critiques)
    yield from _votes(1, consensus.first)
    if consensus.second is not None:
        yield from _votes(2, consensus.second)


def _contributions(kind: str, written: tuple[Contribution, ...]) -> Rows:
    for one in written:
        row = {"kind": kind, "author": one.participant, "text": one.text}
        yield "consensus_texts", row | {"reason": str(one.missing or "")}


def _statements(consensus: Consensus) -> Rows:
    """Every statement once: the candidates, then the revisions."""
    first, second = consensus.first, consensus.second
    written = [("candidate", one) for one in first.candidates]
    known = {one.id for one in first.candidates}
    for one in second.candidates if second else ():
        if one.id not in known:
            written.append(("revision", one))
    won = {first.winner: "first"}
    if second is not None and second.winner:
        won[second.winner] = "both" if second.winner == first.winner else "second"
    for kind, one in written:
        yield (
            "consensus_texts",
            {
                "kind": kind,
                "text_id": one.id,
                "author": MEDIATOR,
                "text": one.text,
                "reason": str(one.missing or ""),
                "shown": "; ".join(one.order),
                "won": won.get(one.id, ""),
            },
        )


def _votes(number: int, vote: Vote) -> Rows:
    """A row a participant and statement, also where the vote is missing."""
    standing = tuple(candidate.id for candidate in vote.standing)
    for ranking in vote.rankings:
        for id in ranking.order or standing:
            place = ranking.order.index(id) + 1 if ranking.order else None
            row: Row = {"vote": number, "participant": ranking.participant, "text_id": id}
            row |= {"place": place, "rank": ranking.ranks.get(id)}
            row |= {"agreement": ranking.agreement.get(id), "decided": vote.decided}
            yield "consensus_votes", row | {"reason": str(ranking.missing or "")}
