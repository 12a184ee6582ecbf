"""The options and arguments that several commands share, each declared once."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from delibsim.cli.words import setting

RUNS = Path("runs")
"""The default of `RunsFolder`."""

RunsFolder = Annotated[Path, typer.Option("--runs", help="The folder that holds all studies.")]
Json = Annotated[bool, typer.Option("--json", help="Print as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")]
Sweep = Annotated[
    bool,
    typer.Option("--multirun", "-m", help="Every combination of the values given: a sweep."),
]

StudyName = Annotated[str, typer.Argument(help="Name or folder of the study.")]
RunName = Annotated[
    str,
    typer.Argument(
        help="Folder of the run, or study/session, or a study that has one session.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="settings",
        help="Settings as key=value, such as topic=acp treatment=basic.",
    ),
]

# `--to` names the file or folder that a command writes. Each command declares it itself, because
# each has another default to describe.


def with_runs(settings: Sequence[str], root: Path) -> list[str]:
    """The settings of a plan, with the folder of studies among them where it is not the default."""
    if root == RUNS:
        return list(settings)
    return [*settings, setting("runs", str(root))]
