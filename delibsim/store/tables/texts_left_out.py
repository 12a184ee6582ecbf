"""Tables without what people, models and readers wrote: hashes, counts and reason codes stay."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from delibsim.domain.reason import SEPARATOR
from delibsim.store.tables.codebook import Column
from delibsim.store.tables.imported_texts import FACTS
from delibsim.store.tables.sheets import Table

LEFT_OUT = {
    "texts": {"text", "author"},
    "summaries": {"text"},
    "samples": {"rationale"},
    "votes": {"rationale"},
    "calls": {"reply", "reasoning", "detail"},
    "notes": {"note", "tags"},
}
"""The columns, by table, that hold what somebody wrote, or who wrote it."""
REASON = "missing"
"""The column of reasons, whose details may quote what was written."""
DETAIL = ", and detail behind a colon"
"""What the meaning of this column ends with."""


def columns_without_texts(table: str, columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns of a table that hold no texts. The other columns of imported files go with them:
    nobody has looked at what they hold.
    """
    held = LEFT_OUT.get(table, set())
    kept = []
    for column in columns:
        imported = table == "texts" and column.name.startswith(FACTS)
        if column.name not in held and not imported:
            kept.append(replace(column, meaning=column.meaning.removesuffix(DETAIL)))
    return tuple(kept)


def without_texts(table: Table) -> Table:
    """A table without texts, and with the codes of reasons alone."""
    columns = columns_without_texts(table.name, table.columns)
    return Table(table.name, table.row, columns, _rows(table, columns))


def _rows(table: Table, columns: Sequence[Column]) -> Iterator[list[Any]]:
    names = [column.name for column in table.columns]
    places = [names.index(column.name) for column in columns]
    for row in table.rows:
        values = list(row)
        if REASON in names and values[names.index(REASON)] is not None:
            at = names.index(REASON)
            values[at] = values[at].partition(SEPARATOR)[0]
        yield [values[place] for place in places]
