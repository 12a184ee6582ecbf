"""`delibsim serve`: hold the sessions of a study that wait for people, in their browsers."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from delibsim.cli.options import RUNS, RunsFolder, with_runs
from delibsim.cli.terminal import say, shown, tell_folder
from delibsim.conduct.retry import plan_again
from delibsim.domain.errors import WrongInput
from delibsim.domain.hosting import Hosting
from delibsim.domain.run import Session
from delibsim.domain.text import counted
from delibsim.planning.compose import Plan, plan
from delibsim.store.instruments.library import package_data
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)
STUDY = "A study that has begun, by its name; or the settings of one, as for delibsim run."
PEOPLE = "What people are told and agree to. Default: people.yaml here, or the study's own."
DEMO = "One table, four citizens, a free seat, about 14 minutes; others watch. Nothing is kept."
EXAMPLE = "Print a people.yaml to begin with, and serve nothing."
HOST = "The address to serve on. Any but this machine's needs a proxy with TLS before it."
SWEEP = "Serve every combination of the values given, as delibsim run -m holds them."
PORT = "The port. Default: 8377, or a free one where that is taken."
Where = tuple[str, int | None, list[str], list[str]]
DEMO_SETTINGS = [
    "study=demo",
    "topic=ccps",
    "treatment=normative",
    "group.models=[person,citizen,citizen,citizen,citizen]",
    "rounds=2",
]
EPILOG = (
    "For example: delibsim serve study=hall 'group.models=[person,person,person,citizen,citizen]'"
    " topic=acp -m 'replicate=range(1,11)'; then delibsim people invite hall --number 30. The same"
    " command again, or delibsim serve hall, goes on where it was. Behind a proxy: --name"
    " study.example.org (how people call the server) and --trusted-proxy 127.0.0.1 (whose word on"
    " who asks is believed), each as often as needed."
)


@app.command(epilog=EPILOG)
def serve(
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="STUDY|settings", help=STUDY)
    ] = None,
    multirun: Annotated[bool, typer.Option("--multirun", "-m", help=SWEEP)] = False,
    people: Annotated[Path | None, typer.Option(help=PEOPLE)] = None,
    demo: Annotated[bool, typer.Option("--demo", help=DEMO)] = False,
    example: Annotated[bool, typer.Option("--example", help=EXAMPLE)] = False,
    host: Annotated[str, typer.Option(help=HOST)] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(min=0, max=65535, help=PORT)] = None,
    root: RunsFolder = RUNS,
) -> None:
    """Hold the sessions of a study that wait for people (model=person), in their browsers, until
    Ctrl-C. Sessions that are not over go on when it is served again. Raters and coders of tasks
    that were handed out (delibsim ratings, code, compare or judge online) are served beside.
    """
    if example:
        text = package_data("data") / "people" / "example.people.yaml.txt"
        say(text.read_text(encoding="utf-8").rstrip("\n"))
        return
    given, names, proxies = _parted(settings or [])
    where = host, port, names, proxies
    if demo:
        with tempfile.TemporaryDirectory(prefix="delibsim-demo-") as folder:
            _serve(planned_for_people(DEMO_SETTINGS, False, Path(folder)), None, where, True)
        return
    _serve(planned_for_people(given, multirun, root), people, where, False)


def _parted(settings: list[str]) -> tuple[list[str], list[str], list[str]]:
    """The settings of a study, the names of the server, and the proxies that are believed."""
    own, names, proxies = [], [], []
    for setting in settings:
        key, _, value = setting.partition("=")
        if key == "name":
            names.append(value.strip("'\""))
        elif key == "trusted_proxy":
            proxies.append(value.strip("'\""))
        else:
            own.append(setting)
    return own, names, proxies


def planned_for_people(settings: list[str], multirun: bool, root: Path) -> Plan:
    """The plan of these settings, or of a study that has begun."""
    if len(settings) == 1 and "=" not in settings[0]:
        runs = Runs.open(root, settings[0])
        return plan_again(runs, runs.plans(), [])
    if not settings:
        raise WrongInput("name a study, or the settings of one; --demo shows a table at once")
    return plan(with_runs(settings, root), sweep=multirun)


def _serve(
    planned: Plan,
    people: Path | None,
    where: Where,
    demo: bool,
) -> None:
    from delibsim.conduct.people.hall import Hall
    from delibsim.conduct.people.prepared import prepared_for_people
    from delibsim.conduct.people.rater_tasks import rater_tasks
    from delibsim.models.pool import ModelPool
    from delibsim.store.people.entry import PARTICIPANT, Invitation, invite
    from delibsim.store.people.hosting_files import read_hosting, settled_hosting
    from delibsim.store.people.register import Register
    from delibsim.web.people.serve import serve_people

    sessions = [one for one in planned.sessions if one.seats_of_people]
    runs = Runs(planned.root, planned.study)
    tell_folder(runs)
    tasks = rater_tasks(runs)
    if not sessions and not tasks:
        raise WrongInput(
            "nobody is waited for: give a seat to a person, with model=person; or hand something"
            f" out to raters: delibsim ratings online {planned.study} (or code, compare, judge)"
        )
    if demo:
        example = package_data("data") / "people" / "example.people.yaml.txt"
        hosting: Hosting = replace(read_hosting(example), checks=(), questions=(), typing=400.0)
    else:
        hosting = settled_hosting(runs, people)
    others = [one for one in planned.sessions if one not in sessions]
    if others and sessions:
        told = counted(len(others), "session")
        say(f"note: {told} without people: delibsim run or retry holds them", err=True)
    register = Register.of(runs, "" if demo else None)
    tell = partial(say, err=True)

    async def open_hall() -> Hall:
        pool = ModelPool(planned.limits)
        if sessions:
            pool = await prepared_for_people(planned, runs, sessions, tell)
        return Hall(runs, register, hosting, pool, sessions, tell)

    link = f"/i/{invite(register, Invitation('', PARTICIPANT), 1)}" if demo else ""
    seats = sum(len(one.seats_of_people) for one in sessions)
    both = f"{counted(len(sessions), 'session')}, {counted(seats, 'seat')} for people"
    if tasks:
        both += f", {counted(len(tasks), 'task')} for raters"
    if not demo:
        tell(f"{planned.study}: {both}, in {shown(runs.folder)}")

    def told_address(address: str) -> None:
        say(f"{address}{link}" if link else address)
        told = _of_demo(sessions[0]) if demo else _links(planned.study, seats, tasks, hosting)
        watch = [f"whoever has no seat watches: {address}/demo"] if demo else []
        kept = "nothing is kept" if demo else "what was handed in is kept"
        office = f"the researcher's page: {address}/office"
        say("\n".join([*told, *watch, office, f"Ctrl-C stops it; {kept}."]), err=True)

    with suppress(KeyboardInterrupt):
        serve_people(open_hall, *where, told_address, demo=demo)
    done = sum(runs.held(one.id) or runs.withdrawn(one.id) for one in sessions)
    over = f" {done} of {counted(len(sessions), 'session')} are over." if sessions else ""
    say(f"Stopped.{over}", err=True)
    raise typer.Exit(0 if done == len(sessions) else 3)


def _links(study: str, seats: int, tasks: Sequence[str], hosting: Hosting) -> Iterator[str]:
    """How people get their links, and what raters agree to where nothing is declared for them."""
    if seats:
        yield f"links: delibsim people invite {study} --number {seats}"
    for task in tasks:
        yield f"links of raters: delibsim people invite {study} --rater {task} --open"
    if tasks and hosting.raters is None:
        yield "note: raters agree to a text of delibsim; raters: in people.yaml declares your own"


def _of_demo(session: Session) -> Iterator[str]:
    """What a demonstration is, and how long it takes."""
    from delibsim.web.people.demo import minutes_of

    minutes = minutes_of(session)
    yield f"This is a demonstration: about {minutes} minutes for the person who opens this link."
