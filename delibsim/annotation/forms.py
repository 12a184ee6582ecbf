"""Forms of packs: written as CSV, and read back line by line."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


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
