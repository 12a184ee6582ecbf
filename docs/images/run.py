"""Draw docs/images/run.svg from what `delibsim run` prints on a terminal: .venv/bin/python
docs/images/run.py
"""

import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

COMMAND = "run demo topic=ccps treatment=normative seed=7"
WIDTH = 100


def main() -> None:
    """Run the command in an empty folder and draw its output."""
    nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    console = Console(record=True, width=WIDTH, force_terminal=True, file=nowhere)
    console.print(
        Text.assemble(("$ ", "bold green"), (f"delibsim {COMMAND}", "bold")), soft_wrap=True
    )
    with tempfile.TemporaryDirectory() as folder:
        console.print(
            Text.from_ansi(
                on_terminal(
                    [str(Path(sys.executable).with_name("delibsim")), *COMMAND.split()], folder
                ).rstrip()
            )
        )
    svg = console.export_svg(title="delibsim", unique_id="run")
    # No font is fetched from elsewhere: the reader's own monospaced font is taken.
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL).replace(
        "Fira Code, monospace", "monospace"
    )
    Path(__file__).with_name("run.svg").write_text(svg, encoding="utf-8")


def on_terminal(command: list[str], folder: str) -> str:
    """What a command prints on a terminal of WIDTH columns; its progress goes to stderr and is left
    out.
    """
    here, there = pty.openpty()
    environment = os.environ | {"COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    process = subprocess.Popen(
        command, cwd=folder, stdout=there, stderr=subprocess.DEVNULL, env=environment
    )
    os.close(there)
    printed = b""
    while True:
        try:
            part = os.read(here, 65_536)
        except OSError:  # the end of a terminal, on Linux
            break
        if not part:
            break
        printed += part
    os.close(here)
    if process.wait():
        sys.exit(f"delibsim ended with {process.returncode}")
    return printed.decode().replace("\r\n", "\n")


if __name__ == "__main__":
    main()
