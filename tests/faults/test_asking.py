"""Asking killed with SIGKILL goes on, and pays again for what was in flight and nothing else,
whatever is asked: an adaptive comparison within a batch, and summaries in two steps, among them.
"""

import asyncio
import signal

import pytest
from comparing import study_of_pairs
from fake_provider import FakeProvider, Rule
from kinds_asked import KINDS
from opinions import study_of_opinions

from delibsim.asking import road
from delibsim.asking.kinds.pair import PAIRS
from delibsim.asking.kinds.summary import SUMMARIES
from delibsim.store.answers import Comparisons, Summaries

IN_FLIGHT = 2
LIMIT = f"limits.concurrency={IN_FLIGHT}"


async def killed_and_asked_again(command, provider, words, at, lost):
    """Run a command that is killed at a call, and run it again to its end; how many calls were
    `lost`, which is asked in between.
    """
    processes = []
    provider.script[:] = [Rule(at=(at,), do=lambda call: processes[-1].kill())]
    code, _, err = await command(*words, started=processes.append)
    assert code == -signal.SIGKILL, err
    found = lost()
    provider.script.clear()
    code, _, err = await command(*words)
    assert code == 0, err
    assert 0 < found <= IN_FLIGHT
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
async def test_what_was_killed_goes_on_and_pays_nothing_twice(name, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = KINDS[name]
    runs = await asyncio.to_thread(asked.study, tmp_path)
    async with FakeProvider(latency=0.002) as provider:

        def lost():
            files = asked.planned(runs, provider).answers.files
            recorded = [one["model"] for one in files.read(files.exchanges)[0]]
            return provider.calls - recorded.count("local")

        words = [*asked.command, *asked.settings(provider, LIMIT)]
        again = await killed_and_asked_again(command, provider, words, 4, lost)
        assert provider.calls == provider.billed == asked.calls + again
    answers = asked.kind.kept(runs, "").answers.all()
    assert len({one.key for one in answers}) == len(answers) == asked.answers
    replayed = await road.replay(asked.kind.kept(runs, ""))
    assert (replayed.verdict, replayed.answers) == ("equal", asked.answers)


TEXTS = {f"t{n}": ("", f"We should plant tree {n}, because it cools.") for n in range(16)}
DESIGN = ("design=adaptive", "design.per_text=10")  # killed within a batch
VOTES = 16 * 10 // 2


@pytest.mark.slow
async def test_a_comparison_that_was_killed_goes_on_and_pays_nothing_twice(command, tmp_path):
    runs = study_of_pairs(tmp_path, TEXTS)
    words = ["compare", "ask", "demo", "dimension=logical", *DESIGN, "model=local"]
    async with FakeProvider(latency=0.002) as provider:

        def lost():
            files = Comparisons.of(runs, "main").files
            return provider.calls - len(files.read(files.exchanges)[0])

        words += [f"base_url={provider.base_url}", LIMIT]
        again = await killed_and_asked_again(command, provider, words, 50, lost)
        assert provider.calls == provider.billed == VOTES + again
    assert len({vote.key for vote in Comparisons.of(runs, "main").all()}) == VOTES
    replayed = await road.replay(PAIRS.kept(runs, ""))
    assert (replayed.verdict, replayed.answers) == ("equal", VOTES)


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
    async with FakeProvider(latency=0.002) as provider:

        def lost():
            files = Summaries.of(runs, "main").files
            recorded = [one["model"] for one in files.read(files.exchanges)[0]]
            return provider.calls - recorded.count("local_parts3")

        words += [f"base_url={provider.base_url}", LIMIT]
        again = await killed_and_asked_again(command, provider, words, at, lost)
        assert provider.calls == provider.billed == PARTS + SECOND + again
        asked = [call.text for call in provider.requests]
    joined = [text for text in asked if "of the parts, one a" in text]
    assert 6 <= len(joined) <= 6 + again
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
