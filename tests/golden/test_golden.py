"""The recorded run replays equal, reads and writes to the same bytes, and would be held the same
today (see README.md).
"""

import json
import shutil
from pathlib import Path

import pytest

from delibsim import Runs, WrongInput, hold, models_for
from delibsim.conduct.replay import replay
from delibsim.models.replay import exchange_of
from delibsim.planning.compose import plan
from delibsim.store.codec import run_from_json, run_to_json, session_from_json, session_to_json

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


RECORDED = {"told": 4, "debate": 1, "led": 1, "assembly": 1, "waves": 1}
"""The sessions of the studies that are held today as they were, by study."""


@pytest.mark.parametrize("study", RECORDED)
async def test_recorded_studies_are_held_and_replay_as_they_were(study, tmp_path):
    shutil.copytree(HERE / study, tmp_path / study)
    runs = Runs(tmp_path, study)
    assert len(runs.sessions()) == RECORDED[study]
    for name in runs.sessions():
        recorded = runs.run(name)
        assert await replay(runs, name) == recorded
        assert await hold(runs.planned(name), models_for(recorded.session)) == recorded
        assert recorded.session.procedure.instructions == "turns"


def test_what_is_composed_today_is_what_was_planned(tmp_path):
    """Studies that were begun could not go on under a preset, wording, topic or motion that
    changed.
    """
    for study in RECORDED:
        runs = Runs(HERE, study)
        for name in runs.sessions():
            planned = runs.planned(name)
            procedure = "published" if "procedure-published" in name else "default"
            if study == "assembly":
                parts = ("group.witnesses=[expert]", "procedure.small_groups=2")
                told = ("group.size=4", "rounds=1", "procedure.questions=1")
                words = ("topic=ccps", *told, *parts)
            elif study == "waves":
                phases = "survey,witnesses,survey,plenary,survey,consensus,survey"
                parts = ("group.witnesses=[expert]", "consensus=schulze")
                told = ("group.size=2", "rounds=1", f"procedure.phases=[{phases}]")
                words = ("topic=ccps", *told, *parts)
            elif planned.format == "debate":
                words = ("format=debate", "motion=remote_work", "audience=1")
            elif study == "led":
                led = ("procedure.facilitation=turns", "procedure.facilitator_names=true")
                told = f"briefing={HERE / 'tram.yaml'}"
                words = ("topic=ccps", "group.size=2", "rounds=1", *led, told)
            else:
                size = (f"procedure={procedure}", "group.size=2", "rounds=1")
                words = ("topic=ccps", f"treatment={planned.treatment.name}", *size)
            assert plan((*words, "seed=7"), tmp_path).session == planned


@pytest.mark.parametrize("setting", ["instructions", "words"])
def test_a_plan_that_does_not_say_how_it_is_held_is_refused(runs, setting):
    """What an absent setting would mean by default is not what such a file meant."""
    file = runs.path(SESSION) / "session.json"
    plain = json.loads(file.read_text(encoding="utf-8"))
    del plain["procedure"][setting]
    file.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(WrongInput, match=rf"session\.json.*procedure\.{setting} is missing"):
        runs.planned(SESSION)


@pytest.mark.parametrize("schema", [0, 2, 3, None, "1"])
def test_a_study_of_another_schema_is_refused_in_one_sentence(runs, schema):
    file = runs.folder / "study.json"
    plain = json.loads(file.read_text(encoding="utf-8")) | {"schema": schema}
    file.write_text(json.dumps(plain), encoding="utf-8")
    before = file.read_bytes()
    with pytest.raises(WrongInput, match="was not written under schema 1") as refused:
        runs.manifest()
    assert "\n" not in str(refused.value)
    assert file.read_bytes() == before


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
