"""People's answers in CSV files, as they were published or imported, or held against an instrument;
of every answer that is kept rank 1 is the most preferred.
"""

import csv
import dataclasses
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
EMPTY = {"", "NA"}
ITEM = re.compile(r"[CP][1-9][0-9]*")
STAGES: dict[str, Phase] = {
    "pre": "pre",
    "before": "pre",
    "1": "pre",
    "post": "post",
    "after": "post",
    "2": "post",
}
Ratings = NDArray[np.int64]
Line = tuple[int, dict[str, str]]
"""A row of a file: its number, and its cells by column."""


def in_source(survey_id: str) -> Rank1:
    """What rank 1 is in the published answers to a survey, where they are what was imported.

    >>> in_source("deliberr.auscj"), in_source("deliberr.ccps")
    ('least_preferred', 'most_preferred')
    """
    return "least_preferred" if survey_id in LEAST_FIRST else "most_preferred"


def declared(path: Path, lines: Iterable[Line]) -> Rank1 | None:
    """What rank 1 is according to the column `RANK_IS`; None where there is none, or it is empty.

    Raises WrongInput, naming file and line, for another word, and where rows contradict each other.
    """
    first: tuple[int, str] | None = None
    for line, cells in lines:
        text = cells.get(RANK_IS, "")
        where = f"{path}, line {line}, column {RANK_IS}"
        if text and text not in MEANINGS:
            raise WrongInput(f"{where}: expected {' or '.join(MEANINGS)}, got {text!r}")
        first = first or (line, text)
        if text != first[1]:
            raise WrongInput(f"{where}: {text!r}, but {first[1]!r} in line {first[0]}")
    return next((one for one in MEANINGS if first is not None and one == first[1]), None)


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of the n participants of one survey, the same people in the same order in both
    phases, none missing.

    `considerations` (n, c) holds raw ratings and `preferences` (n, p) ranks, each a permutation of
    1..p with 1 as the most preferred, by phase. `cases` and `participants` name each row; `lines`
    says where it stood in `path`, for messages.
    """

    survey: str
    participants: tuple[str, ...]
    cases: tuple[str, ...]
    considerations: Mapping[Phase, Ratings]
    preferences: Mapping[Phase, Ratings]
    path: Path
    lines: Mapping[Phase, tuple[int, ...]]

    def of_case(self, case: str) -> "Answers":
        """The answers of those who took part in one of the survey's deliberations."""
        rows = [row for row, own in enumerate(self.cases) if own == case]
        lines: dict[Phase, tuple[int, ...]] = {}
        for phase in PHASES:
            lines[phase] = tuple(self.lines[phase][row] for row in rows)
        return dataclasses.replace(
            self,
            participants=tuple(self.participants[row] for row in rows),
            cases=tuple(self.cases[row] for row in rows),
            considerations={phase: self.considerations[phase][rows] for phase in PHASES},
            preferences={phase: self.preferences[phase][rows] for phase in PHASES},
            lines=lines,
        )


@dataclass(frozen=True)
class Fault:
    """What is wrong with one row, and whose it is ("" where the row does not say)."""

    line: int
    participant: str
    problem: str

    def __str__(self) -> str:
        who = f", participant {self.participant}" if self.participant else ""
        return f"line {self.line}{who}: {self.problem}"


@dataclass(frozen=True)
class OneRow:
    """One row of a file of answers: whose it is, and the numbers by item."""

    line: int
    participant: str
    phase: Phase
    case: str
    values: Mapping[str, int]


Pair = dict[Phase, OneRow]


def read_rows(
    path: Path, required: Sequence[str], faults: list[str] | None = None
) -> Iterator[Line]:
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


def read_answers(
    path: Path,
    columns: tuple[str, str] = ("participant", "phase"),
    rank_1: Callable[[str], Rank1] = lambda survey: "most_preferred",
) -> dict[str, Answers]:
    """The answers in a CSV file, by survey in the order of the file: `columns` say whose they are
    and when, the others are `survey`, `case`, C1, C2 ... and P1, P2 ... `rank_1` says what rank 1
    is in the answers to a survey of which the column `rank_1_is` does not.

    Raises WrongInput, naming the file and the line, where anything is missing or cannot be read, a
    row of ranks is no permutation, or somebody is there twice or in one phase only.
    """
    surveys: dict[str, list[Line]] = {}
    for line, cells in read_rows(path, ["survey", "case", *columns]):
        for column in ("survey", "case"):
            where = f"{path}, line {line}, column {column}"
            if cells[column] in EMPTY:
                raise WrongInput(f"{where}: the cell is empty")
            if not cells[column].isprintable():
                raise WrongInput(f"{where}: {cells[column]!r} holds a control character")
        surveys.setdefault(cells["survey"], []).append((line, cells))
    found = {}
    for survey, lines in surveys.items():
        items = _used_items(path, survey, lines)
        rows, faults = rows_in(lines, [*items["C"], *items["P"]], columns, survey)
        for row in rows:
            faults += _no_permutation(row, items["P"])
        pairs, unpaired = paired(rows)
        for fault in (*faults, *unpaired):
            raise WrongInput(f"{path}, {fault} (survey {survey})")
        is_first = declared(path, lines) or rank_1(survey)
        found[survey] = answers_in(path, survey, pairs, (items["C"], items["P"]), is_first)
    return found


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
        for phase in PHASES:
            for row, participant in enumerate(own.participants):
                rated = own.considerations[phase][row].tolist()
                ranked = own.preferences[phase][row].tolist()
                rated += [""] * (width["C"] - len(rated))
                ranked += [""] * (width["P"] - len(ranked))
                known = [own.survey, own.cases[row], phase, participant, "most_preferred"]
                writer.writerow([*known, *rated, *ranked])
    return text.getvalue()


