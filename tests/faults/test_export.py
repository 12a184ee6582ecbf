"""The tables of an export: what was dropped, and what was asked again."""

from fake_provider import FakeProvider, Rule

from delibsim.store.tables.study import tables

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
