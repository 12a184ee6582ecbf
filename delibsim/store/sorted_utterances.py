"""Utterances of a source of any size, by conversation: they lie in a database on the disk, since
those of one conversation may not stand together.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import astuple, fields
from operator import attrgetter
from pathlib import Path
from typing import Self

from delibsim.domain.corpora import Utterance

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
