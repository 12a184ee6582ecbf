"""Ratings of debates: what one rater, who does not know who debates, says about one debate."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from delibsim.domain.participant import SIDES, Side
from delibsim.domain.reason import Reason
from delibsim.domain.run import Run
from delibsim.domain.transcript import PREPARATION, Statement

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
