"""Answers about finished texts as lines of files: written without what says nothing, and read back
with every fault named.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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


Flat = tuple[str, type[Any]]
"""A field whose own fields stand in a line themselves, and what it holds."""


def plain_record(record: Any, flat: Flat | None = None) -> dict[str, Any]:
    """A dataclass as one line of a file, without what says nothing."""
    plain: dict[str, Any] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if flat is not None and field.name == flat[0]:
            plain |= plain_record(value)
        elif not _says_nothing(value) or value is not field.default:
            plain[field.name] = _told(value)
    return plain


def read_records(
    kind: type[T], file: Path, faults: list[str] | None, flat: Flat | None = None
) -> list[T]:
    """What the lines of a file describe; those that describe nothing are told in `faults`."""
    place, damaged = str(file), 0
    inner = () if flat is None else [field.name for field in fields(flat[1])]
    found = []
    # Millions of lines are not held beside what they describe.
    for _, line in each_line(file):
        try:
            found.append(built(kind, _with_fields(line or {}, flat, inner), place))
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
    """Whether a field that has this by default need not be written."""
    return value is None or value is False or value == ""


def _told(value: Any) -> Any:
    """A value as a line holds it: reasons as texts."""
    if isinstance(value, Reason):
        return str(value)
    if isinstance(value, Mapping):
        return {name: _told(own) for name, own in value.items()}
    return value


def _with_fields(
    line: Mapping[str, Any], flat: Flat | None, inner: Iterable[str]
) -> dict[str, Any]:
    """A line as the fields of a record; `inner` are those of the flat one."""
    plain = dict(line)
    if flat is not None:
        plain[flat[0]] = {name: plain.pop(name) for name in inner if name in plain}
    missing = plain.get("missing")
    if isinstance(missing, str):
        plain["missing"] = asdict(reason_from_text(missing))
    elif isinstance(missing, dict):
        plain["missing"] = codec.reasons_from_plain(missing)
    return plain
