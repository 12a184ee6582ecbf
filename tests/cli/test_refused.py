"""What cannot be is refused in one line, before anything is written: refused.yaml lists it in the
words of a user.
"""

import shlex
from pathlib import Path

import pytest
import yaml

LONG = {"TOO_LONG": "9" * 5000, "HUGE": "9" * 40}


def listed():
    """Every case: the files that lie there, the commands, and what is told."""
    for block in yaml.safe_load(Path(__file__).with_name("refused.yaml").read_text("utf-8")):
        files, before = block.get("files", {}), block.get("before")
        for words, told in block.get("cases", {}).items():
            yield pytest.param(files, before, words, told, id=words[:80])
        for one in block.get("each", ()):
            (name,) = one["file"]
            yield pytest.param(files | one["file"], before, block["words"], one["told"], id=name)


@pytest.mark.parametrize(("given", "before", "words", "told"), [*listed()])
def test_what_cannot_be_is_refused_in_one_line(delibsim, home, files, given, before, words, told):
    for name, text in given.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, encoding="utf-8")
    if before:
        assert delibsim(*shlex.split(before)).code == 0
    there = files()
    for word, number in LONG.items():
        words = words.replace(word, number)
    answer = delibsim(*shlex.split(words))
    assert (answer.code, answer.out) == (2, "")
    said = " ".join(answer.err.split())
    parts = [told] if isinstance(told, str) else told
    assert [part for part in parts if part not in said] == []
    assert answer.err.count("\n") == 1 or len(parts) > 1 or "combinations cannot be" in said
    assert files() == there
