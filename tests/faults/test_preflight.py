"""What can be found out before the first paid call is found out, within five seconds,
and nothing is asked or written.
"""

import asyncio
import socket
import time
from dataclasses import replace

import pytest
from fake_provider import FakeProvider, Rule

from delibsim import ModelPool, WrongInput, compose
from delibsim.models.limits import Limits


def settings_of(name, **options):
    return {"name": name, "kind": "openai_compatible", "model": name, "max_tokens": 500} | options


async def findings(session, addresses, limits=None):
    """(level, text) of every finding, and the seconds it took."""
    voices = ModelPool(limits or Limits(), addresses=addresses)
    begun = time.monotonic()
    found = await voices.preflight([session])
    await voices.close()
    return [(finding.level, finding.text) for finding in found], time.monotonic() - begun


async def test_a_server_that_knows_the_model_is_a_note(session_of):
    async with FakeProvider() as provider:
        found, _ = await findings(session_of(), {"local": provider.base_url})
    assert found == [("note", f"{provider.base_url} answers")]
    assert (provider.probes, provider.calls) == (1, 0)


async def test_a_model_the_server_does_not_know(session_of):
    async with FakeProvider(models=("llama", "qwen")) as provider:
        found, _ = await findings(session_of(), {"local": provider.base_url})
    assert found == [
        ("error", f"{provider.base_url} does not know the model 'local'; it has: llama, qwen")
    ]
    assert provider.calls == 0


async def test_a_key_the_server_does_not_accept(session_of, monkeypatch):
    monkeypatch.setenv("A_KEY", "sk-wrong-0000-0000-0000-0000")
    async with FakeProvider(key="another") as provider:
        found, _ = await findings(
            session_of({"local": settings_of("local", key_env="A_KEY")}),
            {"local": provider.base_url},
        )
    assert found == [("error", f"{provider.base_url} does not accept the key in A_KEY (HTTP 401)")]
    assert provider.calls == 0


async def test_a_key_that_is_not_there(session_of, monkeypatch):
    monkeypatch.delenv("A_KEY", raising=False)
    async with FakeProvider() as provider:
        found, _ = await findings(
            session_of({"local": settings_of("local", key_env="A_KEY")}),
            {"local": provider.base_url},
        )
    assert found == [
        ("error", f"set the environment variable A_KEY to the key of {provider.base_url}")
    ]
    assert (provider.probes, provider.calls) == (0, 0)


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:{port}/v1", "http://no-such-host.invalid/v1"]
)
async def test_no_connection(session_of, address):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found, seconds = await findings(session_of(), {"local": address.format(port=port)})
    assert [level for level, _ in found] == ["error"]
    assert "no connection to " in found[0][1]
    assert seconds < 5


async def test_servers_that_accept_and_say_nothing_are_given_up_together(session_of):
    async def silence(reader, writer):
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silence, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    names = ("alpha", "beta", "gamma")
    found, seconds = await findings(session_of(names, n=3), dict.fromkeys(names, address))
    server.close()
    assert [level for level, _ in found] == ["error"] * 3
    assert seconds < 5


async def test_a_server_without_a_list_of_models_is_a_note(session_of):
    async with FakeProvider() as provider:
        found, _ = await findings(session_of(), {"local": provider.base_url.removesuffix("/v1")})
    assert [level for level, _ in found] == ["note"]
    assert "lists no models" in found[0][1]


@pytest.mark.parametrize(
    ("limits", "settings", "fault"),
    [
        (Limits(budget_usd=1.0), {}, "its price is unknown, so a budget in USD cannot be kept"),
        (Limits(budget_usd=1.0), {"price": {"input": 1.0}}, "its price is unknown"),
        (Limits(budget_tokens=1000), {"max_tokens": None}, "set model.max_tokens"),
    ],
)
async def test_a_budget_that_cannot_be_kept(session_of, limits, settings, fault):
    async with FakeProvider() as provider:
        found, _ = await findings(
            session_of({"local": settings_of("local", **settings)}),
            {"local": provider.base_url},
            limits,
        )
    errors = [text for level, text in found if level == "error"]
    assert len(errors) == 1
    assert fault in errors[0]
    assert provider.calls == 0


