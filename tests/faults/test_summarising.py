"""Summaries in two steps and judgments, killed with SIGKILL: they go on, and pay again for what was
in flight and nothing else.
"""

import signal

import pytest
from fake_provider import FakeProvider, Rule
from opinions import study_of_opinions

from delibsim.asking import road
from delibsim.asking.kinds.summary import SUMMARIES
from delibsim.store.summaries import Summaries

IN_FLIGHT = 2
PARTS = 2 * (4 + 2 + 2)
"""Of ten opinions, of four for and of four against, at most three a part; two runs."""
SECOND = 2 * (3 + 1)
"""The summaries of these parts, and of the two that are not sure, which fit one part."""


@pytest.mark.slow
@pytest.mark.parametrize("at", [3, PARTS, PARTS + 1, PARTS + SECOND - 1])
async def test_summaries_in_parts_by_group_are_killed_within_and_between_the_steps(
    command, tmp_path, at
):
    runs = study_of_opinions(tmp_path)
    words = ["summarise", "ask", "tram", "model=local", "plan=chunks", "part=3"]
    words += ["groups=stance", "runs=2"]
    asking = []
    async with FakeProvider(latency=0.002) as provider:
        words += [f"base_url={provider.base_url}", f"limits.concurrency={IN_FLIGHT}"]
        provider.script[:] = [Rule(at=(at,), do=lambda call: asking[-1].kill())]
        code, _, err = await command(*words, started=asking.append)
        assert code == -signal.SIGKILL, err
        files = Summaries.of(runs, "main").files
        recorded = [one["model"] for one in files.read(files.exchanges)[0]]
        lost = provider.calls - recorded.count("local_parts3")
        provider.script.clear()
        code, _, err = await command(*words)
        assert code == 0, err
        assert provider.calls == provider.billed == PARTS + SECOND + lost
        assert 0 < lost <= IN_FLIGHT
        asked = [call.text for call in provider.requests]
    joined = [text for text in asked if "of the parts, one a" in text]
    assert 6 <= len(joined) <= 6 + lost
    made = [one for one in Summaries.of(runs, "main").all() if one.slot.model == "local_parts3"]
    assert len({one.key for one in made}) == len(made) == SECOND
    assert {one.slot.group for one in made} == {
        "",
        "stance positive",
        "stance negative",
        "stance not sure",
    }
    replayed = await road.replay(SUMMARIES.kept(runs, ""))
    assert (replayed.verdict, replayed.answers) == ("equal", SECOND * 3)
