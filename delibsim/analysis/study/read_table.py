"""Reading the table of a study that was held elsewhere, or that `delibsim export` wrote."""

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.result import said
from delibsim.analysis.study.study_table import (
    BLOCK,
    DESIGN,
    RELATIVE,
    StudyTable,
    column_of,
    fixed_columns,
    known_measures,
    measure_columns,
)
from delibsim.analysis.study.table_of_study import DTYPES, NO_ROOM, shares_seeds
from delibsim.domain.score import SCORE_PHASES
from delibsim.domain.survey import WAVE
from delibsim.measures.dri import relative_change
from delibsim.store.session_files import BRANCHES
from delibsim.store.tables.csv_cells import CsvSheet, read_sheet, refuse_faults
from delibsim.store.tables.sheets import Column

NEEDED = ("topic", "model", "treatment", "replicate")
MISSING = frozenset({"", "NA", "NaN", "nan", "null", "NULL", "."})
LOGICAL = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
TRIMMED = frozenset({*BLOCK, "treatment", "outcome", "status"})
"""Texts that name something: spaces around them are no part of the name."""
OF_BRANCHES = tuple(f"/{kind}" for kind in BRANCHES)
"""What the names of studies end with that hold no planned sessions."""
NAMES = TRIMMED | {"study"}
STATUSES = frozenset({"complete", "partial", "no run", "damaged", "not begun", "withdrawn"})
IN_PHASE = re.compile(rf"(.+)_({'|'.join(SCORE_PHASES)}|{WAVE}\d+)")
"""The name of the column of a measure in a phase."""
NOT_GIVEN = "not_given"
"""Why a value is missing that the table does not give."""
UNKNOWN = "column of the table that was read; delibsim does not know it"


def read_table(path: Path, outcomes: Sequence[str] = ()) -> StudyTable:
    """The study of a CSV file: one row a run, with at least the columns topic, model, treatment,
    replicate, pre and post.

    `pre` and `post` are the Deliberative Reason Index, or the measure that a column `outcome`
    names in each row. Instead of them the file may have the columns of the study table, as
    `runs_wide.csv` of `delibsim export` has. Columns that delibsim knows are checked and kept;
    others are kept and named as unknown, as texts unless they are among the `outcomes`, which
    need no pre and post. WrongInput tells every fault with its line.
    """
    path = Path(path)
    sheet = read_sheet(path)
    return table_of_sheet(path, sheet, outcomes)


def table_of_sheet(path: Path, sheet: CsvSheet, outcomes: Sequence[str] = ()) -> StudyTable:
    """The study of the cells of a file; `path` is named in faults."""
    given = sheet.header
    faults: list[str] = []
    absent = [name for name in NEEDED if name not in given]
    if absent:
        faults.append(
            f"no column {', '.join(absent)}; a table needs {', '.join(NEEDED)}, pre, post"
        )
    pairs = "pre" in given and "post" in given
    wide = _measured(given)
    if not pairs and not wide and not set(outcomes) & set(given):
        faults.append("no columns pre and post, nor any of a measure, such as dri_change")
    refuse_faults(path, faults)
    columns = _columns(given, outcomes)
    cells = _Cells(sheet, faults)
    frame = pd.DataFrame({column.name: cells.column(column) for column in columns})
    _absent(frame, cells)
    _ranges(frame, columns, cells)
    if "status" in frame:
        known = ", ".join(sorted(STATUSES))
        for place, status in frame["status"].dropna().items():
            if status not in STATUSES:
                cells.fault(place, f"status is '{status}', none of {known}")
    if "study" in frame:
        _refuse_branches(frame, cells)
    if pairs:
        frame, added = _from_pairs(frame, cells)
        columns = [column for column in columns if column.name not in ("pre", "post", "outcome")]
        columns += added
    else:
        _duplicates(frame, ["session"] if "session" in given else list(DESIGN), cells)
    refuse_faults(path, cells.told())
    return _finished(path, frame, columns)


def _refuse_branches(frame: pd.DataFrame, cells: "_Cells") -> None:
    """A fault for the first row that is of a fork or a probe, if there is one."""
    for place, study in frame["study"].astype(str).items():
        if study.endswith(OF_BRANCHES):
            cells.fault(place, said("study/of_branches", study=study))
            return


