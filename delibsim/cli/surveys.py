"""`delibsim surveys`: the instruments there are."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from delibsim.cli.terminal import console, echo_json, readable, report, safe
from delibsim.store.library import Library

app = typer.Typer(add_completion=False)


@app.command()
def surveys(
    id: Annotated[str | None, typer.Argument(help="Print this survey whole.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the surveys, or print one. Those named deliberr.* are the published instruments, after their import."""
    library = Library()
    found, faults = ([library.survey(id)], []) if id else readable(sorted(library.surveys()), library.survey)
    if as_json:
        echo_json(asdict(found[0]) if id else [asdict(survey) for survey in found])
        report(faults)
        return
    screen = console()
    if id:
        survey = found[0]
        screen.print(
            f"{survey.id}: ratings from {survey.scale_min} to {survey.scale_max}, validated: {'yes' if survey.validated else 'no'}"
        )
        screen.print(safe(survey.source), style="dim")
        for item in survey.items:
            screen.print(f"{item.id:>4}  {safe(item.text)}{'  (reversed)' if item.reverse else ''}")
        return
    table = Table("id", "considerations", "preferences", "scale", "Q sort", "validated", box=None)
    for survey in found:
        table.add_row(
            survey.id,
            str(len(survey.considerations)),
            str(len(survey.preferences)),
            f"{survey.scale_min} to {survey.scale_max}",
            "yes" if survey.forced_distribution else "",
            "yes" if survey.validated else "no",
        )
    screen.print(table)
    report(faults)
