"""What is known of sessions equals what the export says, and is kept as long as it is true. Every
setting of the procedure, and every rule of a debate, is a column of `runs`.
"""

import asyncio
import dataclasses
import json

import pytest
from small_study import break_sessions, copied, held_study

from delibsim import compose, hold, models_for
from delibsim.domain.treatment import DEMANDS, Network, Procedure, Rules
from delibsim.store.runs import Runs
from delibsim.store.session_notes import FILE
from delibsim.store.tables.session_facts import NETWORK
from delibsim.store.tables.session_rows import SessionRows
from delibsim.store.tables.sheets import COLUMNS, paths_of
from delibsim.store.tables.study import tables
from delibsim.store.tables.study_facts import equal_cells, facts_of_study

SHARED = (
    "cell", "topic", "survey", "treatment", "interaction", "rounds", "format", "wording", "group_size",
    "replicate", "seed", "status", "fault", "answers_expected", "answers_missing",
    "statements_missing", "reasked", "calls", "calls_not_ok", "calls_damaged", "cost_usd",
    "possibly_billed", "started", "parameters_dropped", "delibsim_version",
    "people_seats", "people_stood_in", "stood_in", "minutes",
)  # fmt: skip
"""Columns that the table `runs` of the export has too."""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return held_study(tmp_path_factory.mktemp("home"))


def exported(runs, name):
    return next(row for table, row in SessionRows(runs, name).rows() if table == "runs")


@pytest.mark.parametrize("broken", [False, True], ids=["whole", "broken"])
def test_the_facts_are_those_of_the_table_runs(study, tmp_path, broken):
    runs = copied(study, tmp_path)
    if broken:
        break_sessions(runs)
        log = runs.path(runs.sessions()[-1]) / "exchanges.jsonl"
        lines = log.read_bytes().splitlines()
        again = json.loads(lines[0])
        again["purpose"]["attempt"], again["completion"]["status"] = 1, "refusal"
        log.write_bytes(b"\n".join([*lines, json.dumps(again).encode(), b"{torn"]))
    for facts in facts_of_study(runs):
        if facts["status"] == "not begun":
            continue
        row = exported(runs, facts["session"])
        for name in SHARED:
            # The export writes an empty cell for both.
            assert (facts.get(name) or None) == (row.get(name) or None), name


def test_what_was_read_of_a_run_is_kept_and_read_again_when_the_file_changes(study, tmp_path):
    runs = copied(study, tmp_path)
    first = list(facts_of_study(runs))
    told = []
    assert list(facts_of_study(runs, lambda *said: told.append(said))) == first
    assert told == []
    name = runs.sessions()[0]
    path = runs.path(name) / "run.json"
    path.write_text(path.read_text().replace('"complete"', '"partial" '), encoding="utf-8")
    again = list(facts_of_study(runs, lambda *said: told.append(said)))
    assert next(row["status"] for row in again) == "damaged"  # it is not what was written
    assert len(told) == 1


def kept_in(runs):
    """The facts that are kept, by session."""
    lines = map(json.loads, (runs.folder / FILE).read_text(encoding="utf-8").splitlines())
    return {line["session"]: line["facts"] for line in lines}


UNUSABLE = ("", "{", '{"edition":0,"session":"NAME"}', '{"edition":1,"session":"NAME","facts":3}')


@pytest.mark.parametrize("content", UNUSABLE)
def test_a_file_of_facts_that_cannot_be_used_is_made_again(study, tmp_path, content):
    runs = copied(study, tmp_path)
    expected, kept = list(facts_of_study(runs)), kept_in(runs)  # as they were kept when it was held
    line = content.replace("NAME", runs.sessions()[0])
    (runs.folder / FILE).write_text(f"{line}\n", encoding="utf-8")
    assert list(facts_of_study(runs)) == expected
    (runs.folder / FILE).unlink()
    assert list(facts_of_study(runs)) == expected
    assert kept_in(runs) == kept


def test_sessions_without_a_readable_run_are_never_kept(study, tmp_path):
    runs = copied(study, tmp_path)
    list(facts_of_study(runs))
    gone = set(break_sessions(runs))
    list(facts_of_study(runs))
    kept = (runs.folder / FILE).read_text(encoding="utf-8")
    assert not [name for name in gone if f'"{name}"' in kept]


def test_cells_that_differ_without_effect_are_named(tmp_path):
    runs = held_study(
        tmp_path, "topic=ccps", "treatment=none,normative", "temperature=0,0.7",
        "group.size=2", "rounds=1",
    )  # fmt: skip
    equal = equal_cells(runs, list(facts_of_study(runs)))
    expected = {exported(runs, name)["cell"] for name in runs.sessions()}
    assert equal
    assert set(equal) <= expected


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
