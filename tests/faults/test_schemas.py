"""Servers that enforce schemas, in either format, and servers that ignore or refuse them: found out
once before a study begins, kept for the study, and told.
"""

import asyncio
import json

import pytest
from fake_provider import FakeProvider, Rule
from faults.conftest import settings_of
from kinds_asked import KINDS

from delibsim import ModelPool, Runs
from delibsim.asking.road import replay
from delibsim.conduct.ask import ask
from delibsim.conduct.hold import hold_session
from delibsim.models.limits import Limits

FREE = {"price": {"input": 0, "cached": 0, "output": 0}}


async def settled(session_of, provider, wanted="auto", **options):
    """What is found out of a model, and what is told beside that its server answers."""
    session = session_of({"local": settings_of("local", structured=wanted, **FREE | options)})
    pool = ModelPool(Limits(longest_wait=0.02), addresses={"local": provider.base_url})
    found = await pool.preflight([session, session])
    await pool.close()
    told = [(one.level, one.text) for one in found if " answers" not in one.text]
    return list(pool.settled.values()), told


@pytest.mark.parametrize(
    ("enforces", "wanted", "found", "level", "told"),
    [
        ("json_schema", "auto", ["json_schema"], "note", "enforces schemas (json_schema)"),
        ("json_object", "auto", ["json_object"], "note", "enforces schemas (json_object)"),
        ("", "auto", [False], "note", "ignores schemas"),
        ("json_schema", "json_schema", [], "note", "enforces schemas (json_schema)"),
        ("json_object", "json_schema", [], "warning", "set model.structured=json_object"),
        ("", "json_schema", [], "warning", "nothing keeps the model to it"),
    ],
)
async def test_what_a_server_enforces_is_asked_once(
    session_of, enforces, wanted, found, level, told
):
    async with FakeProvider(enforces=enforces) as provider:
        known, said = await settled(session_of, provider, wanted)
    assert known == found
    assert [one[0] for one in said] == [level]
    assert told in said[0][1]
    assert provider.calls == 0
    assert 1 <= provider.schema_probes <= 2


@pytest.mark.parametrize("wanted", [False, "auto"])
async def test_nobody_is_asked_where_nothing_is_wanted_or_a_call_costs(session_of, wanted):
    async with FakeProvider(enforces="json_schema") as provider:
        known, said = await settled(session_of, provider, wanted, price={"input": 1, "output": 1})
    assert provider.schema_probes == 0
    assert known == ([False] if wanted else [])
    assert [text for _, text in said if "was not asked" in text] == [text for _, text in said]


async def test_models_that_are_asked_in_two_ways_are_told(session_of):
    models = {
        name: settings_of(name, structured=way)
        for name, way in (("a", "json_schema"), ("b", False))
    }
    async with FakeProvider(models=("a", "b"), enforces="json_schema") as provider:
        pool = ModelPool(addresses=dict.fromkeys(models, provider.base_url))
        found = await pool.preflight([session_of(models)])
        await pool.close()
    (told,) = [one.text for one in found if one.level == "warning"]
    assert "a in JSON by a schema, b in labelled lines" in told


async def test_a_format_that_is_refused_is_sent_as_the_other_one_and_then_left_out(
    session_of, voices_at, runs, log
):
    refused = "Unsupported value: 'response_format.type' is not supported: json_schema"
    rule = Rule(
        status=400, at=(1,), body={"error": {"message": refused, "param": "response_format"}}
    )
    session = session_of({"local": settings_of("local", structured="json_schema")}, n=2)
    async with FakeProvider([rule], enforces="json_object") as provider:
        pool = voices_at(provider, Limits(concurrency=1))
        outcome = await hold_session(session, runs, pool)
        await pool.close()
    assert outcome.status == "complete"
    sent = [one["completion"] for one in log() if one["purpose"]["occasion"] in ("pre", "post")]
    assert {one["parameters_sent"]["response_format"]["type"] for one in sent} == {"json_object"}
    assert not any(one["parameters_dropped"] for one in sent)


async def test_a_schema_that_is_ignored_is_recorded_as_without_effect(session_of, hold, log):
    session = session_of({"local": settings_of("local", structured="json_schema")}, n=2)
    async with FakeProvider() as provider:
        outcome = await hold(session, provider)
    assert outcome.status == "complete"  # the labelled lines were read
    dropped = {one["purpose"]["occasion"]: one["completion"] for one in log()}
    assert dropped["pre"]["parameters_dropped"] == ["response_format"]
    assert not dropped["turn 1"]["parameters_dropped"]


async def test_ratings_stay_where_the_ranks_are_never_readable(session_of, hold, log):
    doubled = json.dumps({**{f"C{i}": 1 for i in range(1, 7)}, "order": "P1 > P1"})
    session = session_of({"local": settings_of("local", structured="json_schema")}, n=2, reasks=1)
    async with FakeProvider([Rule(match="LABEL: NUMBER", text=doubled)]) as provider:
        outcome = await hold(session, provider)
    (response, *_) = outcome.run.responses
    assert outcome.status == "partial"
    assert {label[0] for label in response.answers} == {"C"}
    assert {label[0] for label in response.missing} == {"P"}
    assert "in the order" in str(response.missing["P1"])


@pytest.mark.parametrize("name", KINDS)
def test_random_weights_behind_an_enforcing_server_answer_at_once(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    asked = KINDS[name]
    runs = asked.study(tmp_path)

    async def answered():
        async with FakeProvider(enforces="json_schema") as provider:
            plan = asked.planned(runs, provider)
            return plan, await ask(plan), provider.calls

    plan, outcome, calls = asyncio.run(answered())
    assert outcome.whole
    assert outcome.usable == asked.answers
    assert calls == outcome.asked - asked.free == asked.calls
    assert asyncio.run(replay(plan.kind.kept(runs, plan.answers.name))).verdict == "equal"


async def test_a_study_goes_on_as_it_began_though_its_server_changed(command, tmp_path):
    words = ("run", "s", "topic=acp", "model=local", "rounds=1", "group.size=2", "-q")
    async with FakeProvider(enforces="json_schema") as provider:
        code, _, err = await command(*words, f"base_url={provider.base_url}")
        assert (code, provider.schema_probes) == (0, 1), err
    async with FakeProvider() as provider:
        more = (f"base_url={provider.base_url}", "replicate=2")
        code, _, err = await command("estimate", *words[1:-1], *more)
        assert code == 0, err
        code, _, err = await command(*words, *more)
        assert (code, provider.schema_probes) == (0, 2), err  # asked, to tell that it ignores it
        assert "though json_schema is set" in err
    code, out, _ = await command("status", "s")
    assert "dropped: response_format: requested, and without effect on local" in out
    code, out, _ = await command("replay", "s")
    assert code == 0, out
    kept = Runs(tmp_path / "runs", "s")
    assert {own["structured"] for own in kept.manifest().components["models"].values()} == {
        "json_schema"
    }
    assert {plan.models["local"]["structured"] for _, plan in kept.each_plan()} == {"json_schema"}
