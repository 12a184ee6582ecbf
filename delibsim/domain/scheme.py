"""Dimensions of argument quality: what one text can have more of than another."""

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from delibsim.domain.comparison import OUTCOMES, Outcome
from delibsim.domain.text import in_short


@dataclass(frozen=True)
class PairExample:
    """Two texts with the answer that is right for them, and why; written for a dimension."""

    answer: Outcome
    a: str
    b: str
    why: str

    __repr__ = in_short


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

    __repr__ = in_short

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


Scale = Literal["ordinal", "nominal", "interval"]
LevelValue = int | float | str
"""Whole numbers in order (ordinal), numbers (interval), or names (nominal)."""
ID = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
"""What the ids of schemes and dimensions look like."""


@dataclass(frozen=True)
class Level:
    """One value of a dimension, its name, and the anchor that says when it applies."""

    value: LevelValue
    name: str
    anchor: str

    __repr__ = in_short


@dataclass(frozen=True)
class Example:
    """A text as coders are shown it, with its level and why it has that level."""

    text: str
    level: LevelValue
    why: str = ""

    __repr__ = in_short


@dataclass(frozen=True)
class Dimension:
    """One thing that is coded, as an entry of six parts (MacQueen et al. 1998).

    `brief` and `full` define it, `use` and `not_use` say when, `examples` show it. `applies` is ""
    where it applies to every text, else a question that is answered yes or no first: a text to
    which the dimension does not apply has no code. `steps` are the scheme's own procedure; where
    there are none each model writes its own. A text of fewer words than `least_words` is not coded
    on this dimension. Raises ValueError for a dimension that nobody could code.
    """

    id: str
    name: str
    scale: Scale
    levels: tuple[Level, ...]
    brief: str = ""
    full: str = ""
    use: str = ""
    not_use: str = ""
    examples: tuple[Example, ...] = ()
    applies: str = ""
    steps: tuple[str, ...] = ()
    least_words: int = 0

    __repr__ = in_short

    def __post_init__(self) -> None:
        """Refuse ids, levels, anchors and examples that contradict the scale."""
        if not ID.fullmatch(self.id):
            raise ValueError(f"'{self.id}' cannot be an id: use a-z first, then a-z, 0-9 and _")
        if len(self.levels) < 2:
            raise ValueError(f"{self.id}: a dimension has two levels at least")
        values = self.values
        if len(set(values)) < len(values):
            raise ValueError(f"{self.id}: two levels have one value")
        self._refuse_other_scale(values)
        for level in self.levels:
            if not level.anchor.strip():
                raise ValueError(f"{self.id}: level {level.value} has no anchor")
        for example in self.examples:
            if example.level not in values:
                raise ValueError(f"{self.id}: an example has level {example.level}, which is none")

    def _refuse_other_scale(self, values: tuple[LevelValue, ...]) -> None:
        """Refuse values that the scale does not have."""
        named = all(isinstance(value, str) and value for value in values)
        if self.scale == "nominal":
            if not named:
                raise ValueError(f"{self.id}: nominal levels are names")
            return
        numbers = [value for value in values if isinstance(value, int | float)]
        if len(numbers) < len(values) or any(isinstance(value, bool) for value in values):
            raise ValueError(f"{self.id}: {self.scale} levels are numbers")
        consecutive = list(range(int(numbers[0]), int(numbers[0]) + len(numbers)))
        if self.scale == "ordinal" and numbers != consecutive:
            raise ValueError(
                f"{self.id}: ordinal levels are consecutive whole numbers, the lowest first"
            )

    @property
    def values(self) -> tuple[LevelValue, ...]:
        """The values of its levels, in order."""
        return tuple(level.value for level in self.levels)


@dataclass(frozen=True)
class Scheme:
    """What coders apply: dimensions, and the texts that it is meant for.

    `least_words` and `most_words` bound the texts that are coded (None: no bound). With
    `lower_in_doubt` coders are told to give the lower of two neighbouring levels in doubt. Raises
    ValueError for a scheme without dimensions, and for two dimensions of one id.
    """

    id: str
    name: str
    source: str
    version: str
    dimensions: tuple[Dimension, ...]
    least_words: int = 0
    most_words: int | None = None
    lower_in_doubt: bool = False
    note: str = field(default="")

    __repr__ = in_short

    def __post_init__(self) -> None:
        """Refuse ids that cannot be ids, no dimension, and a dimension given twice."""
        if not ID.fullmatch(self.id):
            raise ValueError(f"'{self.id}' cannot be an id: use a-z first, then a-z, 0-9 and _")
        ids = [dimension.id for dimension in self.dimensions]
        if not ids:
            raise ValueError(f"scheme {self.id} has no dimension")
        if len(set(ids)) < len(ids):
            raise ValueError(f"scheme {self.id}: two dimensions have one id")

    @property
    def sha256(self) -> str:
        """SHA-256 of the whole scheme: what was asked is fixed by it."""
        plain = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(plain.encode()).hexdigest()

    def dimension(self, id: str) -> Dimension:
        """A dimension by its id; KeyError if there is none."""
        for dimension in self.dimensions:
            if dimension.id == id:
                return dimension
        raise KeyError(f"scheme {self.id} has no dimension {id}")
