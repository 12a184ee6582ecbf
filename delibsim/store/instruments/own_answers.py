"""Covariates of debaters and raters: a CSV file with one row a person or model, joined by id."""

import csv
import functools
import hashlib
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from delibsim.domain.errors import NotImported, WrongInput, unknown
from delibsim.domain.survey import PHASES, Survey
from delibsim.store.files import write_atomically
from delibsim.store.instruments.answers import (
    EMPTY,
    RANK_IS,
    Answers,
    in_source,
    read_answers,
    read_rows,
)
from delibsim.store.instruments.checked_answers import check_answers

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


FOLDER = "answers"
"""The folder, beside the user, in which imported answers of the user's own are kept: one CSV file a
survey, named after it.
"""

FEW = 5
"""How many people a refusal names."""
IMPORT = "import them with: delibsim import FILE --as answers survey={} (or PATH --as deliberr)"


def keep_answers(answers: Answers, survey: Survey, home: Path, replace: bool = False) -> Path:
    """Write checked answers into the folder of the user's own, a column an item, raw; the file.

    WrongInput, with what differs, where an earlier import left other answers there, which only
    `replace` gives up.
    """
    path = home / FOLDER / f"{survey.id}.csv"
    text = _table(answers, survey, [RANK_IS])
    # Version 0.1 had no such column; the same answers are no others for want of it.
    same = {text.encode(), _table(answers, survey, []).encode()}
    if path.is_file() and path.read_bytes() not in same and not replace:
        before = path.read_text(encoding="utf-8", errors="replace")
        raise WrongInput(
            f"{path} holds other answers to survey {survey.id}, of an earlier import, and was left"
            f" as it is: {_difference(before, text)}. Put these in their place with"
            " --replace; to keep both, add the new people to the file that was imported before,"
            " and import that with --replace"
        )
    write_atomically(path, text)
    return path


def are_kept(answers: Answers, survey: Survey, home: Path) -> bool:
    """Whether these very answers lie in the folder of the user's own already."""
    path = home / FOLDER / f"{survey.id}.csv"
    return path.is_file() and path.read_bytes() == _table(answers, survey, [RANK_IS]).encode()


def _difference(before: str, now: str) -> str:
    """What tells two tables of answers apart, by the people in them."""
    old, new = _rows(before), _rows(now)
    both = sorted(old.keys() & new.keys())
    changed = [name for name in both if old[name] != new[name]]
    counts = {
        "only in that file": sorted(old.keys() - new.keys()),
        "only in this one": sorted(new.keys() - old.keys()),
        "with other answers": changed,
    }
    parts = []
    for what, names in counts.items():
        listed = ", ".join(who for _, who in names[:FEW]) + (" ..." if len(names) > FEW else "")
        parts += [f"{len(names)} {what} ({listed})"] if names else []
    return f"of {len(old)} people there and {len(new)} here, {', '.join(parts) or 'the order'}"


def _rows(table: str) -> dict[tuple[str, str], list[Any]]:
    """The answers of a table by case and participant."""
    found: dict[tuple[str, str], list[Any]] = {}
    for row in csv.DictReader(io.StringIO(table)):
        who = row.pop("case", ""), row.pop("participant", "")
        row.pop(RANK_IS, None)
        found.setdefault(who, []).append(row)
    return found


def kept_answers(path: Path, survey: Survey) -> Answers:
    """The answers in a file that `keep_answers` wrote; WrongInput where they no longer fit the
    survey, or were damaged.
    """
    checked = check_answers(path, survey)
    if checked.faults or checked.answers is None:
        raise WrongInput(f"{path}, {checked.faults[0]}; import the answers again")
    return checked.answers


def people_who_answered(survey: Survey, home: Path) -> Answers:
    """The imported answers of people to a survey: the user's own first, then those that came with a
    published instrument.

    Raises WrongInput where there are none, or where they answered other items than the survey's.
    """
    if (own := home / FOLDER / f"{survey.id}.csv").is_file():
        return kept_answers(own, survey)
    source, _, local = survey.id.rpartition(".")
    published = home / "surveys" / "imported" / source / "answers.csv"
    if source and published.is_file():
        imported = _read(published, published.stat().st_mtime_ns)
        if local in imported:
            _refuse_others(imported[local], survey)
            return imported[local]
    raise NotImported("there are no answers of people to survey", survey.id, IMPORT)


def _refuse_others(answers: Answers, survey: Survey) -> None:
    """Refuse published answers to other items than the survey's, or with ranks nobody declared."""
    considerations = answers.considerations["pre"].shape[1]
    preferences = answers.preferences["pre"].shape[1]
    if (considerations, preferences) != (len(survey.considerations), len(survey.preferences)):
        raise WrongInput(
            f"{answers.path}: answers to {considerations} considerations and {preferences}"
            f" preferences, but survey {survey.id} has {len(survey.considerations)} and"
            f" {len(survey.preferences)}; import both again"
        )
    if not answers.declared and in_source(survey.id) == "least_preferred":
        raise WrongInput(
            f"{answers.path}: rank 1 is the least preferred in published answers to {survey.id}, "
            "and these were imported by a version that did not turn them round; "
            "import them again with: delibsim import PATH --as deliberr"
        )


@functools.lru_cache(maxsize=4)  # a study asks for the same people for each of its sessions
def _read(path: Path, changed: int) -> dict[str, Answers]:
    return read_answers(path)


def fingerprint(answers: Answers) -> str:
    """SHA-256 of the answers before the deliberation, and of who gave them."""
    digest = hashlib.sha256("\n".join(answers.participants).encode())
    for part in (answers.considerations, answers.preferences):
        digest.update(np.ascontiguousarray(part["pre"], dtype="<i8").tobytes())
    return digest.hexdigest()


def _table(answers: Answers, survey: Survey, mark: Sequence[str]) -> str:
    """Answers as the text of a CSV file, with or without the column `mark`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    items = [item.id for item in (*survey.considerations, *survey.preferences)]
    writer.writerow(["case", "participant", "stage", *mark, *items])
    for phase in PHASES:
        both = np.hstack([answers.considerations[phase], answers.preferences[phase]]).tolist()
        for case, who, own in zip(answers.cases, answers.participants, both, strict=True):
            writer.writerow([case, who, phase, *("most_preferred" for _ in mark), *own])
    return text.getvalue()
