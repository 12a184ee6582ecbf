"""What a study holds about finished texts that were put before coders: one folder a task.

runs/<study>/annotations/<task>/: task.json (what is asked, frozen; it may grow), exchanges.jsonl
(every call), annotations.jsonl (an answer a line), people.jsonl (answers of people), packs/;
of judges also opinions.json (what people wrote before they judged).

packs/NAME.json: kind, number, sheets (the key: what each code stands for); of texts that are coded
also scheme and its SHA-256, unit, context, coders, texts (id to chance of being drawn), random (ids
that were drawn at random), among (how many texts were drawn from). A pack that is answered on pages
says so under online, and gets more sheets where somebody left: each names in `follows` the sheet
whose place it takes.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError
from pydantic_core import to_json

from delibsim.domain.cost import OUTCOMES
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.reason import Reason, reason_from_text
from delibsim.domain.text import counted
from delibsim.store import codec
from delibsim.store.files import (
    append_line,
    each_line,
    json_text,
    make_folder,
    read_lines,
    write_atomically,
)
from delibsim.store.reading import adapter, read_json
from delibsim.store.runs import Runs
from delibsim.store.sent import Calls, cut_off, file_beside, records_of

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


@dataclass(frozen=True)
class _Task:
    """What the settings of every task are, where they are there, and others beside."""

    study: str = ""
    seed: int = 0
    reasks: int = 0
    models: dict[str, dict[str, Any]] = field(default_factory=dict)
    wording: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _Pack:
    """What every file of a pack holds, and others beside."""

    number: int
    kind: str
    sheets: dict[str, dict[str, Any]]


ANNOTATIONS = "annotations"
TASK = "task.json"


@dataclass(frozen=True)
class TaskFolder:
    """The folder of one task of a study; `durable` writes are on the disk before they count."""

    folder: Path
    durable: bool = False

    @classmethod
    def of(cls, runs: Runs, task: str) -> "TaskFolder":
        """That of a task of a study, whether it has begun or not."""
        return cls(runs.folder / ANNOTATIONS / task, runs.durable)

    @property
    def exchanges(self) -> Path:
        """The log of every call to a coder."""
        return self.folder / "exchanges.jsonl"

    @property
    def annotations(self) -> Path:
        """The answers of language models, one a line."""
        return self.folder / "annotations.jsonl"

    @property
    def steps(self) -> Path:
        """The steps that models wrote before they answered, one line a model and subject."""
        return self.folder / "steps.jsonl"

    @property
    def people(self) -> Path:
        """The answers of people, one a line."""
        return self.folder / "people.jsonl"

    @property
    def packs(self) -> Path:
        """The folder of the keys of packs and draws."""
        return self.folder / "packs"

    def begun(self) -> bool:
        """Whether the task has begun."""
        return (self.folder / TASK).is_file()

    def task(self) -> dict[str, Any]:
        """What is asked, as it was frozen; empty where the task has not begun.

        WrongInput where it is damaged, or gone while answers of models are there: nobody knows then
        how they were asked.
        """
        if self.begun():
            task = read_json(self.folder / TASK)
            if isinstance(task, dict) and task:
                built(_Task, task, f"{self.folder / TASK} is damaged; restore it from a copy")
                return task
            raise WrongInput(f"{self.folder / TASK} holds no settings; restore it from a copy")
        if self.annotations.is_file() or self.exchanges.is_file():
            raise refused("answers_without_settings", path=self.folder / TASK)
        return {}

    def answered(self) -> bool:
        """Whether a model has answered, be it with a reply that could not be read: what it said
        belongs to the settings with which it was asked. A call that failed on the way binds nobody.
        """
        # Most records begin with an answer, so that little of a long one is read.
        for _, record in each_line(self.exchanges):
            completion = (record or {}).get("completion")
            if isinstance(completion, dict) and completion.get("status") in OUTCOMES:
                return True
        return False

    def settle(self, task: Mapping[str, Any]) -> None:
        """Keep what is asked; who calls it has compared it with what was kept."""
        make_folder(self.folder, self.durable)
        write_atomically(self.folder / TASK, json_text(task, indent=1), self.durable)

    def read(self, file: Path) -> tuple[list[dict[str, Any]], int]:
        """The lines of one of its files as plain values, and how many are damaged."""
        return read_lines(file)

    def add(self, file: Path, records: Iterable[Mapping[str, Any]]) -> None:
        """Append lines to one of its files."""
        make_folder(file.parent, self.durable)
        for record in records:
            append_line(file, record, self.durable)


def tasks_of(runs: Runs, prefix: str = "", file: str = TASK) -> list[str]:
    """The names of the tasks of a study that have begun and whose name begins with a prefix: their
    folder has this file.
    """
    found = (runs.folder / ANNOTATIONS).glob(f"{prefix}*/{file}")
    return sorted(path.parent.name for path in found)


def tasks_with_packs(runs: Runs, prefix: str) -> list[str]:
    """The names of the tasks of a study of which people were handed a pack."""
    found = (runs.folder / ANNOTATIONS).glob(f"{prefix}*/packs")
    return sorted(path.parent.name for path in found)


def packs_of(files: TaskFolder) -> dict[str, dict[str, Any]]:
    """The packs and draws of a task by name, in the order in which they were made."""
    found = {path.stem: _pack(path) for path in files.packs.glob("*.json")}
    return dict(sorted(found.items(), key=lambda one: (one[1]["number"], one[0])))


def _pack(path: Path) -> dict[str, Any]:
    plain = read_json(path)
    built(_Pack, plain, f"{path} is damaged; restore it from a copy")
    return plain


def add_pack(files: TaskFolder, name: str, pack: Mapping[str, Any]) -> Path:
    """Keep a pack under its name, numbered; WrongInput if there is one of that name."""
    path = files.packs / f"{name}.json"
    if path.exists():
        raise WrongInput(f"{path} exists: this pack was made before")
    make_folder(files.packs, files.durable)
    numbered = {"number": len(packs_of(files)) + 1, **pack}
    write_atomically(path, json_text(numbered, indent=1) + "\n", files.durable)
    return path


def extend_pack(files: TaskFolder, name: str, sheets: Mapping[str, Any]) -> None:
    """Keep more sheets of a pack behind those that there are; KeyError if there is no such pack."""
    pack = packs_of(files)[name]
    pack["sheets"] |= sheets
    write_atomically(files.packs / f"{name}.json", json_text(pack, indent=1) + "\n", files.durable)


def handed_out(
    packs: Mapping[str, Mapping[str, Any]], kinds: Collection[str]
) -> dict[str, set[str]]:
    """The ids of the texts in packs of these kinds, by coder."""
    found: dict[str, set[str]] = {}
    for pack in packs.values():
        if pack["kind"] in kinds:
            for sheet in pack["sheets"].values():
                found.setdefault(sheet["coder"], set()).add(sheet["text"])
    return found


@dataclass(frozen=True)
class AnnotationLog:
    """One record of calls about finished texts: its `task`, its file, the models by name."""

    task: str
    file: Path
    models: Mapping[str, Any]

    def read(self) -> Calls:
        """As `sent.Calls`."""
        records, damaged = records_of(*read_lines(self.file))
        return records, damaged, cut_off(self.file, records)


def annotation_logs(runs: Runs, faults: list[str] | None = None) -> list[AnnotationLog]:
    """The records of all tasks, in order of name.

    WrongInput where nobody knows how a task was asked; with `faults` it is left out and told there.
    """
    found = []
    for task in tasks_of(runs):
        files = TaskFolder.of(runs, task)
        if not _was_asked(files.exchanges):
            continue
        try:
            found.append(log_of_task(files))
        except WrongInput as error:
            if faults is None:
                raise
            faults.append(str(error))
    return found


def _was_asked(log: Path) -> bool:
    """Whether a call was made, if only one that was cut off."""
    return log.is_file() or file_beside(log).is_file()


def log_of_task(files: TaskFolder) -> AnnotationLog:
    """The record of the calls of one task."""
    return AnnotationLog(files.folder.name, files.exchanges, files.task().get("models", {}))


def plain_record(record: Any, flat: Flat | None = None) -> dict[str, Any]:
    """A dataclass as one line of a file, without what says nothing."""
    plain: dict[str, Any] = {}
    for own in fields(record):
        value = getattr(record, own.name)
        if flat is not None and own.name == flat[0]:
            plain |= plain_record(value)
        elif not _says_nothing(value) or value is not own.default:
            plain[own.name] = _told(value)
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
