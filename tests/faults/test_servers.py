"""What servers of the field say and do: refusals of the request under any code, replies they cannot
read, windows that they tell, and prompts that they cut without a word.
"""

import json
import re
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import pytest
import yaml
from fake_provider import FakeProvider, Rule
from faults.conftest import QUICK, settings_of
from ollama_server import FakeOllama
from typer.testing import CliRunner

from delibsim import Message, ModelPool, Prompt
from delibsim.cli.status import app as status
from delibsim.conduct.hold import hold_session
from delibsim.models.clients.ollama import Ollama
from delibsim.models.clients.openai_compatible import OpenAICompatible
from delibsim.models.limits import Limits
from delibsim.prompts.forms.choice import ChoiceForm
from delibsim.prompts.prompt import Purpose
from delibsim.store.manifest import Manifest
from delibsim.testing.answers import tokens

SAID = yaml.safe_load(Path(__file__).with_name("said.yaml").read_text(encoding="utf-8"))


def choice(words):
    """A prompt that asks for one of two texts."""
    asked = Prompt((Message("user", words),), ChoiceForm(), Purpose("Judge", "pair", 0))
    return replace(asked, enforced="json_schema")


def refusals(said):
    """How often a server says so: a schema is sent in two formats before it is left out."""
    return 2 if said.get("dropped") == "response_format" else 1


@pytest.mark.parametrize("said", SAID, ids=lambda one: f"{one['server']}, {one['code']}")
async def test_what_a_server_says_has_its_status_and_is_learned(said):
    rule = Rule(status=said["code"], body=said["body"], times=refusals(said))
    async with FakeProvider([rule, Rule(text='{"answer": "A"}')]) as provider:
        options = {"reasoning_effort": "low", "max_tokens": 50}
        client = OpenAICompatible("local", "local", provider.base_url, **options)
        first = await client.complete(choice("A or B?"), 1)
        again = await client.complete(choice("A or B?"), 2)
        await client.close()
    dropped = (said["dropped"],) if "dropped" in said else ()
    assert (first.status, first.parameters_dropped) == (said["status"], dropped)
    assert (again.status, again.parameters_dropped) == ("ok", dropped)
    assert provider.calls == 2 + (refusals(said) if dropped else 0), "what is learned is not sent"


WINDOW = 1000
"""Tokens: the last prompts of three rounds among three have some more, the first half as many."""
CUTTING = {
    "in front, at the back or in the middle": lambda n: min(n, WINDOW),
    "to half of the window": lambda n: n if n <= WINDOW else WINDOW // 2 + 20,
}


def counting(count):
    """A rule of a server that says it was sent so many tokens, by how many it was sent."""
    return Rule(usage=lambda call: {"prompt_tokens": count(tokens(call.text))})


@pytest.mark.parametrize("cut", CUTTING)
async def test_a_prompt_that_was_cut_gives_no_answer_and_no_run(hold, session_of, runs, log, cut):
    session = session_of(n=3, rounds=3)
    runs.settle(Manifest(runs.study, {}, {}))
    async with FakeProvider([counting(CUTTING[cut])]) as provider:
        held = await hold(session, provider)
        assert held.run is None
        assert held.reason.code == "truncated_prompt"
        assert "it needs a larger window, or a shorter session fits" in held.fault
        assert [entry["completion"]["status"] for entry in log()].count("truncated_prompt") == 1
        assert provider.calls == len(log()), "the same prompt would be cut again"
        said = CliRunner().invoke(status, [str(runs.folder)])
        assert "cut prompts that are longer than its window" in said.output
        provider.script.clear()
        again = await hold(session, provider)
        assert again.run.status == "complete"
    answered = {json.dumps(entry["purpose"]): entry for entry in log()}
    for entry in answered.values():
        told = "\n\n".join(f"[{one['role']}]\n{one['content']}" for one in entry["messages"])
        assert entry["completion"]["usage"]["input_tokens"] == tokens(told), "a cut one is data"


HONEST = {
    "of whole prompts": lambda n: n,
    "by another unit": lambda n: n // 2,
    "twice": lambda n: n * 2,
}


@pytest.mark.parametrize("count", HONEST)
async def test_counts_in_proportion_are_no_cut(hold, session_of, count):
    async with FakeProvider([counting(HONEST[count])]) as provider:
        held = await hold(session_of(n=3, rounds=3), provider)
    assert (held.status, held.unchecked) == ("complete", [])


UNCHECKED = {
    "the server counts prompts of different lengths alike": lambda n: 700,
    "the server does not count what it was sent": lambda n: None,
}


@pytest.mark.parametrize("why", UNCHECKED)
async def test_counts_that_say_nothing_are_told_once(hold, session_of, runs, log, why):
    runs.settle(Manifest(runs.study, {}, {}))
    async with FakeProvider([counting(UNCHECKED[why])]) as provider:
        held = await hold(session_of(n=3, rounds=3), provider)
    assert held.status == "complete"
    (line,) = held.unchecked
    assert line.startswith(f"not checked for cut prompts: local: {why}")
    assert sum(bool(entry["completion"]["detail"]) for entry in log()) == 1
    for _ in range(2):  # the second look knows it from the first
        assert CliRunner().invoke(status, [str(runs.folder)]).output.count(line) == 1


async def test_counts_of_what_no_cache_holds_are_no_cut(hold, session_of):
    seen = [""]

    def counted(call):
        shared = max(sum(takewhile(bool, map(str.__eq__, text, call.text))) for text in seen)
        seen.append(call.text)
        return {"prompt_tokens": 1 + (len(call.text) - shared) // 4, "prompt_tokens_details": None}

    async with FakeProvider([Rule(usage=counted)]) as provider:
        held = await hold(session_of(n=3, rounds=3), provider)
    assert held.status == "complete"
    assert "a part of a prompt" in "".join(held.unchecked)


async def findings(session_of, provider, rounds=3, **options):
    """What a preflight finds, by level."""
    pool = ModelPool(Limits(), addresses={"local": provider.base_url})
    session = session_of({"local": settings_of("local", **options)}, n=3, rounds=rounds)
    found = await pool.preflight([session])
    await pool.close()
    return {level: [one.text for one in found if one.level == level] for level in LEVELS}


LEVELS = ("error", "warning", "note")
TOLD = {
    "vLLM": {"listed": {"max_model_len": 2048}},
    "llama.cpp, in its list": {"listed": {"meta": {"n_ctx": 2048, "n_ctx_train": 8192}}},
    "OpenRouter": {"listed": {"context_length": 2048}},
    "llama.cpp": {"pages": {"/props": {"default_generation_settings": {"n_ctx": 2048}}}},
    "Ollama": {"pages": {"/api/ps": {"models": [{"name": "local", "context_length": 2048}]}}},
    "LM Studio": {
        "pages": {"/api/v0/models": {"data": [{"id": "local", "loaded_context_length": 2048}]}}
    },
    "TGI": {"pages": {"/info": {"max_total_tokens": 2048}}},
    "LiteLLM": {
        "pages": {
            "/model/info": {
                "data": [{"model_name": "local", "model_info": {"max_input_tokens": 2048}}]
            }
        }
    },
    "nobody": {
        "pages": {"/props": [], "/api/ps": {"models": 1}, "/info": {"max_total_tokens": "x"}}
    },
}


@pytest.mark.parametrize("server", TOLD)
async def test_a_window_that_a_server_tells_must_hold_the_longest_prompt_and_its_reply(
    session_of, server
):
    async with FakeProvider(**TOLD[server]) as provider:
        found = await findings(session_of, provider, max_tokens=4096)
        assert provider.calls == 0
        if server == "nobody":
            assert found == {"error": [], "warning": [], "note": [f"{provider.base_url} answers"]}
            return
        assert found["note"] == [f"{provider.base_url} answers; its window has 2,048 tokens"]
        (fault,) = found["error"]
        assert "and its reply 4,096: up to 9,032 more than the window of 2,048" in fault
        assert "give the server a window of 11264 (model.num_ctx=11264 with kind ollama" in fault
        (doubt,) = (await findings(session_of, provider, 1, max_tokens=100))["warning"]
        assert "procedure.transcript_window=N" in doubt, "it may fit, if nobody speaks at length"


def at_ollama(**options):
    return settings_of("local", kind="ollama", model="llama3.2:latest") | options


async def test_ollama_gets_the_window_with_every_call_and_is_told_not_to_cut(session_of, runs):
    settings = at_ollama(num_ctx=6000, reasoning_effort="low", top_p=0.9)
    async with FakeOllama() as server:
        pool = ModelPool(QUICK, addresses={"local": f"{server.base_url}/v1"})
        session = session_of({"local": settings}, n=2)
        (note,) = [one.text for one in await pool.preflight([session]) if one.level == "note"]
        assert note.endswith("its window has 6,000 tokens")
        model = pool.of(session)["local"]
        chosen = await model.complete(choice("A or B?"), 1)
        held = await hold_session(session_of({"local": at_ollama()}, n=2), runs, pool)
        await pool.close()
    assert (chosen.status, chosen.text, chosen.reasoning) == ("ok", '{"answer": "A"}', "Well.")
    assert chosen.parameters_dropped == ("reasoning_effort",)
    assert chosen.parameters_sent["num_ctx"] == 6000
    assert chosen.usage.input_tokens
    assert chosen.usage.output_tokens
    _, sent, *others = server.calls
    assert (sent["stream"], sent["truncate"], sent["shift"]) == (False, False, False)
    assert sent["format"]["type"] == "object"
    assert sent["options"] == {
        "temperature": 0.0,
        "top_p": 0.9,
        "num_predict": 500,
        "seed": 1,
        "num_ctx": 6000,
    }
    assert held.status == "complete"
    assert "num_ctx" not in others[0]["options"], "the window of the server, where none is set"


async def test_ollama_refuses_a_prompt_that_does_not_fit_and_the_model_has_a_window(session_of):
    async with FakeOllama() as server:
        client = Ollama("local", "llama3.2:latest", server.base_url, num_ctx=100)
        assert (await client.complete(choice("word " * 999), 1)).status == "context_overflow"
        wide = Ollama("local", "llama3.2:latest", server.base_url, num_ctx=99_999)
        assert [one.level for one in await wide.preflight()] == ["note"]
        assert wide.capabilities.window == 8192
        await client.close()
        await wide.close()


async def test_a_model_is_checked_with_one_question_of_the_study(command, tmp_path):
    async with FakeProvider(
        [Rule(text="No.", at=(3,))], listed={"max_model_len": 32768}
    ) as provider:
        words = ("list", "models", "local", "--check", f"base_url={provider.base_url}")
        code, out, err = await command(*words, "model.structured=false")
        assert (code, err) == (0, "")
        assert provider.calls == 1
        assert "local: window: 32,768 tokens\nlocal: longest prompt: at most" in out
        assert re.search(r"local: pre: ok, \d+ tokens in, \d+ out in .* a second", out)
        assert "1 session, 0 held already, 1 to be held" in out
        await command(*words, "model.structured=false")
        code, out, _ = await command(*words, "model.structured=false")
        assert code == 3
        assert "local: pre: unreadable" in out
    assert (await command(*words))[0] == 2
    assert (await command("list", "topics", "--check"))[0] == 2
    assert not list(tmp_path.rglob("*.json*")), "nothing is written"
