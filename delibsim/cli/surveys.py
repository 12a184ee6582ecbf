"""`delibsim surveys`: the surveys, imported ones among them."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console

from delibsim.analysis.table import numbers, texts
from delibsim.cli.options import Json
from delibsim.cli.table import print_table, print_text
from delibsim.cli.terminal import console, echo_json, readable, report, safe
from delibsim.domain.study import natural
from delibsim.domain.survey import Survey
from delibsim.store.instruments.answers import Rank1
from delibsim.store.instruments.library import Library

RANKS: dict[Rank1 | None, tuple[str, str]] = {
    None: ("", ""),
    "most_preferred": ("as published", " So it is in the published answers."),
    "least_preferred": (
        "turned round",
        " In the published answers it is the least preferred; these were turned.",
    ),
}
"""What was done to the ranks of the answers that were imported with a survey: in a cell, and as a
sentence.
"""
COLUMNS = (
    *texts("id"),
    *numbers(("considerations", "preferences")),
    *texts("scale", "Q sort", "validated", "ranks"),
)

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
    listed = [id] if id else sorted(library.surveys(), key=natural)
    found, faults = ([library.survey(id)], []) if id else readable(listed, library.survey)
    ranks = {survey.id: library.rank_1_in_source(survey.id) for survey in found}
    if as_json:
        plain = [{**asdict(survey), "rank_1_in_source": ranks[survey.id]} for survey in found]
        echo_json(plain[0] if id else plain)
    elif id:
        _print(found[0], ranks[id], console())
    else:
        rows = [[*_cells(survey), RANKS[ranks[survey.id]][0]] for survey in found]
        print_table("", COLUMNS, rows, console())
    report(faults)


def _print(survey: Survey, rank_1: Rank1 | None, screen: Console) -> None:
    screen.print(
        f"{survey.id}: ratings from {survey.scale_min} to {survey.scale_max}, validated:"
        f" {'yes' if survey.validated else 'no'}"
    )
    print_text(safe(survey.source), screen, "dim")
    print_text(f"Rank 1 is the most preferred.{RANKS[rank_1][1]}", screen)
    for item in survey.items:
        reverse = "  (reversed)" if item.reverse else ""
        print_text(f"{item.id:>4}  {safe(item.text)}{reverse}", screen)


def _cells(survey: Survey) -> list[str]:
    return [
        survey.id,
        str(len(survey.considerations)),
        str(len(survey.preferences)),
        f"{survey.scale_min} to {survey.scale_max}",
        "yes" if survey.forced_distribution else "",
        "yes" if survey.validated else "no",
    ]
