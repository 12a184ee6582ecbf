"""The Makefile installs once: real make, with commands in the place of python that write down what
they were asked for.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BROWSER = [("browser", "test-browser"), ("browser", "test-web")]
LAST = [("postgres", "test-postgres"), ("launchers", "test-launchers")]
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
    *_, show, replay = demo.stdout.splitlines()
    assert show.startswith("Next ")
    for line in (show.removeprefix("Next"), replay):
        done = shell(line.strip())
        assert done.returncode == 0, f"{line}: {done.stderr}"
        assert done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not on this machine")
@pytest.mark.parametrize("missing", ["aqua", "browser", "postgres", "launchers"])
def test_ci_says_which_tests_were_not_run_and_goes_on(tmp_path, missing):
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci")
    make = tmp_path / "make"
    log = tmp_path / "log"
    make.write_text(f'#!/bin/sh\necho "$1" >> {log}\n[ "$1" != {missing} ]\n', encoding="utf-8")
    make.chmod(0o755)
    there = {"CHROMIUM": "chromium", "POSTGRES": "/usr/bin"}
    variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}"} | there
    command = ["bash", tmp_path / ".ci" / "run"]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    asked = ["test", "docs"]
    steps = {"aqua": "test-aqua", "judge": "test-judge"}
    for extra, tests in [*steps.items(), *BROWSER, *LAST]:
        asked += [extra] if extra == missing else [extra, tests]
        result = "NOT RUN:" if extra == missing else "passed:"
        assert f"{result} make {tests}" in done.stdout
    assert log.read_text(encoding="utf-8").split() == asked


def test_ci_tries_what_failed_once_more_and_fails_where_it_fails_again(tmp_path):
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    for place in ("make", ".venv/bin/python"):
        (tmp_path / place).write_text(
            '#!/bin/sh\n[ "$1" != test ] && [ ! -e no ]\n', encoding="utf-8"
        )
        (tmp_path / place).chmod(0o755)
    there = {"CHROMIUM": "chromium", "POSTGRES": "/usr/bin"}
    variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}"} | there

    def run():
        command = ["bash", tmp_path / ".ci" / "run"]
        return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)

    second = run()
    assert second.returncode == 0
    assert "PASSED AT THE SECOND TRY" in second.stderr
    (tmp_path / "no").touch()
    assert run().returncode == 1
