"""Dimensions of argument quality from YAML files, with every fault of a file and its line."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from delibsim.domain.comparison import Outcome
from delibsim.domain.errors import WrongInput
from delibsim.domain.quality import PairExample, QualityDimension
from delibsim.store.instruments.faults import checked_fields, fields_of
from delibsim.store.instruments.scheme_files import Filled, Name, Stripped
from delibsim.store.reading import read_yaml

KIND = "dimension"
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


class _ExampleFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    answer: Annotated[Outcome, BeforeValidator(_answer)]
    a: Filled
    b: Filled
    why: Filled

    def build(self) -> PairExample:
        return PairExample(self.answer, self.a.strip(), self.b.strip(), " ".join(self.why.split()))


def _one_each(examples: list[_ExampleFile]) -> list[_ExampleFile]:
    """Examples, one for each answer."""
    if sorted(one.answer for one in examples) != ["a", "b", "tie"]:
        raise ValueError("expected three examples, one each with the answer A, B and Tie")
    return examples


class _DimensionFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    kind: str
    id: Name
    name: Filled
    adverb: Annotated[str, BeforeValidator(_word)]
    definition: Filled
    criteria: list[Annotated[str, BeforeValidator(_question)]] = Field(min_length=1)
    source: Stripped = ""
    version: Filled = "1"
    note: Stripped = ""
    examples: Annotated[list[_ExampleFile], AfterValidator(_one_each)] | None = None

    def build(self) -> QualityDimension:
        return QualityDimension(
            id=self.id,
            name=self.name,
            adverb=self.adverb,
            definition=" ".join(self.definition.split()),
            criteria=tuple(self.criteria),
            source=self.source,
            version=self.version,
            note=self.note,
            examples=tuple(one.build() for one in self.examples or ()),
        )


def is_dimension(path: Path) -> bool:
    """Whether a file says that it holds a dimension."""
    try:
        plain = read_yaml(path)
    except WrongInput:
        return False
    return isinstance(plain, dict) and plain.get("kind") == KIND


def read_dimension(path: Path, id: str | None = None) -> QualityDimension:
    """The dimension in a file; WrongInput with every fault of the file and its line.

    `id` is the one it must have; None: that of the file's name.
    """
    id = path.stem if id is None else id
    plain, faults = fields_of(path, f"id: {id}")
    kind = plain.get("kind")
    if kind != KIND:
        faults.add(("kind",), f"is '{kind}', so the file holds no dimension (kind: {KIND})")
        faults.refuse()
    found: Any = checked_fields(plain, _DimensionFile, faults)
    given = plain.get("id")
    if isinstance(given, str) and not faults.concern("id") and given.strip() != id:
        problem = f"is '{given}', but the name of the file says '{id}'; make them equal"
        faults.add(("id",), problem)
    faults.refuse()
    return found.build()
