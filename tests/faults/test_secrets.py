"""A key in the environment, in an address or in an error text is in no file of the study
and in no output.
"""

import base64
import html
import json
import re
from dataclasses import replace
from urllib.parse import quote, quote_plus

import pytest
from fake_provider import FakeProvider, Rule

from delibsim import Runs, WrongInput
from delibsim.asking.kinds.rating import panel_of
from delibsim.models.clients.faults import public_url, scrub, secrets
from delibsim.planning.compose import plan
from delibsim.store.tables.sheets import TABLES

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
    code, out, err = await command("export", "s", "--format", "both", env={"SOME_ENTRANCE": KEY})
    assert (code, err) == (0, "")
    files = [path for path in (tmp_path / "runs" / "s" / "tables").iterdir() if path.is_file()]
    assert {f"{table}.{form}" for table in TABLES for form in ("csv", "parquet")} <= {
        path.name for path in files
    }
    assert any(path.name == "calls.csv" and b"[hidden]" in path.read_bytes() for path in files)
    assert "canary" not in out
    for path in files:
        assert b"canary" not in path.read_bytes(), path.name


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


ODD = 'canary-key/01+23==\\"&é-456789abcdef'


def _base64(text):
    return base64.b64encode(text.encode()).decode()


def _forms(secret):
    """A secret in the forms in which servers and their logs repeat it."""
    once = quote(secret, safe="")
    plain, together = _base64(secret), _base64(f"me:{secret}")
    return [
        secret,
        once,
        once.lower(),
        quote(once, safe=""),
        quote_plus(secret),
        json.dumps(secret)[1:-1],
        json.dumps(json.dumps(secret)),
        json.dumps(secret, ensure_ascii=False).replace("/", "\\/"),
        html.escape(secret),
        repr(secret),
        plain,
        plain.rstrip("="),
        base64.urlsafe_b64encode(secret.encode()).decode(),
        quote(plain, safe=""),
        plain.replace("/", "\\/"),
        together,
        together.rstrip("="),
        _base64(f"Bearer {secret}"),
        secret.encode().hex(),
    ]


@pytest.mark.parametrize("form", range(len(_forms(ODD))))
def test_a_secret_is_hidden_in_every_form(form):
    said = _forms(ODD)[form]
    shown = scrub(f"rejected: {said} (see the manual)", [ODD, f"me:{ODD}"])
    assert shown.replace('"', "").replace("'", "").replace("\\", "") == (
        "rejected: [hidden] (see the manual)"
    )


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Basic bWU6dzByZA== was refused", "Basic [hidden] was refused"),
        ("Basic authentication is needed", "Basic authentication is needed"),
        ("http://me:word@host/v1?api_key=abc&n=1", "http://[hidden]@host/v1?api_key=[hidden]&n=1"),
        ("skating-championship-of-the-year", "skating-championship-of-the-year"),
    ],
)
def test_what_looks_like_a_secret_is_hidden_and_words_are_not(said, shown):
    assert scrub(said, []) == shown


@pytest.mark.parametrize("client", ["openai_compatible", "litellm"])
async def test_a_server_that_repeats_what_it_was_sent(command, tmp_path, client):
    """`Authorization` repeated by a server, in an error first and then beside its answers."""
    forms = [form for secret in (KEY, WORD) for form in _forms(secret)]
    sent = {"Authorization": f"Bearer {KEY}", "credentials": _base64(f"{USER}:canary@word")}
    said = json.dumps({"you sent": sent, "that is": forms})
    echoes = [
        Rule(status=500, body={"error": {"message": said[:3000]}}, times=1),
        Rule(payload={"id": f"id-{_base64(KEY)}", "system_fingerprint": said}),
    ]
    async with FakeProvider(echoes) as provider:
        address = provider.base_url.replace("http://", f"http://{USER}:{WORD}@")
        name, variable, kind = "local", "OTHER_API_KEY", ()
        if client == "litellm":
            address, name, variable = provider.base_url, "openrouter", "OPENAI_API_KEY"
            kind = ("model.model=openai/local", "model.extra={}")
        code, out, err = await command(
            "run",
            f"model={name}",
            *kind,
            f"base_url='{address}'",
            "study=s",
            "group.size=2",
            "rounds=1",
            "limits.longest_wait=0.01",
            env={variable: KEY},
        )
        assert provider.calls >= 6
    assert code == 0, err
    written = everything(tmp_path)
    for line in ("tries", "fingerprint"):
        assert re.search(rf'"{line}": ?[^\n]*\[hidden\]', written), line
    secrets_sent = (KEY,) if client == "litellm" else (KEY, "canary@word", WORD)
    for text in (out, err, written):
        for secret in secrets_sent:
            for form in _forms(secret):
                assert form not in text


async def test_a_preflight_says_no_secret(command, tmp_path):
    async with FakeProvider(models=(f"not-{_base64(KEY)}", quote(KEY))) as provider:
        arguments = ("run", "model=local", f"base_url={provider.base_url}", "study=s")
        code, out, err = await command(
            *arguments, "model.key_env=SOME_ENTRANCE", env={"SOME_ENTRANCE": KEY}
        )
    assert code == 2
    assert "[hidden]" in err
    assert _base64(KEY) not in out + err
    assert "canary" not in out + err


@pytest.mark.parametrize("key", ["sk-Canary0123456789abcdefgh", "my_sk-canary0123456789abcdef"])
@pytest.mark.parametrize(
    "setting",
    [
        "study={}",
        "runs=runs/{}",
        "model.name={}",
        "treatment.name={}",
        "+model.extra.label={}",
        "group.models=[{}]",
    ],
)
def test_a_name_that_looks_like_a_key_is_refused(tmp_path, setting, key):
    with pytest.raises(WrongInput) as caught:
        plan(["model=local", setting.format(key)], tmp_path)
    assert "anary" not in scrub(str(caught.value), secrets())
    assert not list(tmp_path.iterdir())


def test_a_secret_of_the_environment_names_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "canary0123456789")
    with pytest.raises(WrongInput) as caught:
        plan(["study=about_canary0123456789"], tmp_path)
    assert "canary" not in str(caught.value)


def test_no_panel_and_no_study_is_named_after_a_key(tmp_path):
    key = "sk-canary0123456789abcdefgh"
    session = plan([], tmp_path).session
    with pytest.raises(WrongInput, match="panel"):
        panel_of(session, key)
    with pytest.raises(WrongInput, match="study"):
        Runs(tmp_path, key).plan(session)
    with pytest.raises(WrongInput, match="session"):
        Runs(tmp_path, "s").plan(replace(session, id=key))
