"""An answer that was paid for is neither lost nor bought again, and no redirect is followed: with
every client alike.
"""

import json
import socket

import pytest
from aiohttp import web
from fake_provider import FakeProvider, Rule

from delibsim import ModelPool
from delibsim.models.limits import Limits

DEEP = "[" * 100_000 + "]" * 100_000
CLIENTS = {
    "openai_compatible": "local",
    "litellm openai": "openai/local",
    "litellm openrouter": "openrouter/local",
    "litellm deepseek": "deepseek/local",
}
"""Models by client: litellm reaches providers through the SDK of OpenAI or by clients of its own."""


@pytest.fixture(params=CLIENTS)
def settings(request, monkeypatch):
    """The settings of a model called `local`, asked through each client."""
    for provider in ("OPENAI", "OPENROUTER", "DEEPSEEK"):
        monkeypatch.setenv(f"{provider}_API_KEY", "sk-canary-0123456789abcdef")
    kind = request.param.partition(" ")[0]
    model = CLIENTS[request.param]
    plain = {"name": "local", "kind": kind, "model": model, "max_tokens": 500, "timeout": 20}
    return {"local": plain}


def body_with(usage="", message="", extra=""):
    """The body of a response whose answer is "I agree.", with members added as they are."""
    used = f'"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12{usage}'
    said = f'"role": "assistant", "content": "I agree."{message}'
    choice = f'{{"index": 0, "finish_reason": "stop", "message": {{{said}}}}}'
    named = '"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "local"'
    return f'{{{named}, "choices": [{choice}], "usage": {{{used}}}{extra}}}'


ODD = {
    "a member that is nested deeply": Rule(body=body_with(extra=f', "debug": {DEEP}')),
    "a message that is nested deeply": Rule(body=body_with(message=f', "debug": {DEEP}')),
    "a cost of 400 digits": Rule(body=body_with(usage=f', "cost": {"9" * 400}')),
    "a cost of 5000 digits": Rule(body=body_with(usage=f', "cost": {"9" * 5000}')),
    "a count of 400 digits": Rule(body=body_with(usage=f', "other_tokens": {"9" * 400}')),
    "a byte-order mark": Rule(body="\ufeff" + body_with()),
    "a header of 10 kB": Rule(body=body_with(), headers={"X-Debug": "x" * 10_000}),
    "a header of 100 kB": Rule(body=body_with(), headers={"X-Debug": "x" * 100_000}),
}


@pytest.mark.parametrize("case", ODD)
async def test_an_odd_answer_is_taken_as_it_is(ask, settings, case):
    async with FakeProvider([ODD[case]]) as provider:
        completion = await ask(provider, settings=settings)
    assert (completion.status, completion.text) == ("ok", "I agree.")
    assert (provider.calls, completion.tries) == (1, ())
    assert completion.usage.input_tokens == 9
    assert completion.usage.cost_usd is None or completion.usage.cost_usd < 1


async def test_a_cost_that_is_true_is_unknown_and_not_one_dollar(ask, settings):
    async with FakeProvider([Rule(usage={"cost": True})]) as provider:
        completion = await ask(provider, settings=settings)
    assert completion.status == "ok"
    assert completion.usage.cost_usd is None


@pytest.mark.parametrize("as_list", [True, False])
async def test_content_parts_that_refuse_are_a_refusal(ask, settings, as_list):
    part = {"type": "refusal", "refusal": "I cannot speak about that."}
    content = [part] if as_list else part
    async with FakeProvider([Rule(message={"content": content})]) as provider:
        completion = await ask(provider, settings=settings)
    assert (completion.status, completion.detail) == ("refusal", part["refusal"])
    assert provider.calls == 1


PARTS = [
    [{"type": "text", "text": "I "}, {"type": "text", "text": "agree."}],
    ["I ", "agree."],
    {"type": "text", "text": "I agree."},
]


@pytest.mark.parametrize("content", PARTS, ids=["parts", "texts", "a part"])
async def test_content_parts_that_are_texts_are_one_text(ask, settings, content):
    async with FakeProvider([Rule(message={"content": content})]) as provider:
        completion = await ask(provider, settings=settings)
    assert (completion.status, completion.text) == ("ok", "I agree.")
    assert provider.calls == 1


async def test_a_reply_that_is_nested_deeply_is_unreadable_and_asked_again(hold, session_of):
    reply = '{"C1": ' + DEEP + ', "C2": 5}'
    rules = [Rule(text=reply, at=(1,))]
    async with FakeProvider(rules) as provider:
        held = await hold(session_of(), provider)
    assert held.run is not None
    assert held.run.status == "complete"


class Elsewhere:
    """A server that answers everything with a redirect to a provider."""

    def __init__(self, target, code):
        self.target, self.code, self.asked = target, code, 0

    async def __aenter__(self):
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._redirect)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        listening = socket.create_server(("127.0.0.1", 0))
        await web.SockSite(self._runner, listening).start()
        self.base_url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        return self

    async def __aexit__(self, *_):
        await self._runner.cleanup()

    async def _redirect(self, request):
        self.asked += 1
        path = request.path.removeprefix("/v1")
        return web.Response(status=self.code, headers={"Location": self.target + path})


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
async def test_no_redirect_is_followed(ask, settings, code):
    async with FakeProvider() as provider, Elsewhere(provider.base_url, code) as elsewhere:
        pool = ModelPool(Limits(longest_wait=0.02), addresses={"local": elsewhere.base_url})
        completion = await ask(provider, voices=pool, settings=settings)
    assert completion.status == "bad_request"
    assert f"HTTP {code}: the address has moved to {provider.base_url}" in completion.detail
    assert (elsewhere.asked, provider.calls, len(completion.tries)) == (1, 0, 0)
    assert not completion.possibly_billed


@pytest.mark.parametrize("code", [301, 307])
async def test_no_redirect_is_followed_by_a_preflight(session_of, settings, code):
    async with FakeProvider() as provider, Elsewhere(provider.base_url, code) as elsewhere:
        pool = ModelPool(addresses={"local": elsewhere.base_url})
        issues = await pool.preflight([session_of(settings)])
        await pool.close()
    assert (provider.probes, provider.calls) == (0, 0)
    if settings["local"]["kind"] == "openai_compatible":
        assert [issue.level for issue in issues] == ["error"]
        assert f"HTTP {code}: the address has moved to {provider.base_url}" in issues[0].text


async def test_a_list_of_models_that_is_nested_deeply_is_no_list(session_of):
    app = web.Application()
    listed = json.dumps({"data": []})[:-1] + f', "debug": {DEEP}}}'

    async def answer(request):
        return web.Response(text=listed, content_type="application/json")

    app.router.add_get("/v1/models", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    listening = socket.create_server(("127.0.0.1", 0))
    await web.SockSite(runner, listening).start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    pool = ModelPool(addresses={"local": url})
    issues = await pool.preflight([session_of()])
    await pool.close()
    await runner.cleanup()
    assert [issue.level for issue in issues] == ["note"]
