"""`delibsim people invite|list|revoke|password|raters`: who gets in, and how far each has come."""

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from delibsim.analysis.table import texts
from delibsim.cli.options import RUNS
from delibsim.cli.serve import HERE
from delibsim.cli.table import print_table
from delibsim.cli.terminal import console, echo_json, print_each, say, shown, study_at
from delibsim.domain.errors import WrongInput
from delibsim.domain.hosting import Hosting
from delibsim.domain.text import counted, quoted
from delibsim.store.runs import Runs
from delibsim.store.tables.csv_cells import read_sheet, refuse_faults

COLUMNS = ("name", "address", "session", "seat", "language")
MOST_DAYS = 3_650
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet would take for a formula."""
UNKNOWN = (
    "the study was not served yet: its links begin with {}, which delibsim serve takes where it is"
    " free; for people elsewhere give address: in people.yaml, or --url"
)


def invite(
    study: str,
    number: int | None = None,
    list_: Path | None = None,
    open_: bool = False,
    rater: str = "",
    url: str = "",
    expires: str = "",
    to: Path = Path("links.csv"),
    root: Path = RUNS,
) -> None:
    """Make links that let people in: one each (--n, --list), or one for all (--open)."""
    from delibsim.conduct.packs import rater_task
    from delibsim.store.people.hosting_files import note_served, served_before, settled_hosting
    from delibsim.store.people.persons import Identity, Invitation, invite_person
    from delibsim.store.people.persons import invite as invite_all
    from delibsim.store.people.register import Register
    from delibsim.store.people.schema import Role

    runs = study_at(study, root)
    promised(runs)
    if sum([number is not None, list_ is not None, open_]) != 1:
        raise WrongInput("give one of --n N, --list FILE.csv and --open")
    if rater:
        rater_task(runs, rater)  # WrongInput for a task that was not handed out
    hosting = settled_hosting(runs, None)
    if to.exists():
        raise WrongInput(f"{to} is there already; give another file: -o FILE")
    register, days = Register.of(runs), _days(expires, hosting.expires_days)
    served = served_before(runs)
    given = url or hosting.address
    address = given or served.address
    if not address:
        address = HERE
        note_served(runs, replace(served, address=HERE))
        say(UNKNOWN.format(HERE), err=True)
    start = address.rstrip("/") + "/i/"
    role = Role.RATER if rater else Role.PARTICIPANT
    rows: list[tuple[str, str, str]] = []
    if open_:
        token = invite_all(register, Invitation("", role, task=rater), days)
        rows.append(("", "", start + token))
    else:
        wanted = _rows(list_, runs) if list_ else [dict.fromkeys(COLUMNS, "")] * (number or 0)
        for row in wanted:
            invitation = Invitation("", role, row["session"], row["seat"], rater)
            who = Identity(row["name"], row["address"])
            spoken = row["language"] or hosting.language
            code, token = invite_person(register, invitation, days, spoken, who)
            rows.append((row["name"], code, start + token))
    write_private(to, [("name", "code", "link"), *rows])
    say(f"{counted(len(rows), 'link')} in {shown(to)}, good for {days:g} days; keep that file safe")
    if open_:
        wanted_ids = [hosting.panel] if hosting.panel else ["PROLIFIC_PID", "pid"]
        ways = " or ".join([f"?{name}=..." for name in wanted_ids])
        say(f"panels add the id of a person: {ways}")


def _days(given: str, declared: int) -> float:
    """For how many days links are good; WrongInput for what is no number of days."""
    try:
        days = float(given or declared)
    except ValueError:
        days = 0.0
    if not 0 < days <= MOST_DAYS:
        raise WrongInput(f"--expires is a number of days, at most {MOST_DAYS:,}, not '{given}'")
    return days


def list_people(study: str, names: bool = False, root: Path = RUNS, as_json: bool = False) -> None:
    """Who was invited, by code, how far each has come, how her part ended and with which completion
    code, and what she has earned, where people.yaml has a bonus; names only where they are asked
    for.
    """
    from delibsim.store.people.persons import identities, persons
    from delibsim.store.people.register import Register
    from delibsim.store.people.rooms import seat_of
    from delibsim.store.people.tables import endings, told

    runs = study_at(study, root)
    promised(runs)
    register = Register.of(runs)
    known = identities(register) if names else {}
    hosting, ended = hosting_of(runs), endings(register)
    found = []
    for one in persons(register):
        seat = seat_of(register, one.id)
        place = f"{seat[0]}, {seat[1]}" if seat else ""
        row = {"code": one.id, "role": one.role, "stage": one.stage, "seat": place}
        row |= {"language": one.language, "consent": one.consent_version}
        code, earned = told(hosting, ended[one.id])
        row |= {"ending": ended[one.id].ending, "completion": code}
        if earned is not None:
            row["bonus"] = f"{earned:.2f}"
        if names:
            who = known.get(one.identity)
            row |= {"name": who.name if who else "", "address": who.address if who else ""}
        found.append(row)
    if as_json:
        echo_json({"study": study, "people": found})
        return
    if not found:
        say(f"nobody was invited yet: delibsim people invite {quoted(study)} --n 5")
        return
    heads = texts(*found[0])
    lines = [list(row.values()) for row in found]
    print_table("People", heads, lines, console())


def revoke(study: str, who: str, root: Path = RUNS) -> None:
    """Revoke the links and cookies of a person, who gets in no more; or all links that are open to
    all, by which nobody else comes. What was given stays. The record of the person's session tells
    of it, as of what is done on the researcher's page.
    """
    from delibsim.people.presence import InterventionRecord
    from delibsim.store.people.persons import named, revoke_open
    from delibsim.store.people.register import Register
    from delibsim.store.people.rooms import shut_out

    runs = study_at(study, root)
    promised(runs)
    register = Register.of(runs)
    if who == "open":
        say(f"{counted(revoke_open(register), 'open link')} revoked; who came by one stays")
        return
    person = named(register, who)
    n = shut_out(register, person.id)
    InterventionRecord(runs, register, runs.sessions(), say).keep()
    say(f"{person.id}: {counted(n, 'link')} revoked")


def _rows(path: Path, runs: Runs) -> list[dict[str, str]]:
    """The rows of a list of people; WrongInput for a seat that there is not."""
    from delibsim.store.people.hosting_files import languages

    sheet = read_sheet(path)
    unknown = [name for name in sheet.header if name not in COLUMNS]
    if unknown:
        raise WrongInput(f"{path}: unknown column {unknown[0]}; known: {', '.join(COLUMNS)}")
    seats = {one.id: one.seats_of_people for one in runs.plans()}
    found, faults = [], []
    for cells, line in zip(sheet.rows, sheet.lines, strict=True):
        row = dict.fromkeys(COLUMNS, "") | dict(zip(sheet.header, cells, strict=True))
        own = seats.get(row["session"], [])
        if row["session"] and row["session"] not in seats:
            faults.append(f"line {line}: there is no session '{row['session']}'")
        elif row["seat"] and row["session"] and row["seat"] not in own:
            there = ", ".join(own) or "none"
            faults.append(f"line {line}: no seat '{row['seat']}' for a person; there are: {there}")
        if row["seat"] and not row["session"]:
            faults.append(f"line {line}: a seat needs its session")
        if row["language"] not in ("", *languages()):
            faults.append(f"line {line}: language is one of {', '.join(languages())}")
        found.append(row)
    refuse_faults(path, faults, "cannot be invited, and nobody was")
    return found


def password(study: str, root: Path = RUNS) -> None:
    """Set the password of the researcher's page (/office), which is asked for twice and not shown.

    The study keeps its argon2 hash. A new password ends every login of the one before.
    """
    from delibsim.store.people.persons import set_password
    from delibsim.store.people.register import Register

    register = Register.of(study_at(study, root))
    given = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    ended = set_password(register, given)
    told = f"; {counted(ended, 'login')} ended" if ended else ""
    say(f"the password of the researcher's page is set{told}")


def write_private(path: Path, rows: Iterable[Sequence[str]]) -> None:
    """Write a CSV file that this user alone can read; a formula begins with an apostrophe."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        for row in rows:
            writer.writerow([f"'{cell}" if cell.startswith(FORMULA) else cell for cell in row])


