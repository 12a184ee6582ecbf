"""`delibsim import`: published instruments, and people's answers to them or to surveys of your own,
to hold deliberations against.
"""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from delibsim.cli.terminal import safe, say, shown
from delibsim.domain.errors import WrongInput, unknown
from delibsim.store.instruments.checked_answers import Checked, check_answers
from delibsim.store.instruments.deliberr import local_name
from delibsim.store.instruments.imported import ANSWERS, Imported, import_published
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
            metavar="FILE", help="One CSV file: a row a participant and phase, a column an item."
        ),
    ],
    survey: Annotated[
        str | None, typer.Option(help="The survey that people answered (delibsim surveys).")
    ] = None,
    participant: Annotated[
        str | None, typer.Option(help="The column that names participants, if not participant.")
    ] = None,
    phase: Annotated[
        str | None, typer.Option(help="The column that says pre or post, if not stage or phase.")
    ] = None,
    only: Annotated[
        bool,
        typer.Option(
            "--only", help="Take the rows whose column survey names this survey, and no others."
        ),
    ] = False,
    rank_1_is: Annotated[
        Rank1 | None,
        typer.Option(
            help="What rank 1 is in FILE; by default the most preferred, as in what is kept."
        ),
    ] = None,
    leave_out: Annotated[
        bool,
        typer.Option("--leave-out", help="Leave participants with a fault out and keep the rest."),
    ] = False,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Replace the answers of an earlier import."),
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
    path, answered = paths[0], Library().survey(survey)
    checked = check_answers(path, answered, participant, phase, only, rank_1_is)
    for note in checked.notes:
        say(f"note: {safe(note)}")
    faults = "\n".join(f"  {safe(str(fault))}" for fault in checked.faults)
    if checked.answers is None or (faults and not leave_out):
        raise WrongInput(f"{_refusal(path, checked)}:\n{faults}")
    kept = keep_answers(checked.answers, answered, Path.cwd(), replace)
    people = len(checked.answers.participants)
    say(f"answers: {people} people, before and after, to survey {answered.id}, in {shown(kept)}")
    say("next: delibsim human answers")
    if faults:
        names = safe(", ".join(checked.left_out))
        say(f"left out: {len(checked.left_out)} people ({names})\n{faults}", err=True)
        raise typer.Exit(3)


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
    imported = import_published(paths, to, version)
    published = imported.published
    say(f"instruments: {len(published.surveys)}, in {imported.folder}")
    people = sum(len(own.participants) for own in published.answers)
    if people:
        say(f"answers: {people} people, {_origin(imported)}")
    for note in published.notes:
        say(f"note: {note}")
    if people:
        say("next: delibsim human")
    topics = Library().topics()
    names = [local_name(survey) for survey in published.surveys if local_name(survey) in topics]
    if names:
        say(f"next: delibsim run topic={names[0]} survey=deliberr.{names[0]}")
    else:
        say("next: delibsim surveys")


def _refusal(path: Path, checked: Checked) -> str:
    advice = "mend the file, or keep the others with --leave-out"
    if checked.answers is None:
        advice = "nobody would be left"
    return f"{path}: {len(checked.faults)} faults, nothing was imported ({advice})"


def _origin(imported: Imported) -> str:
    if imported.earlier_answers:
        return "kept from an earlier import"
    cases = sum(len(set(own.cases)) for own in imported.published.answers)
    return f"before and after, in {imported.folder / ANSWERS}; deliberations: {cases}"
