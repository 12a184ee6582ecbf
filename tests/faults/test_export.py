"""The tables of an export: what was dropped, what was asked again, and no
key.
"""

import csv

from fake_provider import FakeProvider, Rule

from delibsim.store.tables.codebook import TABLES
from delibsim.store.tables.study import tables

KEY = "canary-key-0123456789abcdef"
SIGN = "canarysignature"
FIRST = r"Please fill in[\s\S]*<you>\nParticipant 1\n</you>"


async def test_a_run_is_never_labelled_with_a_temperature_it_did_not_have(hold, session_of, runs):
    async with FakeProvider(
        [Rule(model="picky", rejects="temperature")], models=("picky", "local")
    ) as provider:
        session = session_of(("picky", "local"))
        models = {
            name: dict(settings, temperature=0.7) for name, settings in session.models.items()
        }
        held = await hold(session_of(models), provider)
    assert held.run.status == "complete"
    frames, faults = tables(runs)
    assert faults == []
    for table in ("responses", "statements", "calls"):
        own = frames[table].groupby("model")
        assert own.temperature_requested.unique().map(list).to_dict() == {
            "picky": [0.7],
            "local": [0.7],
        }
        assert own.temperature.count()["picky"] == 0
        assert set(frames[table][frames[table].model == "local"].temperature) == {0.7}
        assert set(frames[table][frames[table].model == "picky"].parameters_dropped) == {
            "temperature"
        }
    assert frames["runs"].temperature.isna().all()
    assert list(frames["runs"].parameters_dropped) == ["temperature"]


async def test_what_was_asked_again_can_be_left_out(hold, session_of, runs):
    async with FakeProvider(
        [Rule(match=FIRST, text="I would rather not say.", times=2)]
    ) as provider:
        held = await hold(session_of(), provider)
    assert held.run.status == "complete"
    frames, _ = tables(runs)
    attempts = (
        frames["responses"].groupby(["participant", "phase"]).attempts.unique().map(list).to_dict()
    )
    assert attempts.pop(("Participant 1", "pre")) == [3]
    assert set(map(tuple, attempts.values())) == {(1,)}
    assert set(frames["statements"].attempts) == {1}
    assert list(frames["runs"].reasked) == [1]
    assert list(frames["calls"].attempt).count(2) == 1


ECHO = {
    "error": {
        "message": f"Incorrect API key provided: {KEY}. Bearer {KEY}; ?sign={SIGN}",
        "code": "invalid_api_key",
    }
}


async def test_no_key_is_in_any_exported_file(command, tmp_path):
    async with FakeProvider(
        [Rule(status=500, body=ECHO, at=(3,)), Rule(status=401, body=ECHO, at=(6,))]
    ) as provider:
        arguments = [
            "run",
            "model=local",
            f"base_url='{provider.base_url}?sign={SIGN}'",
            "study=s",
            "group.size=2",
            "rounds=1",
        ]
        env = {"SOME_ENTRANCE": KEY}
        code, _, err = await command(
            *arguments, "model.key_env=SOME_ENTRANCE", "limits.longest_wait=0.01", env=env
        )
        assert provider.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    assert code == 4, err
    code, out, err = await command("export", "s", "--format", "both", env=env)
    assert (code, err) == (0, "")
    folder = tmp_path / "runs" / "s" / "tables"
    with (folder / "calls.csv").open(encoding="utf-8", newline="") as file:
        calls = list(csv.DictReader(file))
    assert any("[hidden]" in call["detail"] for call in calls), (
        "the error that named the key was exported, without the key"
    )
    files = [path for path in folder.iterdir() if path.is_file()]
    names = {path.name for path in files}
    assert {f"{table}.{form}" for table in TABLES for form in ("csv", "parquet")} <= names
    assert {"codebook.csv", "codebook.md", "manifest.json"} <= names
    for path in files:
        assert b"canary" not in path.read_bytes(), path.name
    assert "canary" not in out
