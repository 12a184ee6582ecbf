"""`delibsim people bonus`: what each person has earned, as a file that a panel takes."""

import csv
import os
from pathlib import Path
from typing import Annotated

import typer

from delibsim.cli.options import RUNS, RunsFolder, StudyName
from delibsim.cli.people_erase import declared, promised
from delibsim.cli.people_invite import FORMULA
from delibsim.cli.terminal import say, shown, study_at
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted

TO = "The file to write, which only you can read. Default: bonus.csv."
NO_RULES = (
    "people.yaml declares no bonus: for example bonus: {done: 2.00, timed_out: 0.50, statement:"
    " 0.10}; a study keeps the people.yaml that it began with"
)


def bonus(
    study: StudyName,
    to: Annotated[Path, typer.Option("--to", "-o", help=TO)] = Path("bonus.csv"),
    root: RunsFolder = RUNS,
) -> None:
    """Write what each person has earned by the rules of people.yaml (bonus): a line ID,AMOUNT for
    each, without a heading, as Prolific takes it. ID is the id by which the panel knows her.

    Left out are amounts of 0, those whose part goes on, and those whose id is not kept, who are
    counted; delibsim people list and export have the amounts by code.
    """
    from delibsim.store.people.endings import cents, endings
    from delibsim.store.people.persons import identities, persons
    from delibsim.store.people.register import Register

    runs = study_at(study, root)
    hosting = declared(runs)
    if hosting is None or not hosting.bonus:
        raise WrongInput(NO_RULES)
    if to.exists():
        raise WrongInput(f"{to} is there already; give another file: --to FILE")
    promised(runs)
    register = Register.of(runs)
    known, ended = identities(register), endings(register)
    rows, unknown, total = [], 0, cents(0)
    for person in persons(register):
        earned = cents(ended[person.id].earned(hosting.bonus))
        if not earned:
            continue
        who = known.get(person.identity)
        if who is None or not who.panel_id:
            unknown += 1
            continue
        rows.append((who.panel_id, f"{earned:.2f}"))
        total += earned
    _write(to, rows)
    say(f"{counted(len(rows), 'person')}, {total:.2f} in all: {shown(to)}; keep that file safe")
    if unknown:
        say(f"of {counted(unknown, 'person')} with a bonus no id of a panel is kept: not in it")


def _write(path: Path, rows: list[tuple[str, str]]) -> None:
    """Write the lines, to be read by this user alone; what a spreadsheet would take for a formula
    begins with an apostrophe.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        for who, amount in rows:
            writer.writerow((f"'{who}" if who.startswith(FORMULA) else who, amount))
