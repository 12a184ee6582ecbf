"""`delibsim serve` and `delibsim view`: sessions with people in their browsers, studies to read."""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import typer

from delibsim.cli.estimate import ask_first, show_estimate
from delibsim.cli.options import RUNS, Words, declared, study_first, with_runs
from delibsim.cli.terminal import progress, run_at, say, shown, study_at, tell_folder
from delibsim.conduct.retry import ALLOWED, plan_again
from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.hosting import Hosting
from delibsim.domain.run import Session
from delibsim.domain.text import counted, quoted
from delibsim.planning.compose import StudyPlan, plan
from delibsim.store.instruments.library import package_data
from delibsim.store.places import is_run
from delibsim.store.runs import Runs

view_app = typer.Typer(add_completion=False)

PATIENCE = 0.7  # seconds that a page waits for the index of its study


app = typer.Typer(add_completion=False)


ADDRESS = "model.base_url="
HERE = "http://127.0.0.1:8377"
"""Where a study is served, if that is free and nothing else is asked for."""
_TOLD = read_data("messages.yaml")
Asked = tuple[str, list[str]]
"""The study that was named, "" for none, and settings."""
Where = tuple[str, int | None, list[str], list[str]]
DEMO_SETTINGS = [
    "topic=ccps",
    "treatment=normative",
    "group.models=[person,citizen,citizen,citizen,citizen]",
    "rounds=2",
]


@declared(app, "serve", "serve")
def serve(
    study: str | None = None,
    settings: Words = None,
    multirun: bool = False,
    people: Path | None = None,
    demo: bool = False,
    example: bool = False,
    host: str = "127.0.0.1",
    port: int | None = None,
    name: Words = None,
    trusted_proxy: Words = None,
    only: bool = False,
    yes: bool = False,
    root: Path = RUNS,
) -> None:
    """Hold the sessions of a study that wait for people (model=person), in their browsers, until
    Ctrl-C. Sessions that are not over go on when it is served again. Raters and coders of tasks
    that were handed out (handout --online of rate, code, compare or judge) are served beside. One
    server at a time serves a study.
    """
    if example:
        text = package_data("data") / "people" / "example.people.yaml.txt"
        typer.echo(text.read_text(encoding="utf-8"), nl=False)  # a file: its lines are not wrapped
        return
    asked = study_first(study, settings)
    where = host, port, name or [], trusted_proxy or []
    if only:
        show_estimate_for_people(planned_for_people(asked, multirun, root))
        return
    if demo:
        with tempfile.TemporaryDirectory(prefix="delibsim-demo-") as folder:
            planned = planned_for_people(("demo", DEMO_SETTINGS), False, Path(folder))
            _serve(planned, None, where, [], True)
        return
    planned = planned_for_people(asked, multirun, root)
    ask_first(planned, Runs(planned.root, planned.study), yes)
    _serve(planned, people, where, _lasting(asked, root), False)


def planned_for_people(asked: Asked, multirun: bool, root: Path) -> StudyPlan:
    """The plan of these settings, or of a study that has begun: with the addresses of models and
    the limits that it was served with last, unless others are given behind its name.
    """
    study, settings = asked
    if not study and not settings:
        raise WrongInput("name a study, or the settings of one; --demo shows a table at once")
    if _names_study(asked):
        runs = Runs.open(root, study)
        return plan_again(runs, runs.plans(), _lasting(asked, root))
    return plan(with_runs(settings, root, study), sweep=multirun)


def show_estimate_for_people(planned: StudyPlan) -> None:
    """Print what the language models cost that sit with people; nobody is asked or waited for."""
    with_people = tuple(one for one in planned.sessions if one.seats_of_people)
    show_estimate(replace(planned, sessions=with_people), as_json=False)


def _names_study(asked: Asked) -> bool:
    """Whether a study is only named, perhaps with settings that are in no record of it."""
    study, settings = asked
    return bool(study) and all(_key(one).split(".")[0] in ALLOWED for one in settings)


def _lasting(asked: Asked, root: Path) -> list[str]:
    """The settings of a study that are in no record of it, and that it is served with: those that
    are given, and those of the last time where the study is only named.
    """
    from delibsim.store.people.hosting_files import served_before

    study, settings = asked
    if not _names_study(asked):
        own = [one.removeprefix("model.") if one.startswith(ADDRESS) else one for one in settings]
        return [one for one in own if _key(one).split(".")[0] in ALLOWED]
    before = served_before(Runs.open(root, study)).settings
    return [*(one for one in before if _key(one) not in map(_key, settings)), *settings]


