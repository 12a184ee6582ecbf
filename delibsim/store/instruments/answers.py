"""What rank 1 means in a file of people's answers; every answer that is kept has it as the most
preferred.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from delibsim.domain.errors import WrongInput
from delibsim.domain.survey import PHASES, Phase, Rank1
from delibsim.store.tables.csv_cells import read_sheet

MEANINGS: tuple[Rank1, ...] = get_args(Rank1)

RANK_IS = "rank_1_is"
"""The column in which a file of answers declares what rank 1 is, alike in all rows of a survey."""

# No codebook says so. The more somebody objects (C40 of auscj), the higher the number at a ban of
# everything (P7): r is 0.67 before and 0.70 after, and would be negative if 1 were the best.
LEAST_FIRST = frozenset({"deliberr.auscj"})
"""The published surveys in whose answers rank 1 is the least preferred."""


def in_source(survey_id: str) -> Rank1:
    """What rank 1 is in the published answers to a survey, where they are what was imported.

    >>> in_source("deliberr.auscj"), in_source("deliberr.ccps")
    ('least_preferred', 'most_preferred')
    """
    return "least_preferred" if survey_id in LEAST_FIRST else "most_preferred"


def declared(path: Path, cells: Iterable[tuple[int, str]]) -> Rank1 | None:
    """What rank 1 is according to the cells (line, text) of `RANK_IS`; None where all are empty.

    Raises WrongInput, naming file and line, for another word, and where rows contradict each other.
    """
    first: tuple[int, str] | None = None
    for line, text in cells:
        where = f"{path}, line {line}, column {RANK_IS}"
        if text and text not in MEANINGS:
            raise WrongInput(f"{where}: expected {' or '.join(MEANINGS)}, got {text!r}")
        first = first or (line, text)
        if text != first[1]:
            raise WrongInput(f"{where}: {text!r}, but {first[1]!r} in line {first[0]}")
    if first is None or not first[1]:
        return None
    return "least_preferred" if first[1] == "least_preferred" else "most_preferred"


Ratings = NDArray[np.int64]
EMPTY = {"", "NA"}
ITEM = re.compile(r"[CP][1-9][0-9]*")


@dataclass(frozen=True)
class Columns:
    """What a file of answers calls its columns and phases; `survey`, `case`, C1, C2 ... and P1, P2
    ... are the same everywhere.
    """

    participant: str = "participant"
    phase: str = "phase"
    phases: Mapping[str, Phase] = field(default_factory=lambda: {"pre": "pre", "post": "post"})


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of the n participants of one survey, the same people in the same order in both
    phases, none missing.

    `considerations` (n, c) holds raw ratings and `preferences` (n, p) ranks, each a permutation of
    1..p, by phase. `cases` and `participants` name each row; `lines` says where it stood in `path`,
    for messages. Rank 1 is the most preferred where `declared`; else nobody has said what it is.
    """

    survey: str
    participants: tuple[str, ...]
    cases: tuple[str, ...]
    considerations: Mapping[Phase, Ratings]
    preferences: Mapping[Phase, Ratings]
    path: Path
    lines: Mapping[Phase, tuple[int, ...]]
    declared: bool = False

    def facing(self, rank_1: Rank1) -> "Answers":
        """These answers with rank 1 as the most preferred, where it is `rank_1` here.

        Declared ones stay as they are.
        """
        if self.declared:
            return self
        turned = {phase: most_first(self.preferences[phase], rank_1) for phase in PHASES}
        return replace(self, preferences=turned, declared=True)

    def of_case(self, case: str) -> "Answers":
        """The answers of those who took part in one of the survey's deliberations."""
        rows = [row for row, own in enumerate(self.cases) if own == case]
        lines: dict[Phase, tuple[int, ...]] = {}
        for phase in PHASES:
            lines[phase] = tuple(self.lines[phase][row] for row in rows)
        return replace(
            self,
            participants=tuple(self.participants[row] for row in rows),
            cases=tuple(self.cases[row] for row in rows),
            considerations={phase: self.considerations[phase][rows] for phase in PHASES},
            preferences={phase: self.preferences[phase][rows] for phase in PHASES},
            lines=lines,
        )


