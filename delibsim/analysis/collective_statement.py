"""A collective statement for reading: what won, how everybody voted, and whom it leaves out."""

from collections.abc import Iterator

from delibsim.analysis.table import Table, of_participants, texts
from delibsim.domain.consensus import LEFT_OUT, MEDIATOR, Consensus, Vote
from delibsim.domain.text import counted

DECIDED = {
    "schulze": "by Schulze's method",
    "ballot": "by Schulze's method and, among those tied, a ballot that was drawn",
    "lot": "by Schulze's method and, among those tied, lot",
    "only": "as the only candidate",
}
NOT_SHOWN = "left_out"
"""Why a vote is missing that was given, and that is not to be shown."""
NAMES = {"first": "vote before the critique", "second": "vote after the critique"}


def statement_of(consensus: Consensus) -> tuple[str, str]:
    """The collective statement and what it was chosen by; the first is "" where there is none, and
    the second says why.
    """
    found, vote = consensus.statement, consensus.last
    if found is not None:
        chosen = f"{found.id}, chosen {DECIDED[vote.decided]}"
        return found.text, f"{chosen}, {counted(len(vote.cast) + _hidden(vote), 'ballot')}"
    if not vote.standing:
        return "", "no statement: the mediator wrote none"
    return "", "no statement: nobody voted"


def tables_of_votes(consensus: Consensus) -> Iterator[Table]:
    """Ranks and agreement of everybody, a table a vote."""
    votes = [("first", consensus.first), ("second", consensus.second)]
    for name, vote in votes:
        if vote is not None and vote.rankings:
            yield _table(vote, NAMES[name])


def on_consensus(consensus: Consensus) -> Iterator[str]:
    """Whom the statement leaves out, and what is missing, in sentences."""
    last = consensus.last
    if last.winner:
        agreement = last.agreement(last.winner)
        out = [f"{name} ({value})" for name, value in agreement.items() if value <= LEFT_OUT]
        whose = "nobody whose vote is shown" if _hidden(last) else "nobody who voted"
        listed = ", ".join(out) or whose
        yield f"left out (agreement of {LEFT_OUT} or less): {listed}"
    for name, occasion, reason in consensus.gaps:
        who = "the mediator" if name == MEDIATOR else name
        yield f"missing: {who}, {occasion}: {reason}"


def _hidden(vote: Vote) -> int:
    """How many ballots were cast and are not shown, because people's are left out of a share."""
    reasons = (ranking.missing for ranking in vote.rankings)
    return sum(reason is not None and reason.code == NOT_SHOWN for reason in reasons)


def _table(vote: Vote, name: str) -> Table:
    """A row a statement; of every participant its rank and its agreement."""
    people = [ranking.participant for ranking in vote.rankings]
    rows = []
    for candidate in vote.standing:
        cells = []
        for ranking in vote.rankings:
            given = ranking.missing is None
            rank, agreed = ranking.ranks.get(candidate.id), ranking.agreement.get(candidate.id)
            cells.append(f"{rank} ({agreed})" if given else "?")
        won = " (won)" if candidate.id == vote.winner else ""
        rows.append([f"{candidate.id}{won}", *cells])
    title = f"{name[0].upper()}{name[1:]}: rank (agreement, 1 to 7)"
    return Table([*texts("statement"), *of_participants(people)], rows, title)
