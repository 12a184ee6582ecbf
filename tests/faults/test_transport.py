"""What a call comes to when the provider stalls, breaks, refuses or
talks nonsense (direct client).
"""

import asyncio
import itertools
from datetime import UTC, datetime

import pytest
from cases import cases_of
from fake_provider import LOGIN_PAGE, FakeProvider, Rule, http_date

from delibsim.models.clients.faults import retry_after
from delibsim.models.limits import Limits

CASES = cases_of(__file__)


def gaps(provider):
    """Seconds between one request and the next."""
    came = [call.came for call in provider.requests]
    return [later - earlier for earlier, later in itertools.pairwise(came)]


# 12: 429, and what the provider says about when to come back


async def test_the_newest_retry_after_is_honoured_whether_longer_or_shorter(ask):
    waits = ["0.05", "0.3", "0.1"]
    async with FakeProvider(
        [Rule(status=429, headers={"Retry-After": wait}, times=1) for wait in waits]
    ) as provider:
        completion = await ask(provider, limits=Limits(longest_wait=5))
    assert completion.status == "ok"
    assert (provider.calls, provider.billed) == (4, 1)
    assert [attempt.waited for attempt in completion.tries] == [0.05, 0.3, 0.1]
    assert all(gap >= asked for asked, gap in zip((0.05, 0.3, 0.1), gaps(provider), strict=True))


async def test_retry_after_as_a_date(ask):
    async with FakeProvider(
        [Rule(status=429, headers={"Retry-After": http_date(2)}, times=1)]
    ) as provider:
        completion = await ask(provider, limits=Limits(longest_wait=5))
    assert completion.status == "ok"
    assert provider.calls == 2
    assert 0.5 < completion.tries[0].waited <= 2
    assert gaps(provider)[0] >= completion.tries[0].waited


async def test_an_absurd_retry_after_is_capped_by_the_limits_and_told(ask):
    async with FakeProvider([Rule(status=429, headers={"Retry-After": "86400"})]) as provider:
        completion = await ask(provider, limits=Limits(longest_wait=0.02, tries=3))
    assert completion.status == "rate_limited"
    assert provider.calls == 3
    assert [attempt.waited for attempt in completion.tries] == [0.02, 0.02]
    for detail in (completion.detail, completion.tries[0].detail):
        assert "asks to wait 86400 s; limits.longest_wait allows 0.02 s" in detail
    assert completion.retry_after == 86400


@pytest.mark.parametrize("garbage", ["soon", "-5", "nan", "inf", "", "Fri, 99 Foo 2026", "1e400"])
async def test_a_retry_after_that_says_nothing_is_a_wait_of_our_own(ask, garbage):
    async with FakeProvider(
        [Rule(status=429, headers={"Retry-After": garbage}, times=1)]
    ) as provider:
        completion = await ask(provider)
    assert completion.status == "ok"
    assert provider.calls == 2
    assert 0.01 <= completion.tries[0].waited <= 0.02


async def test_reset_headers_without_retry_after(ask):
    headers = {
        "x-ratelimit-reset-requests": "50ms",
        "x-ratelimit-reset-tokens": "0.2s",
        "x-ratelimit-limit-requests": "60",
    }
    async with FakeProvider([Rule(status=429, headers=headers, times=1)]) as provider:
        completion = await ask(provider, limits=Limits(longest_wait=5))
    assert provider.calls == 2
    assert completion.tries[0].waited == 0.2
    assert gaps(provider)[0] >= 0.2


@pytest.mark.parametrize(("headers", "seconds"), CASES["how_long_to_wait"])
def test_how_long_to_wait(headers, seconds):
    assert retry_after(headers, datetime(2026, 11, 21, 10, 0, 0, tzinfo=UTC)) == seconds


# 13: a storm on one model


async def test_a_storm_on_one_model_leaves_the_seats_to_the_others(ask):
    others = ("beta", "gamma", "delta")
    storm = [
        Rule(model="alpha", times=1),
        Rule(model="alpha", status=429, headers={"Retry-After": "0.8"}, times=2),
    ]
    async with FakeProvider(storm, models=("alpha", *others), latency=0.005) as provider:
        calls = (
            [("alpha", "prove it")]
            + [("alpha", f"{i}") for i in range(6)]
            + [(name, f"{i}") for name in others for i in range(8)]
        )
        completions = await ask(provider, calls, limits=Limits(concurrency=2, longest_wait=5))
    assert {completion.status for completion in completions} == {"ok"}
    assert provider.by_model == {"alpha": 7 + 2, "beta": 8, "gamma": 8, "delta": 8}
    assert provider.most_in_flight == 2
    came = {name: [call.came for call in provider.where(model=name)] for name in provider.models}
    assert came["alpha"][3] - came["alpha"][1] >= 0.8
    assert max(came[name][-1] for name in others) < came["alpha"][3], (
        "the others waited for the storm on alpha"
    )


