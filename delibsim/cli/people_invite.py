"""`delibsim people invite|list|revoke`: links for people, and how far each has come."""

import csv
import os
from pathlib import Path
from typing import Annotated

import typer

from delibsim.analysis.table import texts
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.table import print_table
from delibsim.cli.terminal import console, echo_json, say, shown, study_at
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted
from delibsim.store.runs import Runs
from delibsim.store.tables.csv_cells import read_sheet, refuse_faults

NUMBER = "So many links, each for one person."
LIST = (
    "A CSV file with a link for each row: name, address, and where wanted session, seat, language."
)
OPEN = "One link for everybody: each who comes by it takes a seat, or waits for one."
TASK = "For raters of this task, which delibsim ratings|code|compare|judge online made."
BASE = "How the links begin, such as https://study.example.org. Default: http://127.0.0.1:8377"
TO = "The CSV file that gets the links, which are nowhere else. Default: links.csv."
DAYS = "For how many days a link is good. Default: expires_days of people.yaml."
WHO = "The code of a person, or its beginning."
COLUMNS = ("name", "address", "session", "seat", "language")
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def invite(
    study: StudyName,
    number: Annotated[int, typer.Option(min=0, max=10_000, help=NUMBER)] = 0,
    list_: Annotated[Path | None, typer.Option("--list", help=LIST)] = None,
    open_: Annotated[bool, typer.Option("--open", help=OPEN)] = False,
    rater: Annotated[str, typer.Option(help=TASK)] = "",
    base: Annotated[str, typer.Option(help=BASE)] = "http://127.0.0.1:8377",
    to: Annotated[Path, typer.Option("--to", help=TO)] = Path("links.csv"),
    root: RunsFolder = RUNS,
) -> None:
    """Make links that let people in: one each (--number, --list), or one for all (--open)."""
    from delibsim.conduct.people.rater_tasks import rater_task
    from delibsim.store.people.entry import (
        PARTICIPANT,
        RATER,
        Invitation,
        invite_person,
    )
    from delibsim.store.people.entry import invite as invite_all
    from delibsim.store.people.hosting_files import settled_hosting
    from delibsim.store.people.persons import Identity
    from delibsim.store.people.register import Register

    runs = study_at(study, root)
    if sum([number > 0, list_ is not None, open_]) != 1:
        raise WrongInput("give one of --number N, --list FILE.csv and --open")
    if rater:
        rater_task(runs, rater)  # WrongInput for a task that was not handed out
    hosting = settled_hosting(runs, None)
    if to.exists():
        raise WrongInput(f"{to} is there already; give another file: --to FILE")
    register, days = Register.of(runs), float(hosting.expires_days)
    role = RATER if rater else PARTICIPANT
    rows: list[tuple[str, str, str]] = []
    if open_:
        token = invite_all(register, Invitation("", role, task=rater), days)
        rows.append(("", "", f"{base.rstrip('/')}/i/{token}"))
    else:
        wanted = _rows(list_, runs) if list_ else [dict.fromkeys(COLUMNS, "")] * number
        for row in wanted:
            invitation = Invitation("", role, row["session"], row["seat"], rater)
            who = Identity(row["name"], row["address"])
            spoken = row["language"] or hosting.language
            code, token = invite_person(register, invitation, days, spoken, who)
            rows.append((row["name"], code, f"{base.rstrip('/')}/i/{token}"))
    _write(to, rows)
    say(f"{counted(len(rows), 'link')} in {shown(to)}, good for {days:g} days; keep that file safe")
    if open_:
        say("panels add the id of a person: ?PROLIFIC_PID=... or ?pid=...")


def list_people(study: StudyName, root: RunsFolder = RUNS, as_json: Json = False) -> None:
    """Who was invited, by code, and how far each has come; names stay in the register."""
    from delibsim.store.people.persons import persons
    from delibsim.store.people.register import Register
    from delibsim.store.people.rooms import seat_of

    register = Register.of(study_at(study, root))
    found = []
    for one in persons(register):
        seat = seat_of(register, one.id)
        place = f"{seat[0]}, {seat[1]}" if seat else ""
        row = {"code": one.id, "role": one.role, "stage": one.stage, "seat": place}
        found.append(row | {"language": one.language, "consent": one.consent_version})
    if as_json:
        echo_json({"study": study, "people": found})
        return
    if not found:
        say(f"nobody was invited yet: delibsim people invite {study} --number 5")
        return
    heads = texts("code", "role", "stage", "seat", "language", "consent")
    lines = [list(row.values()) for row in found]
    print_table("People", heads, lines, console())


def revoke(
    study: StudyName,
    who: Annotated[str, typer.Argument(help=WHO)],
    root: RunsFolder = RUNS,
) -> None:
    """Revoke the links and cookies of a person: she gets in no more. What she gave stays."""
    from delibsim.store.people.entry import revoke as revoke_links
    from delibsim.store.people.persons import named
    from delibsim.store.people.register import Register

    register = Register.of(study_at(study, root))
    person = named(register, who)
    n = revoke_links(register, person.id)
    say(f"{person.id}: {counted(n, 'link')} revoked")


def _rows(path: Path, runs: Runs) -> list[dict[str, str]]:
    """The rows of a list of people; WrongInput for a seat that there is not."""
    sheet = read_sheet(path)
    unknown = [name for name in sheet.header if name not in COLUMNS]
    if unknown:
        raise WrongInput(f"{path}: unknown column {unknown[0]}; known: {', '.join(COLUMNS)}")
    sessions = set(runs.sessions())
    found, faults = [], []
    for cells, line in zip(sheet.rows, sheet.lines, strict=True):
        row = dict.fromkeys(COLUMNS, "") | dict(zip(sheet.header, cells, strict=True))
        if row["session"] and row["session"] not in sessions:
            faults.append(f"line {line}: there is no session '{row['session']}'")
        if row["seat"] and not row["session"]:
            faults.append(f"line {line}: a seat needs its session")
        if row["language"] not in ("", "en", "de", "fr"):
            faults.append(f"line {line}: language is en, de or fr")
        found.append(row)
    refuse_faults(path, faults, "cannot be invited, and nobody was")
    return found


def _write(path: Path, rows: list[tuple[str, str, str]]) -> None:
    """Write links, to be read by this user alone."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("name", "code", "link"))
        for name, code, link in rows:
            writer.writerow((f"'{name}" if name.startswith(FORMULA) else name, code, link))
