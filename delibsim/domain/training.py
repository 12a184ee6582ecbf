"""Records that a judge of summaries is trained on, and the parts that they fall into."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from delibsim.domain.errors import WrongInput
from delibsim.domain.seed import seed_of

Part = Literal["train", "validation", "test"]
PARTS: tuple[Part, ...] = get_args(Part)
SHARES: Mapping[Part, float] = {"train": 0.7, "validation": 0.1, "test": 0.2}


@dataclass(frozen=True)
class Triple:
    """What a trained judge reads."""

    question: str
    opinion: str
    summary: str


@dataclass(frozen=True)
class Record:
    """What one rater gave a summary beside an opinion: y from 0 to 1 by dimension, without what is
    missing.

    `instance` is shared by the two summaries that a rater compared; `derived` marks the one whose
    scores come from the comparison.
    """

    triple: Triple
    rater: str
    instance: str
    scores: Mapping[str, float]
    derived: bool = False


@dataclass(frozen=True)
class TrainedScore:
    """What a trained judge gave a summary beside an opinion: y by dimension, as the network gave
    it. `key` is the hash of the texts and of the checkpoint.
    """

    summary: str
    opinion: str
    key: str
    values: Mapping[str, float]


def parts_by_rater(records: Sequence[Record], seed: int) -> dict[Part, list[Record]]:
    """Records in three parts, 70, 10 and 20% of the raters, drawn by the seed: no rater is in two.

    WrongInput where there are fewer raters than parts.
    """
    raters = sorted({one.rater for one in records})
    if len(raters) < len(PARTS):
        raise WrongInput(
            f"the records are by {len(raters)} raters; training needs at least {len(PARTS)}, since"
            " the parts for training, validation and test share none"
        )
    random.Random(seed).shuffle(raters)
    n = len(raters)
    test = max(1, round(SHARES["test"] * n))
    validation = max(1, round(SHARES["validation"] * n))
    part: dict[str, Part] = {}
    for place, rater in enumerate(raters):
        early: Part = "validation" if place < test + validation else "train"
        part[rater] = "test" if place < test else early
    return _divided(records, part)


def parts_without(records: Sequence[Record], question: str, seed: int) -> dict[Part, list[Record]]:
    """Records in parts with one question as the test: nothing is learnt from it, nor from those who
    judged it, and no rater is in two parts.

    WrongInput where there is no such question, or no other with raters of its own.
    """
    questions = sorted({one.triple.question for one in records})
    if question not in questions or len(questions) < 2:
        raise WrongInput(f"there are no records on '{question}' to leave out beside others")
    test = [one for one in records if one.triple.question == question]
    theirs = {one.rater for one in test}
    rest = [one for one in records if one.rater not in theirs]
    raters = sorted({one.rater for one in rest})
    if len(raters) < 2:
        raise WrongInput(
            f"without '{question}', and without the raters who judged it, {len(raters)} of"
            f" {len(raters) + len(theirs)} raters are left; two are needed"
        )
    random.Random(seed).shuffle(raters)
    validation = set(raters[: max(1, round(len(raters) / 8))])  # 10 of the 80%
    part: dict[str, Part] = {}
    for rater in raters:
        part[rater] = "validation" if rater in validation else "train"
    return _divided(rest, part) | {"test": test}


def seed_of_parts(name: str, seed: int) -> int:
    """The seed by which the raters of a training are drawn."""
    return seed_of("parts of a trained judge", name, seed)


def questions_of(records: Iterable[Record]) -> list[str]:
    """The questions of records, in order."""
    return sorted({one.triple.question for one in records})


def _divided(records: Iterable[Record], part: Mapping[str, Part]) -> dict[Part, list[Record]]:
    found: dict[Part, list[Record]] = {name: [] for name in PARTS}
    for one in records:
        found[part[one.rater]].append(one)
    return found
