"""A score, and the protocol of whatever produces scores from runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from delibsim.domain.run import Run

Unit = Literal["run", "participant", "statement", "pair"]


@dataclass(frozen=True, slots=True)
class Score:
    """One number about one target.

    `target` is the id of the session, followed for smaller units by "/" and the participant or the
    index of the turn. `value` is NaN where the measure is undefined; `note` then holds the reason
    code. `phase` is "pre", "post" or "change".
    """

    measure: str
    unit: Unit
    target: str
    value: float
    phase: str = ""
    coder: str = ""
    note: str = ""


@runtime_checkable
class Scorer(Protocol):
    """Whatever reads runs, returns scores and changes nothing.

    `version` is raised whenever a number changes.
    """

    name: str
    version: int

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Score runs; the scores of a run do not depend on the order in which runs are given."""
        ...
