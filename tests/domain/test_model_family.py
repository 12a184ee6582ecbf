"""One list of model families, for blinding, for kinship and for the rules of a debate."""

import re

import pytest

from delibsim.annotation.blinding import scrubbed
from delibsim.domain.model_family import FILE, family_of, makers, model_families
from delibsim.domain.rules import DISCLOSURE


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


def test_citizens_are_one_family():
    assert family_of("citizen_open", {"kind": "citizen"}) == "citizen"


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
    assert FILE.is_file()
    for family in model_families():
        for pattern in (*family.masked, *family.exact):
            re.compile(pattern)
