"""People's answers of the user's own: a CSV file held against an instrument row by row, and where
imported answers are found again.
"""

import csv
import dataclasses
import functools
import hashlib
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from delibsim.domain.errors import NotImported, WrongInput
from delibsim.domain.survey import LABEL, PHASES, Phase, Survey, faults_of
from delibsim.store.files import write_atomically
from delibsim.store.instruments.answers import EMPTY, Answers, read_answers, read_rows, whole_number
from delibsim.store.instruments.ranks import COLUMN, Rank1, declared, in_source

FOLDER = "answers"
"""The folder, beside the user, in which imported answers of the user's own are kept: one CSV file a
survey, named after it.
"""
PARTICIPANT = ("participant", "pnum", "respondent", "id")
STAGE = ("stage", "phase", "stage_id", "wave")
STAGES: dict[str, Phase] = {
    "pre": "pre",
    "before": "pre",
    "1": "pre",
    "post": "post",
    "after": "post",
    "2": "post",
}

IMPORT = "import them with: delibsim import answers FILE --survey {} (or deliberr PATH)"


@dataclass(frozen=True)
class Fault:
    """What is wrong with one row, and whose it is ("" where the row does not say)."""

    line: int
    participant: str
    problem: str

    def __str__(self) -> str:
        who = f", participant {self.participant}" if self.participant else ""
        return f"line {self.line}{who}: {self.problem}"


@dataclass(frozen=True, eq=False)
class Checked:
    """What a file holds: the answers of everybody without a fault (None if that is nobody), every
    fault, and what is good to know.
    """

    answers: Answers | None
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]
    left_out: tuple[str, ...]


_Line = tuple[int, dict[str, str]]


@dataclass(frozen=True)
class _Row:
    line: int
    participant: str
    phase: Phase
    case: str
    values: Mapping[str, int]


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
    lines = [
        (line, cells) for line, cells in read_rows(path, []) if any(cells.values())
    ]  # spreadsheets leave rows of empty cells
    if not lines:
        raise WrongInput(f"{path}: there are no answers in it")
    header = list(lines[0][1])
    who, when = (
        _column(path, header, participant, PARTICIPANT, "--participant"),
        _column(path, header, stage, STAGE, "--stage"),
    )
    lines, told = _of_survey(path, lines, survey, only)
    empty = (
        {name for name in header if all(cells[name] in EMPTY for _, cells in lines)}
        if only
        else set()
    )
    _same_instrument(
        path,
        [
            name
            for name in header
            if name not in empty or name in (item.id for item in survey.items)
        ],
        survey,
    )
    rank_1 = _rank_1(path, lines, survey, rank_1)
    used = {who, when, "case", "survey", COLUMN, *(item.id for item in survey.items)}
    notes = [told] if told else []
    notes += (
        [f"columns that are not used: {', '.join(unused)}"]
        if (unused := [name for name in header if name not in used])
        else []
    )
    rows, faults = [], []
    for line, cells in lines:
        row, wrong = _row(line, cells, survey, (who, when))
        faults += wrong
        rows += [row] if row else []
    paired, wrong = _paired(rows, {fault.participant for fault in faults if fault.participant})
    faults = sorted([*faults, *wrong], key=lambda fault: fault.line)
    faulty = {fault.participant for fault in faults}
    kept = {name: own for name, own in paired.items() if name not in faulty}
    answers = _answers(path, survey, kept).facing(rank_1) if kept else None
    if answers is not None and survey.forced_distribution is not None:
        sorts = np.concatenate([answers.considerations[phase] for phase in PHASES])
        off = sum(
            tuple(int((sort == point).sum()) for point in survey.scale)
            != survey.forced_distribution
            for sort in sorts
        )
        notes += (
            [
                f"{off} of {len(sorts)} sorts depart from the forced distribution; they are kept as"
                " they are"
            ]
            if off
            else []
        )
    everybody = dict.fromkeys(
        [
            *(row.participant for row in rows),
            *(fault.participant for fault in faults if fault.participant),
        ]
    )
    return Checked(
        answers, tuple(faults), tuple(notes), tuple(name for name in everybody if name not in kept)
    )


