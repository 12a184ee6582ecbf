"""Whole studies: what lies on disk, what was billed, and what the same
command then does.
"""

import math
from datetime import datetime, timedelta

import pytest
from fake_provider import LOGIN_PAGE, FakeProvider, Rule
from faults.conftest import settings_of
from typer.testing import CliRunner

from delibsim.cli.run import summary
from delibsim.cli.status import app as status_app
from delibsim.conduct.hold import hold_all
from delibsim.models.limits import Limits
from delibsim.store.manifest import Manifest
from delibsim.store.tables.study import tables

FAULTY = {
    "rate_limited": Rule(status=429),
    "unavailable": Rule(status=503),
    "authentication": Rule(status=401),
    "quota": Rule(status=402),
    "bad_request": Rule(status=400),
    "context_overflow": Rule(context=1),
    "a login page": Rule(body=LOGIN_PAGE),
}
TRIES = {"rate_limited": 2, "unavailable": 2, "a login page": 2}


@pytest.mark.parametrize("case", FAULTY)
async def test_a_model_that_cannot_be_asked_leaves_no_run_and_a_record_to_go_on_from(
    hold, session_of, runs, log, case
):
    """Participant 2 of 2 fails from the first turn on: what was said before stays, and nothing of
    the fault becomes data.
    """
    session, rule = session_of(), FAULTY[case]
    fields = {name: getattr(rule, name) for name in ("status", "body", "context")}
    script = [Rule(match=r"<you>\nParticipant 2\n</you>[\s\S]*your turn to speak", **fields)]
    async with FakeProvider(script) as provider:
        held = await hold(session, provider, Limits(tries=2, longest_wait=0.01))
        status = "unavailable" if case == "a login page" else case
        assert held.run is None
        assert f"Participant 2, turn {1 if provider.billed == 2 else 2}): {status}:" in held.fault
        assert not runs.held("one")
        assert sorted(path.name for path in runs.path("one").iterdir()) == [
            "exchanges.jsonl",
            "session.json",
        ]
        paid = provider.billed
        assert provider.calls == paid + TRIES.get(case, 1)
        statuses = [entry["completion"]["status"] for entry in log()]
        assert statuses == ["ok"] * paid + [status]
        assert len(log()[-1]["completion"]["tries"]) == TRIES.get(case, 1) - 1
        provider.script.clear()
        again = await hold(session, provider)
        assert again.run.status == "complete"
        assert (again.recorded, again.asked) == (paid, 6 - paid)
        assert provider.billed == 6, "nothing recorded is paid for twice"
        assert (await hold(session, provider)).already
        assert provider.billed == 6


async def test_every_attempt_on_the_way_to_a_success_lies_in_the_log(hold, session_of, log):
    async with FakeProvider([Rule(status=500, at=(3, 4)), Rule(cut=0.5, at=(6,))]) as provider:
        held = await hold(session_of(), provider)
    assert held.run.status == "complete"
    assert (provider.calls, provider.billed) == (9, 7)
    tries = [
        (attempt["status"], attempt["possibly_billed"])
        for entry in log()
        for attempt in entry["completion"]["tries"]
    ]
    assert tries == [("unavailable", False), ("unavailable", False), ("unavailable", True)]
    assert len(log()) == 6


@pytest.mark.parametrize(
    ("rule", "known"),
    [
        (Rule(status=402, at=(4,)), True),
        (Rule(status=429, at=(3, 4)), True),
        (Rule(cut=0.5, at=(4,)), False),
    ],
)
async def test_the_cost_of_a_run_is_known_after_calls_that_failed_for_free(
    hold, session_of, runs, rule, known
):
    """A turn fails, to the end or once, and the session goes on from its record. A reply that broke
    off may be billed.
    """
    session = session_of({"local": settings_of("local", price={"input": 1.0, "output": 2.0})})
    async with FakeProvider([rule]) as provider:
        await hold(session, provider, Limits(tries=2, longest_wait=0.01))
        held = await hold(session, provider)
    assert held.run.status == "complete"
    told, exported = (
        summary(held, [], runs)["calls"]["cost_usd"],
        tables(runs)[0]["runs"].cost_usd[0],
    )
    if known:
        assert told == pytest.approx(exported, abs=1e-12)
        assert told > 0
    else:
        assert told is None
        assert math.isnan(exported)


async def test_started_is_when_a_call_was_ready_and_seconds_hold_its_wait(hold, session_of, log):
    """As docs/files.md says: of two surveys at once and one seat, the second stands in the record
    with the time of both.
    """
    async with FakeProvider(latency=0.2) as provider:
        await hold(session_of(), provider, Limits(concurrency=1))
    first, second = log()[:2]
    began = [datetime.fromisoformat(record["started"]) for record in (first, second)]
    assert began[1] - began[0] < timedelta(seconds=first["seconds"]), (
        "ready before the first was answered"
    )
    assert second["seconds"] > 0.39


