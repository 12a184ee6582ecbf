"""`delibsim` itself: help, version, unknown commands, and plain output where there is no
terminal.
"""

import os
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest
from cases import cases_of

from delibsim.cli.main import COMMANDS

CASES = cases_of(__file__)
DELIBSIM = Path(sys.executable).with_name("delibsim")


def test_help_lists_every_command_and_the_exit_codes(delibsim):
    answer = delibsim("--help")
    assert answer.code == 0
    for command, told in COMMANDS.items():
        assert (f" {command} " in answer.out) is bool(told.group)
    assert sum(bool(one.group) for one in COMMANDS.values()) <= 27
    assert "0 complete, 2 wrong input, 3 partial, 4 nothing succeeded" in " ".join(
        answer.out.replace("│", " ").split()
    )


def test_the_version(delibsim):
    assert delibsim("--version").out == f"delibsim {version('delibsim')}\n"


@pytest.mark.parametrize(
    "words",
    CASES["where_there_is_no_terminal_output_is_plain_text"],
    ids=" ".join,
)
def test_where_there_is_no_terminal_output_is_plain_text(delibsim, study, words):
    answer = delibsim(*words)
    assert answer.code == 0
    assert answer.out
    assert "\x1b" not in answer.out + answer.err
    assert "\r" not in answer.out + answer.err


def test_the_process_ends_with_the_exit_code_and_one_line(tmp_path):
    done = subprocess.run(
        [DELIBSIM, "list", "topics", "ccsp"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("delibsim: unknown topic 'ccsp'; did you mean ccps")
    assert done.stderr.count("\n") == 1


SLOW_DISK = """
import sys, time
def wait(event, args):
    if event == "open" and str(args[0]).endswith("tea.yaml"):
        open("begun", "w").close()
        time.sleep(60)
sys.addaudithook(wait)
"""


def test_who_interrupts_before_the_first_call_is_told_how_to_go_on(tmp_path):
    """While a topic is read from a disk that takes a minute."""
    (tmp_path / "topics").mkdir()
    (tmp_path / "topics" / "tea.yaml").write_text("id: tea\n", encoding="utf-8")
    (tmp_path / "sitecustomize.py").write_text(SLOW_DISK, encoding="utf-8")
    words = [DELIBSIM, "run", "topic=tea", "study=s"]
    path = os.environ | {"PYTHONPATH": str(tmp_path)}
    process = subprocess.Popen(words, cwd=tmp_path, env=path, stdout=-1, stderr=-1, text=True)
    while not (tmp_path / "begun").exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (3, "")
    assert err == "Stopped. What was recorded is kept; the same command goes on from there.\n"
    assert not (tmp_path / "runs").exists()