def keep_answers(answers: Answers, survey: Survey, home: Path, replace: bool = False) -> Path:
    """Write checked answers into the folder of the user's own, a column an item, raw; the file.

    WrongInput where an earlier import left other answers there, which only `replace` gives up.
    """
    path = home / FOLDER / f"{survey.id}.csv"
    text = _table(answers, survey, [COLUMN])
    # Version 0.1 had no such column; the same answers are no others for want of it.
    same = {text.encode(), _table(answers, survey, []).encode()}
    if path.is_file() and path.read_bytes() not in same and not replace:
        raise WrongInput(
            f"{path} holds other answers to survey {survey.id}, of an earlier import, and was left"
            " as it is. Put these in their place with --replace; to keep both, add the new people"
            " to the file that was imported before, and import that with --replace"
        )
    write_atomically(path, text)
    return path


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
    if (
        source
        and published.is_file()
        and (found := _read(published, published.stat().st_mtime_ns).get(local)) is not None
    ):
        answered = (found.considerations["pre"].shape[1], found.preferences["pre"].shape[1])
        if answered != (len(survey.considerations), len(survey.preferences)):
            raise WrongInput(
                f"{published}: answers to {answered[0]} considerations and {answered[1]}"
                f" preferences, but survey {survey.id} has {len(survey.considerations)} and"
                f" {len(survey.preferences)}; import both again"
            )
        if not found.declared and in_source(survey.id) == "least_preferred":
            raise WrongInput(
                f"{published}: rank 1 is the least preferred in published answers to {survey.id}, "
                "and these were imported by a version that did not turn them round; "
                "import them again with: delibsim import deliberr PATH"
            )
        return found
    raise NotImported("there are no answers of people to survey", survey.id, IMPORT)


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


def _rank_1(path: Path, lines: Sequence[_Line], survey: Survey, given: Rank1 | None) -> Rank1:
    """What rank 1 is in a file: as its column says, as was given, else the most preferred.

    Raises WrongInput where both differ, and where neither says it although the published answers to
    the survey run the other way.
    """
    told = declared(path, [(line, cells.get(COLUMN, "")) for line, cells in lines])
    if told is not None and given is not None and told != given:
        raise WrongInput(f"{path}: rank 1 is {told} by column {COLUMN}, and {given} by --rank-1-is")
    if told is None and given is None and in_source(survey.id) == "least_preferred":
        raise WrongInput(
            f"{path}: nothing says what rank 1 is, and in the published answers to {survey.id} "
            f"it is the least preferred. Say it: delibsim import answers FILE --survey {survey.id} "
            "--rank-1-is least_preferred (or most_preferred)"
        )
    return told or given or "most_preferred"


def _of_survey(
    path: Path, lines: Sequence[tuple[int, dict[str, str]]], survey: Survey, only: bool
) -> tuple[Sequence[tuple[int, dict[str, str]]], str]:
    """The rows whose column `survey`, where there is one, names this survey, and what is to be told
    of the others.
    """
    ours = {survey.id, survey.id.rpartition(".")[2]}  # published files say ccps for deliberr.ccps
    others = Counter(
        cells["survey"] or "(empty)"
        for _, cells in lines
        if "survey" in cells and cells["survey"] not in ours
    )
    if not others:
        return lines, ""
    found = ", ".join(f"{name} ({n} rows)" for name, n in others.items())
    if not only:
        raise WrongInput(
            f"{path}: the column survey names other surveys than {survey.id}: {found}. Nothing was"
            f" imported; take the rows of {survey.id} alone with --only, or name the survey that"
            " was answered with --survey"
        )
    lines = [(line, cells) for line, cells in lines if cells["survey"] in ours]
    if not lines:
        raise WrongInput(
            f"{path}: no row has {survey.id} in the column survey, which names: {found}"
        )
    return lines, f"rows of other surveys are not taken: {found}"


def _column(
    path: Path, header: Sequence[str], given: str | None, usual: Sequence[str], option: str
) -> str:
    if given is not None and given not in header:
        raise WrongInput(
            f"{path}, line 1: there is no column {given}; the file has: {', '.join(header)}"
        )
    found = given or next((name for name in usual if name in header), None)
    if found is None:
        raise WrongInput(
            f"{path}, line 1: no column {' or '.join(usual)}; name it with {option}. The file has:"
            f" {', '.join(header)}"
        )
    return found


