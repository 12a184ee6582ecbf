"""Covariates of debaters and raters: a CSV file with one row a person or model, joined by id."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from delibsim.domain.errors import WrongInput, unknown
from delibsim.store.instruments.answers import EMPTY, read_rows

NUMBERS = ("expertise", "age", "education")
WORDS = ("gender",)
COVARIATES = (*NUMBERS, *WORDS)


@dataclass(frozen=True)
class Covariates:
    """What is known of a debater or rater; None where the file does not say.

    `age` is in years, `education` and `expertise` are numbers on a scale of the user's own,
    `gender` is a word.
    """

    age: float | None = None
    education: float | None = None
    expertise: float | None = None
    gender: str | None = None


def read_covariates(path: Path, ids: Iterable[str]) -> dict[str, Covariates]:
    """The covariates in a CSV file, by id.

    Its columns are `id` and any of age, gender, education and expertise. `ids` are the debaters
    and raters there are. Cells that are empty or NA are None. Raises WrongInput for an unknown
    column, and with a line for each id that occurs twice or belongs to nobody and for each cell
    that is no number (an age: from 0 to 120).
    """
    known = sorted(set(ids))
    rows: dict[str, Covariates] = {}
    faults = []
    for line, cells in read_rows(path, ["id"]):
        _check_columns(path, list(cells))
        who = cells["id"]
        problems = _problems(who, cells, known, rows)
        faults += [f"{path}, line {line}: {problem}" for problem in problems]
        if not problems:
            rows[who] = _covariates(cells)
    if faults:
        raise WrongInput("\n".join(faults))
    return rows


def _check_columns(path: Path, columns: list[str]) -> None:
    for column in columns:
        if column not in ("id", *COVARIATES):
            error = unknown("column", column, ["id", *COVARIATES])
            raise WrongInput(f"{path}, line 1: {error}")


def _problems(
    who: str,
    cells: dict[str, str],
    known: list[str],
    rows: dict[str, Covariates],
) -> list[str]:
    """What is wrong with a row."""
    problems = []
    if who not in known:
        problems.append(str(unknown("id", who, known)))
    if who in rows:
        problems.append(f"id '{who}' occurs more than once")
    for name in NUMBERS:
        text = cells.get(name, "")
        if text in EMPTY:
            continue
        value = _number(text)
        if value is None:
            problems.append(f"{name}: '{text}' is no number")
        elif name == "age" and not 0 <= value <= 120:
            problems.append(f"age: {text} is not from 0 to 120")
    gender = cells.get("gender", "")
    if not gender.isprintable():
        problems.append(f"gender: {gender!r} holds a control character")
    return problems


def _covariates(cells: dict[str, str]) -> Covariates:
    numbers = {name: _number(cells.get(name, "")) for name in NUMBERS}
    gender = cells.get("gender", "")
    return Covariates(**numbers, gender=None if gender in EMPTY else gender)


def _number(text: str) -> float | None:
    """The finite number in a cell, None where there is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
