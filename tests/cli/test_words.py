"""One word for one thing: which options there are."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from typer.main import get_command

from delibsim import WrongInput
from delibsim.cli.main import COMMANDS
from delibsim.cli.words import as_settings, setting
from delibsim.planning.compose import plan

ROOT = Path(__file__).parents[2]
SMALL = ("topic=ccps", "treatment=none", "group.size=2")


def options(command):
    """The options of a command, by the name of its subcommand ("" where it has none)."""
    inner = getattr(command, "commands", None) or {"": command}
    found = {}
    for name, own in inner.items():
        found[name] = {word for parameter in own.params for word in parameter.opts}
    return found


def all_options():
    found = {}
    for name, (module, _) in COMMANDS.items():
        for inner, words in options(
            get_command(import_module(f"delibsim.cli.{module}").app)
        ).items():
            found[f"{name} {inner}".strip()] = words
    return found


def test_a_command_that_names_a_study_says_where_studies_are():
    having = {name for name, words in all_options().items() if "--runs" in words}
    named = {"retry", "show", "score", "status", "export", "replay", "preregister", "run"}
    named |= {"analyze", "plot", "texts import", "texts show"}
    named |= {"forks", "probe", "view", "serve", "verify"}
    people = ("dry-run", "invite", "list", "password", "raters", "revoke")
    people += ("export", "forget", "withdraw", "bonus", "preview")
    named |= {f"people {name}" for name in people}
    named |= {f"{name} online" for name in ("ratings", "code", "compare", "judge")}
    named |= {f"ratings {name}" for name in ("ask", "export", "import", "report")}
    named |= {"texts from", "summarise"}
    named |= {f"judge {name}" for name in ("ask", "export", "import", "replay", "score", "train")}
    named |= {f"summaries {name}" for name in ("show", "replay", "report", "minorities")}
    coding = ("ask", "audit", "export", "import", "replay", "report", "review")
    named |= {f"code {name}" for name in coding}
    comparing = ("ask", "export", "import", "replay", "report")
    assert having == named | {f"compare {name}" for name in comparing}


def test_an_option_without_its_value_stays_for_the_command_to_refuse():
    assert as_settings(["a=b", "--runs"]) == ["a=b", "--runs"]
    assert as_settings(["--runs=x"]) == [setting("runs", "x")]


@pytest.mark.parametrize("folder", ["studies", "Ann's, studies", "a/b", "x=y"])
def test_a_plan_is_held_estimated_and_registered_in_the_folder_named(delibsim, home, folder):
    words = (*SMALL, "study=s", "--runs", folder)
    registered = delibsim("preregister", *words)
    assert registered.code == 0
    assert (home / folder / "s" / "preregistration.md").is_file()
    assert delibsim("estimate", *words, "--json").json["sessions"]["waiting"] == 1
    assert delibsim("run", "-q", *words).code == 0
    assert (home / folder / "s" / "study.json").is_file()
    assert delibsim("estimate", *words, "--json").json["sessions"]["waiting"] == 0
    assert not (home / "runs").exists()


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("size", "group.size"), ("network", "procedure.audience.network"), ("words", "procedure.words"),
        ("suspectibility", "model.susceptibility"), ("tretment", "treatment"),
    ],
)  # fmt: skip
def test_a_setting_is_found_by_the_last_part_of_its_name(delibsim, given, meant):
    answer = delibsim("run", "topic=ccps", f"{given}=3")
    assert answer.code == 2
    assert f"unknown setting '{given}'; did you mean {meant}" in answer.err
    listed = answer.err.partition("There are: ")[2].split(", ")
    assert (meant in listed) is ("." not in meant)


TYPOS = {
    "rouns": "rounds", "round": "rounds", "ronds": "rounds", "runds": "rounds", "topc": "topic",
    "tpoic": "topic", "topics": "topic", "treatement": "treatment", "modle": "model",
    "survy": "survey", "temprature": "temperature", "temp": "temperature",
    "replicates": "replicate", "sede": "seed", "sed": "seed", "personna": "persona",
    "studdy": "study", "moton": "motion", "audiance": "audience", "baseurl": "base_url",
    "models": "group.models", "personas": "persona.personas", "group_size": "group.size",
    "budget": "limits.budget_usd", "concurency": "limits.concurrency",
    "susceptibility": "model.susceptibility", "shuffle": "procedure.shuffle_items",
}  # fmt: skip


@pytest.mark.parametrize(("typed", "meant"), TYPOS.items())
def test_what_is_most_like_a_mistyped_setting_is_suggested_first(home, typed, meant):
    with pytest.raises(WrongInput) as refusal:
        plan([f"{typed}=3"], home)
    suggested = str(refusal.value).partition("did you mean ")[2].partition("?")[0].split(" or ")
    assert suggested[0] == meant
    assert "runs" not in suggested


def test_help_and_guide_have_one_word_for_settings(delibsim):
    commands = [(name,) for name in COMMANDS]
    commands += [("personas", "build"), ("ratings", "ask"), ("ratings", "report")]
    for words in commands:
        assert "overrid" not in delibsim(*words, "--help").out.lower(), words
    for page in (*(ROOT / "docs").glob("*.md"), ROOT / "README.md"):
        text = re.sub(
            r"https?://\S+|`[^`]*`|called an override by Hydra", "", page.read_text("utf-8")
        )
        assert not re.search(r"\boverrides? (?:of|to|for|at)\b|set of overrides", text), page


@pytest.mark.parametrize("given", ["topic", "a=b=c", "study='a"])
def test_what_cannot_be_read_is_called_a_setting(delibsim, given):
    error = delibsim("run", given).err
    assert "cannot read the setting" in error
    assert "override" not in error
