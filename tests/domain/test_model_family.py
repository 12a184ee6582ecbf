"""One list of model families, for blinding, for kinship and for the rules of a debate."""

import re
from pathlib import Path

import pytest
import yaml
from cases import cases_of

from delibsim.asking.blinding import scrubbed
from delibsim.domain.model_family import family_of, makers, model_families, reasons
from delibsim.domain.treatment import DISCLOSURE

CASES = cases_of(__file__)


@pytest.mark.parametrize(
    ("name", "model", "family"),
    [
        ("gpt_5_1", "openai/gpt-5.1", "gpt"),
        ("writer", "mistralai/Mixtral-8x7B", "mistral"),
        ("kimi_k2", "moonshot/kimi-k2", "kimi"),
        ("local", "codellama:13b", "llama"),
        ("local", "qwq-32b", "qwen"),
        ("local", "dolphin-7b", "dolphin-7b local"),
        ("zephyr", "acme/zephyr-7b", "acme/zephyr-7b zephyr"),
    ],
)
def test_the_family_of_a_model_is_found_in_its_name(name, model, family):
    assert family_of(name, {"kind": "litellm", "model": model}) == family


@pytest.mark.parametrize("family", [own for own in model_families() if own.models])
def test_every_family_is_taken_out_of_speeches(family):
    name = family.models[0].capitalize()
    assert scrubbed(f"I say that {name}-4 says so.", {}) == "I say that [removed] says so."


def test_every_maker_gives_a_speaker_away():
    assert len(makers()) == len(set(makers()))
    for maker in makers():
        assert DISCLOSURE.search(f"I was trained by {maker}.")
    assert DISCLOSURE.search("I was trained by my mother.") is None


def test_every_pattern_of_the_file_compiles():
    for family in model_families():
        for pattern in (*family.masked, *family.exact):
            re.compile(pattern)


PRESETS = Path(__file__).resolve().parents[2] / "conf" / "model"
REASONING = CASES["REASONING"]


@pytest.mark.parametrize("preset", REASONING)
def test_settings_of_a_preset_tell_whether_it_reasons(preset):
    settings = yaml.safe_load((PRESETS / f"{preset}.yaml").read_text(encoding="utf-8"))
    assert reasons(settings) is REASONING[preset]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"model": "x/some-model"}, None),
        ({"model": "x/some-model", "reasoning_effort": "low"}, True),
        ({"model": "x/some-model", "extra": {"thinking": {"type": "disabled"}}}, False),
        ({"model": "x/some-model", "extra": {"reasoning": {"effort": "none"}}}, False),
        ({"model": "deepseek/deepseek-reasoner"}, True),
        ({"kind": "a_plug_in"}, None),
    ],
)
def test_what_settings_do_not_tell_is_not_guessed(settings, expected):
    assert reasons(settings) is expected
