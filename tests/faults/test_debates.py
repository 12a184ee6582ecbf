"""Debates over real HTTP: so many calls and no more, and a debate that goes on in the turn where it
was.
"""

import json
from dataclasses import replace

import pytest
from debates import debate
from fake_provider import FakeProvider, Rule

from delibsim import Runs
from delibsim.asking.kinds.rating import plan_ratings
from delibsim.conduct.ask import ask
from delibsim.conduct.hold import hold_session
from delibsim.conduct.study import hold_plan
from delibsim.planning.compose import plan


@pytest.fixture
def session(tmp_path):
    """A debate of two models that the fake provider serves."""
    planned = debate(tmp_path)
    models = {
        name: {
            "name": name,
            "kind": "openai_compatible",
            "model": name,
            "max_tokens": 500,
            "temperature": 0.0,
        }
        for name in "xy"
    }
    return replace(
        planned,
        models=models,
        participants=tuple(
            replace(p, model=m) for p, m in zip(planned.participants, "xy", strict=True)
        ),
    )


async def held(session, runs, voices):
    """Hold the debate, and close what voiced it."""
    try:
        return await hold_session(session, runs, pool=voices)
    finally:
        await voices.close()


async def test_a_debate_is_six_calls_and_no_more(session, runs, voices_at):
    async with FakeProvider(models=("x", "y")) as provider:
        done = await held(session, runs, voices_at(provider))
        assert done.run.status == "complete"
        assert [call.body["model"] for call in provider.requests] == ["x", "y"] * 3


async def test_a_debate_cut_off_in_turn_four_goes_on_there_and_pays_nothing_twice(
    session, runs, voices_at
):
    async with FakeProvider([Rule(status=401, at=(4,))], models=("x", "y")) as provider:
        cut = await held(session, runs, voices_at(provider))
        assert cut.run is None
        assert "turn 4" in cut.fault
        done = await held(session, runs, voices_at(provider))
        assert done.run.status == "complete"
        assert done.recorded == 3
        assert provider.calls == 4 + 3


LITE = """name: lite
kind: litellm
model: openai/lite
max_tokens: 2048
timeout: 60
"""


@pytest.mark.parametrize("name", ["local", "lite"])
async def test_a_debate_sends_no_temperature_and_4000_tokens_at_most(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "conf" / "model").mkdir(parents=True)
    (tmp_path / "conf" / "model" / "lite.yaml").write_text(LITE)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    async with FakeProvider(models=(name,)) as provider:
        options = (f"model={name}", f"base_url={provider.base_url}")
        planned = plan(["study=d", "format=debate", "motion=voting", *options])
        assert planned.session.models[name].get("temperature") is None
        runs = Runs(planned.root, planned.study)
        (outcome,) = await hold_plan(planned, runs)
        assert (outcome.status, provider.calls) == ("complete", 6)
        for call in provider.requests:
            assert "temperature" not in call.body
            assert call.body["max_tokens"] == 4000
        raters = ("wording=oxford", *options, "group.size=2")
        assert (await ask(plan_ratings(runs, raters))).new == 2
        assert {call.body["temperature"] for call in provider.requests[6:]} == {0.0}
        assert provider.calls == 10
        own = plan_ratings(runs, (*raters, "temperature=null", "panel=own"))
        assert (await ask(own)).new == 2
        assert provider.calls == 14
        assert not any("temperature" in call.body for call in provider.requests[10:])
    log = next((tmp_path / "runs" / "d").glob("voting*/exchanges.jsonl"))
    sent = [
        json.loads(line)["completion"]["parameters_sent"] for line in log.read_text().splitlines()
    ]
    assert [set(parameters) for parameters in sent] == [{"max_tokens", "seed"}] * 6