def _key(setting: str) -> str:
    return setting.lstrip("+").partition("=")[0]


def _serve(
    planned: StudyPlan, people: Path | None, where: Where, lasting: Sequence[str], demo: bool
) -> None:
    from delibsim.conduct.packs import rater_tasks
    from delibsim.models.pool import ModelPool
    from delibsim.people.dry import prepared_for_people
    from delibsim.people.hall import Hall
    from delibsim.store.people.hosting_files import served_before, settled_hosting
    from delibsim.store.people.persons import Invitation, invite
    from delibsim.store.people.register import Register
    from delibsim.store.people.schema import Role
    from delibsim.store.people.server import refuse_second
    from delibsim.web.people.app import serve_people

    sessions = [one for one in planned.sessions if one.seats_of_people]
    runs = Runs(planned.root, planned.study)
    tell_folder(runs)
    tasks = rater_tasks(runs)
    if not sessions and not tasks:
        raise refused("nobody_to_wait_for", study=quoted(planned.study))
    hosting = _of_demo() if demo else settled_hosting(runs, people)
    tell = partial(say, err=True)
    others = counted(len(planned.sessions) - len(sessions), "session")
    if sessions and len(sessions) < len(planned.sessions):
        tell(f"note: {others} without people: delibsim run holds them")
    register = Register.of(runs, "" if demo else None)
    refuse_second(runs, register)

    async def open_hall() -> Hall:
        pool, held = ModelPool(planned.limits), sessions
        if sessions:
            pool, held = await prepared_for_people(planned, runs, sessions, tell)
        return Hall(runs, register, hosting, pool, held, tell)

    link = f"/i/{invite(register, Invitation('', Role.PARTICIPANT), 1)}" if demo else ""
    seats = sum(len(one.seats_of_people) for one in sessions)
    if not demo:
        both = f"{counted(len(sessions), 'session')}, {counted(seats, 'seat')} for people"
        more = f", {counted(len(tasks), 'task')} for raters" if tasks else ""
        tell(f"{planned.study}: {both}{more}, in {shown(runs.folder)}")

    def told_address(address: str) -> None:
        say(f"{address}{link}" if link else address)
        if demo:
            told = [_is_demo(sessions[0]), f"whoever has no seat watches: {address}/demo"]
        else:
            told = [*_links(planned.study, seats, tasks, hosting)]
            reached = hosting.address or _reached(address, *where[2:])
            told += _noted(runs, register, reached, lasting)
        told.append(f"the researcher's page: {address}/office")
        kept = "nothing is kept" if demo else "what was handed in is kept"
        say("\n".join([*told, f"Ctrl-C stops it; {kept}."]), err=True)

    host, port, names, proxies = where
    if port is None:
        port = _port_before(served_before(runs).address, host)
    with suppress(KeyboardInterrupt):
        serve_people(open_hall, host, port, names, proxies, told_address, demo=demo)
    _end(runs, sessions)


def _end(runs: Runs, sessions: Sequence[Session]) -> None:
    """Say how many sessions are over, and end with the exit code of that."""
    done = sum(runs.held(one.id) or runs.withdrawn(one.id) for one in sessions)
    over = f" {done} of {counted(len(sessions), 'session')} are over." if sessions else ""
    say(f"Stopped.{over}", err=True)
    raise typer.Exit(0 if done == len(sessions) else 3)


def _noted(runs: Runs, register: Any, reached: str, lasting: Sequence[str]) -> Iterator[str]:
    """Keep how a study is served, for links and for the next time; what is to be told of that."""
    from delibsim.store.people.hosting_files import Served, note_served, served_before
    from delibsim.store.people.persons import has_links

    before = served_before(runs).address
    note_served(runs, Served(reached, tuple(filter(_is_public, lasting))))
    if before not in ("", reached) and has_links(register):
        yield _TOLD["moved"].format(before, reached)
    for setting in lasting:
        if not _is_public(setting):
            yield _TOLD["secret"].format(_key(setting))