async def test_requests_within_a_closed_door_are_not_sent(ask):
    script = [Rule(times=1), Rule(status=429, headers={"Retry-After": "0.3"}, times=1)]
    async with FakeProvider(script) as provider:
        completions = await ask(provider, 20, limits=Limits(concurrency=1, longest_wait=5))
    assert {completion.status for completion in completions} == {"ok"}
    assert provider.calls == 21
    assert provider.requests[2].came - provider.requests[1].came >= 0.3


# 14: passing faults


@pytest.mark.parametrize("code", [408, 500, 502, 503, 504, 529])
async def test_two_faults_then_one_success_with_every_attempt_kept(ask, code):
    async with FakeProvider([Rule(status=code, times=2)]) as provider:
        completion = await ask(provider)
    assert completion.status == "ok"
    assert (provider.calls, provider.billed) == (3, 1)
    passing = "timeout" if code in (408, 504) else "unavailable"
    assert [(attempt.status, attempt.possibly_billed) for attempt in completion.tries] == [
        (passing, False)
    ] * 2
    assert all(f"HTTP {code}" in attempt.detail for attempt in completion.tries)


async def test_tries_are_counted_and_then_end(ask):
    async with FakeProvider([Rule(status=503)]) as provider:
        completion = await ask(provider, limits=Limits(tries=4, longest_wait=0.01))
    assert completion.status == "unavailable"
    assert (provider.calls, len(completion.tries)) == (4, 3)


async def test_an_outage_from_the_first_call_on_is_waited_out_by_all_calls_together(ask):
    async with FakeProvider([Rule(status=503)]) as provider:
        begun = asyncio.get_running_loop().time()
        completions = await ask(provider, 12, limits=Limits(tries=2, longest_wait=0.4))
        took = asyncio.get_running_loop().time() - begun
    assert {completion.status for completion in completions} == {"unavailable"}
    assert provider.calls == 24
    assert took < 12 * 0.2, "one after another they would have waited 0.2 s each at least"


# 15: what no further attempt can mend


async def test_a_wrong_key_is_tried_once_however_many_calls_wait(ask, monkeypatch):
    monkeypatch.setenv("A_KEY", "sk-canary-4711-4711-4711")
    async with FakeProvider(key="another") as provider:
        completions = await ask(provider, 20, key_env="A_KEY")
    assert {completion.status for completion in completions} == {"authentication"}
    assert provider.calls == 1
    assert not any("canary" in repr(completion) for completion in completions)
    assert "Incorrect API key provided: [hidden]" in completions[0].detail


async def test_a_key_withdrawn_later_costs_one_attempt_for_each_call_in_flight(ask):
    async with FakeProvider([Rule(times=1), Rule(status=401)]) as provider:
        completions = await ask(provider, 30, limits=Limits(concurrency=3, longest_wait=0.02))
    assert [completion.status for completion in completions].count("authentication") == 29
    assert provider.calls <= 1 + 3


async def test_an_empty_account_stops_its_model_alone(ask):
    async with FakeProvider([Rule(model="poor", status=402)], models=("poor", "rich")) as provider:
        completions = await ask(
            provider, [("poor", "1"), ("rich", "2"), ("poor", "3"), ("rich", "4")]
        )
    assert [completion.status for completion in completions] == ["quota", "ok", "quota", "ok"]
    assert provider.by_model == {"poor": 1, "rich": 2}


@pytest.mark.parametrize(("code", "body", "status"), CASES["what_is_not_tried_again"])
async def test_what_is_not_tried_again(ask, code, body, status):
    async with FakeProvider(
        [
            Rule(
                status=code,
                body=body,
                headers={"Location": "http://127.0.0.1:1/"} if code == 302 else {},
            )
        ]
    ) as provider:
        completion = await ask(provider)
    assert completion.status == status
    assert completion.detail.startswith(f"HTTP {code}: ")
    assert (provider.calls, provider.billed) == (1, 0)
    assert not completion.possibly_billed


