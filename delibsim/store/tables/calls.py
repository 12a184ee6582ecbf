"""Recorded calls as rows of the table `calls`."""

from collections.abc import Iterable, Mapping
from typing import Any

from delibsim.domain.cost import cost_of, sum_of
from delibsim.store.files import json_text
from delibsim.store.tables.sheets import COLUMNS, CONDITION, paths_of

Row = dict[str, Any]
"""The values of a row by column."""

NOT_PARAMETERS = frozenset({"name", "kind", "model", "base_url", "key_env", "timeout", "strict"})
"""Settings of a model that say who is asked and how it is reached, not how it samples."""

REQUIRED = ("participant", "occasion", "attempt", "status", "reply")
"""Columns without which a record is no call."""

PATHS = tuple((name, *path.rpartition(".")[::2]) for name, path in paths_of("call").items())
"""Columns that stand in a record as they are, with the part of the record and the name there."""
IN_FORCE = ("temperature_requested", "temperature", "parameters_dropped")
"""The columns of the condition that every call has of its own."""
OF_CALLS = tuple(
    column for column in COLUMNS["calls"] if column.name in IN_FORCE or column.name not in CONDITION
)
"""The columns that a recorded call can fill."""
FILLED_ELSEWHERE = ("task",)
TEXTS = tuple(
    column.name
    for column in OF_CALLS
    if column.kind == "text" and column.name not in FILLED_ELSEWHERE
)
"""Those of them that hold texts, which are most."""
OTHERS = tuple(column for column in OF_CALLS if column.kind != "text")


def call_rows(
    records: Iterable[Mapping[str, Any]], models: Mapping[str, Any] | None
) -> tuple[list[Row], int]:
    """Records as rows of `calls` without their condition, numbered, and how many are no call."""
    rows: list[Row] = []
    damaged = 0
    for record in records:
        row = call_row(record, len(rows) + 1, models)
        if row is None:
            damaged += 1
        else:
            rows.append(row)
    return rows, damaged


def call_row(
    record: Mapping[str, Any], number: int, models: Mapping[str, Any] | None
) -> Row | None:
    """A recorded exchange as a row of `calls` without its condition; None if it is none.

    `models` are the settings of models by name, None where the plan cannot be read.
    """
    try:
        row = _row(record, models)
    except (KeyError, TypeError, AttributeError, ValueError):
        return None
    row["call"] = number
    if any(row[name] is None for name in REQUIRED):
        return None
    texts = [row[name] for name in TEXTS]
    if not {str, type(None)}.issuperset(map(type, texts)):
        return None
    if not all(column.holds(row.get(column.name)) for column in OTHERS):
        return None
    return row


def number_or_none(value: Any) -> float | None:
    """A setting as a number; None where it is none.

    >>> number_or_none(1), number_or_none(True), number_or_none("1")
    (1.0, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value)


def _row(record: Mapping[str, Any], models: Mapping[str, Any] | None) -> Row:
    purpose, done = record["purpose"], record["completion"]
    parts = {"": record, "purpose": purpose, "completion": done, "usage": done.get("usage", {})}
    tries = done.get("tries", [])
    sent = done.get("parameters_sent", {})
    settings = (models or {}).get(record["model"], {})
    kind, _, turn = purpose["occasion"].partition(" ")
    tries_billed = any(one.get("possibly_billed", False) for one in tries)
    row = {name: parts[part].get(key) for name, part, key in PATHS}
    return row | {
        "cost_usd": cost_of(done),
        "turn": int(turn) if kind == "turn" else None,
        "attempt": purpose.get("attempt", 0),
        "temperature_requested": number_or_none(settings.get("temperature")),
        "temperature": number_or_none(sent.get("temperature")),
        "parameters_requested": None if models is None else json_text(_parameters(settings)),
        "parameters_sent": json_text(sent),
        "parameters_dropped": "; ".join(sorted(done.get("parameters_dropped", []))) or None,
        "retries": len(tries),
        "retry_statuses": "; ".join(one["status"] for one in tries) or None,
        "retry_cost_usd": sum_of(map(cost_of, tries)) if tries else None,
        "possibly_billed": done.get("possibly_billed", False) or tries_billed,
    }


def _parameters(settings: Mapping[str, Any]) -> Row:
    """The settings of a model that say how it samples."""
    named = settings.items()
    return {name: own for name, own in named if name not in NOT_PARAMETERS and own is not None}
