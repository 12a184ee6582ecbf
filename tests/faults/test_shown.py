"""What a provider says is shown safely, and odd responses in words: in real processes."""

import asyncio
import io
import json

import pytest
from fake_provider import FakeProvider, Rule
from rich.live import Live
from rich.table import Table

from delibsim.cli.terminal import CommandConsole, echo_json
from delibsim.store.runs import Runs

COMMANDS = "\x1b[31m\x1b]0;title\x07\x9b2J\u202egone\r\x08"
"""Sequences that colour, rename a window, clear a screen, turn text round and overwrite a line."""
SIZE = ("group.size=2", "rounds=1", "limits.tries=1")


def inert(text):
    return not set(text) & set("\x1b\x07\x9b\u202e\r\x08")


@pytest.mark.parametrize(
    "rule",
    [
        Rule(status=400, body=f"no {COMMANDS} such thing"),
        Rule(status=400, body={"error": {"message": f"no {COMMANDS} such thing"}}),
        Rule(message={"content": None, "refusal": f"no {COMMANDS} thing"}),
        Rule(choice={"finish_reason": COMMANDS}),
        Rule(status=302, headers={"Location": "http://host/\x9b2J"}),
    ],
    ids=["a body", "an error", "a refusal", "a reason to finish", "an address"],
)
async def test_a_fault_commands_no_terminal(command, rule):
    async with FakeProvider([rule]) as provider:
        local = ("model=local", f"base_url={provider.base_url}")
        code, out, err = await command("run", *local, *SIZE, "procedure.reasks=0")
    assert code in (0, 3, 4)
    assert inert(out + err)
    assert "Unclosed" not in err


async def test_a_preflight_commands_no_terminal(command):
    async with FakeProvider(models=(f"evil {COMMANDS}",)) as provider:
        local = ("model=local", f"base_url={provider.base_url}")
        code, out, err = await command("run", *local, *SIZE)
    assert code == 2
    assert "does not know the model 'local'; it has: evil" in " ".join(err.split())
    assert inert(out + err)
    assert "Unclosed" not in err


def test_a_console_keeps_its_own_commands_and_drops_those_of_texts():
    file = io.StringIO()
    screen = CommandConsole(file=file, force_terminal=True, width=80)
    table = Table("name")
    table.add_row(f"cell {COMMANDS}")
    with Live(console=screen, auto_refresh=False) as live:
        live.update(table, refresh=True)
        screen.print(f"line {COMMANDS}", style="bold")
    shown = file.getvalue()
    assert "\x1b[1mline" in shown
    assert not {"\x07", "\x9b", "\u202e", "\x08"} & set(shown)
    assert "\x1b]0;" not in shown
    assert "\x1b[31m" not in shown


def test_json_keeps_every_character_and_commands_no_terminal(capsys):
    echo_json({COMMANDS: [COMMANDS, "é 😀"]})
    out = capsys.readouterr().out
    assert inert(out)
    assert json.loads(out) == {COMMANDS: [COMMANDS, "é 😀"]}
    assert "é 😀" in out


EMPTY = {"": "HTTP 400 with an empty body", " \n ": "HTTP 400 with an empty body"}
ODD = EMPTY | {
    "null": "HTTP 400: null",
    "{}": "HTTP 400: {}",
    '{"error": true}': 'HTTP 400: {"error": true}',
    '{"error": ""}': 'HTTP 400: {"error": ""}',
    '"no"': 'HTTP 400: "no"',
}


@pytest.mark.parametrize("body", ODD)
async def test_an_odd_body_is_told_as_it_is(ask, body):
    async with FakeProvider([Rule(status=400, body=body)]) as provider:
        completion = await ask(provider)
    assert completion.status == "bad_request"
    assert completion.detail == ODD[body]


@pytest.mark.parametrize("kind", ["openai_compatible", "litellm"])
@pytest.mark.parametrize(
    ("code", "passing"),
    [
        *((code, True) for code in (408, 409, 425, 500, 502, 503, 504, 507, 520, 529)),
        *((code, False) for code in (400, 404, 405, 423, 501, 505, 506, 510, 511)),
    ],
)
async def test_only_what_may_pass_is_tried_again(ask, monkeypatch, kind, code, passing):
    monkeypatch.setenv("OPENAI_API_KEY", "any-key-at-all")
    model = "openai/local" if kind == "litellm" else "local"
    settings = {"local": {"name": "local", "kind": kind, "model": model, "max_tokens": 50}}
    async with FakeProvider([Rule(status=code, body="", times=1)]) as provider:
        completion = await ask(provider, settings=settings)
    assert provider.calls == (2 if passing else 1)
    assert completion.status == ("ok" if passing else "bad_request")


async def test_a_refusal_leaves_no_connection_open(command, tmp_path):
    """Raters are refused by their preflight; and before it where another process has the study."""
    debate = ("format=debate", "motion=voting", "study=d")
    async with FakeProvider(models=("another",)) as provider:
        code, _, err = await command("run", *debate, "model=citizen")
        assert code == 0, err
        local = ("model=local", f"base_url={provider.base_url}", "group.size=2")
        code, _, err = await command("rate", "ask", "d", *local)
        await asyncio.sleep(0)
        assert code == 2
        assert "does not know the model" in err
        assert provider.probes == 1
        assert "Unclosed" not in err
        with Runs.open(tmp_path / "runs", "d").lock():
            code, _, err = await command("rate", "ask", "d", *local)
        assert code == 2
        assert "is in use by process" in err
        assert provider.probes == 1
