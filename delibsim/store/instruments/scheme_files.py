"""Schemes from YAML files, with every fault of a file and its line."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from delibsim.domain import scheme
from delibsim.domain.comparison import Outcome
from delibsim.domain.errors import WrongInput
from delibsim.store.instruments.faults import Faults, Part, Place, fields_of, kind_in, read_checked

KIND = "scheme"
"""What a file may say in `kind`; files of another kind are no schemes."""
ALWAYS = "always"
"""What `applies` says where a dimension applies to every text."""


def _filled(value: Any) -> str:
    """A text that says something, without the space around it."""
    if not isinstance(value, str):
        raise ValueError("expected a text; put a number in quotes")
    if not value.strip():
        raise ValueError("is empty")
    return value.strip()


def _named(value: Any) -> str:
    name = _filled(value)
    if not scheme.ID.fullmatch(name):
        raise ValueError("cannot be an id: use a-z first, then a-z, 0-9 and _")
    return name


def _level(value: Any) -> scheme.LevelValue:
    """The value of a level: a number, or a name without the space around it."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("expected a number, or a name that is a text")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("expected a finite number")
    if isinstance(value, str):
        return _filled(value)
    return value


Filled = Annotated[str, BeforeValidator(_filled)]
Line = Annotated[Filled, AfterValidator(lambda text: " ".join(text.split()))]
"""A text in one line."""
Name = Annotated[str, BeforeValidator(_named)]
Value = Annotated[Any, BeforeValidator(_level)]
Stripped = Annotated[str, StringConstraints(strip_whitespace=True)]
Count = Annotated[int, Field(ge=0)]


class _LevelLine(Part):
    value: Value
    anchor: Filled
    name: Filled | None = None

    def build(self, **known: Any) -> scheme.Level:
        return scheme.Level(self.value, self.name or str(self.value), self.anchor)


class _ExampleLine(Part):
    noun = scheme.Example
    text: Filled
    level: Value
    why: Stripped = ""


class _DimensionPart(Part):
    noun = scheme.Dimension
    id: Name
    name: Filled
    scale: scheme.Scale
    levels: list[_LevelLine] = Field(min_length=2)
    brief: Stripped = ""
    full: Stripped = ""
    use: Stripped = ""
    not_use: Stripped = ""
    examples: list[_ExampleLine] = Field(default=[])
    applies: Filled = ALWAYS
    steps: list[Filled] = Field(default=[])
    least_words: Count = 0

    def build(self, **known: Any) -> scheme.Dimension:
        return super().build(applies="" if self.applies == ALWAYS else self.applies)


class _Bounds(Part):
    noun = dict
    least_words: Count = 0
    most_words: Annotated[int, Field(ge=1)] | None = None


class _SchemeFile(Part):
    noun = scheme.Scheme
    id: Name
    name: Filled
    dimensions: list[_DimensionPart] = Field(min_length=1)
    kind: str = Field(default=KIND, exclude=True)
    source: Stripped = ""
    version: Filled = "1"
    note: Stripped = ""
    texts: _Bounds = Field(default=_Bounds(), exclude=True)
    lower_in_doubt: bool = False

    def build(self, **known: Any) -> scheme.Scheme:
        return super().build(**self.texts.build())


def is_scheme(path: Path) -> bool:
    """Whether a file is one of a scheme: it says so, says nothing, or cannot be read."""
    try:
        return kind_in(path) in (None, KIND)
    except WrongInput:
        return True


def read_scheme(path: Path, id: str | None = None) -> scheme.Scheme:
    """The scheme in a file; WrongInput with every fault of the file and its line.

    `id` is the one it must have; None: that of the file's name.
    """
    _refuse_other_kind(path, KIND, (None, KIND))
    return read_checked(path, path.stem if id is None else id, _SchemeFile, _check_scheme)


def _refuse_other_kind(path: Path, kind: str, may_say: Collection[Any]) -> None:
    """WrongInput for a file that says that it holds something else."""
    plain, faults = fields_of(path, f"kind: {kind}")
    said = plain.get("kind")
    if said not in may_say:
        faults.add(("kind",), f"is '{said}', so the file holds no {kind} (kind: {kind})")
        faults.refuse()


def _check_scheme(plain: Mapping[str, Any], faults: Faults) -> None:
    _check_bounds(plain.get("texts"), faults)
    dimensions = _mappings(plain.get("dimensions"))
    _check_alike(dimensions, ("dimensions",), "id", "dimension ids", faults)
    for n, dimension in dimensions:
        _check_dimension(dimension, ("dimensions", n), faults)


def _check_bounds(bounds: Any, faults: Faults) -> None:
    """Note where no text can have as many words as a scheme asks for."""
    if not isinstance(bounds, dict):
        return
    least, most = bounds.get("least_words", 0), bounds.get("most_words")
    if isinstance(least, int) and isinstance(most, int) and most < least:
        faults.add(("texts", "most_words"), f"is {most}, fewer than least_words ({least})")


