"""`delibsim code review`: which texts a person should read next."""

from pathlib import Path
from typing import Annotated

import typer

from delibsim.cli.code_export import show_pack
from delibsim.cli.code_options import Coders, CodeSettings, values_of
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.terminal import study_at

N = "How many texts to draw, half at random, half by doubt."
DIMENSION = "Draw by doubt on this dimension; default: the mean over all."
TO = "The folder to write; default: codes-NAME."


def review(
    study: StudyName,
    settings: CodeSettings = None,
    n: Annotated[int, typer.Option("--n", min=1, help=N)] = 100,
    coders: Coders = "1",
    dimension: Annotated[str, typer.Option(help=DIMENSION)] = "",
    out: Annotated[Path | None, typer.Option("--to", help=TO)] = None,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Draw the texts that people should read next, and write a pack of them: half at random, half
    where the models are in doubt.

    The chance of each text is kept with the draw, so that corrected means can weigh by it.
    delibsim code review pilot --n 20
    """
    from delibsim.asking.kinds.code_people import REVIEW, draw_review, export_codes, told
    from delibsim.asking.kinds.coding import coding_of
    from delibsim.asking.people import people_named

    values = values_of(settings, ("scheme",))
    coding = coding_of(study_at(study, root), values["scheme"])
    people, draw = people_named(coders, "--coders", "coder"), draw_review(coding, n, dimension)
    pack = export_codes(coding, people, draw, REVIEW, out)
    show_pack(pack, told(pack), as_json)
