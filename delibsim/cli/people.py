"""`delibsim people`: people who take part in a browser; and a study with people, seen and
tried before they come.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import NoReturn

import typer

from delibsim.cli.estimate import ask_first
from delibsim.cli.options import RUNS, Words, declared, study_first
from delibsim.cli.people_erase import bonus, export, forget, withdraw
from delibsim.cli.people_invite import invite, list_people, password, raters, revoke
from delibsim.cli.serve import (
    planned_for_people,
    show_estimate_for_people,
)
from delibsim.cli.terminal import console, echo_json, exit_code, say, shown, study_at
from delibsim.domain.errors import WrongInput
from delibsim.domain.hosting import Hosting
from delibsim.domain.run import Session
from delibsim.domain.text import counted
from delibsim.planning.compose import Plan
from delibsim.planning.freeze import cells_of
from delibsim.store.own_folder import refuse_others
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False, no_args_is_help=True)


def try_out(
    study: str | None = None,
    settings: Words = None,
    multirun: bool = False,
    people: Path | None = None,
    speed: float = 10.0,
    port: int | None = None,
    raters: bool = False,
    task: str | None = None,
    only: bool = False,
    yes: bool = False,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Try a study before people come: citizens take their seats, agree and answer, faster than
    people. Nothing of it is kept. The researcher's page shows the groups meanwhile.

    Language models in other seats are asked, and paid, as in the study. With --raters it says of
    each task whether every sheet can be filled and kept, and about how many minutes a place takes a
    person. Exit code 0; 3 where a session or sheet was not complete, 4 where none was.
    """
    from delibsim.people.dry import hurried
    from delibsim.store.people.hosting_files import declared as declared_hosting

    asked = study_first(study, settings)
    if raters:
        _try_raters(study_at(asked[0], root), task, as_json)
    planned = planned_for_people(asked, multirun, root)
    if only:
        show_estimate_for_people(planned)
        return
    ask_first(planned, Runs(planned.root, planned.study), yes)
    hosting = hurried(declared_hosting(Runs(planned.root, planned.study), people), speed)
    sessions = [one for one in planned.sessions if one.seats_of_people]
    if not sessions:
        raise WrongInput("nobody is waited for: give a seat to a person, with model=person")
    done = _tried(planned, hosting, sessions, speed, port)
    say(f"{done} of {counted(len(sessions), 'session')} complete; nothing was kept.", err=True)
    raise typer.Exit(exit_code(done > 0, done == len(sessions)))


def _tried(
    planned: Plan, hosting: Hosting, sessions: Sequence[Session], speed: float, port: int | None
) -> int:
    """Hold sessions in a folder that is deleted, with citizens in the seats of people; how many
    were complete.
    """
    from delibsim.people.dry import Visitor, prepared_for_people, seat_everybody, until_all_are_over
    from delibsim.people.hall import Hall
    from delibsim.store.people.register import Register
    from delibsim.web.people.app import serve_people

    tell = partial(say, err=True)
    with tempfile.TemporaryDirectory(prefix="delibsim-dry-") as folder:
        dry = replace(planned, root=Path(folder))
        runs = Runs(dry.root, dry.study)

        async def open_hall() -> Hall:
            pool = await prepared_for_people(dry, runs, sessions, tell)
            hall = Hall(
                runs,
                Register.of(runs, ""),
                hosting,
                pool,
                sessions,
                visitor=partial(Visitor, speed=speed),
            )
            seat_everybody(hall)
            return hall

        def told(address: str) -> None:
            say(
                f"trial of {counted(len(sessions), 'session')} at {speed:g} times the speed",
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
                lambda hall: until_all_are_over(hall, speed, say),
            )
        return sum(runs.status(one.id) == "complete" for one in sessions)


def _try_raters(runs: Runs, task: str | None, as_json: bool) -> NoReturn:
    """Fill every sheet in a copy of a study, and say how that went."""
    from delibsim.analysis.table import numbers, texts
    from delibsim.cli.table import print_table
    from delibsim.models.citizen.citizen import Citizen
    from delibsim.people.dry import DryTask, copied, rate, refuse_begun

    with copied(runs) as desk:
        names = [desk.task(task).name] if task else desk.names()
        if not names:
            desk.task("")  # which says how tasks are handed out
        refuse_begun(runs, names)
        found = [asyncio.run(rate(desk, name, Citizen())) for name in names]
    rows = [asdict(one) for one in found]
    if as_json:
        echo_json({"study": runs.study, "tasks": rows})
    else:
        columns = list(DryTask.__dataclass_fields__)
        heads = [*texts(*columns[:2]), *numbers(columns[2:])]
        lines = [list(map(str, row.values())) for row in rows]
        print_table("Trial of raters: nothing was kept", heads, lines, console())
    kept = sum(one.kept for one in found)
    raise typer.Exit(exit_code(kept > 0, kept == sum(one.sheets for one in found)))


def preview(
    study: str | None = None,
    settings: Words = None,
    multirun: bool = False,
    people: Path | None = None,
    to: Path = Path("preview"),
    root: Path = RUNS,
) -> None:
    """Write every page that people will see, as files: of each cell of the design, as each
    participant, from the link to the end, with an index. Open index.html in a browser.

    The pages are the server's own. Sessions are held with placeholders in a folder that is gone
    afterwards: nobody is asked or paid, and nothing is written into the study.
    """
    from delibsim.store.people.hosting_files import declared as declared_hosting
    from delibsim.web.people.preview import preview as taken
    from delibsim.web.people.preview_files import OPTION, WRITER, write_preview

    planned = planned_for_people(study_first(study, settings), multirun, root)
    hosting = declared_hosting(Runs(planned.root, planned.study), people)
    with_people = [one for one in planned.sessions if one.seats_of_people]
    if not with_people:
        raise WrongInput("nobody is waited for: give a seat to a person, with model=person")
    sessions = list(cells_of(with_people).values())
    refuse_others(to, WRITER, OPTION)
    shots = asyncio.run(taken(sessions, hosting))
    n = write_preview(planned.study, sessions, shots, to)
    say(f"{counted(n, 'page')} of {counted(len(sessions), 'session')}: {shown(to / 'index.html')}")


@app.callback()
def _group() -> None:
    """People who take part in a browser: who they are to a study, and how far they are."""


declared(app, "people", "preview")(preview)
declared(app, "people", "try")(try_out)
declared(app, "people", "invite")(invite)
declared(app, "people", "list")(list_people)
declared(app, "people", "revoke")(revoke)
declared(app, "people", "raters")(raters)
declared(app, "people", "password")(password)
declared(app, "people", "export")(export)
declared(app, "people", "bonus")(bonus)
declared(app, "people", "forget")(forget)
declared(app, "people", "withdraw")(withdraw)
