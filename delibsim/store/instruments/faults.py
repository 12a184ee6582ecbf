"""Nouns from files that a person wrote; every fault of a file is told, with its line."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError
from yaml.nodes import MappingNode, SequenceNode

from delibsim.domain.errors import WrongInput
from delibsim.store.reading import read_yaml, read_yaml_whole, yaml_nodes

SHOWN = 30
"""How many faults of one file are told."""
Place = tuple[Any, ...]
"""Where a value stands: keys, and numbers of entries of lists from 0."""


class Part(BaseModel):
    """A part of a file whose fields are those of a noun."""

    model_config = ConfigDict(extra="forbid", strict=True)
    noun: ClassVar[Any] = None

    def build(self, **known: Any) -> Any:
        """The noun, with tuples in the place of lists; `known` is what it has otherwise; an
        excluded field is none of the noun's.
        """
        for name, own in type(self).model_fields.items():
            if not own.exclude and name not in known:
                known[name] = _built(getattr(self, name))
        return self.noun(**known)


def _built(value: Any) -> Any:
    if isinstance(value, Part):
        return value.build()
    if isinstance(value, list):
        return tuple(_built(one) for one in value)
    if isinstance(value, dict):
        return {name: _built(own) for name, own in value.items()}
    return value


@dataclass
class Faults:
    """The faults of one YAML file, which are gathered and then told together.

    `places` are those of the faults, as far as they have one.
    """

    path: Path
    lines: list[tuple[int, str]] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)

    def add(self, place: Place, problem: str) -> None:
        """Take note of a fault of the value at a place."""
        steps = [f"[{step + 1}]" if isinstance(step, int) else f".{step}" for step in place]
        line = _line_of(self.path, place)
        told = f"{self.path}, line {line}, field {''.join(steps).lstrip('.')}: {problem}"
        self.lines.append((line, told))
        self.places.append(place)

    def concern(self, *fields: str) -> bool:
        """Whether a fault of one of these fields has been found."""
        return any(place[0] in fields for place in self.places)

    def refuse(self) -> None:
        """WrongInput with all faults in the order of the file, if there are any."""
        told = [text for _, text in sorted(self.lines, key=lambda fault: fault[0])]
        if len(told) > SHOWN:
            told[SHOWN:] = [f"{self.path}: and {len(told) - SHOWN} more faults"]
        if told:
            raise WrongInput("\n".join(told))


def fields_of(path: Path, example: str) -> tuple[dict[str, Any], Faults]:
    """The fields of a YAML file, and the faults so far: keys that occur twice.

    WrongInput for a file that is no YAML or holds no fields.
    """
    plain, twice = read_yaml_whole(path)
    if not isinstance(plain, dict):
        raise WrongInput(
            f"{path}, line 1: expected fields such as '{example}', found {type(plain).__name__}"
        )
    faults = Faults(path)
    faults.lines += [(line, f"{path}, line {line}: {problem}") for line, problem in twice]
    return {str(key): value for key, value in plain.items()}, faults


def kind_in(path: Path) -> Any:
    """What a file says in `kind`, None for nothing; WrongInput where it cannot be read."""
    plain = read_yaml(path)
    return plain.get("kind") if isinstance(plain, dict) else None


def read_checked(
    path: Path,
    id: str,
    kind: type[Part],
    check: Callable[[Mapping[str, Any], Faults], None] = lambda plain, faults: None,
) -> Any:
    """The noun in a file; WrongInput with every fault of the file and its line, those that `check`
    notes of its fields among them.
    """
    plain, faults = fields_of(path, f"id: {id}")
    found: Any = checked_fields(plain, kind, faults)
    given = plain.get("id")
    if isinstance(given, str) and not faults.concern("id") and given.strip() != id:
        problem = f"is '{given}', but the place of the file says '{id}'; make them equal"
        faults.add(("id",), problem)
    check(plain, faults)
    faults.refuse()
    return found.build()


def checked_fields(
    plain: Mapping[str, Any], kind: type[BaseModel], faults: Faults
) -> BaseModel | None:
    """The fields as a model; None, with every fault noted, where some do not fit it."""
    try:
        return kind.model_validate(dict(plain))
    except ValidationError as error:
        for fault in error.errors():
            faults.add(fault["loc"], _expected(fault, kind))
        return None


def _expected(fault: Any, kind: type[BaseModel]) -> str:
    if fault["type"] == "extra_forbidden":
        known = f"; fields are: {', '.join(kind.model_fields)}" if len(fault["loc"]) == 1 else ""
        return f"is not a field here{known}"
    if fault["type"] == "missing":
        return "is missing"
    problem = fault["msg"].removeprefix("Value error, ")
    return f"{problem[0].lower()}{problem[1:]}, found {fault['input']!r}"


def _line_of(path: Path, place: Place) -> int:
    """The line of a value, found by walking the YAML nodes as far as they go."""
    try:
        node, line = yaml_nodes(path), 1
    except WrongInput:  # a file that only Hydra reads
        return 1
    for step in place:
        if isinstance(node, MappingNode):
            pair = next(((key, value) for key, value in node.value if key.value == str(step)), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
    return line
