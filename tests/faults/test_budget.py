"""A budget in tokens or dollars stops a study before it is exceeded, and the study goes
on when it is raised.
"""

import pytest
from fake_provider import FakeProvider, Rule
from faults.conftest import settings_of

from delibsim import Usage
from delibsim.conduct.cost import budget_of, spent
from delibsim.conduct.launch.folder import write_batches
from delibsim.models.clients.settings import price_of
from delibsim.models.limits import Budget, Limits

PRICE = {"input": 1000.0, "cached": 1000.0, "output": 1000.0}
EIGHT = Limits(concurrency=8, longest_wait=0.02)


@pytest.mark.parametrize("usd", [False, True])
async def test_calls_in_flight_cannot_exceed_a_budget_between_them(ask, voices_at, usd):
    async with FakeProvider(latency=0.01) as provider:
        budget = Budget(usd=9.0) if usd else Budget(tokens=9000)
        voices = voices_at(provider, EIGHT, budget)
        completions = await ask(provider, 400, voices=voices, price=PRICE, max_tokens=300)
    statuses = [completion.status for completion in completions]
    assert set(statuses) == {"ok", "budget"}
    assert statuses.count("ok") == provider.calls == provider.billed
    assert provider.billed_tokens <= 9000
    assert budget.spent_tokens == provider.billed_tokens, "what calls did not use is put back"
    assert budget.spent_usd == pytest.approx(provider.billed_tokens * PRICE["input"] / 1e6)
    assert provider.most_in_flight <= 8


async def test_what_is_in_flight_counts_with_its_worst_case(ask, voices_at):
    async with FakeProvider([Rule(text="word " * 200)], latency=0.05) as provider:
        completions = await ask(
            provider, 9, voices=voices_at(provider, EIGHT, Budget(tokens=2000)), max_tokens=400
        )
    assert provider.billed_tokens <= 2000
    assert 2 <= provider.calls <= 5
    assert "limits.budget_tokens" in next(c.detail for c in completions if c.status == "budget")


async def test_a_session_stops_before_its_budget_and_goes_on_when_it_is_raised(
    hold, session_of, runs, log
):
    session = session_of(n=4, rounds=1)
    async with FakeProvider() as provider:
        first = await hold(session, provider, EIGHT, Budget(tokens=8000))
        assert first.run is None
        assert "budget" in first.fault
        assert not runs.held("one")
        assert 0 < provider.billed < 12
        assert provider.billed_tokens <= 8000
        usd, tokens = spent(runs)
        assert (usd, tokens) == (0.0, provider.billed_tokens)
        again = await hold(session, provider, EIGHT, Budget(tokens=8000, spent_tokens=tokens))
        assert again.run is None
        assert provider.billed_tokens <= 8000, "what an earlier process spent counts"
        _, tokens = spent(runs)
        raised = await hold(session, provider, EIGHT, Budget(tokens=80_000, spent_tokens=tokens))
    assert raised.run.status == "complete"
    assert provider.calls == provider.billed == 12, "nothing was paid twice"
    assert [entry["completion"]["status"] for entry in log()].count("ok") == 12


async def test_what_was_possibly_billed_still_counts_in_the_next_process(hold, session_of, runs):
    """An answer that never arrived may have been charged: it is part of what a study has spent."""
    async with FakeProvider([Rule(cut=0.5)]) as provider:
        held = await hold(session_of(), provider, Limits(tries=2, longest_wait=0.01))
    assert held.run is None
    assert provider.billed_tokens > 0
    assert spent(runs)[1] >= provider.billed_tokens


async def test_the_command_refuses_a_cap_in_dollars_without_a_price(command):
    async with FakeProvider() as provider:
        code, out, err = await command(
            "run",
            "model=local",
            f"base_url={provider.base_url}",
            "group.size=2",
            "model.price=null",
            "limits.budget_usd=5",
        )
    assert code == 2
    assert out == ""
    assert "its price is unknown, so a budget in USD cannot be kept" in err
    assert "nothing was asked and nothing was paid" in err
    assert provider.calls == 0


