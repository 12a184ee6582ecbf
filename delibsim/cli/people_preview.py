"""`delibsim people preview`: every page of a study with people, before anybody is invited."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from delibsim.cli.options import RUNS, RunsFolder
from delibsim.cli.serve import PEOPLE, STUDY, SWEEP, planned_for_people
from delibsim.cli.terminal import say, shown
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted
from delibsim.planning.freeze import cells_of
from delibsim.store.own_folder import refuse_others
from delibsim.store.runs import Runs

TO = "The folder to write; one that holds a preview is replaced."


def preview(
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="STUDY|settings", help=STUDY)
    ] = None,
    multirun: Annotated[bool, typer.Option("--multirun", "-m", help=SWEEP)] = False,
    people: Annotated[Path | None, typer.Option(help=PEOPLE)] = None,
    to: Annotated[Path, typer.Option("--to", "-o", help=TO)] = Path("preview"),
    root: RunsFolder = RUNS,
) -> None:
    """Write every page that people will see, as files: of each cell of the design, as each
    participant, from the link to the end, with an index. Open index.html in a browser.

    The pages are the server's own. Sessions are held with placeholders in a folder that is gone
    afterwards: nobody is asked or paid, and nothing is written into the study.
    """
    from delibsim.store.people.hosting_files import declared
    from delibsim.web.people.preview import preview as taken
    from delibsim.web.people.preview_files import OPTION, WRITER, write_preview

    planned = planned_for_people(settings or [], multirun, root)
    hosting = declared(Runs(planned.root, planned.study), people)
    with_people = [one for one in planned.sessions if one.seats_of_people]
    if not with_people:
        raise WrongInput("nobody is waited for: give a seat to a person, with model=person")
    sessions = list(cells_of(with_people).values())
    refuse_others(to, WRITER, OPTION)
    shots = asyncio.run(taken(sessions, hosting))
    n = write_preview(planned.study, sessions, shots, to)
    say(f"{counted(n, 'page')} of {counted(len(sessions), 'session')}: {shown(to / 'index.html')}")
