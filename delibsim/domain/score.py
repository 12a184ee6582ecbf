"""A score, and the protocol of whatever produces scores from runs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from delibsim.domain.run import Run

Unit = Literal["run", "participant", "statement", "pair", "text"]


@dataclass(frozen=True, slots=True)
class Score:
    """One number about one target.

    `target` is the id of the session, followed for smaller units by "/" and the participant or the
    index of the turn; of the unit "text" it is the id of an imported text. `value` is NaN where the
    measure is undefined; `note` then holds the reason code. `phase` is "pre", "post" or "change".
    """

    measure: str
    unit: Unit
    target: str
    value: float
    phase: str = ""
    coder: str = ""
    note: str = ""


ENSEMBLE = "ensemble"
"""The coder whose score is taken together from those of others."""


def of_whole_runs(scores: Iterable[Score]) -> list[Score]:
    """The scores of whole runs; where an ensemble has one, its own alone of all coders'.

    >>> scores = [Score("m", "run", "s", 1.0, coder=coder) for coder in ("a", "ensemble", "b")]
    >>> [score.coder for score in of_whole_runs(scores)]
    ['ensemble']
    """
    whole = [score for score in scores if score.unit == "run"]
    decided = {(one.target, one.measure, one.phase) for one in whole if one.coder == ENSEMBLE}
    if not decided:
        return whole
    found = []
    for score in whole:
        key = score.target, score.measure, score.phase
        if score.coder == ENSEMBLE or key not in decided:
            found.append(score)
    return found


@runtime_checkable
class Scorer(Protocol):
    """Whatever reads runs, returns scores and changes nothing.

    `version` is raised whenever a number changes. A scorer that need not have all runs of a study
    before it at once declares `by_run` or has `compare` (see `ComparesRuns`).
    """

    name: str
    version: int

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Score runs; the scores of a run do not depend on the order in which runs are given."""
        ...


class Comparison(Protocol):
    """What a scorer remembers of all runs: each is noted first, and then scored."""

    def note(self, run: Run) -> None:
        """Remember what is needed of a run to score others."""
        ...

    def score(self, run: Run) -> Iterable[Score]:
        """The scores of one of the runs, after all were noted."""
        ...


@runtime_checkable
class ComparesRuns(Protocol):
    """A scorer that compares runs, and is shown them one after another, twice."""

    def compare(self) -> Comparison:
        """A comparison that knows no run yet."""
        ...


def compared(comparison: Comparison, runs: Sequence[Run]) -> list[Score]:
    """The scores of runs that are compared with each other."""
    for run in runs:
        comparison.note(run)
    return [score for run in runs for score in comparison.score(run)]


class _Alone:
    """What a scorer remembers that scores run by run: nothing."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer

    def note(self, run: Run) -> None:
        """Remember nothing."""

    def score(self, run: Run) -> Iterable[Score]:
        """The scores of a run."""
        return self._scorer.score([run])


def run_by_run(scorer: Scorer) -> Comparison | None:
    """What shows a scorer one run after another; None for one that needs all runs at once."""
    if isinstance(scorer, ComparesRuns):
        return scorer.compare()
    return _Alone(scorer) if getattr(scorer, "by_run", False) else None