def _is_public(setting: str) -> bool:
    """Whether a setting may be kept: an address may hold a secret."""
    from delibsim.models.clients.faults import public_url

    value = setting.partition("=")[2].strip("'\"")
    return _key(setting) != "base_url" or public_url(value) == value


def _reached(address: str, names: Sequence[str], proxies: Sequence[str]) -> str:
    """The address by which people reach a server: that of the proxy before it, if there is one."""
    if names and proxies:
        return f"https://{names[0]}"
    return address.replace("0.0.0.0", "127.0.0.1").replace("[::]", "[::1]")


def _port_before(address: str, host: str) -> int | None:
    """The port that a study was served on before, where it is free: links lead there."""
    from delibsim.web.serve import bound

    parts = urlsplit(address)
    if parts.hostname != host or parts.port is None:
        return None
    with suppress(WrongInput):
        bound(host, parts.port).close()
        return parts.port
    return None


def _links(study: str, seats: int, tasks: Sequence[str], hosting: Hosting) -> Iterator[str]:
    """How people get their links, and what raters agree to where nothing is declared for them."""
    if seats:
        yield f"links: delibsim people invite {quoted(study)} --n {seats}"
    for task in tasks:
        yield f"links of raters: delibsim people invite {quoted(study)} --rater {task} --open"
    if tasks and hosting.raters is None:
        yield "note: raters agree to a text of delibsim; raters: in people.yaml declares your own"


def _of_demo() -> Hosting:
    """What is declared for a demonstration."""
    from delibsim.store.people.hosting_files import read_hosting

    example = package_data("data") / "people" / "example.people.yaml.txt"
    return replace(read_hosting(example), checks=(), questions=(), typing=400.0)


def _is_demo(session: Session) -> str:
    """What a demonstration is, and how long it takes."""
    from delibsim.web.people.demo import minutes_of

    minutes = minutes_of(session)
    return f"This is a demonstration: about {minutes} minutes for the person who opens this link."


@declared(view_app, "view", "view")
def view(
    place: str | None = None,
    port: int | None = None,
    host: str = "127.0.0.1",
    read_only: bool = False,
    static: Path | None = None,
    without_personas: bool = False,
    browser: bool = True,
    root: Path = RUNS,
) -> None:
    """Read studies and runs in a browser: served on this machine until Ctrl-C, or with --static
    written into a folder. Reading changes no run; notes are kept beside the study. With --static
    the exit code is 3 where a study, a run, a report or a figure is left out.
    """
    runs, session = _named(place, root)
    if runs is None and not any(root.glob("*/study.json")):
        raise WrongInput(f"there are no studies in {root}; hold one: delibsim run study=first")
    if static is not None:
        _write(root, runs, session, static, without_personas)
        return
    from delibsim.web.serve import serve_pages  # starlette is slow to import
    from delibsim.web.site import Site, address_of

    site = Site(root, runs, private=without_personas, read_only=read_only, patience=PATIENCE)
    page = study = ""
    if runs is not None:
        study = address_of(runs)
        page = f"{study}/{f'{session}/' if session else ''}index.html"
        site.runs(study)  # a study that holds links is refused here

    def told(address: str) -> None:
        _told(address)
        if study:
            site.index(study, patience=0)  # begun before the browser asks for it

    try:
        serve_pages(site, host, port, page, told, browser)
    except KeyboardInterrupt:
        say("Stopped.", err=True)


def _write(root: Path, runs: Runs | None, session: str, folder: Path, private: bool) -> None:
    """Write all pages, and say where the first is."""
    from delibsim.web.pages import write_static
    from delibsim.web.site import Site

    site = Site(root, runs, session, private, read_only=True, static=True)
    watch = progress()
    written = write_static(site, folder, watch)
    say(f"written: {shown(folder.resolve())}/index.html and {written.files - 1:,} more files")
    for line in (*written.notes, *written.left_out):
        say(line, err=True)
    if written.left_out:
        raise typer.Exit(3)


def _told(address: str) -> None:
    say(f"read at  {address}")
    sys.stdout.flush()  # a program that reads it waits for it
    say("Ctrl-C ends it.", err=True)


def _named(place: str | None, root: Path) -> tuple[Runs | None, str]:
    """The study and the session that were named, as far as they were."""
    if place is None:
        return None, ""
    if is_run(place, root):
        return run_at(place, root)
    return study_at(place, root), ""