@dataclass(frozen=True)
class _Row:
    """One row of a file of answers, its numbers still text."""

    line: int
    case: str
    phase: Phase
    participant: str
    cells: Mapping[str, str]
    rank_1: str


def read_rows(
    path: Path, required: Sequence[str], faults: list[str] | None = None
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a CSV file as (line, cells by column); WrongInput for a column that is missing,
    and as `read_sheet` does.

    Rows of another number of cells are added to `faults`, where that is given, and left out.
    """
    sheet = read_sheet(path, required, faults)
    if missing := [column for column in required if column not in sheet.header]:
        raise WrongInput(
            f"{path}, line 1: column {', '.join(missing)} is missing; the file has:"
            f" {', '.join(sheet.header)}"
        )
    yield from sheet.records()


def whole_number(text: str, where: str) -> int:
    """The whole number in a cell (7, -5 or 7.0); WrongInput that begins with `where` for anything
    else.
    """
    found = re.fullmatch(r"(-?[0-9]{1,9})(\.0+)?", text)
    if not found:
        raise WrongInput(f"{where}: expected a whole number, got {text!r}")
    return int(found[1])


def read_answers(path: Path, columns: Columns | None = None) -> dict[str, Answers]:
    """The answers in a CSV file, by survey in the order of the file.

    Raises WrongInput, naming file, line and column, where a column is missing, a cell is no whole
    number, a row of ranks is no permutation, or somebody is there twice or in one phase only. Ranks
    are turned round where a column `rank_1_is` says that 1 is the least preferred.
    """
    columns = columns or Columns()
    surveys: dict[str, list[_Row]] = {}
    for line, cells in read_rows(path, ["survey", "case", columns.phase, columns.participant]):
        stage, participant = cells[columns.phase], cells[columns.participant]
        if stage not in columns.phases:
            expected = " or ".join(columns.phases)
            raise WrongInput(
                f"{path}, line {line}, column {columns.phase}: expected {expected}, got {stage!r}"
            )
        for column in ("survey", "case", columns.participant):
            if cells[column] in EMPTY:
                raise WrongInput(f"{path}, line {line}, column {column}: the cell is empty")
            if not cells[column].isprintable():
                raise WrongInput(
                    f"{path}, line {line}, column {column}: {cells[column]!r} holds a control"
                    " character"
                )
        items = {column: cell for column, cell in cells.items() if ITEM.fullmatch(column)}
        rank_1 = cells.get(RANK_IS, "")
        row = _Row(line, cells["case"], columns.phases[stage], participant, items, rank_1)
        surveys.setdefault(cells["survey"], []).append(row)
    return {
        survey: _answers(path, survey, rows, columns.participant)
        for survey, rows in surveys.items()
    }


def answers_csv(answers: Sequence[Answers]) -> str:
    """Answers as the text of a CSV file that `read_answers` reads: raw values, cells of items a
    survey has not are empty.
    """
    width = {
        "C": max((own.considerations["pre"].shape[1] for own in answers), default=0),
        "P": max((own.preferences["pre"].shape[1] for own in answers), default=0),
    }
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    items = [f"{kind}{k}" for kind in "CP" for k in range(1, width[kind] + 1)]
    writer.writerow(["survey", "case", "phase", "participant", RANK_IS, *items])
    for own in answers:
        rank_1 = "most_preferred" if own.declared else ""
        for phase in PHASES:
            for row, participant in enumerate(own.participants):
                rated = own.considerations[phase][row].tolist()
                ranked = own.preferences[phase][row].tolist()
                rated += [""] * (width["C"] - len(rated))
                ranked += [""] * (width["P"] - len(ranked))
                known = [own.survey, own.cases[row], phase, participant, rank_1]
                writer.writerow([*known, *rated, *ranked])
    return text.getvalue()


def _answers(path: Path, survey: str, rows: Sequence[_Row], participant_column: str) -> Answers:
    pre, post = _paired(path, survey, rows, participant_column)
    rated = _used_items(path, survey, rows, "C")
    ranked = _used_items(path, survey, rows, "P")
    by_phase: dict[Phase, list[_Row]] = {"pre": pre, "post": post}
    lines: dict[Phase, tuple[int, ...]] = {}
    for phase, own in by_phase.items():
        lines[phase] = tuple(row.line for row in own)
    rank_1 = declared(path, [(row.line, row.rank_1) for row in rows])
    answers = Answers(
        survey=survey,
        participants=tuple(row.participant for row in pre),
        cases=tuple(row.case for row in pre),
        considerations={phase: _matrix(path, own, rated) for phase, own in by_phase.items()},
        preferences={phase: _ranks(path, own, ranked) for phase, own in by_phase.items()},
        path=path,
        lines=lines,
    )
    return answers if rank_1 is None else answers.facing(rank_1)


def _paired(
    path: Path, survey: str, rows: Sequence[_Row], column: str
) -> tuple[list[_Row], list[_Row]]:
    """The rows before and after, both in the order in which the participants first appear."""
    found: dict[str, dict[Phase, _Row]] = {}
    for row in rows:
        own = found.setdefault(row.participant, {})
        if row.phase in own:
            raise WrongInput(
                f"{path}, line {row.line}, column {column}: {row.participant} already answered"
                f" {survey} in this phase, in line {own[row.phase].line}; participants need names"
                " that are unique within a survey"
            )
        own[row.phase] = row
    for participant, own in found.items():
        first = next(iter(own.values()))
        if len(own) < len(PHASES):
            there, lacking = (first.phase, "post" if first.phase == "pre" else "pre")
            raise WrongInput(
                f"{path}, line {first.line}, column {column}: {participant} answered {survey} in"
                f" phase {there} and not in {lacking}"
            )
        if own["pre"].case != own["post"].case:
            raise WrongInput(
                f"{path}, line {own['post'].line}, column case: {participant} of {survey} is in"
                f" {own['post'].case!r} here and in {own['pre'].case!r} in line {own['pre'].line}"
            )
    return [own["pre"] for own in found.values()], [own["post"] for own in found.values()]


def _used_items(path: Path, survey: str, rows: Sequence[_Row], kind: str) -> list[str]:
    """C1..Cc or P1..Pp of a survey: the columns in which anybody answered, without a gap."""
    used = set()
    for row in rows:
        for column, cell in row.cells.items():
            if column[0] == kind and cell not in EMPTY:
                used.add(column)
    wanted = [f"{kind}{k}" for k in range(1, len(used) + 1)]
    if not used or set(wanted) != used:
        gaps = ", ".join(column for column in wanted if column not in used) or f"{kind}1"
        raise WrongInput(
            f"{path}, line {rows[0].line}, column {gaps}: nobody answered it in {survey}; items are"
            " numbered without gaps"
        )
    return wanted


def _matrix(path: Path, rows: Sequence[_Row], items: Sequence[str]) -> Ratings:
    values = np.empty((len(rows), len(items)), dtype=np.int64)
    for i, row in enumerate(rows):
        for j, item in enumerate(items):
            where = f"{path}, line {row.line}, column {item}"
            cell = row.cells[item]
            if cell in EMPTY:
                raise WrongInput(
                    f"{where}: the answer is missing, and others of this survey have one"
                )
            values[i, j] = whole_number(cell, where)
    return values


def _ranks(path: Path, rows: Sequence[_Row], items: Sequence[str]) -> Ratings:
    ranked = _matrix(path, rows, items)
    for row, own in zip(rows, ranked.tolist(), strict=True):
        if sorted(own) != list(range(1, len(items) + 1)):
            given = zip(items, own, strict=True)
            wrong = (i for i, rank in given if not 1 <= rank <= len(items) or own.count(rank) > 1)
            column = next(wrong)
            raise WrongInput(
                f"{path}, line {row.line}, column {column}: the ranks {own} are no permutation of 1"
                f" to {len(items)}: every rank is given exactly once"
            )
    return ranked


def most_first(ranks: NDArray[np.int64], rank_1: Rank1) -> NDArray[np.int64]:
    """Ranks (n, p), each row a permutation of 1..p, with 1 as the most preferred.

    >>> most_first(np.array([[1, 3, 2]]), "least_preferred").tolist()
    [[3, 1, 2]]
    """
    return ranks.shape[1] + 1 - ranks if rank_1 == "least_preferred" else ranks
