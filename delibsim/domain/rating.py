"""Ratings of debates: what one rater, who does not know who debates, says about one debate; and
which debates each rates where nobody rates all.
"""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import SIDES, Side
from delibsim.domain.reason import Reason
from delibsim.domain.run import Run
from delibsim.domain.seed import seed_of
from delibsim.domain.transcript import PREPARATION, Statement


@dataclass(frozen=True)
class Showing:
    """One debate before one rater; `first` is the side that the rater knows as Speaker A."""

    debate: str
    first: Side


Allocation = Mapping[str, tuple[Showing, ...]]
"""The debates of every rater by name, in the order in which they are shown."""


def allocate(
    motions: Mapping[str, str],
    raters: Sequence[str],
    each: int,
    seed: int,
    earlier: Allocation | None = None,
) -> dict[str, tuple[Showing, ...]]:
    """So many debates for each rater, one after the other; a rater who has debates keeps them.

    `motions` holds the motion of every debate by the debate's name. Each rater gets the debates
    that the fewest raters have, so that these numbers never differ by more than one; among them one
    of each motion before a second of any; shown early where they were shown late so far; and
    Speaker A is each side in turn. A larger number of raters leaves the debates of the first ones
    as they are. The draw depends on the seed and on the names alone. Raises WrongInput for a number
    of debates that a rater cannot have.
    """
    if not 1 <= each <= len(motions):
        most = f"at most all {len(motions)} that are complete"
        raise WrongInput(f"each rater rates at least 1 debate and {most}, not {each}")
    allocation = dict(earlier or {})
    tally = _Tally()
    for showings in allocation.values():
        tally.add(showings)
    for rater in raters:
        if rater not in allocation:
            draw = random.Random(seed_of("allocation", seed, rater))
            chosen = _chosen(motions, each, tally, draw)
            allocation[rater] = _sided(_in_order(chosen, tally, draw), tally, draw)
            tally.add(allocation[rater])
    return allocation


class _Tally:
    """Of each debate: how often it was shown, how late, and by how much the proposition led."""

    def __init__(self) -> None:
        self.shown: Counter[str] = Counter()
        self.late: Counter[str] = Counter()
        self.lead: Counter[str] = Counter()

    def add(self, showings: Sequence[Showing]) -> None:
        """Count the debates of one more rater."""
        for place, showing in enumerate(showings):
            self.shown[showing.debate] += 1
            self.late[showing.debate] += 2 * place - len(showings) + 1
            self.lead[showing.debate] += 1 if showing.first == SIDES[0] else -1


def _chosen(motions: Mapping[str, str], each: int, tally: _Tally, draw: random.Random) -> list[str]:
    """The debates of one rater."""
    waiting = sorted(motions)
    draw.shuffle(waiting)
    chosen: list[str] = []
    seen: Counter[str] = Counter()
    lean = 0
    while len(chosen) < each:
        least = min(tally.shown[debate] for debate in waiting)
        pool = [debate for debate in waiting if tally.shown[debate] == least]
        left = Counter(motions[debate] for debate in pool)
        ranks = {}
        for debate in pool:
            motion, led = motions[debate], _sign(tally.lead[debate])
            # The side that has led less is to lead next, which should even out what this rater
            # sees.
            ranks[debate] = (seen[motion], -left[motion], abs(lean - led))
        best = min(pool, key=ranks.__getitem__)
        waiting.remove(best)
        chosen.append(best)
        seen[motions[best]] += 1
        lean -= _sign(tally.lead[best])
    return chosen


def _in_order(chosen: Sequence[str], tally: _Tally, draw: random.Random) -> list[str]:
    """Debates that were shown late so far come early, and the other way round."""
    drawn = draw.sample(chosen, len(chosen))
    return sorted(drawn, key=lambda debate: -tally.late[debate])


def _sided(debates: Sequence[str], tally: _Tally, draw: random.Random) -> tuple[Showing, ...]:
    """Who is shown first: the side that was so less often, or else what evens out the rater."""
    signs = {debate: -_sign(tally.lead[debate]) for debate in debates}
    lean = sum(signs.values())
    for debate in draw.sample(debates, len(debates)):
        if signs[debate] == 0:
            signs[debate] = -_sign(lean) or draw.choice((1, -1))
            lean += signs[debate]
    first = {1: SIDES[0], -1: SIDES[1]}
    return tuple(Showing(debate, first[signs[debate]]) for debate in debates)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


DIMENSIONS = (
    "knowledge", "confidence", "clarity", "logic", "formality", "evidence",
    "engaging", "originality", "rebuttal", "convincing", "performance",
)  # fmt: skip
"""What each side is rated on, from 0 to 100; `performance` is the overall judgment of the other
ten.
"""
SCALE = range(101)


@dataclass(frozen=True)
class Rating:
    """One rater's judgment of one debate.

    `rater` is the rater's name in the study, `panel` the panel or pack that it belongs to. `first`
    is the side that the rater knew as Speaker A. `before` and `after` are stances on the motion
    (0 to 100); `proposition` and `opposition` hold a whole number from 0 to 100 for each dimension.
    What was not given is None, or an absent key, and `missing` says why under its name ("before",
    "winner", "proposition.logic"). `attentive` is whether the attention check was passed, None
    where it was not answered. `source` is "model" or "human"; `model` names the language model.
    `debate_sha256` is the `digest` of what was rated, "" if it was not kept. Raises ValueError for
    what no rater can say.
    """

    session: str
    rater: str
    first: Side
    before: int | None = None
    proposition: Mapping[str, int] = field(default_factory=dict)
    opposition: Mapping[str, int] = field(default_factory=dict)
    winner: Side | None = None
    after: int | None = None
    attentive: bool | None = None
    missing: Mapping[str, Reason] = field(default_factory=dict)
    source: Literal["model", "human"] = "human"
    model: str = ""
    debate_sha256: str = ""
    panel: str = ""

    def __post_init__(self) -> None:
        """Refuse a value off the scale, an unknown dimension, and a gap without a reason."""
        values = {"before": self.before, "after": self.after}
        for side in SIDES:
            given = self.of(side)
            unknown = sorted(set(given) - set(DIMENSIONS))
            if unknown:
                known = ", ".join(DIMENSIONS)
                raise ValueError(f"{unknown[0]} is no dimension; dimensions are {known}")
            values |= {f"{side}.{dimension}": given.get(dimension) for dimension in DIMENSIONS}
        for name, value in values.items():
            if value is not None and value not in SCALE:
                raise ValueError(f"{name} is {value}, outside 0 to 100")
        absent = {name for name, value in values.items() if value is None}
        if self.winner is None:
            absent.add("winner")
        if absent != set(self.missing) - {"attentive"}:
            place, named = f"{self.session}, {self.rater}", sorted(absent)
            raise ValueError(
                f"{place}: what is missing must have a reason, and nothing else: {named}"
            )

    @property
    def key(self) -> tuple[str, str]:
        """What no two ratings of a study share."""
        return self.session, self.rater

    def of(self, side: Side) -> Mapping[str, int]:
        """The ratings of one side by dimension."""
        return self.proposition if side == "proposition" else self.opposition


def sides_by_letter(first: Side) -> dict[str, Side]:
    """The sides that a rater knows as Speaker A and Speaker B, where `first` is Speaker A.

    >>> sides_by_letter("opposition")
    {'A': 'opposition', 'B': 'proposition'}
    """
    second = SIDES[1] if first == SIDES[0] else SIDES[0]
    return {"A": first, "B": second}


def debated(run: Run) -> bool:
    """Whether a run is a debate in which all speeches were given: only these are rated."""
    expected = run.session.kind.speeches
    return expected > 0 and not run.silences and len(speeches_of(run)) == expected


def speeches_of(run: Run) -> list[Statement]:
    """The speeches of a debate in their order; the notes before it are left out."""
    return [said for said in run.transcript if said.turn.task != PREPARATION]


def digest(run: Run) -> str:
    """SHA-256 of what raters judge in a debate: the motion, and every speech with its side, as
    JSON.
    """
    sides = {participant.id: participant.role for participant in run.session.participants}
    speeches = [[sides[said.turn.speaker], said.text] for said in speeches_of(run)]
    return hashlib.sha256(json.dumps([run.session.topic.question, speeches]).encode()).hexdigest()
