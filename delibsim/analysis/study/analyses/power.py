"""What a study of a given size would find: power, the smallest effect, and what an effect needs."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from delibsim.analysis.study.analyses.pilot import Assumed
from delibsim.measures.inference.power import (
    TESTS,
    Sample,
    Spread,
    needed,
    power_of,
    smallest_effect,
)

TOPICS = (4, 6, 8, 12, 16, 24, 48)
REPLICATES = (1, 2, 3, 5, 10, 20)


@dataclass(frozen=True)
class Question:
    """An effect to be found: the difference of the changes of two treatments in an outcome."""

    effect: float
    power: float
    alpha: float
    outcome: str
    between: Sequence[str]


@dataclass(frozen=True)
class Found:
    """What a study finds by one of the `TESTS`: its power at the design asked for, the smallest
    effect that this design finds, and the replicates and the topics that the effect needs, None
    where no number is enough.
    """

    test: str
    power: float
    smallest: float
    replicates: int | None
    topics: int | None


@dataclass(frozen=True)
class Answer:
    """The answer to a question about power: by test, and power by topics and replicates.

    `grid` has, by (topics, replicates), the power of each test in the order of `TESTS`.
    """

    question: Question
    assumed: Assumed
    sample: Sample
    tests: Sequence[Found]
    grid: dict[tuple[int, int], tuple[float, ...]]

    def plain(self) -> dict[str, Any]:
        """The answer as plain values, as `delibsim power --json` prints it."""
        sample = self.sample
        rows = []
        for (topics, replicates), powers in self.grid.items():
            named = {f"power_{test}": one for test, one in zip(TESTS, powers, strict=True)}
            rows.append({"topics": topics, "replicates": replicates, **named})
        return {
            **asdict(self.question),
            "components": {
                **asdict(self.assumed.spread),
                "source": self.assumed.source,
                "intervals": {name: list(ends) for name, ends in self.assumed.intervals.items()},
                "notes": list(self.assumed.notes),
            },
            "design": asdict(sample),
            "tests": [asdict(found) for found in self.tests],
            "grid": rows,
        }


def answer(question: Question, assumed: Assumed, sample: Sample) -> Answer:
    """The answer to a question under what is assumed, for a design and for those around it."""
    found = [_found(test, question, assumed.spread, sample) for test in TESTS]
    grid = {}
    for topics in sorted({*TOPICS, sample.topics}):
        for replicates in sorted({*REPLICATES, sample.replicates}):
            size = replace(sample, topics=topics, replicates=replicates)
            powers = [_power(test, question, assumed.spread, size) for test in TESTS]
            grid[topics, replicates] = tuple(powers)
    return Answer(question, assumed, sample, found, grid)


def _power(test: str, question: Question, spread: Spread, sample: Sample) -> float:
    return power_of(question.effect, spread, sample, test, question.alpha)


def _found(test: str, question: Question, spread: Spread, sample: Sample) -> Found:
    power = _power(test, question, spread, sample)
    given = (question.effect, question.power, spread, sample, test, question.alpha)
    smallest = smallest_effect(question.power, spread, sample, test, question.alpha)
    return Found(
        test,
        power,
        smallest,
        needed("replicates", *given),
        needed("topics", *given),
    )
