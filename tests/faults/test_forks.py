"""Forks and probes of paid models: what came before a turn is not paid again, and a fork that was
cut off goes on.
"""

import asyncio
import gc
import json

import pytest
from fake_provider import FakeProvider, Rule
from faults.conftest import QUICK

from delibsim.conduct.forks import branches, parent_of, prepare_branches
from delibsim.conduct.replay import compare
from delibsim.conduct.study import hold_prepared
from delibsim.planning.estimate import estimate
from delibsim.planning.fork import plan_forks, plan_probes
from delibsim.planning.fork_changes import places_of
from delibsim.store.places import place_of_branches

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "say.txt").write_text("I give in.\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def forked(runs, home):
    """Fork the session "one" (two people, two turns) with the provider's model."""

    def plan(provider, words, settings=()):
        parent = parent_of(runs, "one")
        places = places_of({name: [text] for name, text in words.items()}, home)
        made = plan_forks(parent, places, [*settings, "study=f"], home)
        target = place_of_branches(runs, "forks")
        addresses = dict.fromkeys(provider.models, provider.base_url)
        return branches(made.sessions, (runs, "one"), target, QUICK, [], addresses)

    return plan


async def outcomes(found):
    return await hold_prepared(await prepare_branches(found))


@pytest.mark.parametrize(
    ("words", "paid"),
    [({"at": "3"}, 2), ({"at": "2"}, 3), ({"at": "2", "say": "2=say.txt"}, 2), ({"at": "0"}, 6)],
)
async def test_a_fork_pays_for_what_follows_and_for_nothing_before(
    hold, session_of, runs, forked, words, paid
):
    async with FakeProvider() as provider:
        await hold(session_of(), provider)
        before = provider.calls
        found = forked(provider, words)
        expected = await estimate(
            found.plan.sessions, found.runs, QUICK, found.plan.addresses, past=found.past
        )
        assert (expected.total.calls, provider.calls) == (paid, before)
        (outcome,) = await outcomes(found)
        assert (outcome.status, provider.calls - before) == ("complete", paid)
        (outcome,) = await outcomes(found)
        assert (outcome.already, provider.calls - before) == (True, paid)
        assert await compare(found.runs, outcome.session.id) == ("equal", [])
        assert provider.calls - before == paid
        assert runs.run("one").session.parentage is None


async def test_a_fork_that_was_cut_off_goes_on_and_pays_nothing_twice(hold, session_of, forked):
    async with FakeProvider() as provider:
        await hold(session_of(), provider)
        before = provider.billed
        provider.script.append(Rule(match=r"Participant 2\n</you>[\s\S]*your turn", status=400))
        found = forked(provider, {"at": "1", "times": "2"})
        held = await outcomes(found)
        assert [outcome.status for outcome in held] == ["", ""]
        provider.script.clear()
        held = await outcomes(found)
        assert [outcome.status for outcome in held] == ["complete", "complete"]
        assert provider.billed - before == 2 * 4


async def test_a_probe_asks_the_survey_alone_and_leaves_the_run_as_it_is(
    hold, session_of, runs, home
):
    async with FakeProvider() as provider:
        await hold(session_of(), provider)
        files = {path.name: path.read_bytes() for path in runs.path("one").iterdir()}
        before = provider.calls
        parent = parent_of(runs, "one")
        made = plan_probes(parent, "each", 1, [], home)
        target = place_of_branches(runs, "probes")
        addresses = dict.fromkeys(provider.models, provider.base_url)
        found = branches(made.sessions, (runs, "one"), target, QUICK, [], addresses)
        (outcome,) = await outcomes(found)
        assert (outcome.status, provider.calls - before) == ("complete", 2)
        run = found.runs.run(outcome.session.id)
        assert run.transcript == parent.run.transcript[:1]
        assert {path.name: path.read_bytes() for path in runs.path("one").iterdir()} == files


async def test_a_probe_whose_survey_was_refused_is_told_by_the_exit_code(command, tmp_path):
    async with FakeProvider() as provider:
        at = f"base_url={provider.base_url}"
        await command(
            *("run", "-q", "study=s", "topic=ccps", "treatment=normative", "group.size=2"),
            *("rounds=1", "model=local", at),
        )
        provider.script.append(Rule(message={"content": None, "refusal": "No."}))
        code, _, err = await command("probe", "s", "--after", "1", at)
        assert code == 3, err
        code, out, _ = await command("probe", "s", "--json")
        found = json.loads(out)
        assert (code, found["probes_held"], found["probes_incomplete"]) == (3, 1, 1)


@pytest.mark.filterwarnings("error")
async def test_a_fork_whose_past_cannot_be_written_leaves_no_connection_open(
    hold, session_of, forked
):
    told = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, found: told.append(found))
    async with FakeProvider() as provider:
        await hold(session_of(), provider)
        calls = provider.calls
        found = forked(provider, {"at": "2"})
        (session,) = found.plan.sessions
        (found.runs.path(session.id) / "inherited.jsonl").mkdir(parents=True)
        with pytest.raises(OSError, match=r"inherited\.jsonl"):
            await prepare_branches(found)
        gc.collect()
        assert (told, provider.calls) == ([], calls)
