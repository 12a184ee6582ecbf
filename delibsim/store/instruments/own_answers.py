"""Tables of the user's own: answers of people held against their instrument, and covariates of
debaters and raters.
"""

import csv
import dataclasses
import functools
import hashlib
import io
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from delibsim.domain.errors import NotImported, WrongInput, refused, unknown
from delibsim.domain.survey import LABEL, PHASES, Rank1, Survey, faults_of
from delibsim.store.files import write_atomically
from delibsim.store.instruments.answers import (
    EMPTY,
    RANK_IS,
    Answers,
    Fault,
    Line,
    answers_in,
    declared,
    in_source,
    paired,
    read_answers,
    read_rows,
    rows_in,
)

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


PARTICIPANT = ("participant", "pnum", "respondent", "id")
STAGE = ("stage", "phase", "stage_id", "wave")


@dataclass(frozen=True, eq=False)
class Checked:
    """What a file holds: the answers of everybody without a fault (None if that is nobody), every
    fault, notes on the file, and who was left out.
    """

    answers: Answers | None
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]
    left_out: tuple[str, ...]

    def listed(self) -> str:
        """Every fault in a line of its own."""
        return "\n".join(f"  {fault}" for fault in self.faults)

    def refusal(self, path: Path) -> str:
        """Why nothing of the file was imported, and what can be done."""
        advice = "mend the file, or keep the others with leave_out=true"
        if self.answers is None:
            advice = "nobody would be left"
        return f"{path}: {len(self.faults)} faults, nothing was imported ({advice})"


def check_answers(
    path: Path,
    survey: Survey,
    participant: str | None = None,
    stage: str | None = None,
    only: bool = False,
    rank_1: Rank1 | None = None,
) -> Checked:
    """The answers in a CSV file with a row a participant and stage and a column an item, held
    against their instrument.

    `participant` and `stage` name those columns where they have other names than the usual ones.
    Where a column `survey` names other surveys, `only` takes the rows that name this one. `rank_1`
    says what rank 1 is in the file where no column `rank_1_is` does; without both it is the most
    preferred.

    Raises WrongInput where the file is no such table, or holds answers to another survey or
    instrument; everything else is a fault of a row.
    """
    lines = list(read_rows(path, []))
    header = list(lines[0][1])
    who = _column(path, header, participant, PARTICIPANT, "participant=NAME")
    when = _column(path, header, stage, STAGE, "phase=NAME")
    lines, note = _of_survey(path, lines, survey, only)
    items = [item.id for item in survey.items]
    _same_instrument(path, _answered(header, lines, items) if only else header, survey)
    rank_1 = _rank_1(path, lines, survey, rank_1)

    rows, faults = rows_in(lines, items, (who, when), survey.id)
    # People depart from the distribution of a Q sort now and then; that is no reason to lose them.
    free = dataclasses.replace(survey, forced_distribution=None)
    for row in rows:
        told = faults_of(row.values, free)
        faults += [Fault(row.line, row.participant, problem) for problem in told]
    pairs, unpaired = paired(rows)
    faults = sorted([*faults, *unpaired], key=lambda fault: fault.line)
    faulty = {fault.participant for fault in faults}
    kept = {name: pair for name, pair in pairs.items() if name not in faulty}
    rated = [item.id for item in survey.considerations]
    ranked = [item.id for item in survey.preferences]
    answers = answers_in(path, survey.id, kept, (rated, ranked), rank_1) if kept else None

    notes = [note] if note else []
    unused = [name for name in header if name not in {who, when, "case", "survey", RANK_IS, *items}]
    notes += [f"columns that are not used: {', '.join(unused)}"] if unused else []
    notes += _departures(answers, survey) if answers is not None else []
    named = [row.participant for row in rows]
    named += [fault.participant for fault in faults if fault.participant]
    left_out = tuple(name for name in dict.fromkeys(named) if name not in kept)
    return Checked(answers, tuple(faults), tuple(notes), left_out)


def _column(
    path: Path, header: Sequence[str], given: str | None, usual: Sequence[str], option: str
) -> str:
    """The name of a column: the one given, else the first of the usual names that is there."""
    there = ", ".join(header)
    if given is not None and given not in header:
        raise WrongInput(f"{path}, line 1: there is no column {given}; the file has: {there}")
    found = given or next((name for name in usual if name in header), None)
    if found is None:
        raise WrongInput(
            f"{path}, line 1: no column {' or '.join(usual)}; name it with {option}. The file has:"
            f" {there}"
        )
    return found


