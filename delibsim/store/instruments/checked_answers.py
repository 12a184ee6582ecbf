"""A CSV file of people's answers, held against its instrument row by row."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from delibsim.domain.errors import WrongInput
from delibsim.domain.survey import LABEL, PHASES, Phase, Survey, faults_of
from delibsim.store.instruments.answers import (
    EMPTY,
    RANK_IS,
    Answers,
    Rank1,
    declared,
    in_source,
    read_rows,
    whole_number,
)

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


_Line = tuple[int, dict[str, str]]
"""A row of the file: its number, and its cells by column."""


@dataclass(frozen=True)
class _Row:
    line: int
    participant: str
    phase: Phase
    case: str
    values: Mapping[str, int]


_Pair = dict[Phase, _Row]


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

    rows, faults = _rows(lines, survey, (who, when))
    pairs, unpaired = _paired(rows)
    faults = sorted([*faults, *unpaired], key=lambda fault: fault.line)
    faulty = {fault.participant for fault in faults}
    kept = {name: pair for name, pair in pairs.items() if name not in faulty}
    answers = _answers(path, survey, kept).facing(rank_1) if kept else None

    notes = [note] if note else []
    notes += _unused(header, {who, when, "case", "survey", RANK_IS, *items})
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
    path: Path, lines: Sequence[_Line], survey: Survey, only: bool
) -> tuple[Sequence[_Line], str]:
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
        raise WrongInput(
            f"{path}: the column survey names other surveys than {survey.id}: {found}. Nothing was"
            f" imported; take the rows of {survey.id} alone with only=true, or name the survey that"
            " was answered with survey="
        )
    lines = [(line, cells) for line, cells in lines if cells["survey"] in ours]
    if not lines:
        raise WrongInput(
            f"{path}: no row has {survey.id} in the column survey, which names: {found}"
        )
    return lines, f"rows of other surveys are not taken: {found}"


def _answered(header: Sequence[str], lines: Sequence[_Line], items: Sequence[str]) -> list[str]:
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
        raise WrongInput(
            f"{path}: these are answers to another instrument than survey '{survey.id}'. Items"
            f" {'; items '.join(differences)}. Every item is a column named after its id (delibsim"
            " list surveys ID lists them)"
        )


def _rank_1(path: Path, lines: Sequence[_Line], survey: Survey, given: Rank1 | None) -> Rank1:
    """What rank 1 is in a file: as its column says, as was given, else the most preferred.

    Raises WrongInput where both differ, and where neither says it although the published answers to
    the survey run the other way.
    """
    told = declared(path, [(line, cells.get(RANK_IS, "")) for line, cells in lines])
    if told is not None and given is not None and told != given:
        raise WrongInput(f"{path}: rank 1 is {told} by column {RANK_IS}, and {given} by rank_1=")
    if told is None and given is None and in_source(survey.id) == "least_preferred":
        raise WrongInput(
            f"{path}: nothing says what rank 1 is, and in the published answers to {survey.id} "
            f"it is the least preferred. Say it: delibsim import FILE --as answers "
            f"survey={survey.id} rank_1=least_preferred (or most_preferred)"
        )
    return told or given or "most_preferred"


def _unused(header: Sequence[str], used: set[str]) -> list[str]:
    """A note on the columns that are not used; none where all are."""
    unused = [name for name in header if name not in used]
    return [f"columns that are not used: {', '.join(unused)}"] if unused else []


def _departures(answers: Answers, survey: Survey) -> list[str]:
    """A note on sorts that depart from the survey's forced distribution; none where all keep it."""
    if survey.forced_distribution is None:
        return []
    sorts = np.concatenate([answers.considerations[phase] for phase in PHASES])
    counts = (sorts[:, :, None] == np.array(survey.scale)).sum(axis=1)  # (sorts, scale points)
    off = int((counts != np.array(survey.forced_distribution)).any(axis=1).sum())
    if not off:
        return []
    return [
        f"{off} of {len(sorts)} sorts depart from the forced distribution; they are kept as they"
        " are"
    ]


def _rows(
    lines: Iterable[_Line], survey: Survey, columns: tuple[str, str]
) -> tuple[list[_Row], list[Fault]]:
    """The rows that say whose they are and when, and what is wrong with each row."""
    rows, faults = [], []
    for line, cells in lines:
        row, wrong = _row(line, cells, survey, columns)
        faults += wrong
        if row is not None:
            rows.append(row)
    return rows, faults


def _row(
    line: int, cells: Mapping[str, str], survey: Survey, columns: tuple[str, str]
) -> tuple[_Row | None, list[Fault]]:
    """One row with its numbers, and what is wrong with it; None where it is not even clear whose or
    when.
    """
    who, stage = (cells[column] for column in columns)
    if who in EMPTY:
        return None, [Fault(line, "", f"column {columns[0]} names nobody")]
    if not who.isprintable():
        return None, [Fault(line, "", f"{who!r} holds a control character")]
    if stage.lower() not in STAGES:
        problem = f"column {columns[1]} has {stage!r}; expected one of {', '.join(STAGES)}"
        return None, [Fault(line, who, problem)]
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


def _paired(rows: Sequence[_Row]) -> tuple[dict[str, _Pair], list[Fault]]:
    """Both rows of each participant, and the faults of those who have one, or three, or are in two
    cases.
    """
    found: dict[str, _Pair] = {}
    faults = []
    for row in rows:
        own = found.setdefault(row.participant, {})
        if row.phase in own:
            problem = f"already answered in phase {row.phase}, in line {own[row.phase].line}"
            faults.append(Fault(row.line, row.participant, problem))
        else:
            own[row.phase] = row
    pairs = {}
    for participant, own in found.items():
        first = next(iter(own.values()))
        if len(own) < len(PHASES):
            lacking = "post" if first.phase == "pre" else "pre"
            problem = f"unpaired: answered in phase {first.phase} and not in {lacking}"
            faults.append(Fault(first.line, participant, problem))
            continue
        pairs[participant] = own
        before, after = own["pre"].case, own["post"].case
        if before != after:
            problem = f"is in case {after!r} here and in {before!r} before"
            faults.append(Fault(own["post"].line, participant, problem))
    return pairs, faults


def _answers(path: Path, survey: Survey, kept: Mapping[str, _Pair]) -> Answers:
    def matrix(phase: Phase, items: Sequence[str]) -> np.ndarray:
        rows = []
        for pair in kept.values():
            values = pair[phase].values
            rows.append([values[item] for item in items])
        return np.array(rows, dtype=np.int64)

    considerations = [item.id for item in survey.considerations]
    preferences = [item.id for item in survey.preferences]
    lines: dict[Phase, tuple[int, ...]] = {}
    for phase in PHASES:
        lines[phase] = tuple(pair[phase].line for pair in kept.values())
    return Answers(
        survey=survey.id,
        participants=tuple(kept),
        cases=tuple(pair["pre"].case for pair in kept.values()),
        considerations={phase: matrix(phase, considerations) for phase in PHASES},
        preferences={phase: matrix(phase, preferences) for phase in PHASES},
        path=path,
        lines=lines,
    )
