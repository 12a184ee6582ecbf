"""`delibsim code report`: what the codes of a study show, printed, as files and as JSON."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from delibsim.cli.code_options import values_of
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.results import print_result
from delibsim.cli.terminal import (
    console,
    echo_json,
    exit_code,
    print_each,
    safe,
    say,
    shown,
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
MORE = "Every table behind this one: tables=all prints them, --to FOLDER writes them with a page."
SHOWN = (
    "dimensions",
    "certainty",
    "pairs",
    "groups",
    "equivalence",
    "resampled",
    "robustness",
    "votes",
    "weak_dimensions",
    "calibration_scores",
    "against",
    "against_trend",
    "corrected_means",
    "wordings",
    "costs",
    "failures",
    "refusals",
)
"""The tables that are printed with tables=all, the first of them always; --to writes all."""
NOT_PRINTED = {
    "pairs": ("coefficient", "gross_of_disagreement"),
    "equivalence": ("se", "bound"),
    "corrected_means": ("method",),
}
"""Columns that are in the files and not on the screen, by table."""


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
    from delibsim.analysis.coding.page import write_page  # pandas is slow to import
    from delibsim.analysis.coding.report import Settings
    from delibsim.conduct.code_report import report_on_codes

    runs = study_at(study, root)
    found = report_on_codes(runs, own["scheme"], Settings(bound, least, against, own["by"]))
    if not found.coded:
        nothing = f"nothing has been coded yet; give: delibsim code ask {quoted(study)}"
        for line in list(found.why_not_coded()) or [nothing]:
            say(safe(line), err=True)
        raise typer.Exit(4)
    page = None if to is None else write_page(found, to)
    if as_json:
        echo_json(found.plain() | {"page": None if page is None else shown(page.resolve())})
    else:
        screen = console()
        print_each(found.sentences() if everything else found.overall(), screen)
        for name in SHOWN if everything else SHOWN[:1]:
            if name in found.results and found.results[name].given:
                print_result(found.results[name], NOT_PRINTED.get(name, ()), screen)
        if everything:
            _print_missing(found, screen)
        else:
            screen.print()
            say(MORE)
        if page is not None:
            screen.print(safe(f"written: {shown(page.resolve())}"), soft_wrap=True)
    for fault in found.faults:
        say(f"left out, damaged: {safe(fault)}", err=True)
    raise typer.Exit(exit_code(found.coded, found.whole))


def _print_missing(found: Any, screen: Console) -> None:
    """Print which tables the study cannot give, and what they would need."""
    missing = [one for one in found.results.values() if not one.given]
    if missing:
        screen.print()
        print_each((f"not given: {one.title.lower()}: {one.detail}" for one in missing), screen)
