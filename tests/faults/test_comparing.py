"""A comparison killed with SIGKILL goes on, pays again for what was in flight and nothing else."""

import signal

import pytest
from comparing import study_of_pairs
from fake_provider import FakeProvider, Rule

from delibsim.asking import road
from delibsim.asking.kinds.pair import PAIRS
from delibsim.store.comparisons import Comparisons

IN_FLIGHT = 4
TEXTS = {f"t{n}": ("", f"We should plant tree {n}, because it cools.") for n in range(16)}
DESIGN = ("design=adaptive", "design.per_text=10")  # killed within a batch
VOTES = 16 * 10 // 2


@pytest.mark.slow
async def test_a_comparison_that_was_killed_goes_on_and_pays_nothing_twice(command, tmp_path):
    runs = study_of_pairs(tmp_path, TEXTS)
    words = ["compare", "ask", "demo", "dimension=logical", *DESIGN, "model=local"]
    asking = []
    async with FakeProvider(latency=0.002) as provider:
        words += [f"base_url={provider.base_url}", f"limits.concurrency={IN_FLIGHT}"]
        provider.script[:] = [Rule(at=(50,), do=lambda call: asking[-1].kill())]
        code, _, err = await command(*words, started=asking.append)
        assert code == -signal.SIGKILL, err
        files = Comparisons.of(runs, "main").files
        lost = provider.calls - len(files.read(files.exchanges)[0])
        provider.script.clear()
        code, _, err = await command(*words)
        assert code == 0, err
        assert provider.calls == provider.billed == VOTES + lost
        assert 0 < lost <= IN_FLIGHT
    assert len({vote.key for vote in Comparisons.of(runs, "main").all()}) == VOTES
    replayed = await road.replay(PAIRS.kept(runs, ""))
    assert (replayed.verdict, replayed.answers) == ("equal", VOTES)
