"""Draw docs/images/figure.svg, the figure of the README: make figures

It is the first figure of the report that the README's commands write: they are run in an empty
folder, and the file is copied. Seeds are fixed, so the same versions of the packages give the same
file, byte for byte.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FILE = Path(__file__).with_name("figure.svg")
COMMANDS = (("run", "-m", "experiment=smoke", "topic=all"), ("analyze", "smoke"))
FIGURE = Path("runs", "smoke", "analysis", "figures", "effects.svg")


def main() -> None:
    """Hold the study, analyse it and copy the figure."""
    program = str(Path(sys.executable).with_name("delibsim"))
    with tempfile.TemporaryDirectory() as folder:
        for command in COMMANDS:
            subprocess.run([program, *command], cwd=folder, check=True)
        shutil.copyfile(Path(folder, FIGURE), FILE)


if __name__ == "__main__":
    main()