async def test_a_prompt_longer_than_the_context_window(session_of):
    settings = {"local": settings_of("local", model="gpt-4")}
    session = session_of(settings, n=2, rounds=30)
    session = replace(session, topic=replace(session.topic, background="water " * 8000))
    async with FakeProvider(models=("gpt-4",)) as provider:
        found, _ = await findings(session, {"local": provider.base_url})
    assert [
        text for level, text in found if level == "error" and "more than the 8192 it takes" in text
    ]


async def test_listeners_of_a_debate_do_not_speak_and_make_no_prompt_longer(tmp_path):
    overrides = ("format=debate", "motion=voting", "audience=30")
    session = compose(*overrides, home=tmp_path)
    settings = {name: settings_of("local", model="gpt-4") for name in session.models}
    session = replace(session, models=settings)
    async with FakeProvider(models=("gpt-4",)) as provider:
        addresses = dict.fromkeys(settings, provider.base_url)
        found, _ = await findings(session, addresses)
    assert [text for level, text in found if level == "error"] == []


async def test_a_model_that_the_price_list_says_was_withdrawn_is_a_warning(session_of):
    gone = "1024-x-1024/dall-e-2"
    async with FakeProvider(models=(gone, "gpt-4o")) as provider:
        for model, warned in (
            (gone, ["by the price list, 1024-x-1024/dall-e-2 was withdrawn on 2026-05-12"]),
            ("gpt-4o", []),
        ):
            found, _ = await findings(
                session_of({"local": settings_of("local", model=model)}),
                {"local": provider.base_url},
            )
            assert [text for level, text in found if level == "warning"] == warned


@pytest.mark.parametrize(
    ("settings", "fault"),
    [({"kind": "openai_compatibel"}, "openai_compatible"), ({"temprature": 0.5}, "temprature")],
)
async def test_settings_that_make_no_model(session_of, settings, fault):
    with pytest.raises(WrongInput, match=fault):
        await findings(
            session_of({"local": settings_of("local", **settings)}),
            {"local": "http://127.0.0.1:1/v1"},
        )


async def test_a_key_and_a_user_cannot_both_be_sent(session_of, monkeypatch):
    monkeypatch.setenv("A_KEY", "sk-canary-0000-0000-0000-0000")
    with pytest.raises(WrongInput, match="holds a user and its key_env a key") as caught:
        await findings(
            session_of({"local": settings_of("local", key_env="A_KEY")}),
            {"local": "http://me:canary-word@127.0.0.1:1/v1"},
        )
    assert "canary" not in str(caught.value)


async def test_the_command_stops_before_anything_is_asked_or_written(command, tmp_path):
    async with FakeProvider(models=("llama",)) as provider:
        begun = time.monotonic()
        code, out, err = await command(
            "run", "model=local", f"base_url={provider.base_url}", "study=s"
        )
        assert time.monotonic() - begun < 20
    assert (code, out) == (2, "")
    assert "does not know the model 'local'; it has: llama" in err
    assert "Traceback" not in err
    assert provider.calls == 0
    assert not list(tmp_path.rglob("*.json*"))


@pytest.mark.parametrize(("key", "at_first"), [("", 4), ("sk-right-0000-0000-0000-0000", 1)])
async def test_without_a_key_an_answered_preflight_proves_the_model_so_no_call_goes_alone(
    ask, session_of, monkeypatch, key, at_first
):
    monkeypatch.setenv("A_KEY", key)
    async with FakeProvider([Rule(at=[1], delay=0.3)], key=key) as provider:
        settings = {"local": settings_of("local", key_env="A_KEY" if key else "")}
        voices = ModelPool(Limits(concurrency=4), addresses={"local": provider.base_url})
        await voices.preflight([session_of(settings)])
        asked = asyncio.create_task(ask(provider, 4, voices=voices, settings=settings))
        await asyncio.sleep(0.2)
        calls = provider.calls
        await asked
    assert calls == at_first
