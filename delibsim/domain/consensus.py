"""A collective statement of the group: how it is sought after the last survey, and what came of it.

The procedure follows Tessler et al. 2024, doi:10.1126/science.adq2852; docs/consensus.md says where
it is ours.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from delibsim.domain.reason import Reason
from delibsim.domain.text import in_short

MEDIATOR = "Mediator"
"""By this name the mediator is asked; no participant has it."""
LOWEST, HIGHEST = 1, 7
"""The ends of the scale on which participants say how far they agree with a statement."""
AGREES = 5
"""Who gives at least so much agrees with a statement."""
LEFT_OUT = 3
"""Who gives at most so much is left out by a statement."""
MOST_CANDIDATES = 26
Decision = Literal["", "schulze", "ballot", "lot", "only"]
"""What a winner was decided by: the method, a ballot or a lot drawn among those tied, or because
there was one candidate alone; "" without a winner.
"""


@dataclass(frozen=True)
class ConsensusRule:
    """How a group seeks a statement of its own; `method` "none": it does not.

    A mediator, which is no participant, writes so many `candidates` from the participants'
    positions: what each wrote when asked for its position ("written"), or its "last_statement".
    With `critique`, the participants criticise the winner, the mediator writes as many revisions,
    and a second vote decides between these and the winner. `words` is the length that positions,
    critiques and statements are asked for. `mediator` names a model; "" is the first of the group.
    `model` holds its settings where no participant speaks by it. `texts` are the sentences around.
    """

    name: str = "none"
    method: Literal["none", "schulze"] = "none"
    candidates: int = 4
    position: Literal["written", "last_statement"] = "written"
    critique: bool = True
    words: int = 100
    mediator: str = ""
    model: Mapping[str, Any] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    __repr__ = in_short

    def __post_init__(self) -> None:
        """Refuse a number of candidates or of words that cannot be."""
        if not 1 <= self.candidates <= MOST_CANDIDATES:
            raise ValueError(
                f"candidates must be from 1 to {MOST_CANDIDATES}, not {self.candidates}"
            )
        if self.words < 1:
            raise ValueError(f"words must be 1 or more, not {self.words}")


@dataclass(frozen=True)
class Contribution:
    """What a participant wrote: a position or a critique; without a text, why there is none."""

    participant: str
    text: str = ""
    missing: Reason | None = None

    __repr__ = in_short


@dataclass(frozen=True)
class Candidate:
    """A statement that the mediator wrote; without a text, why there is none.

    `order` holds the participants in the order in which the mediator was shown what they wrote.
    """

    id: str
    text: str = ""
    missing: Reason | None = None
    order: tuple[str, ...] = ()

    __repr__ = in_short


@dataclass(frozen=True)
class Ranking:
    """A participant's ranks of all candidates (1: the one it prefers most) and how far it agrees
    with each, by id of the candidate; without these, why they are missing.

    `order` holds the candidates in the order in which this participant was shown them.
    """

    participant: str
    ranks: Mapping[str, int] = field(default_factory=dict)
    agreement: Mapping[str, int] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    missing: Reason | None = None


@dataclass(frozen=True)
class ConsensusVote:
    """One vote: the candidates, everybody's ranking, and the id of the winner, "" without one."""

    candidates: tuple[Candidate, ...]
    rankings: tuple[Ranking, ...] = ()
    winner: str = ""
    decided: Decision = ""

    __repr__ = in_short

    @property
    def standing(self) -> tuple[Candidate, ...]:
        """The candidates with a text, among which is voted."""
        return tuple(candidate for candidate in self.candidates if candidate.missing is None)

    @property
    def cast(self) -> tuple[Ranking, ...]:
        """The rankings that were given."""
        return tuple(ranking for ranking in self.rankings if ranking.missing is None)

    @property
    def ranks(self) -> list[list[int]]:
        """The ranks of the standing candidates, a list a voter."""
        ids = [candidate.id for candidate in self.standing]
        found = []
        for ranking in self.cast:
            found.append([ranking.ranks[id] for id in ids])
        return found

    def agreement(self, candidate: str) -> dict[str, int]:
        """How far everybody who voted agrees with a candidate, by participant."""
        return {one.participant: one.agreement[candidate] for one in self.cast}


@dataclass(frozen=True)
class Consensus:
    """What came of it: positions, the first vote, and with critique the critiques and the second
    vote, None where it was not held.
    """

    positions: tuple[Contribution, ...]
    first: ConsensusVote
    critiques: tuple[Contribution, ...] = ()
    second: ConsensusVote | None = None

    __repr__ = in_short

    @property
    def last(self) -> ConsensusVote:
        """The vote that decides."""
        return self.second or self.first

    @property
    def statement(self) -> Candidate | None:
        """The collective statement; None where no vote has a winner."""
        won = (one for one in self.last.candidates if one.id == self.last.winner)
        return next(won, None)

    @property
    def gaps(self) -> Iterator[tuple[str, str, Reason]]:
        """What is missing: who was asked, on which occasion, and why there is no answer."""
        votes = [self.first] if self.second is None else [self.first, self.second]
        for one in self.positions:
            if one.missing is not None:
                yield one.participant, "position", one.missing
        for number, vote in enumerate(votes, 1):
            for candidate in vote.candidates:
                if candidate.missing is not None:
                    yield MEDIATOR, candidate.id, candidate.missing
            for ranking in vote.rankings:
                if ranking.missing is not None:
                    yield ranking.participant, f"vote {number}", ranking.missing
        for one in self.critiques:
            if one.missing is not None:
                yield one.participant, "critique", one.missing
