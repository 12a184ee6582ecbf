"""The package of this folder, installed for real, and a folder in which somebody works with it."""

import os
import subprocess
import sys
from pathlib import Path

import warm

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
        self.environment = {**os.environ, "PYTHONPATH": str(package or "")}

    def start(self, *words: str) -> warm.Heard:
        """Start a `delibsim` command in a process that begins with everything imported."""
        return warm.Heard(words, self.folder, self.environment)

    def call(self, *words: str, room: int | None = None) -> tuple[int, str, str]:
        """Exit code, output and errors of a `delibsim` command, in such a process of its own, of
        whose files none may have more than so many bytes.
        """
        return warm.run(words, self.folder, self.environment, room=room)

    def python(self, code: str) -> tuple[int, str, str]:
        """Exit code, output and errors of a Python program; warnings are errors."""
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    @property
    def asked(self) -> list[str]:
        """What reached the model, in order: participant/occasion/attempt."""
        path = self.folder / "asked.txt"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []
