"""Which debates each rater rates where nobody rates all, balanced over debates, motions, order."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import SIDES, Side
from delibsim.domain.seed import seed_of


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
