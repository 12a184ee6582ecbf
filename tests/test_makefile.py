"""The Makefile installs once: real make, with commands in the place of python that write down what
they were asked for.
"""

import shutil
import subprocess
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
