"""Numbers with their nouns, names that are joined, and that no message of ours has a plural after one."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

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
