"""A record that is read in part: the calls that are wanted, whatever stands in their names."""

import json

import pytest

from delibsim.models.base import Completion
from delibsim.models.replay import Exchange, exchange_of
from delibsim.prompts.prompt import Message, Purpose
from delibsim.store.files import append_line
from delibsim.store.recorded import lines_of_calls

NAMES = [
    "a | o1",
    'a "quoted" | o1',
    "ü 漢字 | o1",
    "back\\slash | o1",
    "\udcff | o1",
    "line\nbreak",
    "",
]


def exchange(occasion, participant="j", text="Say a number."):
    messages = (Message("user", text),)
    purpose = Purpose(participant, occasion)
    done = Completion("D1: 3")
    return Exchange("0" * 64, participant, -5, purpose, messages, "numbers", "", 0.0, done)


@pytest.fixture
def record(tmp_path):
    file = tmp_path / "exchanges.jsonl"
    for name in NAMES:
        append_line(file, exchange(name).record())
    return file


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_found_and_the_others_are_not_given_where_they_can_be_told(record, name):
    found = lines_of_calls(record, lambda judge, occasion: (judge, occasion) == ("j", name))
    found = [exchange_of(line) for line in found]
    assert exchange(name) in found
    escaped = [
        one for one in NAMES if "\\" in json.dumps(one, ensure_ascii=False) or "\udcff" in one
    ]
    assert {one.purpose.occasion for one in found} <= {name, *escaped}


def test_a_name_within_a_prompt_is_no_name(record):
    append_line(record, exchange("other", text='"participant":"j","occasion":"a | o1"').record())
    found = list(lines_of_calls(record, lambda _, occasion: occasion == "a | o1"))
    assert "a | o1" in [line["purpose"]["occasion"] for line in found]
    assert "other" not in [line["purpose"]["occasion"] for line in found]


def test_lines_in_another_order_are_given_and_damaged_ones_are_not(tmp_path):
    file = tmp_path / "exchanges.jsonl"
    assert list(lines_of_calls(file, lambda *_: True)) == []
    file.write_bytes(b"")
    assert list(lines_of_calls(file, lambda *_: True)) == []
    other = {"purpose": {"occasion": "x", "participant": "j"}}
    torn = json.dumps(exchange("a").record())[:-30].encode()
    file.write_bytes(json.dumps(other).encode() + b"\n\n[1]\n\xff\xfe\n" + torn)
    assert list(lines_of_calls(file, lambda *_: False)) == [other]
