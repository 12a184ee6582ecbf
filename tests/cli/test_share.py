"""`delibsim share`: one run written for others, and the line that cites it."""

import hashlib
import json

import pytest

from delibsim.store.codec import run_from_json


def test_the_citation_holds_the_hash_of_the_file(delibsim, study):
    digest = hashlib.sha256((study / "run.json").read_bytes()).hexdigest()
    answer = delibsim("share", "s", "--format", "cite")
    assert (answer.code, answer.out.count("\n")) == (0, 1)
    assert answer.out.startswith(f"{study.name}, study s, held ")
    assert answer.out.endswith(f"SHA-256 of run.json: {digest}\n")


@pytest.mark.parametrize("ending", ["md", "txt", "json", "csv", "html"])
def test_a_file_is_what_is_printed_and_is_written_once(delibsim, study, home, files, ending):
    before = files("runs")
    printed = delibsim("share", "s", "--format", ending)
    path = home / f"run.{ending}"
    answer = delibsim("share", "s", "--to", path)
    assert (printed.code, answer.code) == (0, 0)
    assert "SHA-256" in answer.out
    written = path.read_bytes().decode()
    if ending == "json":
        assert json.loads(written) == printed.json
        run = run_from_json((study / "run.json").read_bytes())
        assert run_from_json(json.dumps(printed.json["run"])) == run
    else:
        assert written.replace("\r\n", "\n") == printed.out.replace("\r\n", "\n")
    again = delibsim("share", "s", "--to", path)
    assert (again.code, again.out) == (2, "")
    assert "is there already and is left as it is" in again.err
    assert path.read_bytes().decode() == written
    assert files("runs") == before


def test_plain_text_has_80_columns(delibsim, study):
    lines = delibsim("share", "s", "--format", "txt").out.splitlines()
    assert max(map(len, lines)) <= 80


def test_no_run_is_written_over(delibsim, study, home):
    (home / "link.md").symlink_to(home / "nowhere.md")
    for to in (study / "run.json", home / "link.md"):
        answer = delibsim("share", "s", "--format", "md", "--to", to)
        assert answer.code == 2
        assert "take another name" in answer.err
    assert not (home / "nowhere.md").exists()
    assert delibsim("replay", "s").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--to", "run.docx"), "unknown format 'docx'"),
        (("--format", "pdf"), "There are: cite, csv, html, json, md, txt"),
        (("--to", "no/folder/run.md"), "there is no folder no/folder"),
    ],
)
def test_what_cannot_be_written_is_said_in_one_line(delibsim, study, words, said):
    answer = delibsim("share", "s", *words)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert answer.err.count("\n") == 1
