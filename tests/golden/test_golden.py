"""The recorded run replays equal, reads and writes to the same bytes, and would be held the same
today (see README.md).
"""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from delibsim import Runs, hold, models_for
from delibsim.conduct.replay import replay
from delibsim.models.replay import exchange_of
from delibsim.planning.compose import plan
from delibsim.store.codec import run_from_json, run_to_json, session_from_json, session_to_json
from delibsim.store.editions import EDITIONS
from delibsim.store.manifest import SCHEMA

HERE = Path(__file__).parent
STUDY, SESSION = "two_citizens", "ccps.normative.citizen_rounds1_size2.r1"
FOLDER = HERE / STUDY / SESSION


@pytest.fixture
def runs(tmp_path):
    """A copy of the recorded study, so that nothing can touch the record."""
    shutil.copytree(HERE / STUDY, tmp_path / STUDY)
    return Runs(tmp_path, STUDY)


async def test_the_recorded_run_replays_equal(runs):
    recorded = runs.run(SESSION)
    assert await replay(runs, SESSION) == recorded
    assert recorded.status == "complete"
    assert (len(recorded.responses), len(recorded.transcript)) == (4, 2)


RECORDED = {"told_0_2": 4, "debate_0_2": 1, "told_0_3": 4}
"""The sessions of the studies that are held today as they were, by study."""


@pytest.mark.parametrize("study", RECORDED)
async def test_studies_since_edition_0_2_are_held_and_replay_as_they_were(study, tmp_path):
    shutil.copytree(HERE / study, tmp_path / study)
    runs = Runs(tmp_path, study)
    assert runs.edition() == study[-3:].replace("_", ".")
    assert len(runs.sessions()) == RECORDED[study]
    for name in runs.sessions():
        recorded = runs.run(name)
        assert await replay(runs, name) == recorded
        assert await hold(runs.planned(name), models_for(recorded.session)) == recorded
        assert recorded.session.procedure.instructions == "turns"


def test_every_edition_has_a_study_that_is_replayed():
    """A version that words a prompt otherwise is a new edition, and its record is kept here."""
    kept = {Runs(HERE, path.parent.name).edition() for path in HERE.glob("*/study.json")}
    assert kept == set(EDITIONS)
    schemas = {json.loads(path.read_bytes())["schema"] for path in HERE.glob("*/study.json")}
    assert schemas == {2, SCHEMA}, "no version was published with an earlier one"


def test_what_is_composed_today_is_what_was_planned(tmp_path):
    """A preset, wording, topic or motion that changes must change the edition, or studies could not
    go on.
    """
    for study in RECORDED:
        runs = Runs(HERE, study)
        for name in runs.sessions():
            planned = runs.planned(name)
            procedure = "published" if "procedure-published" in name else "default"
            if planned.format == "debate":
                words = ("format=debate", "motion=remote_work", "audience=1")
            else:
                size = (f"procedure={procedure}", "group.size=2", "rounds=1")
                words = ("topic=ccps", f"treatment={planned.treatment.name}", *size)
            edition = runs.edition()
            assert plan((*words, "seed=7"), tmp_path, edition=edition).session == planned


def test_the_default_is_told_in_edition_0_3_as_in_0_2():
    before, now = Runs(HERE, "told_0_2"), Runs(HERE, "told_0_3")
    for name in now.sessions():
        alike = [replace(runs.planned(name), id="") for runs in (before, now)]
        assert (alike[0] == alike[1]) == ("procedure-published" not in name)


async def test_the_citizens_would_say_the_same_today(runs):
    session = runs.planned(SESSION)
    assert await hold(session, models_for(session)) == runs.run(SESSION)


def test_the_record_is_read_and_written_to_the_same_bytes(runs):
    for name, read, write in (
        ("run.json", run_from_json, run_to_json),
        ("session.json", session_from_json, session_to_json),
    ):
        text = (FOLDER / name).read_text(encoding="utf-8")
        assert write(read(text)) == text
    records, damaged = runs.exchanges(SESSION)
    assert (len(records), damaged) == (6, 0)
    assert [exchange_of(record).record() for record in records] == records