def _of_survey(
    path: Path, lines: Sequence[Line], survey: Survey, only: bool
) -> tuple[Sequence[Line], str]:
    """The rows whose column `survey`, where there is one, names this survey, and a note on the
    others.
    """
    ours = {survey.id, survey.id.rpartition(".")[2]}  # published files say ccps for deliberr.ccps
    named = [cells["survey"] for _, cells in lines if "survey" in cells]
    others = Counter(name or "(empty)" for name in named if name not in ours)
    if not others:
        return lines, ""
    found = ", ".join(f"{name} ({n} rows)" for name, n in others.items())
    if not only:
        raise refused("other_surveys_named", path=path, id=survey.id, found=found)
    lines = [(line, cells) for line, cells in lines if cells["survey"] in ours]
    if not lines:
        raise WrongInput(
            f"{path}: no row has {survey.id} in the column survey, which names: {found}"
        )
    return lines, f"rows of other surveys are not taken: {found}"


def _answered(header: Sequence[str], lines: Sequence[Line], items: Sequence[str]) -> list[str]:
    """The columns of the survey's items, and those of others in which anybody answered."""
    empty = set(header)
    for _, cells in lines:
        empty -= {name for name in empty if cells[name] not in EMPTY}
    return [name for name in header if name in items or name not in empty]


def _same_instrument(path: Path, header: Sequence[str], survey: Survey) -> None:
    items = [item.id for item in survey.items]
    lacking = [item for item in items if item not in header]
    foreign = [name for name in header if LABEL.fullmatch(name) and name not in items]
    differences = []
    if lacking:
        differences.append(f"not in the file: {', '.join(lacking)}")
    if foreign:
        differences.append(f"not in the survey: {', '.join(foreign)}")
    if differences:
        raise refused(
            "another_instrument", path=path, id=survey.id, listed="; items ".join(differences)
        )


def _rank_1(path: Path, lines: Sequence[Line], survey: Survey, given: Rank1 | None) -> Rank1:
    """What rank 1 is in a file: as its column says, as was given, else the most preferred.

    Raises WrongInput where both differ, and where neither says it although the published answers to
    the survey run the other way.
    """
    told = declared(path, lines)
    if told is not None and given is not None and told != given:
        raise WrongInput(f"{path}: rank 1 is {told} by column {RANK_IS}, and {given} by rank_1=")
    if told is None and given is None and in_source(survey.id) == "least_preferred":
        raise refused("rank_1_not_said", path=path, id=survey.id)
    return told or given or "most_preferred"


def _departures(answers: Answers, survey: Survey) -> list[str]:
    """A note on sorts that depart from the survey's forced distribution; none where all keep it."""
    if survey.forced_distribution is None:
        return []
    sorts = np.concatenate([answers.considerations[phase] for phase in PHASES])
    counts = (sorts[:, :, None] == np.array(survey.scale)).sum(axis=1)  # (sorts, scale points)
    off = int((counts != np.array(survey.forced_distribution)).any(axis=1).sum())
    if not off:
        return []
    kept = "they are kept as they are"
    return [f"{off} of {len(sorts)} sorts depart from the forced distribution; {kept}"]


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
    text = _table(answers, survey)
    if path.is_file() and path.read_bytes() != text.encode() and not replace:
        before = path.read_text(encoding="utf-8", errors="replace")
        raise refused(
            "other_answers_kept", path=path, id=survey.id, difference=_difference(before, text)
        )
    write_atomically(path, text)
    return path


def are_kept(answers: Answers, survey: Survey, home: Path) -> bool:
    """Whether these very answers lie in the folder of the user's own already."""
    path = home / FOLDER / f"{survey.id}.csv"
    return path.is_file() and path.read_bytes() == _table(answers, survey).encode()


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
    """Refuse published answers to other items than the survey's."""
    considerations = answers.considerations["pre"].shape[1]
    preferences = answers.preferences["pre"].shape[1]
    if (considerations, preferences) != (len(survey.considerations), len(survey.preferences)):
        raise WrongInput(
            f"{answers.path}: answers to {considerations} considerations and {preferences}"
            f" preferences, but survey {survey.id} has {len(survey.considerations)} and"
            f" {len(survey.preferences)}; import both again"
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


def _table(answers: Answers, survey: Survey) -> str:
    """Answers as the text of a CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    items = [item.id for item in (*survey.considerations, *survey.preferences)]
    writer.writerow(["case", "participant", "stage", RANK_IS, *items])
    for phase in PHASES:
        both = np.hstack([answers.considerations[phase], answers.preferences[phase]]).tolist()
        for case, who, own in zip(answers.cases, answers.participants, both, strict=True):
            writer.writerow([case, who, phase, "most_preferred", *own])
    return text.getvalue()
