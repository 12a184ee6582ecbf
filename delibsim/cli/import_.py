"""`delibsim import`: published instruments, and people's answers to them or to surveys of your own,
to hold deliberations against.
"""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from delibsim.cli.terminal import safe, say, shown
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.text import counted
from delibsim.store.instruments.answers import Rank1
from delibsim.store.instruments.library import Library

FILE = "One CSV file: a row a participant and phase, a column an item."
SURVEY = "The survey that people answered (delibsim surveys)."
PARTICIPANT = "The column that names participants, if not participant."
PHASE = "The column that says pre or post, if not stage or phase."
ONLY = "Take the rows whose column survey names this survey, and no others."
RANK_1 = "What rank 1 is in FILE; by default the most preferred, as in what is kept."
LEAVE_OUT = "Leave participants with a fault out and keep the rest."
REPLACE = "Replace the answers of an earlier import."
PATHS = "Folders or files as published."
TO = "Where imported surveys are kept; a folder named after the format is made in it."
VERSION = "The version of the R package; every survey names it."


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
    paths: Annotated[list[Path], typer.Argument(metavar="FILE", help=FILE)],
    survey: Annotated[str | None, typer.Option(help=SURVEY)] = None,
    participant: Annotated[str | None, typer.Option(help=PARTICIPANT)] = None,
    phase: Annotated[str | None, typer.Option(help=PHASE)] = None,
    only: Annotated[bool, typer.Option("--only", help=ONLY)] = False,
    rank_1_is: Annotated[Rank1 | None, typer.Option(help=RANK_1)] = None,
    leave_out: Annotated[bool, typer.Option("--leave-out", help=LEAVE_OUT)] = False,
    replace: Annotated[bool, typer.Option("--replace", help=REPLACE)] = False,
) -> None:
    """Import people's answers of your own to a survey. Exit code 3 where --leave-out left somebody
    out.
    """
    from delibsim.store.instruments.checked_answers import check_answers  # numpy is slow to import
    from delibsim.store.instruments.own_answers import are_kept, keep_answers

    if len(paths) != 1 or survey is None:
        raise WrongInput(
            "name one file and the survey that people answered: delibsim import answers FILE"
            " --survey ID"
        )
    path, answered = paths[0], Library().survey(survey)
    checked = check_answers(path, answered, participant, phase, only, rank_1_is)
    for note in checked.notes:
        say(f"note: {safe(note)}")
    faults = safe(checked.listed())
    if checked.answers is None or (faults and not leave_out):
        raise WrongInput(f"{checked.refusal(path)}:\n{faults}")
    if are_kept(checked.answers, answered, Path.cwd()):
        say("already there, nothing changed:")
    kept = keep_answers(checked.answers, answered, Path.cwd(), replace)
    people = counted(len(checked.answers.participants), "person", "people")
    say(f"answers: {people}, before and after, to survey {answered.id}, in {shown(kept)}")
    say("next: delibsim human answers")
    if faults:
        names = safe(", ".join(checked.left_out))
        left_out = counted(len(checked.left_out), "person", "people")
        say(f"left out: {left_out} ({names})\n{faults}", err=True)
        raise typer.Exit(3)


@app.command()
def deliberr(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help=PATHS)],
    to: Annotated[Path, typer.Option(help=TO)] = Path("surveys/imported"),
    version: Annotated[str, typer.Option(help=VERSION)] = "0.1.0",
) -> None:
    """Import the surveys and human data of the R package deliberr. Imported surveys are named
    deliberr.NAME, such as deliberr.ccps.
    """
    from delibsim.store.instruments.imported import import_published  # numpy is slow to import

    imported = import_published(paths, to, version)
    for line in imported.told():
        say(line)
