"""`delibsim new`: what it writes is valid as it is, is used by a session, and replaces nothing."""

import os
import subprocess
import sys

import pytest
from plugin.installed import DELIBSIM, install

from delibsim import Runs
from delibsim.store.drafts import KINDS

FILES = {
    "topic": "topics/tea.yaml",
    "survey": "surveys/tea.yaml",
    "treatment": "conf/treatment/tea.yaml",
    "persona": "conf/persona/tea.yaml",
}


def test_a_session_is_held_on_what_is_written(delibsim, home):
    for kind, place in FILES.items():
        answer = delibsim("new", kind, "tea")
        assert (answer.code, answer.err) == (0, "")
        assert f"written: {place}" in answer.out
        assert "next: delibsim " in answer.out
        assert (home / place).read_text(encoding="utf-8").count("#") > 3
    assert delibsim("list", "topics", "tea").code == 0
    assert delibsim("list", "surveys", "tea").code == 0
    assert delibsim("list", "personas", "tea").code == 0
    chosen = [f"{group}=tea" for group in ("topic", "treatment", "persona")]
    assert delibsim("run", "-q", "study=s", *chosen, "group.size=3").code == 0
    (run,) = Runs(home / "runs", "s").all()[0]
    session = run.session
    assert (session.topic.id, session.survey.id, session.treatment.name) == ("tea",) * 3
    assert len({person.persona for person in session.participants}) == 3
    assert delibsim("score", "s").code == 0


def test_each_alone_goes_with_what_comes_with_delibsim(delibsim, home):
    for kind, setting in (("treatment", "treatment"), ("persona", "persona")):
        assert delibsim("new", kind, f"my_{kind}").code == 0
        chosen = f"{setting}=my_{kind}"
        assert delibsim("estimate", chosen, "group.size=2").code == 0
    assert "next: delibsim new survey my-1" in delibsim("new", "topic", "my-1").out
    assert "next: delibsim run topic=my-1" in delibsim("new", "survey", "my-1").out


def test_the_package_of_a_scorer_passes_its_own_tests_and_is_used(delibsim, home, tmp_path_factory):
    assert delibsim("run", "-q", "study=s", "topic=ccps", "group.size=2", "rounds=1").code == 0
    answer = delibsim("new", "scorer", "reply-length")
    assert answer.code == 0
    package = home / "delibsim_reply_length"
    own = ["-m", "pytest", "-q", "-p", "no:cacheprovider", package]
    for words in ([package / "test_reply_length.py"], own):
        done = subprocess.run(
            [sys.executable, *words], cwd=home, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    installed = install(tmp_path_factory.mktemp("scorer"), package)
    scored = subprocess.run(
        [DELIBSIM, "score", "s", "--scorer", "reply-length"],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert scored.returncode == 0, scored.stderr
    assert "words a statement" in scored.stdout
    assert (home / "runs" / "s" / "scores" / "reply-length.v1.jsonl").is_file()


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_overwritten(delibsim, files, kind):
    assert delibsim("new", kind, "tea").code == 0
    before = files()
    answer = delibsim("new", kind, "tea")
    assert (answer.code, answer.out) == (2, "")
    assert "is there already and is left as it is" in answer.err
    assert files() == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name",
    "../tea|/tmp/tea|a/b|a\\b|..|.||Tea|tea.yaml|té|12|con|all|null|-x|a b|tea\n|$name".split("|"),
)
def test_a_name_that_could_leave_its_folder_or_mean_something_else_is_refused(
    delibsim, files, kind, name
):
    answer = delibsim("new", kind, "--", name)
    assert (answer.code, answer.out) == (2, "")
    assert "cannot name" in answer.err
    assert files() == {}


def test_a_link_that_leads_nowhere_is_no_free_place(delibsim, home):
    (home / "topics").mkdir()
    (home / "topics" / "tea.yaml").symlink_to(home / "elsewhere.yaml")
    assert delibsim("new", "topic", "tea").code == 2
    assert not (home / "elsewhere.yaml").exists()


def test_without_arguments_the_kinds_are_listed_with_a_line_each(delibsim, files):
    answer = delibsim("new")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == [*KINDS, "report"]
    assert all(len(line.split()) > 4 for line in lines[:-1])
    assert lines[-1] == "next: delibsim new KIND NAME"
    assert files() == {}