# 17: answers that do not arrive


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
async def test_a_reset_in_mid_body(ask, share):
    async with FakeProvider([Rule(cut=share, times=1)]) as provider:
        completion = await ask(provider)
    assert completion.status == "ok"
    assert (provider.calls, provider.billed) == (2, 2)
    (broken,) = completion.tries
    assert (broken.status, broken.possibly_billed) == ("unavailable", True)
    assert "broke off" in broken.detail


async def test_a_byte_now_and_then_meets_the_total_deadline(ask):
    async with FakeProvider([Rule(trickle=0.05)]) as provider:
        begun = asyncio.get_running_loop().time()
        completion = await ask(provider, timeout=0.3, limits=Limits(tries=2, longest_wait=0.01))
        took = asyncio.get_running_loop().time() - begun
    assert (completion.status, completion.possibly_billed) == ("timeout", True)
    assert [attempt.possibly_billed for attempt in completion.tries] == [True]
    assert provider.calls == 2
    assert 0.6 <= took < 5


async def test_an_answer_after_our_timeout_was_billed_and_says_so(ask, voices_at):
    async with FakeProvider([Rule(delay=0.3)]) as provider:
        voices = voices_at(provider, Limits(tries=1))
        completion = await ask(provider, voices=voices, timeout=0.1)
        await asyncio.sleep(0.4)
    assert (completion.status, completion.possibly_billed) == ("timeout", True)
    assert (provider.calls, provider.billed) == (1, 1)
    assert completion.usage.cost_usd is None
    assert voices.budget.spent_tokens >= provider.billed_tokens


async def test_no_server_at_all(ask):
    async with FakeProvider() as provider:
        pass
    completion = await ask(provider, limits=Limits(tries=2, longest_wait=0.01))
    assert (completion.status, completion.possibly_billed) == ("unavailable", False)
    assert "no connection" in completion.detail
    assert provider.calls == 0


# 18: status 200, and no answer

TRANSIENT = CASES["TRANSIENT"] | {
    "a login page": [{"body": LOGIN_PAGE}, "unavailable", True],
    "JSON nested without end": [{"body": "[" * 100_000}, "unavailable", True],
}


@pytest.mark.parametrize("case", TRANSIENT)
async def test_two_hundred_without_an_answer_is_tried_again(ask, case):
    rule, status, billed = TRANSIENT[case]
    async with FakeProvider([Rule(**rule)]) as provider:
        completion = await ask(provider, limits=Limits(tries=3, longest_wait=0.01))
        assert (completion.status, completion.possibly_billed) == (status, billed)
        assert completion.detail
        assert provider.calls == 3
        provider.script.clear()
        assert (await ask(provider)).status == "ok"


OUTCOMES = CASES["OUTCOMES"]


@pytest.mark.parametrize("case", OUTCOMES)
async def test_an_answer_that_is_no_data_is_an_outcome_and_not_tried_again(ask, case):
    rule, status, told = OUTCOMES[case]
    async with FakeProvider([Rule(**rule)]) as provider:
        completion = await ask(provider)
    assert completion.status == status
    assert told in completion.detail
    assert (provider.calls, provider.billed) == (1, 1)
    assert completion.usage.output_tokens is not None


@pytest.mark.parametrize("ending", [None, "stop", "eos", "end_turn", "STOP", "complete"])
async def test_endings_of_a_whole_answer(ask, ending):
    async with FakeProvider([Rule(text="I agree.", choice={"finish_reason": ending})]) as provider:
        assert (await ask(provider)).text == "I agree."


async def test_numbers_and_characters_no_file_could_hold(ask):
    body = (
        '{"choices": [{"message": {"content": "half \\ud83d"}, "finish_reason": "stop"}], "model":'
        ' "m\\udc00", "usage": {"prompt_tokens": 10, "completion_tokens": true, "cost": NaN,'
        ' "prompt_tokens_details": "none"}}'
    )
    async with FakeProvider([Rule(body=body)]) as provider:
        completion = await ask(provider)
    assert (completion.status, completion.text, completion.model_returned) == (
        "ok",
        "half \ufffd",
        "m\ufffd",
    )
    assert (
        completion.usage.input_tokens,
        completion.usage.output_tokens,
        completion.usage.cost_usd,
    ) == (10, None, None)
