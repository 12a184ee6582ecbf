"""A study killed with SIGKILL again and again goes on, and pays again for what was
in flight and nothing else.
"""

import asyncio
import os
import random
import signal

import pytest
import warm
from fake_provider import FakeProvider, Rule

from delibsim import Runs
from delibsim.conduct.hold import hold_all
from delibsim.models.limits import Limits

HOLD = """
import asyncio, sys
from pathlib import Path
from delibsim.conduct.hold import hold_all
from delibsim.models.limits import Limits
from delibsim.store.runs import Runs
from delibsim.models.pool import ModelPool

runs = Runs(Path(sys.argv[1]), "killed")
sessions = [runs.planned(name) for name in runs.sessions()]
voices = ModelPool(Limits(concurrency=int(sys.argv[3])), addresses={"local": sys.argv[2]})
asyncio.run(hold_all(sessions, runs, pool=voices, at_once=len(sessions)))
"""
SESSIONS, SEATS, IN_FLIGHT = 20, 3, 16
CALLS = SESSIONS * (SEATS + 2 * SEATS + SEATS)


def lines(runs):
    """How many exchanges stand whole in the logs of a study."""
    return sum(len(runs.exchanges(session)[0]) for session in runs.sessions())


async def killed(runs, provider, after):
    """Hold the study in a process of its own, killed so many calls after its first; whether it
    lived to the end.
    """
    program = ("-c", HOLD, runs.folder.parent, provider.base_url, IN_FLIGHT)
    holding = await asyncio.to_thread(warm.Heard, program, runs.folder.parent, os.environ)
    aim = provider.calls + after
    provider.script[:] = (
        [Rule(at=(aim,), do=lambda call: os.kill(holding.pid, signal.SIGKILL))] if after else []
    )
    code = await asyncio.to_thread(holding.wait)
    assert code in (0, -signal.SIGKILL)
    return code == 0


@pytest.mark.slow
async def test_a_study_killed_five_times_equals_one_that_was_left_alone(
    tmp_path, session_of, voices_at
):
    sessions = [
        session_of(n=SEATS, rounds=2, id=f"s{k}", replicate=k) for k in range(1, SESSIONS + 1)
    ]
    whole, runs = Runs(tmp_path / "whole", "killed"), Runs(tmp_path / "runs", "killed")
    async with FakeProvider(latency=0.002) as provider:
        await hold_all(
            sessions,
            whole,
            pool=voices_at(provider, Limits(concurrency=IN_FLIGHT)),
            at_once=SESSIONS,
        )
        assert provider.calls == CALLS
    for session in sessions:
        runs.plan(session)
    moments = random.Random(20261121)
    lost = []
    async with FakeProvider(latency=0.01) as provider:
        for _ in range(5):
            asked, kept = provider.calls, lines(runs)
            ended = await killed(runs, provider, after=moments.randint(5, 40))
            lost.append((provider.calls - asked) - (lines(runs) - kept))
            assert not ended
        assert await killed(runs, provider, after=0)
    assert provider.calls == provider.billed == CALLS + sum(lost), (
        "paid more than once: what was in flight, and nothing else"
    )
    assert all(0 < one <= IN_FLIGHT for one in lost), lost
    assert [runs.run(session.id) for session in sessions] == [
        whole.run(session.id) for session in sessions
    ]
    for session in sessions:
        path, other = (folder.path(session.id) / "run.json" for folder in (runs, whole))
        assert path.read_bytes() == other.read_bytes()
        assert not [
            leftover for leftover in runs.path(session.id).iterdir() if leftover.suffix == ".tmp"
        ]


@pytest.mark.slow
async def test_the_command_killed_in_mid_deliberation_goes_on(command, tmp_path):
    arguments = ["run", "model=local", "study=s", "group.size=2", "rounds=1", "--quiet"]
    holding = []
    async with FakeProvider(
        [Rule(at=(4,), do=lambda call: holding[-1].kill())], latency=0.01
    ) as provider:
        arguments.append(f"base_url={provider.base_url}")
        code, _, _ = await command(*arguments, started=holding.append)
        assert code == -signal.SIGKILL
        assert not list(tmp_path.glob("runs/s/*/run.json"))
        code, out, err = await command(*arguments)
    assert code == 0, err
    assert "Missing    no answer and no statement" in out
    assert provider.calls == provider.billed == 6 + 1, (
        "the turn in flight, and nothing else, was paid again"
    )
    assert len(list(tmp_path.glob("runs/s/*/run.json"))) == 1
