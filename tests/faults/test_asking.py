"""Asking killed with SIGKILL goes on, and pays again for what was in flight and nothing else,
whatever is asked.
"""

import asyncio
import signal

import pytest
from fake_provider import FakeProvider, Rule
from kinds_asked import KINDS

from delibsim.asking import road

IN_FLIGHT = 2


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
async def test_what_was_killed_goes_on_and_pays_nothing_twice(name, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked, processes = KINDS[name], []
    runs = await asyncio.to_thread(asked.study, tmp_path)
    async with FakeProvider(latency=0.002) as provider:
        words = [*asked.command, *asked.settings(provider, f"limits.concurrency={IN_FLIGHT}")]
        provider.script[:] = [Rule(at=(4,), do=lambda call: processes[-1].kill())]
        code, _, err = await command(*words, started=processes.append)
        assert code == -signal.SIGKILL, err
        files = asked.planned(runs, provider).answers.files
        recorded = [one["model"] for one in files.read(files.exchanges)[0]]
        lost = provider.calls - recorded.count("local")
        provider.script.clear()
        code, _, err = await command(*words)
        assert code == 0, err
        assert provider.calls == provider.billed == asked.calls + lost
        assert 0 < lost <= IN_FLIGHT
    answers = asked.kind.kept(runs, "").answers.all()
    assert len({one.key for one in answers}) == len(answers) == asked.answers
    replayed = await road.replay(asked.kind.kept(runs, ""))
    assert (replayed.verdict, replayed.answers) == ("equal", asked.answers)