class _Cells:
    """The cells of a sheet by column, read as what the column holds; faults are noted by line."""

    def __init__(self, sheet: CsvSheet, faults: list[str]) -> None:
        self.sheet = sheet
        self._faults: list[tuple[int, str]] = []

    def fault(self, place: int, problem: str) -> None:
        """Note what is wrong with a row."""
        line = self.sheet.lines[place]
        self._faults.append((line, f"line {line}: {problem}"))

    def told(self) -> list[str]:
        """All faults in the order of lines."""
        return [fault for _, fault in sorted(self._faults)]

    def column(self, column: Column) -> pd.Series:
        """The values of a column; one that the sheet has not is missing everywhere."""
        header = self.sheet.header
        at = header.index(column.name) if column.name in header else None
        if at is None:
            return pd.Series([None] * len(self.sheet.rows), dtype=DTYPES[column.kind])
        if column.kind == "text":
            texts = [row[at] for row in self.sheet.rows]
            texts = [text.strip() for text in texts] if column.name in TRIMMED else texts
            if column.name in NAMES:
                self._refuse_controls(column.name, texts)
            kept = [None if text.strip() in ("", "NA") else text for text in texts]
            return pd.Series(kept, dtype="object")
        texts = [row[at].strip() for row in self.sheet.rows]
        if column.kind != "logical" and self.sheet.decimal_comma:
            texts = [text.replace(",", ".") if text.count(",") == 1 else text for text in texts]
        read, what = READ[column.kind]
        values = []
        for place, text in enumerate(texts):
            value = None
            if text not in MISSING:
                try:
                    value = read(text)
                except (ValueError, KeyError, OverflowError):
                    self.fault(place, f"{column.name} is '{text[:40]}', not {what}")
            values.append(value)
        return pd.Series(values, dtype=DTYPES[column.kind])

    def _refuse_controls(self, name: str, texts: Sequence[str]) -> None:
        """Note the names with a line break or another character that commands a terminal."""
        for place, text in enumerate(texts):
            if any(unicodedata.category(character) == "Cc" for character in text):
                self.fault(place, f"{name} holds a line break or another control character")


def _logical(text: str) -> bool:
    return LOGICAL[text.lower()]


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def _integer(text: str) -> int:
    value = float(text)
    if value != int(value) or not abs(value) < 10**18:  # what a column of whole numbers holds
        raise ValueError
    return int(value)


READ: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "logical": (_logical, "TRUE or FALSE"),
    "integer": (_integer, "a whole number of at most 18 digits"),
    "number": (_number, "a number"),
}
"""How a cell of a kind is read, and what it must be."""


def _measured(names: Sequence[str]) -> list[tuple[str, str]]:
    """The measures and phases that columns are named after."""
    known, given = known_measures(), set(names)
    found = []
    for name in names:
        match = IN_PHASE.fullmatch(name)
        if match and (match[1] in known or f"{match[1]}_note" in given):
            found.append((match[1], match[2]))
        elif f"{name}_note" in given or (name in known and not known[name].phases):
            found.append((name, ""))
    return found


def _columns(given: Sequence[str], outcomes: Sequence[str]) -> list[Column]:
    """The codebook of the columns of a file, in its order."""
    design, counts = fixed_columns()
    known = {column.name: column for column in (*design, *counts)}
    for column in measure_columns(_measured(given), known_measures()):
        known.setdefault(column.name, column)
    known |= {"pre": Column("pre", "number", ""), "post": Column("post", "number", "")}
    known["outcome"] = Column("outcome", "text", "")
    for name in outcomes:
        known.setdefault(name, Column(name, "number", UNKNOWN))
    return [known.get(name, Column(name, "text", UNKNOWN)) for name in given]


def _absent(frame: pd.DataFrame, cells: _Cells) -> None:
    """Note the rows that do not say what they are of; sessions that were never read may not."""
    unread = np.zeros(len(frame), dtype=bool)
    if "status" in frame:
        unread = frame["status"].isin(["damaged", "not begun"]).to_numpy()
    for name in NEEDED:
        at = cells.sheet.header.index(name)
        for place in np.flatnonzero(frame[name].isna().to_numpy() & ~unread):
            if cells.sheet.rows[place][at].strip() in MISSING:
                cells.fault(int(place), f"{name} is missing")


def _ranges(frame: pd.DataFrame, columns: Sequence[Column], cells: _Cells) -> None:
    """Note the values that no session and no measure can have."""
    known = known_measures()
    kinds = _measured([column.name for column in columns])
    measured = {column_of(*kind): kind for kind in kinds}
    for column in columns:
        values = frame[column.name]
        if column.name in measured:
            measure, phase = measured[column.name]
            if measure in known:
                for place in _outside(values, partial(known[measure].holds, phase=phase)):
                    cells.fault(place, f"{column.name} is {values[place]:g}, out of its range")
        elif column.values == "0 or more" and column.kind in ("integer", "number"):
            for place in _outside(values, (0.0).__le__):
                cells.fault(place, f"{column.name} is {values[place]:g}, less than 0")


def _outside(values: pd.Series, inside: Callable[[float], bool]) -> list[int]:
    numbers = values.astype("float64")
    return [place for place, value in enumerate(numbers) if value == value and not inside(value)]


