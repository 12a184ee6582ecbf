"""What people's votes on opinions say: on which they agree across opinion groups, and which are
typical of each group.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan, prod
from typing import Any

from delibsim.analysis.report import Report, sayings
from delibsim.analysis.result import catalogue, tables_of
from delibsim.domain.summary import VOTED, OpinionSet, Voter
from delibsim.domain.text import counted

TYPICAL = 3
"""How many opinions are listed for a group."""
Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes on opinions: the opinions, who voted, and how often an opinion was given a vote in an
    opinion group ("" without one), as far as these votes hold.
    """

    opinions: OpinionSet
    voters: Sequence[Voter]
    tally: Mapping[tuple[str, str, int], int]

    @property
    def groups(self) -> dict[str, int]:
        """How many voters each opinion group has."""
        return dict(sorted(Counter(one.group for one in self.voters if one.group).items()))

    def counts(self, opinion: str, groups: Sequence[str]) -> tuple[int, int, int]:
        """How many of these groups agree with an opinion, disagree, and pass."""
        found = Counter[int]()
        for group in groups:
            found += Counter({vote: self.tally[opinion, group, vote] for vote in VOTED.values()})
        agree, disagree, passed = (found[vote] for vote in VOTED.values())
        return agree, disagree, passed


def votes_report(opinions: OpinionSet, voters: Sequence[Voter]) -> Report:
    """The report on the votes of these voters on opinions."""
    tally = Counter((id, one.group, vote) for one in voters for id, vote in one.last.items())
    votes = Votes(opinions, voters, tally)
    known = catalogue("votes")
    results = known.in_order(tables_of("votes", {"votes": [(votes,)]}, typical=TYPICAL))
    people, groups = counted(len(voters), "person", "people"), counted(len(votes.groups), "group")
    n = counted(len(opinions.texts), "opinion")
    told = [f"{opinions.study}: {n} on “{opinions.question}”; {people} voted, in {groups}."]
    first = {name: one for name, one in results.items() if name == "agreement"}
    told += sayings("votes", first, "agreement") if votes.groups else []
    about = {"study": opinions.study, "question": opinions.question}
    return Report(
        catalogue=known,
        title=f"Votes of {opinions.study}",
        results=results,
        about=about,
        told=told,
        summary=told,
        something=bool(tally),
        data=votes,
    )


def agreement(votes: Votes) -> list[Row]:
    """How many agree with each opinion, first the one with most agreement across groups."""
    groups, every = list(votes.groups), list({one.group for one in votes.voters})
    rows = []
    for text in votes.opinions.texts:
        counts = votes.counts(text.id, every)
        n = sum(counts)
        shares = [count / n if n else nan for count in counts]
        row: Row = {"opinion": text.id, "text": text.text, "votes": n}
        row |= {**dict(zip(VOTED, shares, strict=True)), "note": "" if n else "no_votes"}
        own = [votes.counts(text.id, [group]) for group in groups]
        known = [each[0] / sum(each) for each in own if sum(each)]
        row["least"] = min(known) if known and len(known) == len(groups) else nan
        row["informed"] = prod(map(_smoothed, own)) if groups and n else nan
        rows.append(row)
    by = "informed" if groups else "agrees"
    rows.sort(key=lambda row: -row[by] if row[by] == row[by] else 1)
    return [row | {"first": n == 0 and not row["note"]} for n, row in enumerate(rows)]


def typical_of_groups(votes: Votes) -> Iterator[Row]:
    """Of each opinion group those opinions with which it agrees most beside the others."""
    every = {one.group for one in votes.voters}
    for group, members in votes.groups.items():
        rows = []
        for text in votes.opinions.texts:
            own = votes.counts(text.id, [group])
            other = votes.counts(text.id, [one for one in every if one != group])
            if sum(own) and sum(other):
                row: Row = {"group": group, "members": members, "opinion": text.id}
                row |= {"text": text.text, "votes": sum(own), "agrees": own[0] / sum(own)}
                row |= {"others": other[0] / sum(other)}
                rows.append(row | {"ratio": _smoothed(own) / _smoothed(other)})
        yield from sorted(rows, key=lambda row: -row["ratio"])[:TYPICAL]


def _smoothed(counts: Sequence[int]) -> float:
    """The share that agrees, with one vote for and one against added."""
    return (counts[0] + 1) / (sum(counts) + 2)
