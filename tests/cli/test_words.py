"""One word for one thing: which options there are."""

import re
from pathlib import Path

import pytest
from cases import cases_of

from delibsim import WrongInput
from delibsim.cli.commands import COMMANDS, loaded
from delibsim.planning.compose import plan

CASES = cases_of(__file__)
ROOT = Path(__file__).parents[2]
SMALL = ("topic=ccps", "treatment=none", "group.size=2")


def commands():
    """Every command by its words, with what it takes."""
    for name in COMMANDS:
        command = loaded(name)
        for inner, own in (getattr(command, "commands", None) or {"": command}).items():
            yield f"{name} {inner}".strip(), own.params


def test_a_command_that_names_a_study_says_where_studies_are():
    for name, params in commands():
        named = {param.metavar for param in params} & {"STUDY", "RUN", "RUN|STUDY", "STUDY|RUN"}
        options = {word for param in params for word in param.opts}
        if named:
            assert "--dir" in options, name


def test_one_option_means_one_thing():
    meant = {}
    for name, params in commands():
        for param in params:
            for word in param.opts if param.param_type_name == "option" else ():
                if word in ("--dir", "--json", "-q", "-m", "--estimate", "--yes"):
                    meant.setdefault(word, {}).setdefault(param.is_flag, []).append(name)
    assert all(len(types) == 1 for types in meant.values()), meant


@pytest.mark.parametrize("folder", ["studies", "Ann's, studies", "a/b", "x=y"])
def test_a_plan_is_held_estimated_and_registered_in_the_folder_named(delibsim, home, folder):
    words = (*SMALL, "study=s", "--dir", folder)
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


TYPOS = CASES["TYPOS"]


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