def hosting_of(runs: Runs) -> Hosting | None:
    """What was declared for a study that has begun to be served; None where nothing was."""
    from delibsim.store.people.hosting_files import read_hosting
    from delibsim.store.places import TOLD

    kept = runs.folder / TOLD
    return read_hosting(kept) if kept.is_file() else None


def promised(runs: Runs, days: bool = True) -> None:
    """Carry out what is due of withdrawals and, with `days`, of keep_days, and say so."""
    from delibsim.people.erase import carry_out, forget_due
    from delibsim.store.people.register import Register

    hosting = hosting_of(runs)
    if hosting is None:
        return
    register = Register.of(runs)
    carried = carry_out(runs, register, hosting)
    forgotten = forget_due(runs, register, hosting) if days else []
    print_each([*carried.told, *carried.waits, *forgotten], console(stderr=True))


def raters(
    study: str,
    task: str | None = None,
    times: Path | None = None,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Who rates, codes, compares or judges on pages: how many sheets are handed in, how many are in
    the study, and the minutes without breaks.

    What was handed in and is not in the study yet, because no server runs, is brought into it
    first. Exit code 0; 3 if a sheet cannot be kept, 4 if nothing was handed in.
    """
    from delibsim.analysis.table import numbers, texts
    from delibsim.cli.table import print_table
    from delibsim.cli.terminal import exit_code
    from delibsim.conduct.packs import rater_task, rater_tasks
    from delibsim.people.raters import PLACES, AnswerWriter, RaterDesk, rater_rows, write_times
    from delibsim.store.people.register import Register

    runs = study_at(study, root)
    promised(runs)
    # A name that there is not is refused before the register is begun.
    names = [rater_task(runs, task).name] if task else rater_tasks(runs)
    desk = RaterDesk(runs, Register.of(runs))
    for name in names:
        desk.task(name)
    rows = AnswerWriter(desk, runs.lock)
    rows.bring()
    rows.rescore(at_once=True)
    found = rater_rows(desk, names)
    if times is not None:
        n = write_times(desk, times, names)
        told = f"{counted(n, 'page')} with their times in {shown(times)}"
        print_each([told], console(stderr=True))
    if as_json:
        echo_json({"study": runs.study, "places": found})
    else:
        heads = [*texts(*PLACES[:5]), *numbers(PLACES[5:])]
        lines = [_cells(row) for row in found]
        print_table("Raters and coders on pages", heads, lines, console())
    whole = sum(int(str(row["whole"])) for row in found)
    raise typer.Exit(exit_code(whole > 0, not any(row["not_kept"] for row in found)))


def _cells(row: Mapping[str, Any]) -> list[str]:
    """The cells of one place; what is missing is empty."""
    from delibsim.people.raters import PLACES

    return ["" if row[name] is None else str(row[name]) for name in PLACES]
