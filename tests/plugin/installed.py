"""The package of this folder, installed for real, and a folder in which somebody works with it."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
DELIBSIM = Path(sys.executable).with_name("delibsim")
PRESET = """\
name: slow
kind: slow
delay: {delay}
tally: asked.txt
down: down.txt
"""


def install(folder: Path, package: Path = HERE) -> Path:
    """Install a package, that of this folder by default, into a folder of its own, as pip does it, without a network."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run(
        [*pip, *offline, "--target", str(folder), str(package)],
        check=True,
        capture_output=True,
        text=True,
    )
    return folder


class Workplace:
    """A folder with a model preset `slow` beside the user, and the installed package on the path.

    Every call that reaches the model is one line of `asked.txt`; while there is a `down.txt`, calls
    fail with the status in it.
    """

    def __init__(self, folder: Path, package: Path | None, delay: float = 0.0) -> None:
        self.folder = folder
        (folder / "conf" / "model").mkdir(parents=True)
        (folder / "conf" / "model" / "slow.yaml").write_text(
            PRESET.format(delay=delay), encoding="utf-8"
        )
        self.environment = {**os.environ, "PYTHONPATH": str(package or ""), "COLUMNS": "100"}

    def start(
        self, *words: str, program: tuple[str, ...] = (str(DELIBSIM),), **options
    ) -> subprocess.Popen[str]:
        """Start a `delibsim` command."""
        pipes = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
        }
        return subprocess.Popen(
            [*program, *words], cwd=self.folder, env=self.environment, **pipes, **options
        )

    def call(self, *words: str, **options) -> tuple[int, str, str]:
        """Exit code, output and errors of a `delibsim` command."""
        process = self.start(*words, **options)
        output, errors = process.communicate(timeout=60)
        return process.returncode, output, errors

    def python(self, code: str) -> tuple[int, str, str]:
        """Exit code, output and errors of a Python program; warnings are errors."""
        return self.call(code, program=(sys.executable, "-W", "error", "-c"))

    @property
    def asked(self) -> list[str]:
        """What reached the model, in order: participant/occasion/attempt."""
        path = self.folder / "asked.txt"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []
