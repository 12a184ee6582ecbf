"""`delibsim compare replay`: compute the votes of a comparison again from its record."""

from typing import Annotated

import typer

from delibsim.asking.kinds.pair import PAIRS
from delibsim.cli.asking import replay_and_exit
from delibsim.cli.code_options import values_of
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.terminal import study_at

NAME = "name=NAME, where a study has several comparisons."


def replay(
    study: StudyName,
    settings: Annotated[list[str] | None, typer.Argument(metavar="[name=NAME]", help=NAME)] = None,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Compute all votes again from the recorded exchanges alone: delibsim compare replay first.

    No model is asked. Exit code 0 if they are equal to those that were kept, 4 if not.
    """
    name = values_of(settings, ["name"])["name"]
    replay_and_exit(PAIRS.kept(study_at(study, root), name), "comparison", as_json)