def _duplicates(frame: pd.DataFrame, by: list[str], cells: _Cells) -> None:
    """Note the rows that say the same session a second time."""
    keys = frame.reindex(columns=by).astype(object)
    keys = keys.where(keys.notna(), "")
    first: dict[tuple[Any, ...], int] = {}
    for place, key in enumerate(keys.itertuples(index=False, name=None)):
        if key in first:
            named = [f"{name} {value}" for name, value in zip(by, key, strict=True) if value]
            line = cells.sheet.lines[first[key]]
            cells.fault(place, f"the same session as line {line} ({', '.join(named)})")
        first.setdefault(key, place)


def _from_pairs(frame: pd.DataFrame, cells: _Cells) -> tuple[pd.DataFrame, list[Column]]:
    """Values before and after as columns of the measures that they are of."""
    known = known_measures()
    outcomes = pd.Series(["dri"] * len(frame), dtype="object")
    if "outcome" in frame:
        outcomes = frame["outcome"].fillna("dri")
    for outcome in dict.fromkeys(outcomes):
        if outcome in known:
            for name in ("pre", "post"):
                own = frame[name].where(outcomes == outcome)
                for place in _outside(own, partial(known[outcome].holds, phase=name)):
                    problem = f"{name} is {own[place]:g}, out of the range of {outcome}"
                    cells.fault(place, problem)
    named = ["outcome"] if "outcome" in frame else []
    _duplicates(frame, [*DESIGN, *named], cells)
    by = [name for name in DESIGN if name in frame]
    of_row = frame.groupby(by, dropna=False, sort=False).ngroup().to_numpy()
    firsts = np.unique(of_row, return_index=True)[1]
    own = [name for name in frame if name not in ("pre", "post", "outcome")]
    result = frame.loc[firsts, own].reset_index(drop=True)
    added: list[Column] = []
    for outcome in dict.fromkeys(outcomes):
        chosen = np.flatnonzero((outcomes == outcome).to_numpy())
        values = {}
        for phase in ("pre", "post"):
            values[phase] = np.full(len(result), np.nan)
            values[phase][of_row[chosen]] = frame[phase].to_numpy()[chosen]
        added += _of_outcome(result, str(outcome), values)
    return result, added


def _of_outcome(
    result: pd.DataFrame, outcome: str, values: Mapping[str, np.ndarray]
) -> list[Column]:
    """Add the columns of a measure to the rows: before, after, change, note, relative change."""
    change = values["post"] - values["pre"]
    kinds = [(outcome, phase) for phase in SCORE_PHASES]
    for phase, column in {**values, "change": change}.items():
        result[column_of(outcome, phase)] = column
    note = [NOT_GIVEN if missing else None for missing in np.isnan(change)]
    result[f"{outcome}_note"] = pd.Series(note, dtype="object")
    if outcome in RELATIVE:
        relative = np.asarray(relative_change(values["pre"], values["post"]), dtype=np.float64)
        result[f"{RELATIVE[outcome]}_change"] = relative
        without = [NO_ROOM if missing else None for missing in np.isnan(relative)]
        told = [own or other for own, other in zip(note, without, strict=True)]
        result[f"{RELATIVE[outcome]}_note"] = pd.Series(told, dtype="object")
        kinds.append((RELATIVE[outcome], "change"))
    return list(measure_columns(kinds, known_measures()))


def _finished(path: Path, frame: pd.DataFrame, columns: Sequence[Column]) -> StudyTable:
    """The table with what every table of a study has, in the order of the codebook."""
    design, _ = fixed_columns()
    given = {column.name for column in columns}
    study = path.stem
    if "study" in given and frame["study"].nunique() == 1:
        study = str(frame["study"].dropna().iloc[0])
    frame = frame.copy()
    frame["setting"] = frame["setting"].fillna("") if "setting" in given else ""
    standard: dict[str, Any] = {"study": study, "status": "complete", "null": False}
    for name, value in standard.items():
        if name not in given:
            frame[name] = pd.Series([value] * len(frame), dtype=DTYPES[_kind(name)])
    for name in ("family", "reasoning"):
        if name not in given:
            frame[name] = pd.Series([None] * len(frame), dtype=DTYPES[_kind(name)])
    if "session" not in given:
        parts = [frame[name].astype(str) for name in (*BLOCK, "treatment")]
        names = [".".join(filter(None, part)) for part in zip(*parts, strict=True)]
        frame["cell"] = names
        numbers = frame["replicate"].astype(str)
        frame["session"] = [f"{cell}.r{n}" for cell, n in zip(names, numbers, strict=True)]
    codebook = [column for column in design if column.name in frame]
    fixed = {column.name for column in codebook}
    codebook += [column for column in columns if column.name not in fixed]
    rows = frame[[column.name for column in codebook]]
    return StudyTable(study, rows, tuple(codebook), shares_seeds(rows))


def _kind(name: str) -> str:
    design, _ = fixed_columns()
    return next(column.kind for column in design if column.name == name)
