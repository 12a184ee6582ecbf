"""Output that an encoding does not have, or that nobody reads to its end: real processes, pipes."""

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).with_name("delibsim")
C = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
TREATMENT = (
    "name: own\ninteraction: true\nrounds: 1\ninstructions: Sprecht über “Öl” – 𝒳 \U0001f600.\n"
)


def process(folder, *arguments, **variables):
    """A process of the command; exit code, stdout and stderr."""
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(folder)} | variables
    done = subprocess.run(
        [PROGRAM, *arguments], cwd=folder, env=variables, capture_output=True, check=False
    )
    return done.returncode, done.stdout, done.stderr.decode("latin-1")


@pytest.fixture
def words(tmp_path):
    """A folder with a treatment and a topic whose name no ASCII holds."""
    (tmp_path / "conf" / "treatment").mkdir(parents=True)
    (tmp_path / "conf" / "treatment" / "own.yaml").write_text(TREATMENT, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("variables", "commands"),
    [({"PYTHONIOENCODING": "ascii"}, ("run", "show")), (C, ("show", "list"))],
)
def test_what_an_encoding_does_not_have_is_written_as_escapes(words, variables, commands):
    run = ("run", "study=s", "group.size=2", "treatment=own")
    code, out, err = process(words, *run, **variables)
    assert code == 0, err
    assert "Traceback" not in err
    assert out
    out.decode("ascii")
    asked = {"run": run[1:], "show": ("s",), "list": ("topics",)}
    for command in commands:
        code, out, err = process(words, command, *asked[command], "--json", **variables)
        assert code == 0, err
        json.loads(out.decode("ascii"))


@pytest.mark.parametrize("variables", [{}, {"PYTHONIOENCODING": "ascii"}])
@pytest.mark.parametrize("arguments", ["list topics", "list topics --json", "--help"])
def test_a_reader_who_leaves_is_no_fault(tmp_path, arguments, variables):
    with subprocess.Popen(
        [PROGRAM, *arguments.split()],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)} | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141  # what a shell says of SIGPIPE


def test_a_run_goes_on_when_nobody_reads_what_it_says(tmp_path):
    process = subprocess.Popen(
        [PROGRAM, "run", "study=s", "group.size=2"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    process.stderr.close()
    assert process.wait() == 141
    assert list((tmp_path / "runs" / "s").glob("*/run.json"))


@pytest.mark.parametrize(
    "variables", [{}, {"PYTHONUNBUFFERED": "1"}, {"PYTHONIOENCODING": "ascii"}]
)
@pytest.mark.parametrize("arguments", ["--version", "list topics --json"])
def test_a_full_disk_under_stdout_is_said(tmp_path, arguments, variables):
    done = redirected(tmp_path, f"{arguments} > /dev/full", variables)
    assert done.returncode == 4
    assert done.stderr.startswith(b"delibsim: No space left on device. What was recorded is kept.")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("variables", [{}, {"PYTHONIOENCODING": "ascii"}])
@pytest.mark.parametrize("arguments", ["--nonsense", "list topics nonsense"])
def test_a_full_disk_under_stderr_has_the_same_exit_code(tmp_path, arguments, variables):
    done = redirected(tmp_path, f"{arguments} 2> /dev/full", variables)
    assert (done.returncode, done.stdout, done.stderr) == (4, b"", b"")
    done = redirected(tmp_path, f"{arguments} > /dev/full 2>&1", variables)
    assert done.returncode == 4


@pytest.mark.parametrize(("closed", "code"), [("list topics >&-", 0), ("list topics 2>&-", 0), ("list topics nonsense 2>&-", 2)])  # fmt: skip
def test_a_stream_that_was_closed_is_no_fault(tmp_path, closed, code):
    done = redirected(tmp_path, closed, {})
    assert done.returncode == code
    assert done.stderr == b""


def test_a_run_goes_on_when_what_it_says_meets_a_full_disk(tmp_path):
    done = redirected(tmp_path, "run study=s group.size=2 > /dev/full 2>&1", {})
    assert done.returncode == 4
    assert list((tmp_path / "runs" / "s").glob("*/run.json"))


def redirected(folder, command, variables):
    """The command as a shell runs it, with its streams led elsewhere."""
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(folder)} | variables
    return subprocess.run(
        ["/bin/sh", "-c", f"{PROGRAM} {command}"], cwd=folder, env=variables, capture_output=True, check=False
    )  # fmt: skip


LONG = 100


@pytest.fixture
def debate(delibsim, home):
    """A debate; what `run` printed of it."""
    return delibsim("run", "-q", "study=d", "format=debate", "motion=voting", "audience=1").out


def test_the_speeches_of_a_debate_are_not_broken(delibsim, debate):
    said = delibsim("show", "d", "--json").json["transcript"]
    texts = [one["text"] for one in said]
    assert max(map(len, texts)) > LONG
    shown = delibsim("show", "d").out
    for text in texts:
        for line in text.splitlines():
            assert line.rstrip() in debate
            assert line.rstrip() in shown


def test_one_session_is_one_session(delibsim, study, small):
    again = delibsim("run", "-q", "-m", "study=s", *small).out
    assert "study s: 1 session, 1 complete" in again
    for out in (again, delibsim("estimate", "study=s", *small).out, delibsim("score", "s").out):
        assert "1 sessions" not in out
        assert "(s)" not in out


@pytest.mark.parametrize("named", ["", "0", "wide", "-5"])
def test_a_width_that_is_none_is_no_width(delibsim, study, monkeypatch, named):
    whole = delibsim("score", "s").out
    monkeypatch.setenv("COLUMNS", named)
    assert delibsim("score", "s").out == whole


def test_what_is_to_be_a_file_has_its_own_lines_whatever_the_width(delibsim, home, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    example = files("delibsim") / "data" / "people" / "example.people.yaml.txt"
    assert delibsim("serve", "--example").out == example.read_text(encoding="utf-8")
