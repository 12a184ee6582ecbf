"""A key in the environment, in an address or in an error text is in no file of the study
and in no output.
"""

import pytest
from fake_provider import FakeProvider, Rule

from delibsim import WrongInput
from delibsim.models.clients.faults import public_url, scrub, secrets
from delibsim.planning.compose import plan

KEY = "canary-key-0123456789abcdef"
SIGN = "canarysignature"
USER = "canaryuser"
WORD = "canary%40word"


def everything(folder):
    """All that lies in a folder: names and contents."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return "\n".join(
        f"{path}\n{path.read_text(encoding='utf-8', errors='replace')}" for path in files
    )


ECHO = {
    "error": {
        "message": f"Incorrect API key provided: {KEY}. Bearer {KEY}; ?sign={SIGN}",
        "code": "invalid_api_key",
    }
}


async def test_no_key_is_written_or_printed_by_a_run_that_fails(command, tmp_path):
    async with FakeProvider(
        [Rule(status=500, body=ECHO, at=(3,)), Rule(status=401, body=ECHO, at=(6,))]
    ) as provider:
        arguments = [
            "run",
            "model=local",
            f"base_url='{provider.base_url}?sign={SIGN}'",
            "study=s",
            "group.size=2",
            "rounds=1",
        ]
        code, out, err = await command(
            *arguments,
            "model.key_env=SOME_ENTRANCE",
            "limits.longest_wait=0.01",
            env={"SOME_ENTRANCE": KEY},
        )
        assert provider.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    assert code == 4, err
    assert provider.calls >= 6
    assert "authentication" in err
    assert "[hidden]" in err
    written = everything(tmp_path)
    assert "HTTP 500" in written
    assert "[hidden]" in written
    for text in (out, err, written):
        assert "canary" not in text
        assert SIGN not in text


async def test_no_user_or_password_of_an_address_is_written_or_printed(command, tmp_path):
    echo = {"error": {"message": f"user {USER} with canary%40word, canary@word", "type": "x"}}
    async with FakeProvider([Rule(status=503, body=echo, times=1)]) as provider:
        address = provider.base_url.replace("http://", f"http://{USER}:{WORD}@")
        arguments = [
            "run",
            "model=local",
            f"base_url='{address}'",
            "study=s",
            "group.size=2",
            "rounds=1",
            "limits.longest_wait=0.01",
        ]
        code, out, err = await command(*arguments)
        assert provider.requests[0].headers["Authorization"].startswith("Basic ")
        assert provider.calls == 7
    assert code == 0, err
    said = everything(tmp_path)
    assert "[hidden]" in said
    for text in (out, err, said):
        assert "canary" not in text


@pytest.mark.parametrize(
    "setting",
    [
        "model.key_env=sk-canary0123456789abcdefgh",
        "+model.api_key=canary-canary-canary",
        "base_url=http://h/v1?sign=canary",
        "base_url='http://me:canary@h/v1",
        "base_url=http://me:canary@h/v1,http://me:canary@i/v1",
        "base_url='http://[me:canary@h/v1",
    ],
)
def test_a_key_that_stands_where_it_must_not_is_refused_without_being_repeated(tmp_path, setting):
    with pytest.raises(WrongInput) as caught:
        plan(["model=local", "study=s", setting], tmp_path)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:word@host:8000/v1?key=abc&x=", "https://host:8000/v1?key=hidden&x=hidden"),
        ("https://token@host/v1#part", "https://host/v1"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
    ],
)
def test_the_address_that_may_be_recorded(url, shown):
    assert public_url(url) == shown


def test_secrets_are_hidden_in_every_form_they_take(monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "canary-in-the-environment")
    monkeypatch.setenv("HARMLESS", "a-word-that-stays")
    hidden = secrets(["https://user-name:pass%40word@host/v1?sig=a%2Bb%2Fc&n=1"])
    text = (
        "canary-in-the-environment a-word-that-stays user-name pass%40word pass@word a%2Bb%2Fc"
        " a+b/c 1"
    )
    assert (
        scrub(text, hidden)
        == "[hidden] a-word-that-stays [hidden] [hidden] [hidden] [hidden] [hidden] 1"
    )