async def test_the_command_stops_at_its_budget_and_goes_on_with_a_higher_one(command, tmp_path):
    async with FakeProvider() as provider:
        arguments = [
            "run",
            "model=local",
            f"base_url={provider.base_url}",
            "study=capped",
            "group.size=2",
            "rounds=1",
            "model.max_tokens=300",
        ]
        code, _, err = await command(*arguments, "limits.budget_tokens=5000")
        assert code == 4
        assert "budget" in err
        assert "the same command goes on from there" in err
        assert provider.billed_tokens <= 5000
        assert not list(tmp_path.glob("runs/capped/*/run.json"))
        code, _, err = await command(*arguments, "limits.budget_tokens=50000")
    assert code == 0, err
    assert provider.calls == provider.billed == 6
    assert len(list(tmp_path.glob("runs/capped/*/run.json"))) == 1


def test_the_worst_case_counts_what_is_written_into_a_cache():
    """Anthropic asks a quarter more for input that it caches; the figures are those of its price
    list for Claude Opus 4.5.
    """
    price = price_of("anthropic/claude-opus-4-5-20251101")
    assert price.worst(1_000_000, 1_000) == pytest.approx(6.25 + 0.025)
    assert price.cost(Usage(input_tokens=1_000_000, output_tokens=1_000)) == pytest.approx(
        5.0 + 0.025
    )


DEAR = {"input": 1.0, "cached": 1.0, "output": 10.0}
"""A price by which a call costs less than a cent at most, where the provider bills 0.30 USD."""


async def test_calls_that_wait_for_a_seat_see_what_those_before_them_have_cost(ask, voices_at):
    async with FakeProvider([Rule(usage={"cost": 0.3})], latency=0.01) as provider:
        budget = Budget(usd=1.0)
        voices = voices_at(provider, Limits(concurrency=2), budget)
        completions = await ask(provider, 64, voices=voices, price=DEAR, max_tokens=300)
    statuses = [completion.status for completion in completions]
    assert statuses.count("budget") == 64 - provider.calls
    assert provider.calls * 0.3 <= 1.0
    assert budget.spent_usd == pytest.approx(provider.calls * 0.3)
    refused = next(c for c in completions if c.status == "budget")
    assert "local used up to" in refused.detail


async def test_calls_that_wait_for_a_seat_see_what_those_before_them_have_used(ask, voices_at):
    usage = {"prompt_tokens": 3000, "completion_tokens": 300}
    async with FakeProvider([Rule(usage=usage)], latency=0.01) as provider:
        voices = voices_at(provider, Limits(concurrency=2), Budget(tokens=10_000))
        completions = await ask(provider, 20, voices=voices, price=DEAR, max_tokens=300)
    assert provider.billed_tokens <= 10_000
    assert {completion.status for completion in completions} == {"ok", "budget"}


async def test_attempts_after_a_fault_see_what_was_spent_meanwhile(ask, voices_at):
    script = [Rule(status=500, at=tuple(range(2, 9))), Rule(usage={"cost": 0.3})]
    async with FakeProvider(script, latency=0.01) as provider:
        voices = voices_at(provider, Limits(concurrency=3, longest_wait=0.05), Budget(usd=1.0))
        completions = await ask(provider, 30, voices=voices, price=DEAR, max_tokens=300)
    assert provider.billed * 0.3 <= 1.0
    assert {completion.status for completion in completions} == {"ok", "budget"}


async def test_the_next_process_knows_by_how_much_calls_exceeded_their_worst_case(
    hold, session_of, runs
):
    settings = {"local": settings_of("local", max_tokens=300, price=DEAR)}
    session = session_of(settings, n=4, rounds=1)
    limits = Limits(concurrency=4, budget_usd=1.0)
    async with FakeProvider([Rule(usage={"cost": 0.3})]) as provider:
        assert (await hold(session, provider, limits, budget_of(limits, runs))).run is None
        asked = provider.calls
        raised = Limits(concurrency=4, budget_usd=asked * 0.3 + 0.5)
        assert (await hold(session, provider, raised, budget_of(raised, runs))).run is None
    assert provider.calls == asked + 1, "a second call of 0.30 USD could not be paid"
    share = write_batches(runs, [session], raised, (0.5, None), 1, budget_of(raised, runs).overruns)
    worker = budget_of(share.limits[0], runs, [session.id], share.overruns)
    assert worker.usd - worker.spent_usd == pytest.approx(0.5)
    assert worker.overruns["local"].usd.factor > 10
