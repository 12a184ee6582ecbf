"""Forms of packs: written as CSV, and read back line by line."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted

SHOWN = 30
"""Of so many faults each is told; of more, how many there are."""
NOTHING = "Nothing was imported; mend these lines and give the command again"


class Fault(ValueError):
    """What is wrong with one cell or line of a form."""


def form_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A form as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()


def key_of(
    row: Mapping[str, str], packs: Mapping[str, Mapping[str, Any]], person: str = ""
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Pack and sheet of a line; Fault for what was never handed out, or to somebody else.

    `person` is the column that names whose sheet it is; "" where sheets are nobody's before they
    are filled in.
    """
    if row["pack"] not in packs:
        raise Fault(f"pack '{row['pack']}' was not exported from any study here")
    pack = packs[row["pack"]]
    key = pack["sheets"].get(row["sheet"])
    if key is None or (person and person not in key):
        raise Fault(f"sheet '{row['sheet']}' is not in pack {row['pack']}")
    if person and key[person] != row[person]:
        raise Fault(f"sheet {row['sheet']} is that of {key[person]}, not of '{row[person]}'")
    return pack, key


def refuse(file: Path, faults: Sequence[str], advice: str) -> None:
    """WrongInput that names what is wrong with a file, line by line, if anything is."""
    if not faults:
        return
    more = len(faults) - SHOWN
    shown = [f"{file}, {fault}" for fault in faults[:SHOWN]]
    rest = [f"and {counted(more, 'fault')} more"] if more > 0 else []
    raise WrongInput("\n".join([*shown, *rest, advice]))
