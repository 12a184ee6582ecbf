"""`delibsim surveys`: the instruments there are."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from delibsim.cli.options import Json
from delibsim.cli.terminal import console, echo_json, readable, report, safe
from delibsim.store.instruments.library import Library
from delibsim.store.instruments.ranks import Rank1

RANKS: dict[Rank1 | None, str] = {
    None: "",
    "most_preferred": "as published",
    "least_preferred": "turned round",
}
"""What was done to the ranks of the answers that were imported with a survey."""
IMPORTED: dict[Rank1 | None, str] = {
    None: "",
    "most_preferred": "So it is in the published answers.",
    "least_preferred": "In the published answers it is the least preferred; these were turned.",
}

app = typer.Typer(add_completion=False)


@app.command()
def surveys(
    id: Annotated[str | None, typer.Argument(help="Print this survey whole.")] = None,
    as_json: Json = False,
) -> None:
    """List the surveys, or print one. Those named deliberr.* are the published instruments, after
    their import.
    """
    library = Library()
    found, faults = (
        ([library.survey(id)], []) if id else readable(sorted(library.surveys()), library.survey)
    )
    rank_1 = {survey.id: library.rank_1_in_source(survey.id) for survey in found}
    if as_json:
        plain = [{**asdict(survey), "rank_1_in_source": rank_1[survey.id]} for survey in found]
        echo_json(plain[0] if id else plain)
        report(faults)
        return
    screen = console()
    if id:
        survey = found[0]
        screen.print(
            f"{survey.id}: ratings from {survey.scale_min} to {survey.scale_max}, validated:"
            f" {'yes' if survey.validated else 'no'}"
        )
        screen.print(safe(survey.source), style="dim")
        screen.print(f"Rank 1 is the most preferred. {IMPORTED[rank_1[id]]}".strip())
        for item in survey.items:
            screen.print(f"{item.id:>4}  {safe(item.text)}{'  (reversed)' if item.reverse else ''}")
        return
    columns = ("id", "considerations", "preferences", "scale", "Q sort", "validated", "ranks")
    table = Table(*columns, box=None)
    for survey in found:
        table.add_row(
            survey.id,
            str(len(survey.considerations)),
            str(len(survey.preferences)),
            f"{survey.scale_min} to {survey.scale_max}",
            "yes" if survey.forced_distribution else "",
            "yes" if survey.validated else "no",
            RANKS[rank_1[survey.id]],
        )
    screen.print(table)
    report(faults)
