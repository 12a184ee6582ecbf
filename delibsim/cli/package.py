"""`delibsim package`: studies as a replication package, and the check that a reviewer makes."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from delibsim.analysis.figures.style import kinds_of_files
from delibsim.cli.options import RUNS, Words, declared
from delibsim.cli.terminal import (
    console,
    echo_json,
    print_each,
    progress,
    safe,
    say,
    shown,
    study_at,
)
from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.text import counted, quoted

if TYPE_CHECKING:
    from delibsim.conduct.package import Packaged

app = typer.Typer(add_completion=False)
_KNOWN = read_data("package.yaml")
LISTED = 20
"""The lines of a kind that are printed."""


@declared(
    app,
    "package",
    "package",
    services=", ".join(_KNOWN["services"]),
    licences=", ".join(_KNOWN["licences"]),
)
def package(
    studies: list[str],
    service: str = "",
    to: Path | None = None,
    check: bool = False,
    licence: str = "",
    creator: Words = None,
    title: str = "",
    without_texts: bool = False,
    people: str = "",
    instruments: bool = False,
    redact: bool = False,
    keep: Words = None,
    outcome: Words = None,
    draws: int = 10_000,
    figures: str = "svg",
    quiet: bool = False,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Write studies as a replication package that a stranger can check, in a folder and as a zip;
    or check one.

    Exit code 0; 3 if something was left out or differs from its record, 2 if it would hold what it
    must not. With --check 0 only if all is equal, 3 if not all can be checked, 4 if anything
    differs.
    """
    if check:
        raise typer.Exit(_check(studies, quiet, as_json))
    if service not in _KNOWN["services"]:
        raise unknown("service", service, _KNOWN["services"], "Name it: --for osf")
    if to is None:
        raise WrongInput("name the folder of the package: -o FOLDER")
    kinds = kinds_of_files(figures)
    from delibsim.conduct.package import Unclean, Wishes  # imports pandas
    from delibsim.conduct.package import package as write
    from delibsim.store.publication import publication_of

    found = [study_at(one, root) for one in studies]
    publication = publication_of(found, licence, creator or [], title)
    wishes = Wishes(
        service,
        not without_texts,
        people,
        instruments,
        redact,
        tuple(keep or ()),
        draws,
        tuple(outcome or ()),
        kinds,
    )
    try:
        written = write(found, publication, wishes, to, progress(quiet or as_json))
    except Unclean as error:
        _list("must not stand in it", [one.told() for one in error.traces])
        raise
    if as_json:
        places = {"folder": shown(written.folder), "archive": shown(written.archive)}
        echo_json(asdict(written) | places)
    else:
        _print(written)
    raise typer.Exit(0 if written.whole else 3)


def _check(folders: list[str], quiet: bool, as_json: bool) -> int:
    """Check a package and say what came of it; the exit code."""
    if len(folders) != 1:
        raise WrongInput("--check is of one folder: delibsim package --check FOLDER")
    from delibsim.conduct.package_check import check  # imports pandas

    found = check(Path(folders[0]), progress(quiet or as_json))
    if as_json:
        echo_json(asdict(found) | {"folder": shown(found.folder)})
    else:
        print_each(found.equal, console())
        _list("not checked", found.unchecked)
        _list("not equal", found.faults)
        if not found.faults:
            say("nothing differs")
    if found.faults:
        return 4
    return 3 if found.unchecked else 0


def _print(written: "Packaged") -> None:
    """Say what was written, what was left out, and what comes next."""
    for study, out in written.left_out.items():
        _list(f"{study}: left out", [f"{one.place}: {one.detail}" for one in out])
    _list("redacted", [one.told() for one in written.redacted])
    _list("packaged, and not equal to its record", written.differing)
    files = counted(written.files, "file")
    say(f"written: {shown(written.folder)}, {files}; {shown(written.archive)}")
    say(f"next: delibsim package --check {quoted(shown(written.folder))}")


def _list(title: str, lines: Sequence[str]) -> None:
    """Print lines under their number, the first of them."""
    if not lines:
        return
    more = [f"  and {len(lines) - LISTED} more"] if len(lines) > LISTED else []
    for line in [f"{title} ({len(lines)}):", *(f"  {line}" for line in lines[:LISTED]), *more]:
        say(safe(line), err=True)
