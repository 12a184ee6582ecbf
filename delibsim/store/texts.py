"""The rows of a CSV file written with values beside them."""

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from delibsim.domain.errors import WrongInput
from delibsim.store.files import write_atomically
from delibsim.store.tables.csv_cells import Sheet


def check_place(place: Path, file: Path) -> None:
    """WrongInput where a result could not be written to a place, or would replace the texts."""
    if place.is_dir():
        raise WrongInput(f"{place} is a folder; name a file to write to: -o FILE")
    if place.exists() and place.samefile(file):
        raise WrongInput(
            f"{place} is the file with the texts, which would be overwritten; name another: -o FILE"
        )
    if not place.parent.is_dir():
        raise WrongInput(
            f"there is no folder {place.parent} to write {place.name} to; make it, or name another"
            " place: -o FILE"
        )
    if not os.access(place.parent, os.W_OK):
        raise WrongInput(
            f"nothing may be written in the folder {place.parent}; name another place: -o FILE"
        )


def write_values(place: Path, file: Sheet, values: Sequence[Mapping[str, Any]]) -> None:
    """Write the rows as they were, with the values behind them; NaN is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=file.delimiter, lineterminator="\n")
    writer.writerow([*file.header, *values[0]])
    for row, found in zip(file.rows, values, strict=True):
        defined = ["" if value != value else value for value in found.values()]
        writer.writerow([*row, *defined])
    write_atomically(place, out.getvalue())
