"""`delibsim code replay`: compute the samples of a coding again from its record."""

from typing import Annotated

import typer

from delibsim.asking.kinds.code import CODES
from delibsim.cli.asking import replay_and_exit
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.terminal import study_at
from delibsim.domain.errors import WrongInput

SCHEME = "scheme=NAME, where texts of the study were coded by several."


def replay(
    study: StudyName,
    scheme: Annotated[str, typer.Argument(metavar="[scheme=NAME]", help=SCHEME)] = "",
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Compute all samples again from the recorded exchanges alone: delibsim code replay first.

    No model is asked. Exit code 0 if they are equal to those that were kept, 4 if not.
    """
    key, _, name = scheme.partition("=")
    if scheme and key != "scheme":
        raise WrongInput(f"'{scheme}' is no setting of a replay: scheme=NAME")
    replay_and_exit(CODES.kept(study_at(study, root), name), "scheme", as_json)
