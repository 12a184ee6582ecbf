"""`delibsim code report`: what the codes of a study show, printed, as files and as JSON."""

from pathlib import Path
from typing import Annotated

import typer

from delibsim.cli.code_options import values_of
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.results import end_with_report
from delibsim.cli.terminal import (
    safe,
    say,
    study_at,
)
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import quoted

SETTINGS = (
    "scheme=NAME, where there are several; by=COLUMN, whose values are clusters of texts;"
    " tables=all prints every table."
)
ALL = "all"
TO = "Write the page, every table (CSV) and every figure (SVG) into this folder."
AGAINST = "A column of the texts, such as year: agreement within its parts."
BOUND = "How far delta may lie from 0 for the ensemble to be equivalent."
LEAST = "What the agreement of people must reach for equivalence to be praise."


def report(
    study: StudyName,
    settings: Annotated[list[str] | None, typer.Argument(metavar="settings", help=SETTINGS)] = None,
    to: Annotated[Path | None, typer.Option("--to", help=TO)] = None,
    against: Annotated[str, typer.Option(help=AGAINST)] = "",
    bound: Annotated[float, typer.Option(help=BOUND)] = 0.10,
    least: Annotated[float, typer.Option(help=LEAST)] = 0.60,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """How far coders agree, and whether the ensemble may stand in for a person.

    For example: delibsim code report pilot scheme=dqi3 --to report. --by COLUMN names the clusters
    of texts that the bootstrap draws; by default they are the groups. Every number names its
    definition in docs/coding.md. Exit code 0; 3 if something could not be read, 4 if nothing has
    been coded.
    """
    if not 0 < bound <= 2:
        raise WrongInput(f"--bound {bound:g}: give a number above 0, at most 2, such as 0.10")
    if not -1 <= least <= 1:
        raise WrongInput(f"--least {least:g}: give a number between -1 and 1, such as 0.60")
    own = values_of(settings, ("scheme", "by", "tables"))
    if own["tables"] not in ("", ALL):
        raise WrongInput(f"tables={own['tables']}: give tables=all, or leave it out")
    everything = own["tables"] == ALL
    from delibsim.analysis.coding.report import Settings, why_not_coded  # pandas is slow to import
    from delibsim.conduct.code_report import report_on_codes

    runs = study_at(study, root)
    found = report_on_codes(runs, own["scheme"], Settings(bound, least, against, own["by"]))
    if not found.something:
        nothing = f"nothing has been coded yet; give: delibsim code ask {quoted(study)}"
        for line in list(why_not_coded(found)) or [nothing]:
            say(safe(line), err=True)
        raise typer.Exit(4)
    end_with_report(found, to, as_json, everything)