async def test_one_model_of_a_group_without_money_lets_the_others_finish_what_is_in_flight(
    hold, session_of, runs, log
):
    session = session_of(("poor", "rich"), n=4)
    async with FakeProvider(
        [Rule(model="poor", status=402)], models=("poor", "rich"), latency=0.02
    ) as provider:
        held = await hold(session, provider)
        assert held.run is None
        assert "quota" in held.fault
        assert provider.by_model == {"poor": 1, "rich": 2}
        assert sorted(entry["completion"]["status"] for entry in log()) == [
            "ok",
            "ok",
            "quota",
            "quota",
        ]
        provider.script.clear()
        assert (await hold(session, provider)).run.status == "complete"
        assert provider.billed == 12


async def test_a_model_without_money_stops_and_the_other_sessions_of_a_study_are_held(
    session_of, runs, voices_at
):
    sessions = [session_of((name,), id=f"{name}.{k}") for name in ("poor", "rich") for k in (1, 2)]
    async with FakeProvider([Rule(model="poor", status=402)], models=("poor", "rich")) as provider:
        held = await hold_all(sessions, runs, pool=voices_at(provider), at_once=4)
    assert [one.status for one in held] == ["", "", "complete", "complete"]
    assert [runs.held(session.id) for session in sessions] == [False, False, True, True]
    assert provider.by_model == {"poor": 1, "rich": 12}
    runs.settle(Manifest(runs.study, {}, {}))
    said = CliRunner().invoke(status_app, [str(runs.folder)])
    assert said.exit_code == 3
    assert "2 cut off, 2 complete" in said.output
    assert "no credit left: 2 sessions, " in said.output
    assert "HTTP 402" in said.output


async def test_a_storm_on_one_model_of_four_leaves_the_sessions_of_the_others_alone(
    session_of, runs, voices_at
):
    names = ("alpha", "beta", "gamma", "delta")
    sessions = [session_of((name,), id=name) for name in names]
    async with FakeProvider(
        [Rule(model="alpha", status=429, headers={"Retry-After": "0.8"})], models=names
    ) as provider:
        held = await hold_all(
            sessions,
            runs,
            pool=voices_at(provider, Limits(concurrency=2, tries=2, longest_wait=2)),
            at_once=4,
        )
    assert [runs.held(name) for name in names] == [False, True, True, True]
    assert "rate_limited" in held[0].fault
    assert provider.by_model == {"alpha": 4, "beta": 6, "gamma": 6, "delta": 6}
    others = [call.came for call in provider.requests if call.body["model"] != "alpha"]
    assert max(others) < provider.where(model="alpha")[1].came, (
        "the others waited for the storm on alpha"
    )


async def test_the_command_says_what_is_missing_and_ends_with_three(command, tmp_path):
    refusal = {"content": None, "refusal": "I cannot take a position on this."}
    async with FakeProvider(
        [Rule(match=r"Please fill in[\s\S]*<you>\nParticipant 2\n</you>", message=refusal)]
    ) as provider:
        code, out, err = await command(
            "run",
            "model=local",
            f"base_url={provider.base_url}",
            "study=s",
            "group.size=2",
            "rounds=1",
        )
    assert code == 3, err
    assert "refusal: I cannot take a position on this." in out
    assert "1 refusal" in out
    assert provider.calls == provider.billed == 6
    assert len(list(tmp_path.glob("runs/s/*/run.json"))) == 1


async def test_a_damaged_run_is_named_and_made_again_from_its_record(command, tmp_path):
    words = ("run", "-q", "study=s", "topic=ccps", "group.size=2", "rounds=1", "model=local")
    async with FakeProvider() as provider:
        at = f"base_url={provider.base_url}"
        code, _, err = await command(*words, at)
        assert code == 0, err
        (file,) = (tmp_path / "runs/s").glob("*/run.json")
        whole, calls = file.read_bytes(), provider.calls
        file.write_bytes(whole[: len(whole) // 2])
        for again, expected in (((*words, at), 2), (("run", "s", "--retry", "-q", at), 3)):
            code, _, err = await command(*again)
            assert code == expected
            assert "run.json: not the JSON of a run" in err
            assert "move it away" in err
        file.rename(tmp_path / "damaged.json")
        code, _, err = await command("run", "s", "--retry", "-q", at)
        assert code == 0, err
        assert (file.read_bytes(), provider.calls) == (whole, calls)
