"""Clocks that jump, two studies in one second; studies of an older form go on, of
a newer form are left untouched.
"""

import asyncio
import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fake_provider import FakeProvider

from delibsim import Runs
from delibsim.conduct.hold import hold_session
from delibsim.models import replay as recording

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "told"
SESSION = "ccps.normative.citizen_rounds1_size2.r1"
COMMAND = (
    "run",
    "-q",
    "study=told",
    "topic=ccps",
    "treatment=normative",
    "group.size=2",
    "rounds=1",
    "seed=7",
)


@pytest.fixture
def older(tmp_path):
    """A study as the first version wrote it, without anything that came later."""
    return shutil.copytree(GOLDEN, tmp_path / "runs" / "told")


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in (".lock", "sessions.jsonl")  # no record
    }


def newer(path, **changes):
    path.write_text(
        json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes), encoding="utf-8"
    )


# 10: clocks


async def test_a_clock_that_jumps_back_gives_no_negative_duration_and_no_other_order(
    hold, session_of, log, monkeypatch
):
    jumps = iter(range(0, 10_000, 60))

    class Clock(datetime):
        """A clock that is set back by a minute whenever it is read."""

        @classmethod
        def now(cls, tz=None):
            return datetime(2026, 11, 21, tzinfo=UTC) - timedelta(seconds=next(jumps))

    async with FakeProvider(latency=0.01) as provider:
        whole = await hold(session_of(id="whole"), provider)
        monkeypatch.setattr(recording, "datetime", Clock)
        held = await hold(session_of(), provider)
    started = [entry["started"] for entry in log()]
    assert len(started) == 6
    assert started == sorted(started, reverse=True), "the clock did jump"
    assert all(0.01 <= entry["seconds"] < 30 for entry in log())
    assert held.run.transcript == whole.run.transcript
    assert held.run.responses == whole.run.responses


async def test_two_studies_in_one_second_have_names_of_their_own(command, tmp_path):
    settings = ("topic=ccps", "treatment=basic", "group.size=2", "rounds=0")
    ends = await asyncio.gather(
        *(command("run", "-q", *settings, f"seed={seed}") for seed in (1, 2))
    )
    assert [code for code, _, _ in ends] == [0, 0], ends
    studies = sorted((tmp_path / "runs").iterdir())
    assert len(studies) == 2
    assert {
        Runs.at(folder).run("ccps.basic.citizen_rounds0_size2.r1").session.seed
        for folder in studies
    } == {1, 2}


# 11: other versions


async def test_a_run_that_does_not_say_what_was_dropped_is_not_taken_to_say_that_nothing_was(
    command, older
):
    path = older / SESSION / "run.json"
    plain = json.loads(path.read_text(encoding="utf-8"))
    del plain["dropped"]
    path.write_text(json.dumps(plain), encoding="utf-8")
    assert Runs.at(older).run(SESSION).dropped is None
    for arguments in (("show", f"told/{SESSION}"), ("status", "told")):
        _, out, _ = await command(*arguments)
        assert "dropped: temperature: requested, and without effect on citizen" in out


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("study.json", {"schema": 2}),
        ("study.json", {"schema": 3}),
        (f"{SESSION}/session.json", {"schema": 2}),
        (f"{SESSION}/run.json", {"schema": 2}),
        (f"{SESSION}/session.json", {"moderator": "Participant 1"}),
        (f"{SESSION}/run.json", {"weights": [1, 2]}),
    ],
)
async def test_a_study_of_a_newer_version_is_refused_and_left_untouched(
    command, older, name, changes
):
    newer(older / name, **changes)
    before = contents(older)
    code, out, err = await command(
        "show" if name.endswith("run.json") else "run",
        *COMMAND[1:] if "run.json" not in name else [f"told/{SESSION}"],
    )
    assert (code, out) == (2, ""), err
    assert "runs/told/" in err
    assert "Traceback" not in err
    assert contents(older) == before


async def test_a_session_of_a_newer_version_is_not_held_either(older):
    newer(older / SESSION / "session.json", schema=2)
    runs = Runs.at(older)
    (older / SESSION / "run.json").unlink()
    session = Runs(GOLDEN.parent, "told").planned(SESSION)
    before = contents(older)
    with pytest.raises(ValueError, match="another schema than 1"):
        await hold_session(session, runs)
    assert contents(older) == before