def _same_instrument(path: Path, header: Sequence[str], survey: Survey) -> None:
    items = [item.id for item in survey.items]
    lacking = [item for item in items if item not in header]
    foreign = [name for name in header if LABEL.fullmatch(name) and name not in items]
    if lacking or foreign:
        parts = [
            f"{what}: {', '.join(names)}"
            for what, names in (("not in the file", lacking), ("not in the survey", foreign))
            if names
        ]
        raise WrongInput(
            f"{path}: these are answers to another instrument than survey '{survey.id}'. Items"
            f" {'; items '.join(parts)}. Every item is a column named after its id (delibsim"
            " surveys ID lists them)"
        )


def _row(
    line: int, cells: Mapping[str, str], survey: Survey, columns: tuple[str, str]
) -> tuple[_Row | None, list[Fault]]:
    """One row with its numbers, and what is wrong with it; None where it is not even clear whose or
    when.
    """
    who, stage = (cells[column] for column in columns)
    if who in EMPTY or not who.isprintable():
        return None, [
            Fault(
                line,
                "",
                (
                    f"column {columns[0]} names nobody"
                    if who in EMPTY
                    else f"{who!r} holds a control character"
                ),
            )
        ]
    if stage.lower() not in STAGES:
        return None, [
            Fault(
                line, who, f"column {columns[1]} has {stage!r}; expected one of {', '.join(STAGES)}"
            )
        ]
    values, problems = {}, []
    for item in survey.items:
        cell = cells[item.id]
        if cell in EMPTY:
            problems.append(f"{item.id} is missing")
            continue
        try:
            values[item.id] = whole_number(cell, item.id)
        except WrongInput as error:
            problems.append(str(error))
    # People depart from the distribution of a Q sort now and then; that is no reason to lose them.
    problems += faults_of(values, dataclasses.replace(survey, forced_distribution=None))
    row = _Row(line, who, STAGES[stage.lower()], cells.get("case") or survey.id, values)
    return row, [Fault(line, who, problem) for problem in problems]


def _paired(
    rows: Sequence[_Row], faulty: set[str]
) -> tuple[dict[str, dict[Phase, _Row]], list[Fault]]:
    """Both rows of each participant, and the faults of those who have one, or three, or are in two
    cases.
    """
    found: dict[str, dict[Phase, _Row]] = {}
    faults = []
    for row in rows:
        own = found.setdefault(row.participant, {})
        if row.phase in own:
            faults.append(
                Fault(
                    row.line,
                    row.participant,
                    f"already answered in phase {row.phase}, in line {own[row.phase].line}",
                )
            )
        else:
            own[row.phase] = row
    for participant, own in found.items():
        first = next(iter(own.values()))
        if len(own) < len(PHASES):
            lacking = "post" if first.phase == "pre" else "pre"
            faults.append(
                Fault(
                    first.line,
                    participant,
                    f"unpaired: answered in phase {first.phase} and not in {lacking}",
                )
            )
        elif own["pre"].case != own["post"].case:
            faults.append(
                Fault(
                    own["post"].line,
                    participant,
                    f"is in case {own['post'].case!r} here and in {own['pre'].case!r} before",
                )
            )
    whole = {
        name: own for name, own in found.items() if len(own) == len(PHASES) and name not in faulty
    }
    return whole, faults


def _answers(path: Path, survey: Survey, kept: Mapping[str, Mapping[Phase, _Row]]) -> Answers:
    def matrix(phase: Phase, items: Sequence[str]) -> np.ndarray:
        return np.array(
            [[own[phase].values[item] for item in items] for own in kept.values()], dtype=np.int64
        )

    considerations, preferences = (
        [item.id for item in items] for items in (survey.considerations, survey.preferences)
    )
    return Answers(
        survey=survey.id,
        participants=tuple(kept),
        cases=tuple(own["pre"].case for own in kept.values()),
        considerations={phase: matrix(phase, considerations) for phase in PHASES},
        preferences={phase: matrix(phase, preferences) for phase in PHASES},
        path=path,
        lines={phase: tuple(own[phase].line for own in kept.values()) for phase in PHASES},
    )
