"""The same faults through litellm: a representative selection, in one module because litellm takes
seconds to import.
"""

import asyncio

import pytest
from fake_provider import LOGIN_PAGE, FakeProvider, Rule
from faults.test_servers import SAID, choice, refusals

from delibsim.models.limits import Budget, Limits

KEY = "sk-canary-0123456789abcdef"
QUICK = Limits(longest_wait=0.02)


@pytest.fixture(scope="module", autouse=True)
def imported():
    """Import litellm once, before any clock runs."""
    import delibsim.models.clients.litellm as module

    return module


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def settings_of(name="local", **options):
    return {
        "name": name,
        "kind": "litellm",
        "model": f"openai/{name}",
        "max_tokens": 500,
        "temperature": 0.0,
        "timeout": 20,
    } | options


@pytest.fixture
def put(ask, voices_at):
    """Ask through litellm."""

    async def go(provider, calls=1, limits=QUICK, budget=None, **options):
        models = {name: settings_of(name, **options) for name in provider.models}
        return await ask(
            provider, calls, voices=voices_at(provider, limits, budget), settings=models
        )

    return go


async def test_an_answer_with_its_usage(put):
    async with FakeProvider() as provider:
        completion = await put(provider, price={"input": 1.0, "cached": 0.1, "output": 2.0})
    assert completion.status == "ok"
    assert provider.calls == 1
    usage = completion.usage
    assert usage.input_tokens + usage.output_tokens == provider.billed_tokens
    assert usage.cost_usd == pytest.approx(
        (usage.input_tokens * 1.0 + usage.output_tokens * 2.0) / 1e6
    )
    assert (completion.model_requested, completion.model_returned) == ("openai/local", "local")
    assert (completion.response_id, completion.fingerprint) == ("chatcmpl-1", "fp_fake")
    assert provider.requests[0].body["seed"] == completion.parameters_sent["seed"]
    assert set(completion.parameters_sent) == {"max_tokens", "temperature", "seed"}


PASSING = {
    "429": (Rule(status=429, headers={"Retry-After": "0.01"}), "rate_limited", False),
    "500": (Rule(status=500), "unavailable", False),
    "502 with a page": (Rule(status=502, body="<html>bad gateway</html>"), "unavailable", False),
    "503": (Rule(status=503), "unavailable", False),
    "529": (Rule(status=529), "unavailable", False),
    "a reset in mid-body": (Rule(cut=0.5), "unavailable", True),
    "a login page": (Rule(body=LOGIN_PAGE), "unavailable", True),
    "truncated JSON": (Rule(body='{"id": "x", "choices": [{"mess'), "unavailable", True),
    "nothing": (Rule(body=""), "unavailable", True),
    "no choices": (Rule(payload={"choices": []}), "unavailable", True),
    "an ending called error": (Rule(choice={"finish_reason": "error"}), "unavailable", True),
}


@pytest.mark.parametrize("case", PASSING)
async def test_passing_faults_are_tried_again_by_us_and_by_nobody_else(put, case):
    rule, status, billed = PASSING[case]
    fields = {
        name: getattr(rule, name)
        for name in ("status", "headers", "body", "cut", "payload", "choice")
    }
    async with FakeProvider([Rule(**fields, times=2)]) as provider:
        completion = await put(provider)
    assert completion.status == "ok"
    assert provider.calls == 3
    assert [(attempt.status, attempt.possibly_billed) for attempt in completion.tries] == [
        (status, billed)
    ] * 2


FINAL = {
    "402": (Rule(status=402), "quota"),
    "403 by moderation": (
        Rule(status=403, body={"error": {"message": "flagged by moderation"}}),
        "refusal",
    ),
    "404": (
        Rule(status=404, body={"error": {"message": "The model does not exist"}}),
        "bad_request",
    ),
    "400": (
        Rule(status=400, body={"error": {"message": "messages must not be empty"}}),
        "bad_request",
    ),
    "context overflow": (Rule(context=5), "context_overflow"),
    "a refusal field": (Rule(message={"content": None, "refusal": "I cannot."}), "refusal"),
    "a filter": (Rule(choice={"finish_reason": "content_filter"}), "content_filter"),
    "length": (Rule(choice={"finish_reason": "length"}), "length"),
    "an ending nobody knows": (Rule(choice={"finish_reason": "weird"}), "unreadable"),
    "null with reasoning spent": (
        Rule(
            message={"content": None},
            usage={"completion_tokens_details": {"reasoning_tokens": 500}},
        ),
        "unreadable",
    ),
}


@pytest.mark.parametrize("case", FINAL)
async def test_what_is_not_tried_again(put, case):
    rule, status = FINAL[case]
    async with FakeProvider([rule]) as provider:
        completion = await put(provider)
    assert completion.status == status
    assert completion.detail
    assert provider.calls == 1


async def test_a_wrong_key_is_tried_once_and_printed_nowhere(put):
    async with FakeProvider(key="another") as provider:
        completions = await put(provider, 10)
    assert {completion.status for completion in completions} == {"authentication"}
    assert provider.calls == 1
    assert "[hidden]" in completions[0].detail
    assert "canary" not in repr(completions)


async def test_the_newest_retry_after_counts_and_an_absurd_one_is_capped_and_told(put):
    script = [
        Rule(status=429, headers={"Retry-After": wait}, times=1)
        for wait in ("0.3", "0.05", "86400")
    ]
    async with FakeProvider(script) as provider:
        completion = await put(provider, limits=Limits(longest_wait=0.5))
    assert completion.status == "ok"
    assert [attempt.waited for attempt in completion.tries] == [0.3, 0.05, 0.5]
    assert "asks to wait 86400 s" in completion.tries[2].detail
    assert provider.requests[1].came - provider.requests[0].came >= 0.3


@pytest.mark.parametrize(
    "rule", [Rule(trickle=0.05), Rule(delay=2.0)], ids=["a byte now and then", "too late"]
)
async def test_a_total_deadline(put, rule):
    async with FakeProvider([Rule(times=1), rule]) as provider:
        assert (await put(provider)).status == "ok"
        completion = await asyncio.wait_for(put(provider, timeout=0.4, limits=Limits(tries=1)), 4)
    assert (completion.status, completion.possibly_billed) == ("timeout", True)
    assert provider.calls == 2


async def test_missing_usage_is_unknown_although_litellm_fills_in_zeros(put):
    budget = Budget()
    async with FakeProvider([Rule(payload={"usage": None})]) as provider:
        completion = await put(provider, budget=budget, price={"input": 1.0, "output": 1.0})
    assert completion.status == "ok"
    assert (
        completion.usage.input_tokens,
        completion.usage.output_tokens,
        completion.usage.cost_usd,
    ) == (None, None, None)
    assert budget.spent_tokens >= provider.billed_tokens


async def test_another_model_is_recorded_and_a_failure_in_strict_mode(put):
    async with FakeProvider([Rule(payload={"model": "local-mini"})]) as provider:
        lenient, strict = await put(provider), await put(provider, strict=True)
    assert (lenient.status, lenient.model_returned) == ("ok", "local-mini")
    assert (strict.status, strict.detail) == (
        "bad_request",
        "asked openai/local, answered by local-mini (strict)",
    )
    assert provider.calls == 2


async def test_refused_parameters(put):
    async with FakeProvider([Rule(rejects="temperature"), Rule(rejects="max_tokens")]) as provider:
        first, second = await put(provider, 2)
    assert provider.calls == 2 + 2
    for completion in (first, second):
        assert completion.status == "ok"
        assert completion.parameters_dropped == ("temperature",)
        assert set(completion.parameters_sent) == {"max_completion_tokens", "seed"}


async def test_what_litellm_knows_the_model_not_to_take_is_not_sent_and_recorded(put):
    async with FakeProvider(models=("gpt-5-mini",)) as provider:
        completion = await put(provider, top_p=0.9)
    assert completion.status == "ok"
    assert set(completion.parameters_dropped) == {"temperature", "top_p"} - set(
        provider.requests[0].body
    )
    assert set(completion.parameters_sent) & {"temperature", "top_p"} == {
        "temperature",
        "top_p",
    } & set(provider.requests[0].body)


async def test_thinking_is_moved_apart(put):
    script = [
        Rule(text="<think>Hm.</think>Yes.", times=1),
        Rule(text="Yes.", message={"reasoning_content": "Hm."}),
    ]
    async with FakeProvider(script) as provider:
        for _ in range(2):
            completion = await put(provider)
            assert (completion.text, completion.reasoning) == ("Yes.", "Hm.")


async def test_a_session_is_the_same_through_either_client(hold, session_of):
    """Same server, same seeds: the two clients differ in how they ask, not in what is asked or
    read.
    """
    lean = settings_of(kind="openai_compatible", model="local")
    async with FakeProvider() as provider:
        by_litellm = await hold(session_of({"local": settings_of()}, id="litellm"), provider)
        directly = await hold(session_of({"local": lean}, id="direct"), provider)
    assert by_litellm.run.status == "complete"
    assert by_litellm.run.responses == directly.run.responses
    assert by_litellm.run.transcript == directly.run.transcript
    assert provider.calls == provider.billed == 12


@pytest.mark.parametrize(
    ("settings", "level", "text"),
    [
        ({}, "warning", "price and context window are unknown"),
        ({"model": "openai/gpt-4o-mini"}, "note", "its key is there"),
        ({"model": "nobody/anything"}, "error", "litellm does not know 'nobody/anything'"),
        ({"model": "anthropic/claude-opus-4-5"}, "note", "is known"),
    ],
)
async def test_the_preflight(session_of, voices_at, settings, level, text):
    async with FakeProvider() as provider:
        voices = voices_at(provider)
        found = await voices.preflight([session_of({"local": settings_of(**settings)})])
        await voices.close()
    # Models are withdrawn as time goes by: a warning of that has tests of its own.
    lasting = [finding for finding in found if "was withdrawn on" not in finding.text]
    assert [finding.level for finding in lasting] == [level]
    assert text in lasting[0].text
    assert provider.calls == 0


async def test_the_preflight_finds_a_missing_key_and_a_missing_server(
    session_of, voices_at, monkeypatch
):
    session = session_of({"local": settings_of()})
    async with FakeProvider() as provider:
        pass
    found = await voices_at(provider).preflight([session])
    assert [
        (finding.level, "no connection to http://127.0.0.1" in finding.text) for finding in found
    ] == [("error", True)]
    monkeypatch.delenv("OPENAI_API_KEY")
    found = await voices_at(provider).preflight([session])
    assert [(finding.level, "OPENAI_API_KEY" in finding.text) for finding in found] == [
        ("error", True)
    ]


@pytest.mark.parametrize(
    "said",
    [said for said in SAID if said.get("dropped") != "reasoning_effort"],  # which litellm drops
    ids=lambda one: f"{one['server']}, {one['code']}",
)
async def test_what_a_server_says_has_its_status_through_litellm(said):
    from delibsim.models.clients.litellm import LiteLLM

    rule = Rule(status=said["code"], body=said["body"], times=refusals(said))
    async with FakeProvider([rule, Rule(text="A")]) as provider:
        client = LiteLLM("local", "openai/local", provider.base_url)
        completion = await client.complete(choice("A or B?"), 1)
    assert completion.status == said["status"]
    assert completion.parameters_dropped == ((said["dropped"],) if "dropped" in said else ())
