"""A budget and calls that cost more than was expected of them: whatever the estimates, the costs
and the concurrency, it is exceeded by no more than calls in flight exceeded their own worst case.
"""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import quick

from delibsim.models.base import Capabilities, Completion, Usage
from delibsim.models.clients.settings import Price
from delibsim.models.limits import Budget, Gate, Limits, Overrun, TokenWindow
from delibsim.models.retry import RetryingModel, worst_case
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Message, Prompt, Purpose

PRICE = Price(0.001, 0.001, 0.002, "test")
MOST = 50  # output tokens


class Bill:
    """What the calls of several models came to, and by how much those that were in flight together
    exceeded their own worst case, at most.
    """

    def __init__(self):
        self.usd, self.tokens = 0.0, 0
        self.over_usd, self.over_tokens = 0.0, 0
        self.in_flight = {}

    def sent(self, call, worst, used):
        asked = worst.input_tokens + worst.output_tokens
        tokens = used.input_tokens + used.output_tokens
        self.usd, self.tokens = self.usd + used.cost_usd, self.tokens + tokens
        over = max(0.0, used.cost_usd - worst.cost_usd), max(0, tokens - asked)
        self.in_flight[call] = over
        self.over_usd = max(self.over_usd, sum(usd for usd, _ in self.in_flight.values()))
        self.over_tokens = max(self.over_tokens, sum(n for _, n in self.in_flight.values()))


class Scripted:
    """A model whose calls come to the next (share of the worst case, turns of the loop, status,
    whether its use is told) of a script.
    """

    capabilities = Capabilities(max_tokens=MOST, answering=True)

    def __init__(self, name, script, bill):
        self.name, self._script, self._bill = name, iter(script), bill

    async def complete(self, prompt, seed):
        share, turns, status, told = next(self._script, (0.5, 1, "ok", True))
        if not told:
            share = min(share, 1.0)  # what is above the worst case and not told, nobody can know
        worst = worst_case(prompt.messages, PRICE, MOST)
        used = Usage(
            input_tokens=int(worst.input_tokens * share),
            output_tokens=int(worst.output_tokens * share),
            cost_usd=worst.cost_usd * share,
        )
        call = object()
        self._bill.sent(call, worst, used)
        for _ in range(turns):
            await asyncio.sleep(0)
        del self._bill.in_flight[call]
        return Completion("Well.", status, usage=used if told else Usage(), possibly_billed=True)


def prompt(letters):
    return Prompt((Message("user", "a" * letters),), Words(), Purpose("Participant 1", "turn 1"))


outcomes = st.tuples(
    st.floats(0, 30), st.integers(0, 5), st.sampled_from(["ok", "unavailable"]), st.booleans()
)


@settings(quick, max_examples=150)
@given(
    scripts=st.lists(st.lists(outcomes, max_size=40), min_size=1, max_size=3),
    letters=st.lists(st.integers(1, 2000), min_size=1, max_size=30),
    concurrency=st.integers(1, 20),
    budget=st.floats(0, 20),
    in_tokens=st.booleans(),
)
def test_a_budget_is_exceeded_by_no_more_than_calls_in_flight_exceeded_their_worst_case(
    scripts, letters, concurrency, budget, in_tokens
):
    limits = Limits(concurrency=concurrency, tries=3, longest_wait=0.0)
    most = {"tokens": int(budget * 1000)} if in_tokens else {"usd": budget}
    bill = Bill()

    async def go():
        shared, gate = Budget(**most), Gate(limits)
        models = []
        for k, script in enumerate(scripts):
            model = Scripted(f"m{k}", script, bill)
            models.append(RetryingModel(model, gate, limits, shared, PRICE))
        calls = []
        for seed, n in enumerate(letters):
            calls.append(models[seed % len(models)].complete(prompt(n), seed))
        return await asyncio.gather(*calls), shared

    completions, shared = asyncio.run(go())
    assert {completion.status for completion in completions} <= {"ok", "unavailable", "budget"}
    if in_tokens:
        assert bill.tokens <= shared.tokens + bill.over_tokens
    else:
        assert bill.usd <= budget + bill.over_usd + 1e-9
    assert shared.spent_usd >= bill.usd - 1e-9, "what is not told counts with its worst case"
    assert shared.spent_tokens >= bill.tokens


def test_an_overrun_raises_later_worst_cases_by_the_largest_factor():
    known = Overrun().after(2.0, 1.0)
    assert known.of(5.0) == 5.0, "what stays below changes nothing"
    known = known.after(2.0, 6.0).after(4.0, 8.0)
    assert known.of(5.0) == 15.0
    assert Overrun().after(0.0, 3.0).of(0.0) == 3.0, "where nothing was expected"


async def test_a_budget_learns_from_each_model_for_itself():
    budget = Budget(usd=10.0)
    worst = Usage(input_tokens=10, output_tokens=10, cost_usd=1.0)
    held = budget.reserve("dear", worst)
    budget.settle(held, Usage(input_tokens=10, output_tokens=10, cost_usd=4.0))
    assert budget.reserve("cheap", worst).usd == 1.0
    assert budget.reserve("dear", worst).usd == 4.0
    assert budget.reserve("dear", worst) is None


async def test_calls_that_cannot_be_afforded_wait_for_no_minute():
    """Neither the tokens nor the requests of a minute are kept for what will not be sent."""
    limits = Limits(concurrency=1, requests_per_minute=1, tokens_per_minute=10_000)
    bill = Bill()
    model = Scripted("m", [(20.0, 2, "ok", True)], bill)
    asked = RetryingModel(model, Gate(limits), limits, Budget(usd=0.2), PRICE)
    calls = [asked.complete(prompt(90), seed) for seed in range(8)]
    async with asyncio.timeout(5):
        completions = await asyncio.gather(*calls)
    statuses = [completion.status for completion in completions]
    assert statuses.count("ok") == 1
    assert statuses.count("budget") == 7
    detail = completions[-1].detail
    assert "limits.budget_usd" in detail
    assert "m used up to 20 times what a call may at most" in detail


@pytest.mark.parametrize("over", ["input", "output"])
async def test_a_minute_reserves_more_where_calls_use_more_than_they_may(over):
    window = TokenWindow(1000, period=60)
    worst = Usage(input_tokens=100, output_tokens=100)
    used = Usage(
        input_tokens=400 if over == "input" else 100, output_tokens=400 if over == "output" else 100
    )
    window.settle(await window.take(worst), used)
    await window.take(worst)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(window.take(worst), 0.05)
