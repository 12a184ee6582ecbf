"""The codebook names the values that its columns can take: those of deliberations and of debates
are among them.
"""

import asyncio

import pytest

from delibsim import compose, hold, models_for
from delibsim.store.runs import Runs
from delibsim.store.tables.sheets import COLUMNS, TABLES
from delibsim.store.tables.study import rows_of

SETTINGS = {
    "deliberation": ("topic=ccps", "treatment=normative", "rounds=1"),
    "debate": (
        "format=debate", "motion=voting", "proposition=citizen_eloquent", "opposition=citizen_plain",
        "audience=1",
    ),
}  # fmt: skip
LISTED = {"format", "role", "network", "instructions", "item_kind", "phase", "speech_then", "unit"}
"""Columns whose values are a closed list."""


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_every_value_of_a_closed_list_stands_in_the_codebook(settings, tmp_path):
    session = compose(*settings)
    study = Runs(tmp_path / "runs", "listed")
    study.plan(session)
    study.add(asyncio.run(hold(session, models_for(session))))
    values = {
        (table, column.name): set(column.values.split("; "))
        for table in TABLES
        for column in COLUMNS[table]
        if column.name in LISTED and column.values
    }
    seen = set()
    for table, row in rows_of(study, []):
        for name, value in row.items():
            if value is not None and value != "" and (table, name) in values:
                assert value in values[table, name], f"{table}.{name}: {value}"
                seen.add(name)
    assert {"format", "role", "item_kind"} <= seen