def _check_dimension(dimension: Mapping[str, Any], place: Place, faults: Faults) -> None:
    """Note where levels, scale and examples of a dimension contradict each other."""
    lines = _mappings(dimension.get("levels"))
    _check_alike(lines, (*place, "levels"), "value", "levels of a dimension", faults)
    values = [line.get("value") for _, line in lines]
    scale = dimension.get("scale")
    for n, problem in _off_scale(scale, values):
        at = (*place, "levels", lines[n][0], "value")
        if at not in faults.places:
            faults.add(at, problem)
    known = [value.strip() if isinstance(value, str) else value for value in values]
    for n, example in _mappings(dimension.get("examples")):
        level, at = example.get("level"), (*place, "examples", n, "level")
        level = level.strip() if isinstance(level, str) else level
        if "level" in example and level not in known and at not in faults.places:
            shown = ", ".join(map(str, known))
            faults.add(at, f"there is no level {level!r} here; levels are: {shown}")


def _off_scale(scale: Any, values: Sequence[Any]) -> Iterator[tuple[int, str]]:
    """The places of levels that a scale does not have, and what is wrong with each."""
    for n, value in enumerate(values):
        whole = isinstance(value, int) and not isinstance(value, bool)
        number = whole or isinstance(value, float)
        before = values[n - 1] if n else None
        after = isinstance(before, int | float) and not isinstance(before, bool)
        if scale == "nominal" and not isinstance(value, str):
            yield n, f"levels of a nominal dimension are names, found {value!r}; put it in quotes"
        elif scale == "ordinal" and not whole:
            yield n, f"levels of an ordinal dimension are whole numbers, found {value!r}"
        elif scale == "interval" and not number:
            yield n, f"levels of an interval dimension are numbers, found {value!r}"
        elif scale == "ordinal" and after and value != before + 1:
            yield n, f"ordinal levels follow one another, so expected {before + 1}, found {value}"
        elif scale == "interval" and after and value <= before:
            yield n, f"interval levels stand in order, the lowest first; {value} is behind {before}"


def _check_alike(
    lines: Sequence[tuple[int, Mapping[str, Any]]], place: Place, field: str, what: str, faults: Any
) -> None:
    """Note the lines of a list whose field has the value of an earlier one."""
    seen: list[Any] = []
    for n, line in lines:
        value = line.get(field)
        value = value.strip() if isinstance(value, str) else value
        if field in line and value in seen:
            faults.add((*place, n, field), f"{what} must be unique; used more than once: {value}")
        seen.append(value)


def _mappings(lines: Any) -> list[tuple[int, Mapping[str, Any]]]:
    """The entries of a list that have fields, each with its place."""
    if not isinstance(lines, list):
        return []
    return [(n, line) for n, line in enumerate(lines) if isinstance(line, dict)]


DIMENSION = "dimension"
"""What a file says in `kind`."""


def _question(value: Any) -> str:
    """A question, in one line."""
    if not isinstance(value, str):
        raise ValueError("expected a question as a text")
    question = " ".join(value.split())
    if not question.endswith("?"):
        raise ValueError("expected a question that ends with ?, such as: Which of the two ...?")
    return question


def _word(value: Any) -> str:
    """One word."""
    if not isinstance(value, str) or len(value.split()) != 1:
        raise ValueError("expected one word, such as: logically")
    return value.strip()


def _answer(value: Any) -> Any:
    """The outcome that an answer stands for."""
    outcomes = {"a": "a", "b": "b", "tie": "tie"}
    found = outcomes.get(value.strip().casefold()) if isinstance(value, str) else None
    if found is None:
        raise ValueError("expected A, B or Tie")
    return found


class _ExampleFile(Part):
    noun = scheme.PairExample
    answer: Annotated[Outcome, BeforeValidator(_answer)]
    a: Filled
    b: Filled
    why: Line


def _one_each(examples: list[_ExampleFile]) -> list[_ExampleFile]:
    """Examples, one for each answer."""
    if sorted(one.answer for one in examples) != ["a", "b", "tie"]:
        raise ValueError("expected three examples, one each with the answer A, B and Tie")
    return examples


class _DimensionFile(Part):
    noun = scheme.QualityDimension
    kind: str = Field(exclude=True)
    id: Name
    name: Filled
    adverb: Annotated[str, BeforeValidator(_word)]
    definition: Line
    criteria: list[Annotated[str, BeforeValidator(_question)]] = Field(min_length=1)
    source: Stripped = ""
    version: Filled = "1"
    note: Stripped = ""
    examples: Annotated[list[_ExampleFile], AfterValidator(_one_each)] | None = None

    def build(self, **known: Any) -> scheme.QualityDimension:
        return super().build(examples=tuple(one.build() for one in self.examples or ()))


def is_dimension(path: Path) -> bool:
    """Whether a file says that it holds a dimension."""
    try:
        return kind_in(path) == DIMENSION
    except WrongInput:
        return False


def read_dimension(path: Path, id: str | None = None) -> scheme.QualityDimension:
    """The dimension in a file; WrongInput with every fault of the file and its line.

    `id` is the one it must have; None: that of the file's name.
    """
    _refuse_other_kind(path, DIMENSION, (DIMENSION,))
    return read_checked(path, path.stem if id is None else id, _DimensionFile)
