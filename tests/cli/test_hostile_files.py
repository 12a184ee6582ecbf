"""Every command that takes a file, given what is no such file: one short line and exit code 2, at
once, and nothing is written.
"""

import os

import pytest
from cases import cases_of

CASES = cases_of(__file__)
COMMANDS = CASES["COMMANDS"]
KINDS = ("device", "pipe", "folder", "loop", "missing", "long name", "binary", "empty", "long line")


def made(kind, ending, folder):
    path = folder / f"{kind}.{ending}"
    if kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "long name":
        path = folder / f"{'n' * 300}.{ending}"
    elif kind == "binary":
        path.write_bytes(bytes(range(256)) * 9)
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "long line":
        path.write_bytes(b"a" * 10**7)
    return path.relative_to(folder)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_no_such_file_is_refused_in_one_short_line(delibsim, home, name, kind):
    ending, command = COMMANDS[name]
    rows = "".join(f"t{n},{n % 2},1\n" for n in range(12))
    (home / "good.csv").write_text(f"id,a,b\n{rows}", encoding="utf-8")
    file = made(kind, ending, home)
    before = {path.name for path in home.iterdir()}
    words = [str(file) if word == "FILE" else word for word in command.split()]
    answer = delibsim(*words)
    assert (answer.code, answer.out) == (2, ""), answer.err
    assert len(answer.err.splitlines()) == 1
    assert len(answer.err) < 1_000
    assert {path.name for path in home.iterdir()} == before
