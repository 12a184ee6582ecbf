"""Draw docs/images/compare_scores.svg and compare_curve.svg, the figures of a report on a
comparison: make figures

Texts of two groups that hold from 0 to 7 words of reasons are judged by the citizen, which counts
such words; it is no language model. Seeds are fixed.
"""

import csv
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent
FIGURES = {"scores_logical": "compare_scores", "curve": "compare_curve"}
COMMANDS = (
    "import demo texts.csv --as texts column=text id=id group=topic",
    "compare ask demo dimension=logical model=citizen +model.place=0.4 +model.threshold=0.3",
    "compare report demo -o report",
)


def main() -> None:
    """Have the texts judged and copy the figures of the report."""
    program = str(Path(sys.executable).with_name("delibsim"))
    with tempfile.TemporaryDirectory() as folder:
        with Path(folder, "texts.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(texts())
        for command in COMMANDS:
            subprocess.run([program, *command.split()], cwd=folder, check=True)
        for figure, name in FIGURES.items():
            made = Path(folder, "report", "figures", f"{figure}.svg")
            shutil.copyfile(made, FOLDER / f"{name}.svg")


def texts() -> list[tuple[str, str, str]]:
    """Sixteen texts a group; the number in an id is that of its words of reasons."""
    rows = [("id", "topic", "text")]
    for topic in ("trams", "parks"):
        for reasons in range(8):
            for letter in "ab":
                because = " because it is so" * reasons
                said = f"We want {topic}{because}, say those of group {letter}."
                rows.append((f"{topic} {reasons}{letter}", topic, said))
    return rows


if __name__ == "__main__":
    main()
