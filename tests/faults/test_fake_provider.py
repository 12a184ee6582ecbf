"""The fake provider itself: it answers what it is asked, counts what it would bill, and can be
started by hand.
"""

import asyncio
import json
import signal
import sys
from dataclasses import replace

import aiohttp
import pytest
from fake_provider import FakeProvider, Rule, script_of, survey_in, tokens

from delibsim import Survey


async def post(provider, text="Hello", **body):
    """Status, headers and decoded body of one request."""
    whole = {
        "model": "local",
        "messages": [{"role": "user", "content": f"<you>\nAnn\n</you>\n{text}"}],
        **body,
    }
    async with (
        aiohttp.ClientSession() as client,
        client.post(f"{provider.base_url}/chat/completions", json=whole) as response,
    ):
        return response.status, response.headers, json.loads(await response.text())


async def test_it_answers_as_the_citizen_does(hold, session_of):
    async with FakeProvider() as provider:
        by_http = await hold(session_of(id="http"), provider)
        citizen = {"local": {"kind": "citizen", "population": 1}}
        at_home = await hold(session_of(citizen, id="home"), provider)
    assert provider.calls == provider.billed == 6
    assert by_http.run.transcript == at_home.run.transcript
    # The errors of single answers differ, because the seeds that providers take have 31 bits.
    assert [response.order for response in by_http.run.responses] == [
        response.order for response in at_home.run.responses
    ]
    assert by_http.run.status == "complete"


async def test_it_answers_a_forced_distribution(hold, session_of):
    session = session_of()
    forced = replace(session.survey, scale_min=-2, scale_max=2, forced_distribution=(1, 1, 2, 1, 1))
    async with FakeProvider() as provider:
        held = await hold(replace(session, survey=forced), provider)
    assert held.run.status == "complete"
    for response in held.run.responses:
        assert sorted(response.answers[item.id] for item in forced.considerations) == [
            -2,
            -1,
            0,
            0,
            1,
            2,
        ]


def test_it_reads_a_survey_off_a_prompt(session_of):
    survey = session_of().survey
    shown = "\n\n".join(
        f"<{tag}>\n" + "\n".join(f"{item.id}. {item.text}" for item in items) + f"\n</{tag}>"
        for tag, items in (
            ("considerations", survey.considerations),
            ("preferences", survey.preferences),
        )
    )
    read = survey_in(
        f"{shown}\nRate them with a whole number from 1 (strongly disagree) to 7 (strongly agree)."
    )
    assert isinstance(read, Survey)
    assert read.items == survey.items
    assert (read.scale_min, read.scale_max) == (survey.scale_min, survey.scale_max)


async def test_tokens_are_counted_and_prefixes_are_cached():
    async with FakeProvider() as provider:
        long = "We should plant trees along the river, and ask who pays for them. " * 20
        first = (await post(provider, long))[2]
        second = (await post(provider, long + "And then?"))[2]
        other = (await post(provider, "Another matter altogether, " + long))[2]
    usages = [payload["usage"] for payload in (first, second, other)]
    assert provider.billed_tokens == sum(usage["total_tokens"] for usage in usages)
    assert usages[0]["prompt_tokens"] == tokens("[user]\n<you>\nAnn\n</you>\n" + long)
    cached = [usage["prompt_tokens_details"]["cached_tokens"] for usage in usages]
    assert cached[0] == 0
    assert usages[0]["prompt_tokens"] - 16 <= cached[1] <= usages[0]["prompt_tokens"]
    assert cached[2] < 16
    assert [payload["id"] for payload in (first, second, other)] == [
        "chatcmpl-1",
        "chatcmpl-2",
        "chatcmpl-3",
    ]


async def test_rules_apply_in_order_by_model_by_text_by_number_and_as_often_as_they_say():
    script = [
        Rule(model="other", text="other"),
        Rule(match="apples", text="apples", times=1),
        Rule(at=(4,), status=418, headers={"X-Tea": "yes"}),
        Rule(rejects="top_k"),
        Rule(text="rest"),
    ]
    async with FakeProvider(script, models=("local", "other")) as provider:
        said = [
            await post(provider, "apples", model="other"),
            await post(provider, "apples"),
            await post(provider, "apples"),
        ]
        tea, rejected = await post(provider), await post(provider, top_k=1)
        unknown = await post(provider, model="nobody")
    assert [payload["choices"][0]["message"]["content"] for _, _, payload in said] == [
        "other",
        "apples",
        "rest",
    ]
    assert (tea[0], tea[1]["X-Tea"]) == (418, "yes")
    assert (rejected[0], rejected[2]["error"]["param"]) == (400, "top_k")
    assert (unknown[0], unknown[2]["error"]["code"]) == (404, "model_not_found")
    assert (provider.calls, provider.billed) == (6, 3)
    assert len(provider.where(model="other")) == 1


async def test_a_key_is_wanted_where_there_is_one():
    async with FakeProvider(key="right") as provider:
        assert (await post(provider))[0] == 401
        whole, right = f"{provider.base_url}/models", {"Authorization": "Bearer right"}
        async with aiohttp.ClientSession(headers=right) as client, client.get(whole) as response:
            assert [model["id"] for model in (await response.json())["data"]] == ["local"]


def test_a_script_from_json():
    (rule,) = script_of(
        '[{"status": 429, "headers": {"Retry-After": "1"}, "at": [1, 2], "times": 2}]'
    )
    assert rule == Rule(status=429, headers={"Retry-After": "1"}, at=(1, 2), times=2)
    with pytest.raises(SystemExit, match="stauts"):
        script_of('[{"stauts": 429}]')


@pytest.mark.slow
async def test_started_by_hand_it_serves_a_local_model_as_a_user_would_run_one(command, tmp_path):
    script = tmp_path / "faults.json"
    script.write_text(
        json.dumps(
            [
                {"status": 503, "times": 2},
                {"match": "Participant 2\n</you>", "text": "Hm.", "times": 1},
            ]
        )
    )
    words = ["-m", "delibsim.testing.provider", "--port", "0", "--latency", "0.01"]
    words += ["--script", str(script)]
    pipe = asyncio.subprocess.PIPE
    server = await asyncio.create_subprocess_exec(sys.executable, *words, stdout=pipe)
    line = (await asyncio.wait_for(server.stdout.readline(), 60)).decode()
    address = line.split(" at ")[1].split(";")[0]
    code, out, err = await command(
        "run",
        "model=local",
        f"base_url={address}",
        "group.size=2",
        "rounds=1",
        "limits.longest_wait=0.01",
    )
    server.send_signal(signal.SIGTERM)
    ended = (await server.communicate())[0].decode()
    assert code == 0, err
    assert f"note: local: {address} answers" in err
    assert "1 unreadable" in out
    assert "0.00 USD" in out
    # Six calls of the session, one that was asked again, and two that were refused with 503.
    assert ended.startswith("9 calls, 7 billed, ")
    assert server.returncode == 0


async def test_what_no_number_of_tokens_states_is_billed_as_it_was_counted(ask):
    async with FakeProvider([Rule(usage={"prompt_tokens": None})]) as provider:
        answer = await ask(provider)
        assert (answer.status, answer.usage.input_tokens) == ("ok", None)
        assert provider.billed == 1
        assert provider.billed_tokens > 0