def _used_items(path: Path, survey: str, lines: Sequence[Line]) -> dict[str, list[str]]:
    """C1..Cc and P1..Pp of a survey: the columns in which anybody answered, without a gap."""
    used = set()
    for _, cells in lines:
        used |= {name for name, cell in cells.items() if ITEM.fullmatch(name) and cell not in EMPTY}
    found = {}
    for kind in "CP":
        own = {name for name in used if name[0] == kind}
        found[kind] = [f"{kind}{k}" for k in range(1, len(own) + 1)]
        if not own or set(found[kind]) != own:
            gaps = ", ".join(name for name in found[kind] if name not in own) or f"{kind}1"
            raise WrongInput(
                f"{path}, line {lines[0][0]}, column {gaps}: nobody answered it in {survey}; items"
                " are numbered without gaps"
            )
    return found


def rows_in(
    lines: Iterable[Line], items: Sequence[str], columns: tuple[str, str], case: str
) -> tuple[list[OneRow], list[Fault]]:
    """The rows that say whose they are and when, and what is wrong with each row; `case` is that of
    rows which name none.
    """
    rows, faults = [], []
    for line, cells in lines:
        who, stage = (cells[column] for column in columns)
        if who in EMPTY:
            faults.append(Fault(line, "", f"column {columns[0]} names nobody"))
        elif not who.isprintable():
            faults.append(Fault(line, "", f"{who!r} holds a control character"))
        elif stage.lower() not in STAGES:
            expected = f"expected one of {', '.join(STAGES)}"
            faults.append(Fault(line, who, f"column {columns[1]} has {stage!r}; {expected}"))
        else:
            values, problems = _values(cells, items)
            faults += [Fault(line, who, problem) for problem in problems]
            rows.append(OneRow(line, who, STAGES[stage.lower()], cells.get("case") or case, values))
    return rows, faults


def _values(cells: Mapping[str, str], items: Sequence[str]) -> tuple[dict[str, int], list[str]]:
    """The numbers of a row by item, and what is wrong with the others."""
    values, problems = {}, []
    for item in items:
        if cells[item] in EMPTY:
            problems.append(f"{item} is missing")
            continue
        try:
            values[item] = whole_number(cells[item], item)
        except WrongInput as error:
            problems.append(str(error))
    return values, problems


def _no_permutation(row: OneRow, items: Sequence[str]) -> list[Fault]:
    """That the ranks of a row are none, where all are there."""
    ranks = [row.values[item] for item in items if item in row.values]
    if len(ranks) < len(items) or sorted(ranks) == list(range(1, len(items) + 1)):
        return []
    wrong = f"the ranks {ranks} are no permutation of 1 to {len(items)}"
    return [Fault(row.line, row.participant, f"{wrong}: every rank is given exactly once")]


def paired(rows: Sequence[OneRow]) -> tuple[dict[str, Pair], list[Fault]]:
    """Both rows of each participant, and the faults of those who have one, or three, or are in two
    cases.
    """
    found: dict[str, Pair] = {}
    faults = []
    for row in rows:
        own = found.setdefault(row.participant, {})
        if row.phase in own:
            problem = f"already answered in phase {row.phase}, in line {own[row.phase].line}"
            mend = "; participants need names that are unique within a survey"
            faults.append(Fault(row.line, row.participant, problem + mend))
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


def answers_in(
    path: Path,
    survey: str,
    pairs: Mapping[str, Pair],
    items: tuple[Sequence[str], Sequence[str]],
    rank_1: Rank1,
) -> Answers:
    """The answers of these pairs of rows; `items` are rated ones, and ranked ones."""
    lines: dict[Phase, tuple[int, ...]] = {}
    rated: dict[Phase, Ratings] = {}
    ranked: dict[Phase, Ratings] = {}
    for phase in PHASES:
        own = [pair[phase] for pair in pairs.values()]
        lines[phase] = tuple(row.line for row in own)
        rated[phase], ranks = (_matrix(own, some) for some in items)
        ranked[phase] = most_first(ranks, rank_1)
    cases = tuple(pair["pre"].case for pair in pairs.values())
    return Answers(survey, tuple(pairs), cases, rated, ranked, path, lines)


def _matrix(rows: Sequence[OneRow], items: Sequence[str]) -> Ratings:
    values = []
    for row in rows:
        values.append([row.values[item] for item in items])
    return np.array(values, dtype=np.int64)


def most_first(ranks: Ratings, rank_1: Rank1) -> Ratings:
    """Ranks (n, p), each row a permutation of 1..p, with 1 as the most preferred.

    >>> most_first(np.array([[1, 3, 2]]), "least_preferred").tolist()
    [[3, 1, 2]]
    """
    return ranks.shape[1] + 1 - ranks if rank_1 == "least_preferred" else ranks
