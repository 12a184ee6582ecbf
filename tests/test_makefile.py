"""The Makefile installs once: real make, with commands in the place of python that write down what
they were asked for.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYTHON = """#!/bin/sh
echo "$*" >> "{log}"
if [ "$1 $2" = "-m venv" ]; then mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; fi
"""


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not on this machine")
def test_the_extra_aqua_is_installed_once_and_a_torch_that_was_chosen_stays(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "requirements").mkdir()
    (tmp_path / ".venv").mkdir()
    for file in (
        "pyproject.toml",
        *(f"requirements/{name}.txt" for name in ("build", "core", "test", "aqua")),
    ):
        (tmp_path / file).touch()
    for done in (".core", ".project", ".test"):
        (tmp_path / ".venv" / done).touch()
    log, python = tmp_path / "log", tmp_path / "python"
    python.write_text(PYTHON.format(log=log), encoding="utf-8")
    python.chmod(0o755)

    def make(*words):
        done = subprocess.run(
            ["make", "-C", tmp_path, f"PYTHON={python}", "aqua", *words],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return log.read_text(encoding="utf-8")

    asked = make("TORCH=torch-of-mine")
    assert "-m pip install --quiet --disable-pip-version-check torch-of-mine\n" in asked
    assert make() == asked


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not on this machine")
def test_what_the_demo_proposes_works_in_the_shell_that_called_it(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "requirements").mkdir()
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "bin").symlink_to(Path(sys.executable).parent)
    for file in ("pyproject.toml", "requirements/build.txt", "requirements/core.txt"):
        (tmp_path / file).touch()
    for done in (".core", ".project"):
        (tmp_path / ".venv" / done).touch()
    path = os.pathsep.join(
        folder
        for folder in os.environ["PATH"].split(os.pathsep)
        if not (Path(folder) / "delibsim").exists()
    )

    def shell(command):
        # Within `make test`, make would say which folder it enters and leaves.
        outside = {k: value for k, value in os.environ.items() if not k.startswith("MAKE")}
        environment = outside | {"PATH": path}
        return subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )  # fmt: skip

    demo = shell("make demo")
    assert demo.returncode == 0, demo.stderr
    proposed = demo.stdout[demo.stdout.index("\nNext ") :].splitlines()[1:]
    assert len(proposed) == 3
    for line in proposed:
        if " view " in line:
            line += " --static pages"  # it would go on until Ctrl-C
        line = line.removeprefix("Next")
        done = shell(line.strip())
        assert done.returncode == 0, f"{line}: {done.stderr}"
        assert done.stdout


MAKE = """#!/bin/sh
echo "$1" >> asked
case " $BROKEN " in *" $1 "*) exit 2 ;; esac
if [ "$1" = "$FLAKY" ]; then [ -n "$PYTEST_ADDOPTS" ] || exit 2; fi
if [ "$1" = "$SLOW" ]; then echo "$SAYS"; sleep 60; fi
case "$1" in *test*) echo "===== 3 passed in 0.10s =====" ;; esac
"""
STEPS = {
    "test": (),
    "docs": (),
    "test-approval": (),
    "test-formats": ("formats",),
    "test-servers": ("servers",),
    "test-aqua": ("aqua",),
    "test-judge": ("judge",),
    "test-browser": ("browser",),
    "test-web": ("browser",),
    "test-postgres": ("postgres",),
    "test-launchers": ("launchers",),
}


@pytest.fixture
def ci(tmp_path):
    """Runs .ci/run over a make that does as it is told; exit code, the account by step, all that
    was asked of make.
    """
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci")
    (tmp_path / "make").write_text(MAKE, encoding="utf-8")
    (tmp_path / "make").chmod(0o755)

    def run(**variables):
        variables = {
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "CHROMIUM": "chromium",
            "POSTGRES": "/usr/bin",
        } | variables
        command = ["bash", tmp_path / ".ci" / "run"]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        account = done.stdout.partition("== the account")[2].splitlines()[1:]
        assert [line.split()[0] for line in account] == list(STEPS)
        asked = (tmp_path / "asked").read_text(encoding="utf-8").split()
        return done.returncode, {line.split()[0]: line for line in account}, asked, done.stdout

    return run


def test_ci_ends_with_an_account_of_every_step(ci):
    code, account, asked, said = ci()
    assert code == 0
    assert asked == [word for tests, setup in STEPS.items() for word in (*setup, tests)]
    assert re.fullmatch(r"test +\d+ s  passed  3 passed in 0.10s", account["test"])
    assert all("passed" in line for line in account.values())
    assert "===== 3 passed in 0.10s =====" in said


@pytest.mark.parametrize("step", STEPS)
def test_ci_fails_where_a_step_fails_twice_and_goes_on(ci, step):
    code, account, asked, _ = ci(BROKEN=step)
    assert code == 1
    assert "FAILED, twice" in account[step]
    assert asked.count(step) == 2
    assert all("passed" in line for name, line in account.items() if name != step)


@pytest.mark.parametrize("step", ["test", "test-web"])
def test_ci_names_what_passed_at_the_second_try_only(ci, step):
    code, account, asked, _ = ci(FLAKY=step)
    assert code == 0
    assert "PASSED AT THE SECOND TRY" in account[step]
    assert asked.count(step) == 2


@pytest.mark.parametrize("setup", ["aqua", "browser", "postgres", "launchers"])
def test_ci_names_what_could_not_be_set_up_and_it_does_not_decide(ci, setup):
    code, account, asked, _ = ci(BROKEN=setup)
    assert code == 0
    for tests, setups in STEPS.items():
        assert (f"NOT RUN: {setup} failed" in account[tests]) == (setup in setups)
        assert (tests in asked) == (setup not in setups)


@pytest.mark.parametrize(
    ("says", "code", "told"),
    [
        ("FAILED tests/test_one.py::test_one", 1, "FAILED, and cut off"),
        ("....", 0, "CUT OFF: no time was left; nothing had failed by then"),
    ],
)
def test_ci_ends_within_its_budget_and_says_what_was_skipped(ci, says, code, told):
    found, account, asked, _ = ci(BUDGET="3", SLOW="test-aqua", SAYS=says)
    assert found == code
    assert told in account["test-aqua"]
    steps = list(STEPS)
    for name in steps[steps.index("test-aqua") + 1 :]:
        assert "SKIPPED: no time was left" in account[name]
    assert asked[-1] == "test-aqua"
