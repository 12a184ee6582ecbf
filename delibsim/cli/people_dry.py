"""`delibsim people preview|dry-run`: a study with people, seen and tried before they come."""

import asyncio
import tempfile
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from delibsim.cli.estimate import EstimateOnly
from delibsim.cli.options import RUNS, RunsFolder
from delibsim.cli.serve import (
    PEOPLE,
    PORT,
    STUDY,
    SWEEP,
    planned_for_people,
    show_estimate_for_people,
)
from delibsim.cli.terminal import exit_code, say, shown
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted
from delibsim.planning.freeze import cells_of
from delibsim.store.own_folder import refuse_others
from delibsim.store.runs import Runs

SPEED = "How many times as fast as people the citizens are."


def dry_run(
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="STUDY|settings", help=STUDY)
    ] = None,
    multirun: Annotated[bool, typer.Option("--multirun", "-m", help=SWEEP)] = False,
    people: Annotated[Path | None, typer.Option(help=PEOPLE)] = None,
    speed: Annotated[float, typer.Option(min=0.1, max=10_000, help=SPEED)] = 10.0,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help=PORT)] = None,
    only: EstimateOnly = False,
    root: RunsFolder = RUNS,
) -> None:
    """Try a study before people come: citizens take their seats, agree and answer, faster than
    people. Nothing of it is kept. The researcher's page shows the groups meanwhile.

    Language models in other seats are asked, and paid, as in the study. Exit code 0; 3 where a
    session was not complete, 4 where none was.
    """
    from delibsim.people import dry as visitors
    from delibsim.people.hall import Hall
    from delibsim.store.people.hosting_files import declared
    from delibsim.store.people.register import Register
    from delibsim.web.people.app import serve_people

    planned = planned_for_people(settings or [], multirun, root)
    if only:
        show_estimate_for_people(planned)
        return
    hosting = visitors.hurried(declared(Runs(planned.root, planned.study), people), speed)
    sessions = [one for one in planned.sessions if one.seats_of_people]
    if not sessions:
        raise WrongInput("nobody is waited for: give a seat to a person, with model=person")
    tell = partial(say, err=True)
    with tempfile.TemporaryDirectory(prefix="delibsim-dry-") as folder:
        dry = replace(planned, root=Path(folder))
        runs = Runs(dry.root, dry.study)

        async def open_hall() -> Hall:
            pool = await visitors.prepared_for_people(dry, runs, sessions, tell)
            hall = Hall(
                runs,
                Register.of(runs, ""),
                hosting,
                pool,
                sessions,
                visitor=partial(visitors.Visitor, speed=speed),
            )
            visitors.seat_everybody(hall)
            return hall

        def told(address: str) -> None:
            say(
                f"dry run of {counted(len(sessions), 'session')} at {speed:g} times the speed",
                err=True,
            )
            say(f"watch it: {address}/office", err=True)

        with suppress(KeyboardInterrupt):
            serve_people(
                open_hall,
                "127.0.0.1",
                port,
                [],
                [],
                told,
                lambda hall: visitors.until_all_are_over(hall, speed, say),
            )
        done = sum(runs.status(one.id) == "complete" for one in sessions)
    say(f"{done} of {counted(len(sessions), 'session')} complete; nothing was kept.", err=True)
    raise typer.Exit(exit_code(done > 0, done == len(sessions)))


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
