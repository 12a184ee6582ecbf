"""`delibsim human`: the measures of real citizen deliberations, beside the published figures."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from delibsim.analysis.human.groups_of_five import PARTITIONS
from delibsim.analysis.human.report import GROUPINGS, PeopleReport, people_report
from delibsim.analysis.human.tables import (
    ceiling_of_five,
    notes_on_groups,
    table_of_figures,
    table_of_five,
    tables_of_groups,
)
from delibsim.cli.table import print_text, show_table
from delibsim.cli.terminal import console, echo_json, print_each, say, shown
from delibsim.domain.errors import unknown
from delibsim.store.instruments.imported import read_people

IMPORTED = Path("surveys/imported/deliberr")
PATH = "A folder with imported or published answers."
BY = "topic: all participants of a survey together; case: each deliberation on its own."
ALL = "Also the surveys that are no topics of the benchmark."
DEALT = "How often people are dealt anew into groups of five; 0: not at all."
TO = "Also write the tables as a report (HTML, CSV, LaTeX, Word) into this folder."
JSON = "Every measure in full precision, as JSON."

app = typer.Typer(add_completion=False)


@app.command()
def human(
    path: Annotated[Path, typer.Argument(help=PATH)] = IMPORTED,
    by: Annotated[str, typer.Option(help=BY)] = "topic",
    all_: Annotated[bool, typer.Option("--all", help=ALL)] = False,
    partitions: Annotated[int, typer.Option(min=0, help=DEALT)] = PARTITIONS,
    to: Annotated[Path | None, typer.Option(help=TO)] = None,
    as_json: Annotated[bool, typer.Option("--json", help=JSON)] = False,
) -> None:
    """Show how real people deliberated: n, and every measure before, after and its change."""
    if by not in GROUPINGS:
        raise unknown("grouping", by, GROUPINGS)
    answers, scales = read_people(path)
    report = people_report(answers, scales, by, partitions, whole=all_)
    if to is not None:
        from delibsim.analysis.human.tables import write_people

        write_people(report, to)
    if as_json:
        echo_json(report.plain())
        return
    print_report(report, console())
    if to is not None:
        say(f"written: {shown(to.resolve())}")


def print_report(report: PeopleReport, screen: Console) -> None:
    """Print every table of the report, and what must be known of them."""
    for table in tables_of_groups(report):
        show_table(table, screen)
        screen.print()
    print_each(notes_on_groups(report), screen)
    if not report.missing:
        show_table(table_of_figures(report), screen)
        screen.print()
    if report.topics:
        show_table(table_of_five(report), screen)
        screen.print()
        print_each(report.without_index(), screen)
        print_text(ceiling_of_five(report), screen)
    definitions = "Definitions: docs/measures.md. Range-normalised: by the range of each item."
    print_text(f"{definitions} More measures: --json.", screen)
