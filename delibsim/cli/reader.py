"""`delibsim view`: read studies and runs in a browser, or write them as pages into a folder."""

import sys
from pathlib import Path

import typer

from delibsim.cli.options import RUNS, declared
from delibsim.cli.terminal import progress, run_at, say, shown, study_at
from delibsim.domain.errors import WrongInput
from delibsim.store.places import is_run
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)

PATIENCE = 0.7  # seconds that a page waits for the index of its study


@declared(app, "view", "view")
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
    from delibsim.web.serve import serve  # starlette is slow to import
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
        serve(site, host, port, page, told, browser)
    except KeyboardInterrupt:
        say("Stopped.", err=True)


def _write(root: Path, runs: Runs | None, session: str, folder: Path, private: bool) -> None:
    """Write all pages, and say where the first is."""
    from delibsim.web.pages import write_static  # pandas is slow to import
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
