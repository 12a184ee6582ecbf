"""A record that is read in part: the calls that are needed, whatever stands in their names."""

import json

import pytest

from delibsim.asking.record import ExchangeRecord
from delibsim.models.base import Completion
from delibsim.models.replay import Exchange
from delibsim.prompts.prompt import Message, Purpose
from delibsim.store.files import append_line

NAMES = [
    "a | o1",
    'a "quoted" | o1',
    "ü 漢字 | o1",
    "back\\slash | o1",
    "\udcff | o1",
    "line\nbreak",
    "",
]


HALF = NAMES[4]
"""Half a character is written in another layout, so its line is read in any case."""


def exchange(occasion, participant="j", text="Say a number."):
    messages = (Message("user", text),)
    purpose = Purpose(participant, occasion)
    done = Completion("D1: 3")
    return Exchange("0" * 64, participant, -5, purpose, messages, "numbers", "", 0.0, done)


def known(file, *needed):
    found = [one.purpose.occasion for one in ExchangeRecord(file, needed=set(needed))._known]
    return [name for name in found if name != HALF or ("j", HALF) in needed]


@pytest.fixture
def record(tmp_path):
    file = tmp_path / "exchanges.jsonl"
    for name in NAMES:
        append_line(file, exchange(name).record())
    return file


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_found_and_no_other_is_read(record, name):
    assert known(record, ("j", name)) == [name]
    assert known(record, ("k", name)) == []


def test_a_name_within_a_prompt_is_no_name(record):
    append_line(record, exchange("other", text='"participant":"j","occasion":"a | o1"').record())
    assert known(record, ("j", "a | o1")) == ["a | o1"]


def test_damaged_lines_are_left_out_and_spoil_nothing(record):
    line = json.dumps(exchange("b").record(), separators=(",", ":")).encode()
    torn = line.replace(b'"b"', b'"\xff\xfe"')
    assert torn != line
    with record.open("ab") as file:
        file.write(torn + b"\n\n[1]\n" + line[:-30] + b"\n" + line + b"\n")
    assert known(record, ("j", "b")) == ["b"]
