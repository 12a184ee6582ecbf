"""Numbers with their nouns, names that are joined, and that no message of ours has a plural after
one. An unknown name comes with the closest names there are. Seeds depend on names alone.
"""

import hashlib
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import thorough

from delibsim.domain.errors import SHOWN, WrongInput, unknown
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted, one_name

ROOT = Path(__file__).resolve().parents[2]


def test_a_noun_is_plural_unless_there_is_one():
    assert [counted(n, "session") for n in (0, 1, 2)] == ["0 sessions", "1 session", "2 sessions"]
    assert counted(2, "reply", "replies") == "2 replies"


@given(*[st.tuples(*[st.text(" |a", min_size=1, max_size=6)] * 2)] * 2)
def test_names_that_are_joined_are_told_apart(one, other):
    assert (one_name(*one) == one_name(*other)) == (one == other)


def test_no_message_leaves_the_plural_to_the_reader():
    found = []
    for path in (ROOT / "delibsim").rglob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if re.search(r"[\"'}\w ]+ [a-z]+\(s\)[ :.,\"]", line):
                found.append(f"{path.name}: {line.strip()}")
    assert found == []


TREATMENTS = ["none", "basic", "normative", "normative_a"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("normativ", "normative"), ("basik", "basic"), ("Normative", "normative"), ("non", "none")],
)
def test_the_closest_name_is_offered(typed, meant):
    error = unknown("treatment", typed, TREATMENTS)
    assert isinstance(error, WrongInput)
    offered = str(error).partition("did you mean ")[2].partition("?")[0]
    assert meant in offered.split(" or ")
    assert str(error).startswith(f"unknown treatment '{typed}'; ")


def test_advice_follows_the_names():
    assert (
        str(unknown("topic", "zzz", ["acp"], "Topics are files"))
        == "unknown topic 'zzz'. There are: acp. Topics are files"
    )


def test_a_long_list_is_cut_and_counted():
    message = str(unknown("topic", "zzz", [f"name{k:03}" for k in range(SHOWN + 12)]))
    assert message.endswith(f"name{SHOWN - 1:03} and 12 more")
    assert (
        unknown("topic", "zzz", [f"name{k:03}" for k in range(SHOWN)])
        .args[0]
        .endswith(f"name{SHOWN - 1:03}")
    )


names = st.lists(st.text(max_size=20) | st.integers(-(2**70), 2**70), max_size=4)


@thorough
@given(names)
def test_a_seed_is_made_of_the_names_as_a_list_in_json(given_names):
    listed = json.dumps(given_names, ensure_ascii=False)
    digest = hashlib.sha256(listed.encode()).digest()
    assert seed_of(*given_names) == int.from_bytes(digest[:8], "big") >> 1


def test_the_seed_of_a_name_is_fixed_for_good():
    # First 8 bytes of SHA-256 over the JSON text ["study", "session"], big-endian, halved: printf
    # '["study", "session"]' | sha256sum
    assert seed_of("study", "session") == int("2f3a22af2b43e9e7", 16) >> 1
