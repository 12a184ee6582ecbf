"""What cannot be is refused in one line, before anything is written: refused.yaml lists it in the
words of a user.
"""

import shlex
import shutil
from pathlib import Path

import pytest
import yaml
from coded_study import coded_study
from pilot_texts import study_of_texts

LONG = {
    "TOO_LONG": "9" * 5000,
    "HUGE": "9" * 40,
    "LONG_SPEECH": "word " * 700,
    "LONG_NAME": "x" * 300,
}
MADE = {"texts": study_of_texts, "coded": lambda runs: coded_study(runs, 40)}
"""Studies that no command makes: six texts, and forty that models and people have coded."""


def long(text):
    """A text with what is too long to be written down."""
    for name, whole in LONG.items():
        text = text.replace(name, whole)
    return text


def listed():
    """Every case: what lies there, the commands, and what is told."""
    for block in yaml.safe_load(Path(__file__).with_name("refused.yaml").read_text("utf-8")):
        there = block.get("files", {}), block.get("before", ()), block.get("made")
        for words, told in block.get("cases", {}).items():
            yield pytest.param(there, words, told, id=words[:80])
        for one in block.get("each", ()):
            (name,) = one["file"]
            files = there[0] | one["file"]
            yield pytest.param((files, *there[1:]), block["words"], one["told"], id=name)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """Folders in which something lies before, by what lies there."""
    return {}, tmp_path_factory


@pytest.fixture
def given(begun, home, delibsim, monkeypatch):
    """Puts into the folder of the user what is to lie there; made once for all cases of a block."""

    def put(there):
        files, before, made = there
        known, folders = begun
        if repr(there) not in known:
            known[repr(there)] = folder = folders.mktemp("begun")
            monkeypatch.chdir(folder)
            for name, text in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(long(text), encoding="utf-8")
            if made:
                MADE[made](folder / "runs")
            for command in [before] if isinstance(before, str) else before:
                assert delibsim(*shlex.split(command)).code == 0
            monkeypatch.chdir(home)
        shutil.copytree(known[repr(there)], home, dirs_exist_ok=True)

    return put


@pytest.mark.parametrize(("there", "words", "told"), [*listed()])
def test_what_cannot_be_is_refused_in_one_line(delibsim, files, given, there, words, told):
    given(there)
    before = files()
    answer = delibsim(*shlex.split(long(words)))
    assert (answer.code, answer.out) == (2, "")
    said = " ".join(answer.err.split())
    parts = [told] if isinstance(told, str) else told
    assert [part for part in parts if part not in said] == []
    assert answer.err.count("\n") == 1 or len(parts) > 1 or "combinations cannot be" in said
    assert files() == before
