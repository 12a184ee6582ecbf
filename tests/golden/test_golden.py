"""The recorded run replays equal, reads and writes to the same bytes, and would be held the same today (see README.md)."""

import shutil
from pathlib import Path

import pytest

from delibsim import Runs, hold, voices_of
from delibsim.conduct import replay
from delibsim.models.replay import exchange_of
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


async def test_the_citizens_would_say_the_same_today(runs):
    session = runs.planned(SESSION)
    assert await hold(session, voices_of(session)) == runs.run(SESSION)


def test_the_record_is_read_and_written_to_the_same_bytes(runs):
    for name, read, write in (("run.json", run_from_json, run_to_json), ("session.json", session_from_json, session_to_json)):
        text = (FOLDER / name).read_text(encoding="utf-8")
        assert write(read(text)) == text
    records, damaged = runs.exchanges(SESSION)
    assert (len(records), damaged) == (6, 0)
    assert [exchange_of(record).record() for record in records] == records
