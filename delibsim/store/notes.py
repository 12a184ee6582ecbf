"""Notes and tags that a reader puts to the turns of a run; they lie beside the study, in no run.

They stand in `notes.jsonl` of the study's folder, one line a note, or a line that takes one away;
what was written is never changed. What the researcher did to a group of people lies beside its run,
in `<session>/interventions.jsonl`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any

from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import safe
from delibsim.store.annotations import built
from delibsim.store.codec import Damaged
from delibsim.store.files import append_line, in_turn, json_text, read_lines, write_atomically
from delibsim.store.runs import NOTES, Runs
from delibsim.store.tables.sheets import Table, tables_in

LONGEST_NOTE = 20_000
"""Characters that a note may have."""
MOST_TAGS, LONGEST_TAG = 20, 60
REMOVED = "removed"


@dataclass(frozen=True)
class Note:
    """What a reader wrote about a turn of a session, or about its run (`turn` None), with tags.

    `written` is the time in UTC; `id` tells notes apart.
    """

    id: str
    session: str
    turn: int | None
    text: str
    tags: tuple[str, ...]
    written: str


@dataclass(frozen=True)
class Notes:
    """The notes of one study."""

    runs: Runs

    @property
    def file(self) -> Path:
        """The file that holds them."""
        return self.runs.folder / NOTES

    def all(self) -> list[Note]:
        """Every note, in the order of writing; damaged lines are left out (see `damaged`)."""
        return self._read()[0]

    def damaged(self) -> int:
        """How many lines of the file cannot be read."""
        return self._read()[1]

    def of(self, session: str) -> list[Note]:
        """The notes of one session."""
        return [note for note in self.all() if note.session == session]

    def add(self, session: str, turn: int | None, text: str, tags: str = "") -> Note:
        """Write a note; `tags` are joined by commas. WrongInput for one that says nothing or more
        than a note can hold.
        """
        text = text.replace("\r\n", "\n").strip()
        parts = (" ".join(safe(tag).split()) for tag in tags.replace(";", ",").split(","))
        named = tuple(dict.fromkeys(filter(None, parts)))
        if not text and not named:
            raise WrongInput("the note is empty; write a text or a tag")
        if len(text) > LONGEST_NOTE:
            long = f"{len(text):,} characters; at most {LONGEST_NOTE:,} can be kept"
            raise WrongInput(f"the note has {long}: shorten it")
        if len(named) > MOST_TAGS or any(len(tag) > LONGEST_TAG for tag in named):
            raise WrongInput(
                f"a note has at most {MOST_TAGS} tags of at most {LONGEST_TAG} characters each"
            )
        written = datetime.now(UTC).isoformat(timespec="seconds")
        note = Note(token_hex(8), session, turn, text, named, written)
        self._append(vars(note) | {"tags": list(named)})
        return note

    def remove(self, id: str) -> None:
        """Take a note away; WrongInput if there is none of that id."""
        if all(note.id != id for note in self.all()):
            raise WrongInput("there is no such note any more; load the page again")
        written = datetime.now(UTC).isoformat(timespec="seconds")
        self._append({"id": id, REMOVED: written})

    def _append(self, plain: dict[str, Any]) -> None:
        with in_turn(self.file):
            append_line(self.file, plain, self.runs.durable)

    def _read(self) -> tuple[list[Note], int]:
        records, damaged = read_lines(self.file)
        found: dict[str, Note] = {}
        for record in records:
            if REMOVED in record:
                found.pop(str(record.get("id")), None)
                continue
            try:
                note = built(Note, record, str(self.file))
            except Damaged:
                damaged += 1
            else:
                found[note.id] = note
        return list(found.values()), damaged


FILE = "interventions.jsonl"
KINDS: dict[str, str] = read_data("messages.yaml")["interventions"]
"""What was done, by kind, in words."""


@dataclass(frozen=True)
class Act:
    """One intervention as it stands beside a run: `at` in UTC, `seat` "" for the whole group."""

    at: str
    kind: str
    seat: str = ""
    text: str = ""


def at_utc(seconds: float) -> str:
    """A time in seconds since 1970 as a text.

    >>> at_utc(0.0)
    '1970-01-01T00:00:00+00:00'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def interventions_file(runs: Runs, session: str) -> Path:
    """The file of a session; it need not be there."""
    return runs.path(session) / FILE


def write_interventions(runs: Runs, session: str, acts: Iterable[Act]) -> None:
    """Write all interventions in a session, one a line, in the place of what was there."""
    text = "".join(f"{json_text(asdict(act))}\n" for act in acts)
    write_atomically(interventions_file(runs, session), text, runs.durable)


def interventions_in(runs: Runs, session: str) -> tuple[list[Act], int]:
    """The interventions in a session, and how many lines of their file are damaged."""
    records, damaged = read_lines(interventions_file(runs, session))
    found = []
    for record in records:
        known = {name: str(record.get(name, "")) for name in Act.__dataclass_fields__}
        if known["kind"] in KINDS:
            found.append(Act(**known))
    return found, damaged + len(records) - len(found)


def intervention_tables(runs: Runs, faults: list[str]) -> list[Table]:
    """The table of the export, where there is anything in it; damaged lines are told."""
    rows = list(_rows(runs, faults))
    row, columns = tables_in("intervention_tables.yaml")["interventions"]
    return [Table("interventions", row, columns, rows)] if rows else []


def _rows(runs: Runs, faults: list[str]) -> Iterator[list[Any]]:
    for session in runs.sessions():
        acts, damaged = interventions_in(runs, session)
        if damaged:
            faults.append(f"{interventions_file(runs, session)}: {damaged} damaged lines left out")
        for act in acts:
            yield [runs.study, session, act.at, act.kind, act.seat or None, act.text or None]
