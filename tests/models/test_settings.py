"""Settings of hosted models: what cannot be is refused before anything is asked or written, and no
key is repeated.
"""

from importlib.metadata import entry_points

import pytest
from cases import cases_of

from delibsim import WrongInput
from delibsim.models.base import capabilities_of
from delibsim.models.clients.settings import KINDS, check_address, check_settings, provider_of
from delibsim.plugins import CLIENTS, load, without_effect

CASES = cases_of(__file__)
SERVER = {
    "kind": "openai_compatible",
    "model": "m",
    "temperature": 0.7,
    "key_env": "A_KEY",
    "timeout": 5,
    "extra": {"top_k": 5},
}


@pytest.mark.parametrize(("wrong", "message"), CASES["a_setting_that_cannot_be_is_named"])
def test_a_setting_that_cannot_be_is_named(wrong, message):
    check_settings("x", SERVER)
    with pytest.raises(WrongInput) as refused:
        check_settings("x", SERVER | wrong)
    assert str(refused.value).startswith(message)


def test_a_model_of_litellm_has_to_be_named():
    with pytest.raises(WrongInput, match=r"set model\.model=PROVIDER/NAME"):
        check_settings("x", {"kind": "litellm", "model": ""})
    check_settings(
        "x", {"kind": "openai_compatible", "model": ""}
    )  # the preflight lists what the server has


@pytest.mark.parametrize(
    "extra",
    [
        {"api_key": "canary-in-a-setting"},
        {"headers": {"Authorization": "canary-in-a-setting"}},
        {"headers": [{"x-api-key": "canary-in-a-setting"}]},
        {"user_token": "canary-in-a-setting"},
        {"note": "Bearer sk-canaryinasetting0123456789"},
        {"note": "the value canary-of-the-environment is a secret"},
    ],
)
@pytest.mark.parametrize("kind", ["openai_compatible", "citizen"])
def test_a_key_at_any_depth_is_refused_and_not_repeated(monkeypatch, extra, kind):
    monkeypatch.setenv("MY_API_KEY", "canary-of-the-environment")
    with pytest.raises(WrongInput, match="looks like a key") as refused:
        check_settings("x", SERVER | {"kind": kind, "extra": extra})
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "u:canary@127.0.0.1:80/v1",
        "localhost:8000/v1",
        "ftp://host/v1",
        "http://",
        "http://host:x/v1",
        "http://[::1",
    ],
)
def test_an_address_that_is_none_is_refused_and_not_repeated(url):
    check_address("x", SERVER, "http://u:word@[::1]:8000/v1?key=abc")
    with pytest.raises(WrongInput, match="begins with http://") as refused:
        check_address("x", SERVER, url)
    assert "canary" not in str(refused.value)


def test_the_kinds_of_hosted_models_are_the_clients_that_are_installed():
    installed = entry_points(group="delibsim.models")
    assert {entry.name for entry in installed if entry.module.startswith(CLIENTS)} == set(KINDS)
    assert [without_effect(kind) for kind in KINDS] == [frozenset()] * len(KINDS)


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/v1", "http://u:secret@127.0.0.1:9/v1/"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_provider_known_from_settings_is_the_one_that_the_client_declares(kind, address):
    settings = {"kind": kind, "model": "anthropic/claude"}
    model = load("delibsim.models", kind, name="x", model=settings["model"], base_url=address)
    assert provider_of("x", settings, address) == capabilities_of(model).provider
