"""`delibsim import`: published instruments and people's answers into `surveys/imported`, to deliberate on and to compare with."""

from pathlib import Path
from typing import Annotated

import typer

from delibsim.domain.errors import WrongInput, unknown
from delibsim.store.answers import read_answers
from delibsim.store.deliberr import HUMAN, find_files, local_name, read_published
from delibsim.store.imported import ANSWERS, keep
from delibsim.store.library import Library

FORMATS = ("deliberr",)

app = typer.Typer(add_completion=False)


@app.command(name="import")
def import_(
    source: Annotated[str, typer.Argument(metavar="FORMAT", help="What the files are: deliberr (the R package's surveys and human data).")],
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Folders or files: surveys.csv, surveys.xlsx, human_data.csv.")],
    to: Annotated[Path, typer.Option(help="Where imported surveys are kept; a folder named after the format is made in it.")] = Path(
        "surveys/imported"
    ),
    version: Annotated[str, typer.Option(help="The version of the R package the files come from; every survey names it.")] = "0.1.0",
) -> None:
    """Import real instruments and the answers people gave to them.

    Everything is checked before anything is written. Imported surveys are named FORMAT.NAME, such as deliberr.ccps.
    """
    if source not in FORMATS:
        raise unknown("format", source, FORMATS)
    folder = to / source
    if any(part.exists() and not part.is_dir() for part in (folder, *folder.parents)):
        raise WrongInput(f"{folder}: cannot be made, because a file is in its way; choose another place with --to")
    files = find_files(paths)
    earlier = folder / ANSWERS
    kept = tuple(read_answers(earlier).values()) if HUMAN not in files and earlier.is_file() else ()
    published = read_published(files, version, kept)
    keep(published.surveys, published.answers, folder)

    people = sum(len(own.participants) for own in published.answers)
    cases = sum(len(set(own.cases)) for own in published.answers)
    typer.echo(f"instruments: {len(published.surveys)}, in {folder}")
    if kept:
        typer.echo(f"answers: {people} people, kept from an earlier import")
    elif people:
        typer.echo(f"answers: {people} people, before and after, in {folder / ANSWERS}; deliberations: {cases}")
    for note in published.notes:
        typer.echo(f"note: {note}")
    if people:
        typer.echo("next: delibsim human")
    topics = Library().topics()
    names = [local_name(survey) for survey in published.surveys]
    own = next((name for name in names if name in topics), None)
    typer.echo(f"next: delibsim run topic={own} survey=deliberr.{own}" if own else "next: delibsim surveys")
