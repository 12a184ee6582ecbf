"""The columns of the tables of a study: name, kind, unit, values and meaning of each, in the order
in which they are written.
"""

import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from delibsim.store.reading import read_yaml

Kind = Literal["text", "integer", "number", "logical"]


@dataclass(frozen=True)
class Column:
    """One column: its `kind`, what it means, the unit of a quantity, and the values it can take. An
    empty cell is a missing value.
    """

    name: str
    kind: Kind
    meaning: str
    unit: str = ""
    values: str = ""

    def holds(self, value: Any) -> bool:
        """Whether a value can stand in this column; None always can.

        >>> Column("turn", "integer", "").holds(3), Column("turn", "integer", "").holds(True)
        (True, False)
        """
        if value is None or self.kind == "logical":
            return value is None or isinstance(value, bool)
        if self.kind == "text":
            return isinstance(value, str)
        whole = isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
        return whole or (
            self.kind == "number" and isinstance(value, float) and math.isfinite(value)
        )


@cache
def tables_in(file: str) -> dict[str, tuple[str, tuple[Column, ...]]]:
    """The tables of a file of `data` by name: what a row of each is, and its columns; a text among
    these names a group of columns.
    """
    plain = _plain(file)
    found = {}
    for name, table in plain["tables"].items():
        columns = _columns(table["columns"], plain.get("groups", {}))
        found[name] = table["row"], columns
    return found


@cache
def _plain(file: str) -> Any:
    return read_yaml(Path(__file__).parents[2] / "data" / file)


def _columns(listed: Iterable[Any], groups: Mapping[str, Any]) -> tuple[Column, ...]:
    found: list[Column] = []
    for one in listed:
        own = groups[one] if isinstance(one, str) else [one]
        found += [Column(**column) for column in own]
    return tuple(found)


def without(columns: Iterable[Column], names: Container[str]) -> tuple[Column, ...]:
    """These columns, but those of these names."""
    return tuple(one for one in columns if one.name not in names)


def paths_of(kind: str) -> dict[str, str]:
    """The facts of a kind (plan, rules, call) that stand somewhere as they are, and where."""
    return _plain("session_facts.yaml")[kind]


OF_STUDY = "columns.yaml"
CONDITION = tuple(one["name"] for one in _plain(OF_STUDY)["groups"]["condition"])
"""The columns that say under what condition the unit of a row was observed."""
OF_PHASES = ("phases", "answers_absent_between")
"""The columns that only a study has in which a session names its phases."""
OF_CONSENSUS = ("consensus_texts", "consensus_votes")
"""The tables that only a study has in which collective statements were sought."""
ROWS: dict[str, str] = {name: row for name, (row, _) in tables_in(OF_STUDY).items()}
"""What a row of each table is."""
ALL_COLUMNS: dict[str, tuple[Column, ...]] = {
    name: columns for name, (_, columns) in tables_in(OF_STUDY).items()
}
"""The columns of every table, in order."""
TABLES: dict[str, str] = {name: row for name, row in ROWS.items() if name not in OF_CONSENSUS}
"""The tables that every study has, and what a row of each is."""
COLUMNS: dict[str, tuple[Column, ...]] = {
    name: without(ALL_COLUMNS[name], OF_PHASES) for name in TABLES
}
"""The columns of these tables that every study has, in order."""
