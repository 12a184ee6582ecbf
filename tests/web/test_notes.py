"""Notes lie beside the study: they are kept, taken away, exported, and damage nothing."""

import csv

import pytest

from delibsim.domain.errors import WrongInput
from delibsim.store.notes import LONGEST_NOTE, Notes
from delibsim.store.runs import Runs
from delibsim.store.tables.asked import note_tables
from delibsim.store.tables.study import export


@pytest.fixture
def notes(root):
    return Notes(Runs(root, "s"))


def test_a_note_is_kept_and_taken_away(notes, spoken):
    first = notes.add(spoken, 2, " A turning point.\r\nHere. ", "key, reason;key")
    notes.add(spoken, None, "", "read")
    assert [(note.turn, note.text, note.tags) for note in notes.of(spoken)] == [
        (2, "A turning point.\nHere.", ("key", "reason")),
        (None, "", ("read",)),
    ]
    notes.remove(first.id)
    assert [note.tags for note in notes.all()] == [("read",)]
    with pytest.raises(WrongInput, match="no such note"):
        notes.remove(first.id)
    assert notes.runs.sessions() == Runs(notes.runs.folder.parent, "s").sessions()


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("  ", " , "),
        ("x" * (LONGEST_NOTE + 1), ""),
        ("x", "t" * 61),
        ("x", ",".join(map(str, range(21)))),
    ],
)
def test_what_is_no_note_is_refused(notes, spoken, text, tags):
    with pytest.raises(WrongInput):
        notes.add(spoken, 1, text, tags)
    assert not notes.file.exists()


def test_damaged_lines_are_counted_and_left_alone(notes, spoken):
    notes.add(spoken, 1, "kept")
    with notes.file.open("a") as file:
        file.write('{"id": 1}\n{"id": "a", "session": "b", "text": "c"')
    notes.add(spoken, 1, "after")
    assert ([note.text for note in notes.all()], notes.damaged()) == (["kept", "after"], 2)


def test_notes_are_a_table_of_the_export(notes, spoken, tmp_path):
    notes.add(spoken, 3, "=1+1", "a,b")
    export(
        notes.runs,
        tmp_path / "out",
        more=lambda left_out: note_tables(notes.runs, left_out),
        spreadsheet_safe=True,
    )
    with (tmp_path / "out" / "notes.csv").open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["session"], row["turn"], row["note"], row["tags"]) == (spoken, "3", "'=1+1", "a; b")
