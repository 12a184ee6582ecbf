"""A table of turns; and the utterances of a source of any size, by conversation."""

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import astuple, fields
from operator import attrgetter
from pathlib import Path
from typing import Self

from delibsim.domain.corpora import AboutConversation, Record, Unplaced, Utterance
from delibsim.domain.errors import WrongInput
from delibsim.store.tables.csv_cells import streamed

TURN_COLUMNS = ("session", "turn", "speaker", "text")
OPTIONAL = ("round", "topic", "treatment", "time", "role", "reply_to")


class Turns:
    """A CSV file with a row a turn."""

    name = "turns"

    def read(self, path: Path) -> Iterator[Record]:
        """Its rows, and of each session its topic and treatment."""
        told: dict[str, tuple[str, str]] = {}
        header, rows = streamed(path, TURN_COLUMNS)
        for name in header:
            if name not in (*TURN_COLUMNS, *OPTIONAL):
                yield Unplaced(f"columns that are not known: {name}")
        for line, row in rows:
            where = f"line {line}"
            session = row["session"].strip()
            about = row.get("topic", "").strip(), row.get("treatment", "").strip()
            if session not in told:
                told[session] = about
                yield AboutConversation(where, session, about[0], treatment=about[1])
            elif told[session] != about:
                differ = f"the session {session} has another topic or treatment than in its first"
                raise WrongInput(f"{path}, {where}: {differ} row")
            number = _whole(path, where, row, "turn")
            yield Utterance(
                where=where,
                conversation=session,
                speaker=row["speaker"].strip(),
                text=row["text"],
                id=str(number),
                reply_to=row.get("reply_to", "").strip(),
                time=row.get("time", "").strip(),
                number=number,
                round=_whole(path, where, row, "round") if row.get("round", "").strip() else 1,
                role=row.get("role", "").strip() or "citizen",
            )


def _whole(path: Path, where: str, row: Mapping[str, str], name: str) -> int:
    cell = row[name].strip()
    if not (cell.isascii() and cell.isdecimal() and len(cell) < 10):
        raise WrongInput(f"{path}, {where}: {name} is a whole number from 0, not '{cell[:40]}'")
    return int(cell)


COLUMNS = [of.name for of in fields(Utterance)]
TYPES = {"number": "INTEGER", "round": "INTEGER"}


class SortedUtterances:
    """Takes utterances in the order of the source, and gives each conversation in its order."""

    def __init__(self, folder: Path) -> None:
        self._known = sqlite3.connect(folder / "utterances.sqlite")
        self._known.execute("PRAGMA journal_mode = OFF")
        self._known.execute("PRAGMA synchronous = OFF")
        named = ", ".join(f'"{name}" {TYPES.get(name, "TEXT")}' for name in COLUMNS)
        self._known.execute(f"CREATE TABLE said (place INTEGER PRIMARY KEY, {named})")
        marks = ", ".join("?" * (len(COLUMNS) + 1))
        self._insert = f"INSERT INTO said VALUES ({marks})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._known.close()

    def add(self, utterances: Iterator[Utterance]) -> None:
        """Keep utterances."""
        rows = ((n, *astuple(one)) for n, one in enumerate(utterances, 1))
        self._known.executemany(self._insert, rows)
        self._known.execute("CREATE INDEX by_conversation ON said (conversation, place)")

    def conversations(self) -> list[str]:
        """The ids of conversations, in the order of their first utterances."""
        found = self._known.execute(
            "SELECT conversation FROM said GROUP BY conversation ORDER BY min(place)"
        )
        return [id for (id,) in found]

    def speakers(self, conversation: str) -> frozenset[str]:
        """Who speaks in a conversation."""
        query = "SELECT DISTINCT speaker FROM said WHERE conversation = ?"
        return frozenset(name for (name,) in self._known.execute(query, (conversation,)))

    def said_in(self, conversation: str) -> list[Utterance]:
        """The utterances of a conversation, by their numbers where all have one, or else as they
        stand in the source.
        """
        named = ", ".join(f'"{name}"' for name in COLUMNS)
        query = f"SELECT {named} FROM said WHERE conversation = ? ORDER BY place"
        found = [Utterance(*row) for row in self._known.execute(query, (conversation,))]
        numbers = [one.number for one in found if one.number is not None]
        return sorted(found, key=attrgetter("number")) if len(numbers) == len(found) else found
