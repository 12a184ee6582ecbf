"""Answers about finished texts as lines of files: written without what says nothing, and read back
with every fault named.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError
from pydantic_core import to_json

from delibsim.domain.reason import Reason, reason_from_text
from delibsim.domain.score import Score
from delibsim.domain.text import counted
from delibsim.store import codec
from delibsim.store.files import each_line
from delibsim.store.reading import adapter

T = TypeVar("T")


class Keyed(Protocol):
    """What is told from all others of its file by its key."""

    @property
    def key(self) -> Any:
        """What no two of a file share."""
        ...


K = TypeVar("K", bound=Keyed)


def plain_record(record: Any) -> dict[str, Any]:
    """A dataclass with the field `missing` as one line of a file."""
    plain = {field.name: getattr(record, field.name) for field in fields(record)}
    missing: Reason | None = record.missing
    plain["missing"] = None if missing is None else str(missing)
    return {name: value for name, value in plain.items() if not _says_nothing(value)}


def read_records(
    kind: type[T],
    file: Path,
    absent: Mapping[str, Any],
    faults: list[str] | None,
) -> list[T]:
    """What the lines of a file describe; those that describe nothing are told in `faults`.

    `absent` has the values of fields that a line need not have.
    """
    place, damaged = str(file), 0
    found = []
    # Millions of lines are not held beside what they describe.
    for _, line in each_line(file):
        try:
            found.append(built(kind, _with_reason({**absent, **(line or {})}), place))
        except codec.Damaged:
            damaged += 1
    if damaged and faults is not None:
        faults.append(f"{place}: {counted(damaged, 'damaged line')}")
    return found


def each_score(file: Path) -> Iterator[Score]:
    """The scores of a file; Damaged, at last, where a line is none."""
    damaged = 0
    try:
        for _, record in each_line(file):
            if record is None:
                damaged += 1
            else:
                yield codec.score_from_plain(record)
    except codec.Damaged as error:
        raise codec.Damaged(f"{file}: {error}; score the study again") from None
    if damaged:
        raise codec.Damaged(f"{file}: {damaged} damaged lines; score the study again")


def first_of_each(records: Sequence[K], place: Path, faults: list[str] | None) -> list[K]:
    """Records of which each answers another question, in their order: of several about one, as a
    file has that was put together from two copies, the first counts. One that contradicts it is
    told in `faults`.
    """
    found: dict[Any, K] = {}
    contradicted = 0
    for record in records:
        contradicted += found.setdefault(record.key, record) != record
    if contradicted and faults is not None:
        verb = "contradicts" if contradicted == 1 else "contradict"
        faults.append(
            f"{place}: {counted(contradicted, 'line')} {verb} an earlier one, which counts"
        )
    return list(found.values())


def built(kind: type[T], plain: Mapping[str, Any], place: str) -> T:
    """What plain values describe; Damaged, naming the place, if they describe nothing."""
    try:
        return adapter(kind).validate_json(to_json(plain), strict=True)
    except (ValidationError, ValueError) as error:
        fault = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
        raise codec.Damaged(f"{place}: {fault}") from None


def _says_nothing(value: Any) -> bool:
    """Whether a field need not be written; the level 0 says something."""
    return value is None or value is False or value == ""


def _with_reason(line: Mapping[str, Any]) -> dict[str, Any]:
    """A line as the fields of a record."""
    plain = dict(line)
    missing = plain.get("missing")
    if isinstance(missing, str):
        plain["missing"] = asdict(reason_from_text(missing))
    return plain
