"""A coding killed with SIGKILL goes on, and pays again for what was in flight and nothing else."""

import signal

import pytest
from coding import coding_home, study_of_texts
from fake_provider import FakeProvider, Rule

from delibsim.asking import road
from delibsim.asking.kinds.code import CODES
from delibsim.store.codings import Codings

IN_FLIGHT = 4
TEXTS = [f"We should plant tree {n}, because it cools the street." for n in range(30)]
CALLS = 1 + len(TEXTS) * 2 * 3


@pytest.mark.slow
async def test_a_coding_that_was_killed_goes_on_and_pays_nothing_twice(command, tmp_path):
    runs = study_of_texts(coding_home(tmp_path), TEXTS)
    words = ["code", "ask", "pilot", "scheme=tiny", "samples=3", "model=local"]
    asking = []
    lost = 0
    async with FakeProvider(latency=0.002) as provider:
        words += [f"base_url={provider.base_url}", f"limits.concurrency={IN_FLIGHT}"]
        for moment in (60,):
            asked, kept = provider.calls, _lines(runs)
            provider.script[:] = [Rule(at=(moment,), do=lambda call: asking[-1].kill())]
            code, _, _ = await command(*words, started=asking.append)
            assert code == -signal.SIGKILL
            lost += (provider.calls - asked) - (_lines(runs) - kept)
        provider.script.clear()
        code, _, err = await command(*words)
        assert code == 0, err
        assert provider.calls == provider.billed == CALLS + lost
        assert 0 < lost <= IN_FLIGHT
    assert len(Codings.of(runs, "tiny").all()) == CALLS - 1
    replayed = await road.replay(CODES.kept(runs, ""))
    assert (replayed.verdict, replayed.answers) == ("equal", CALLS - 1)


def _lines(runs):
    """How many exchanges stand whole in the record."""
    files = Codings.of(runs, "tiny").files
    return len(files.read(files.exchanges)[0])
