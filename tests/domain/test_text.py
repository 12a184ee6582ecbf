"""Numbers with their nouns, and that no message of ours has a plural after one."""

import re
from pathlib import Path

from delibsim.domain.text import counted

ROOT = Path(__file__).resolve().parents[2]


def test_a_noun_is_plural_unless_there_is_one():
    assert [counted(n, "session") for n in (0, 1, 2)] == ["0 sessions", "1 session", "2 sessions"]
    assert counted(2, "reply", "replies") == "2 replies"


def test_no_message_leaves_the_plural_to_the_reader():
    found = []
    for path in (ROOT / "delibsim").rglob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if re.search(r"[\"'}\w ]+ [a-z]+\(s\)[ :.,\"]", line):
                found.append(f"{path.name}: {line.strip()}")
    assert found == []
