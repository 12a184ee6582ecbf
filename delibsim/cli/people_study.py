"""What commands about people share: what was declared, promises that are due, private files."""

import csv
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from delibsim.cli.terminal import console, print_each
from delibsim.domain.hosting import Hosting
from delibsim.store.runs import Runs

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet would take for a formula."""


def write_private(path: Path, rows: Iterable[Sequence[str]]) -> None:
    """Write a CSV file that this user alone can read; a formula begins with an apostrophe."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        for row in rows:
            writer.writerow([f"'{cell}" if cell.startswith(FORMULA) else cell for cell in row])


def declared(runs: Runs) -> Hosting | None:
    """What was declared for a study that has begun to be served; None where nothing was."""
    from delibsim.store.account import TOLD
    from delibsim.store.people.hosting_files import read_hosting

    kept = runs.folder / TOLD
    return read_hosting(kept) if kept.is_file() else None


def promised(runs: Runs, days: bool = True) -> None:
    """Carry out what is due of withdrawals and, with `days`, of keep_days, and say so."""
    from delibsim.people.erase import carry_out, forget_due
    from delibsim.store.people.register import Register

    hosting = declared(runs)
    if hosting is None:
        return
    register = Register.of(runs)
    carried = carry_out(runs, register, hosting)
    forgotten = forget_due(runs, register, hosting) if days else []
    print_each([*carried.told, *carried.waits, *forgotten], console(stderr=True))
