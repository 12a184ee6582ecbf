"""Dimensions of argument quality: what one text can have more of than another."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from delibsim.domain.comparison import OUTCOMES, Outcome
from delibsim.domain.scheme import ID


@dataclass(frozen=True)
class PairExample:
    """Two texts with the answer that is right for them, and why; written for a dimension."""

    answer: Outcome
    a: str
    b: str
    why: str


@dataclass(frozen=True)
class QualityDimension:
    """What two texts are compared on, such as logical quality.

    `adverb` says in one word how the better text argues, `definition` what the dimension is, and
    every one of `criteria` is a question that has one of two texts as its answer. `examples` are
    none, or one each for A, B and a tie. Raises ValueError for an id that cannot be one, for a
    dimension without words, and for other examples.
    """

    id: str
    name: str
    adverb: str
    definition: str
    criteria: tuple[str, ...]
    source: str = ""
    version: str = "1"
    note: str = ""
    examples: tuple[PairExample, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what could not stand in a prompt."""
        if not ID.fullmatch(self.id):
            raise ValueError(f"'{self.id}' cannot be an id: use a-z first, then a-z, 0-9 and _")
        if not (self.adverb.strip() and self.definition.strip() and self.criteria):
            raise ValueError(f"{self.id}: a dimension has an adverb, a definition and criteria")
        answers = tuple(example.answer for example in self.examples)
        if answers and sorted(answers) != sorted(OUTCOMES):
            raise ValueError(f"{self.id}: examples are one each for A, B and Tie, or none")
        texts = [text for one in self.examples for text in (one.a, one.b, one.why)]
        if not all(map(str.strip, texts)):
            raise ValueError(f"{self.id}: an example has two texts and says why")

    @property
    def sha256(self) -> str:
        """SHA-256 of the whole dimension: what was asked is fixed by it."""
        plain = json.dumps(self.plain(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(plain.encode()).hexdigest()

    def plain(self) -> dict[str, Any]:
        """As plain values; without the examples where there are none."""
        found = asdict(self)
        if not self.examples:
            del found["examples"]
        return found
