"""`delibsim compare export`: blinded pages and a form for people who compare texts in pairs."""

from pathlib import Path
from typing import Annotated

import typer

from delibsim.cli.compare_ask import EQUAL, studies_of
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.terminal import console, echo_json, print_each, shown
from delibsim.domain.text import counted, quoted

SETTINGS = (
    "name=NAME alone, of a comparison that was begun; else its settings, as of compare ask:"
    " dimension=logical design=random ..."
)
RATERS = "How many people judge; or their names, parted by commas."
EACH = "How many pairs each rater judges on a dimension; default: all."
TO = "The folder to write; default: pairs-NAME."


def export(
    study: StudyName,
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="settings", help=SETTINGS)
    ] = None,
    raters: Annotated[str, typer.Option("--raters", help=RATERS)] = "5",
    each: Annotated[int | None, typer.Option("--pairs-per-rater", min=1, help=EACH)] = None,
    keep_equal: Annotated[bool, typer.Option("--keep-equal", help=EQUAL)] = False,
    out: Annotated[Path | None, typer.Option("--to", help=TO)] = None,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Write a blinded pack for people: pages to print for each rater, and a form to fill in.

    People judge the pairs that language models judge, each in an order of their own, and read what
    models read. Of every 20 sheets one is repeated, to see whether raters answer alike. The study
    keeps the key. delibsim compare export pilot dimension=logical --raters Ann,Ben
    """
    from delibsim.asking.kinds.pair_people import export_pairs, for_people
    from delibsim.asking.people import people_named

    people = people_named(raters, "--raters", "rater")
    runs, sources, settings = studies_of(study, overrides or [], root)
    asked = for_people(runs, settings, keep_equal, sources)
    print_each([f"note: {line}" for line in asked.notes], console(stderr=True))
    pack = export_pairs(asked, people, each, out)
    if as_json:
        echo_json(pack.plain())
        return
    if pack.nothing:
        had = ", ".join(pack.nothing)
        told = f"note: {had}: all pairs were handed out before, so no pages were written"
        print_each([told], console(stderr=True))
    if pack.pairs < pack.among:
        left = f"{pack.among - pack.pairs:,} of {pack.among:,} pairs"
        print_each([f"note: {left} are in no sheet of this pack"], console(stderr=True))
    sheets = sum(pack.raters.values())
    folder = shown(Path(pack.folder or "").resolve())
    lines = [
        f"{counted(pack.pairs, 'pair')} for {counted(len(pack.raters), 'rater')}:"
        f" {counted(sheets, 'sheet')}, of which {pack.repeated} repeated; rater-1.html and so on to"
        " print, form.csv to fill in",
        f"Folder     {folder}",
        f"Next       delibsim compare import {quoted(f'{folder}/form.csv')}",
    ]
    print_each(lines, console())
