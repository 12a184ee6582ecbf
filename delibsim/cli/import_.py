"""`delibsim import`: published instruments, and people's answers to them or to surveys of your own,
to hold deliberations against.
"""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from delibsim.cli.terminal import safe
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.survey import Survey
from delibsim.store.instruments.answers import read_answers
from delibsim.store.instruments.checked_answers import Checked, check_answers
from delibsim.store.instruments.deliberr import HUMAN, find_files, local_name, read_published
from delibsim.store.instruments.imported import ANSWERS, keep
from delibsim.store.instruments.library import Library
from delibsim.store.instruments.own_answers import keep_answers
from delibsim.store.instruments.ranks import Rank1


class Formats(TyperGroup):
    """The formats by name."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Say which format may have been meant."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            raise unknown("format", args[0], self.commands)
        return super().resolve_command(ctx, args)


RANK_1_IS = "What rank 1 is in FILE; by default the most preferred, as in what is kept."

app = typer.Typer(
    cls=Formats,
    add_completion=False,
    no_args_is_help=True,
    help=(
        "Import real instruments and the answers people gave to them. Everything is checked before"
        " anything is written."
    ),
)


@app.command()
def answers(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE", help="One CSV file: a row a participant and stage, a column an item."
        ),
    ],
    survey: Annotated[
        str | None, typer.Option(help="The survey that people answered (delibsim surveys).")
    ] = None,
    participant: Annotated[
        str | None, typer.Option(help="The column that names participants, if not participant.")
    ] = None,
    stage: Annotated[
        str | None, typer.Option(help="The column that says pre or post, if not stage or phase.")
    ] = None,
    only: Annotated[
        bool,
        typer.Option(
            "--only", help="Take the rows whose column survey names this survey, and no others."
        ),
    ] = False,
    rank_1_is: Annotated[Rank1 | None, typer.Option(help=RANK_1_IS)] = None,
    leave_out: Annotated[
        bool,
        typer.Option("--leave-out", help="Leave participants with a fault out and keep the rest."),
    ] = False,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Put the answers in the place of those of an earlier import."
        ),
    ] = False,
) -> None:
    """Import people's answers of your own to a survey. Exit code 3 where --leave-out left somebody
    out.
    """
    if len(paths) != 1 or survey is None:
        raise WrongInput(
            "name one file and the survey that people answered: delibsim import answers FILE"
            " --survey ID"
        )
    answered = Library().survey(survey)
    checked = check_answers(paths[0], answered, participant, stage, only, rank_1_is)
    _keep(checked, answered, paths[0], leave_out, replace)


@app.command()
def deliberr(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", help="Folders or files as published.")
    ],
    to: Annotated[
        Path,
        typer.Option(
            help="Where imported surveys are kept; a folder named after the format is made in it."
        ),
    ] = Path("surveys/imported"),
    version: Annotated[
        str, typer.Option(help="The version of the R package; every survey names it.")
    ] = "0.1.0",
) -> None:
    """Import the surveys and human data of the R package deliberr. Imported surveys are named
    deliberr.NAME, such as deliberr.ccps.
    """
    _import_deliberr(paths, to, version)


def _keep(checked: Checked, survey: Survey, path: Path, leave_out: bool, replace: bool) -> None:
    """Tell the faults of a file line by line; write it if nothing is wrong, or if those it is wrong
    with are to be left out.
    """
    for note in checked.notes:
        typer.echo(f"note: {safe(note)}")
    faults = [f"  {safe(str(fault))}" for fault in checked.faults]
    if checked.answers is None or (faults and not leave_out):
        advice = (
            "mend the file, or keep the others with --leave-out"
            if checked.answers is not None
            else "nobody would be left"
        )
        raise WrongInput(
            "\n".join([f"{path}: {len(faults)} faults, nothing was imported ({advice}):", *faults])
        )
    kept = keep_answers(checked.answers, survey, Path.cwd(), replace)
    people = len(checked.answers.participants)
    typer.echo(
        f"answers: {people} people, before and after, to survey {survey.id}, in"
        f" {kept.relative_to(Path.cwd())}"
    )
    typer.echo("next: delibsim human answers")
    if faults:
        typer.echo(
            "\n".join(
                [
                    (
                        f"left out: {len(checked.left_out)} people"
                        f" ({safe(', '.join(checked.left_out))})"
                    ),
                    *faults,
                ]
            ),
            err=True,
        )
        raise typer.Exit(3)


def _import_deliberr(paths: list[Path], to: Path, version: str) -> None:
    folder = to / "deliberr"
    if any(part.exists() and not part.is_dir() for part in (folder, *folder.parents)):
        raise WrongInput(
            f"{folder}: cannot be made, because a file is in its way; choose another place with"
            " --to"
        )
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
        typer.echo(
            f"answers: {people} people, before and after, in {folder / ANSWERS}; deliberations:"
            f" {cases}"
        )
    for note in published.notes:
        typer.echo(f"note: {note}")
    if people:
        typer.echo("next: delibsim human")
    topics = Library().topics()
    names = [local_name(survey) for survey in published.surveys]
    own = next((name for name in names if name in topics), None)
    typer.echo(
        f"next: delibsim run topic={own} survey=deliberr.{own}" if own else "next: delibsim surveys"
    )
