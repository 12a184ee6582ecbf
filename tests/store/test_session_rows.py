"""Every setting of the procedure, and every rule of a debate, is a column of `runs`."""

import asyncio
import dataclasses

import pytest

from delibsim import compose, hold, models_for
from delibsim.domain.treatment import DEMANDS, Network, Procedure, Rules
from delibsim.store.runs import Runs
from delibsim.store.tables.session_facts import NETWORK
from delibsim.store.tables.sheets import COLUMNS, paths_of
from delibsim.store.tables.study import tables

EMPTY = "the column of this name is empty where nobody speaks"
LEFT_OUT: dict[str, str] = {
    "phases": "a column of its own where a session names them",
    "facilitation": EMPTY,
    "facilitator_names": EMPTY,
    "briefing_order": "the column of this name says which side stood first, drawn or not",
}
"""Settings that are no column, each with the reason."""


def columns_of_settings():
    """The column of every setting, by its path within the procedure."""
    found = {f"audience.{name}": name for name in NETWORK}
    for fact, path in paths_of("plan").items():
        if path.startswith("procedure."):
            found[path.removeprefix("procedure.")] = fact
    return found | {f"rules.{name}": column for column, name in paths_of("rules").items()}


def leaves(plain, path=""):
    """The paths of all values of a nested mapping."""
    for name, value in plain.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{path}{name}.")
        else:
            yield f"{path}{name}"


def test_every_setting_of_the_procedure_is_a_column_or_left_out_with_a_reason():
    settings = set(leaves(dataclasses.asdict(Procedure(Network(), rules=Rules()))))
    columns = columns_of_settings()
    assert set(columns) | set(LEFT_OUT) == settings
    assert not set(columns) & set(LEFT_OUT)
    assert all(LEFT_OUT.values())
    assert set(columns.values()) <= {column.name for column in COLUMNS["runs"]}


@pytest.mark.parametrize("on", [None, *DEMANDS])
def test_the_demands_on_speeches_are_exported(tmp_path, on):
    changed = [] if on is None else [f"procedure.rules.{on}=true"]
    sides = ("proposition=citizen_plain", "opposition=citizen")
    session = compose("format=debate", "motion=voting", *sides, *changed, home=tmp_path)
    study = Runs(tmp_path / "runs", "demo")
    study.plan(session)
    study.add(asyncio.run(hold(session, models_for(session))))
    frames, faults = tables(study)
    assert faults == []
    (row,) = frames["runs"].to_dict("records")
    assert {name: bool(row[name]) for name in DEMANDS} == {name: name == on for name in DEMANDS}
