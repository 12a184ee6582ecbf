"""Reports on published scores of summaries and on a trained judge: tables without texts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.report import Report
from delibsim.analysis.result import Result, make_table
from delibsim.analysis.summaries import benchmark
from delibsim.analysis.summaries.agreement import correlated
from delibsim.analysis.summaries.benchmark import Intervals
from delibsim.analysis.summaries.judged import with_overall
from delibsim.analysis.summaries.report import report_of, tables_of_scores
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.summary import DIMENSIONS, LABELS, SCALE, Record
from delibsim.domain.text import counted
from delibsim.measures.summaries.prediction import (
    calibration,
    errors,
    known_in_both,
    mean_defined,
    normalised,
    ordering,
)
from delibsim.store.tables.csv_cells import read_sheet, refuse_faults

NAMED = {"model": "model or summariser", "topic": "topic or question", "size": "size"}
"""What a row of scores is of, and the names of its columns."""
ALSO = {"summariser": "model", "question": "topic", "chars": "characters", "length": "characters"}
ALSO |= {label: name for name, label in LABELS.items()}
"""Other names of columns, and of dimensions in cells."""
COLUMNS = (
    "the columns are model, topic, size and scores (rep, inf, neu, pol); or model, topic, size,"
    " dimension, rating, n; or dimension, comparison, n"
)
COUNTED = {"dimension", "n"}
"""The columns of tables of counts, beside what was counted: rating or comparison."""
MISSING = ("", "na", "nan", "null")
UNIT = (-0.5, 1.5)
"""Where scores lie that are from 0 to 1; those of a trained judge may leave it."""
MOST = 10_000_000
"""Ratings or comparisons that a row of counts may stand for."""


Records = Sequence[tuple[int, Mapping[str, str]]]
"""Rows of a file as (line, cells by role)."""


def report_on_files(files: Sequence[Path], intervals: Intervals = "topics") -> Report:
    """The tables that published scores give: of summarisers from a file with a row a summary or a
    row a rating, of the place of a summary from one with a row a comparison.

    WrongInput for a file that is neither, and for two of one kind.
    """
    results: dict[str, Result] = {}
    told = []
    for file in files:
        tables, sentence = _read(file, intervals)
        if twice := [one.name for one in tables if one.name in results]:
            raise WrongInput(f"{file} gives the table {twice[0]}, which another file gives too")
        results |= {one.name: one for one in tables}
        told.append(f"{file.name}: {sentence}.")
    if "place" in results:
        results["place"] = replace(results["place"], screen="always")
    tables = list(results.values())
    return report_of("Published scores of summaries", tables, said=told)


def _read(file: Path, intervals: Intervals) -> tuple[list[Result], str]:
    """The tables of one file, and what it holds."""
    sheet = read_sheet(file)
    columns: dict[str, str] = {}
    for name in sheet.header:
        role = ALSO.get(name.casefold(), name.casefold())
        if role == name.casefold() or role not in columns:
            columns[role] = name
    rows = []
    for line, cells in sheet.records():
        rows.append((line, {role: cells[name] for role, name in columns.items()}))
    if columns.keys() >= COUNTED | {"comparison"}:
        counts = _counts(file, rows, "comparison", ())
        table = counts.loc[counts.index.repeat(counts["n"])].reset_index(drop=True)
        given = {name: table["comparison"].where(table["dimension"] == name) for name in DIMENSIONS}
        compared = pd.DataFrame(given).astype(float).assign(log_ratio=0.0)
        places = benchmark.place_of({f"judges of {file.name}": compared})
        return [make_table("summaries/place", places)], counted(len(compared), "comparison")
    if lacking := [names for role, names in NAMED.items() if role not in columns]:
        raise WrongInput(f"{file} has no column {', '.join(lacking)}; {COLUMNS}")
    if columns.keys() >= COUNTED | {"rating"}:
        counts = _counts(file, rows, "rating", tuple(NAMED))
        counts["sum"] = counts["rating"] * counts["n"]
        sums = counts.groupby([*NAMED, "dimension"], sort=False)[["sum", "n"]].sum()
        means = (sums["sum"] / sums["n"]).unstack("dimension").reindex(columns=list(DIMENSIONS))
        scores = means.apply(normalised).reset_index()
        told = f"{counted(int(counts['n'].sum()), 'rating')} of"
    else:
        scores = _scores(file, rows)
        told = f"{counted(len(scores), 'summary')} by"
    scores = with_overall(scores)
    models, topics = scores["model"].nunique(), scores["topic"].nunique()
    told += f" {counted(models, 'summariser')} on {counted(topics, 'topic')}"
    return _tables(scores, intervals), told


def _tables(scores: pd.DataFrame, intervals: Intervals) -> list[Result]:
    """The tables of summarisers; those of length and of kinds only where a column says it."""
    long = scores["characters"].notna().all() if "characters" in scores else False
    without = () if "kind" in scores else ("kinds",)
    without += () if long else ("equal_length", "length")
    given = scores.assign(kind=scores.get("kind", ""))
    given["characters"] = scores["characters"] if long else np.nan
    return list(tables_of_scores(given, intervals, without))


def _scores(file: Path, records: Records) -> pd.DataFrame:
    """A row a summary, its scores from 0 to 1."""
    columns = records[0][1].keys()
    if not columns & set(DIMENSIONS):
        raise WrongInput(f"{file} has no column of scores: {', '.join(DIMENSIONS)}")
    faults: list[str] = []
    rows = []
    for line, cells in records:
        row: dict[str, Any] = {name: cells[name] for name in ("model", "topic")}
        row["size"] = _whole(cells["size"], "size", line, faults)
        for name in ("characters", *DIMENSIONS):
            row[name] = _number(cells.get(name, ""), name, line, faults)
        if "kind" in columns:
            row["kind"] = cells["kind"]
        faults += [f"line {line}: {role} is empty" for role in ("model", "topic") if not row[role]]
        rows.append(row)
    refuse_faults(file, faults)
    found = pd.DataFrame(rows)
    scores = found[list(DIMENSIONS)].to_numpy(dtype=float)
    if np.isnan(scores).all():
        raise WrongInput(f"{file} has no score in {counted(len(rows), 'row')}")
    low, high = float(np.nanmin(scores)), float(np.nanmax(scores))
    if UNIT[0] <= low and high <= UNIT[1]:
        return found
    if not (SCALE[0] <= low and high <= SCALE[1]):
        raise refused("scores_out_of_range", file=file, low=low, high=high)
    found[list(DIMENSIONS)] = normalised(scores)
    return found


def _counts(file: Path, records: Records, what: str, by: Sequence[str]) -> pd.DataFrame:
    """A table of counts: dimension, what was counted, n, and the columns by which they are."""
    faults: list[str] = []
    rows = []
    for line, cells in records:
        given = cells["dimension"]
        dimension = ALSO.get(given, given)
        if dimension not in DIMENSIONS:
            listed = ", ".join(DIMENSIONS)
            faults.append(f"line {line}: dimension is '{given}', none of {listed}")
        row: dict[str, Any] = {name: cells[name] for name in by}
        row |= {"dimension": dimension, what: _whole(cells[what], what, line, faults)}
        if row[what] is not None and not SCALE[0] <= row[what] <= SCALE[1]:
            faults.append(f"line {line}: {what} is {row[what]}, none from 1 to 5")
        row["n"] = _whole(cells["n"], "n", line, faults)
        if by:
            row["size"] = _whole(cells["size"], "size", line, faults)
        rows.append(row)
    refuse_faults(file, faults)
    found = pd.DataFrame(rows)
    if not found["n"].sum():
        raise WrongInput(f"{file} counts nothing: n is 0 in every row")
    return found


def _number(cell: str, name: str, line: int, faults: list[str]) -> float:
    if cell.casefold() in MISSING:
        return float("nan")
    try:
        value = float(cell)
    except ValueError:
        value = float("inf")
    if not np.isfinite(value):
        faults.append(f"line {line}: {name} is '{cell}', no number")
    return value


def _whole(cell: str, name: str, line: int, faults: list[str]) -> int | None:
    if cell.isascii() and cell.isdigit() and len(cell) < 9 and int(cell) <= MOST:
        return int(cell)
    faults.append(f"line {line}: {name} is '{cell}', no whole number from 0 to {MOST:,}")
    return None


PUBLISHED_DROP = (
    "published: on questions that it was not trained on, the judge's Spearman correlation with"
    " people on representativeness falls from 0.47 to 0.20"
)


def evaluation(records: Sequence[Record], predicted: np.ndarray) -> dict[str, Any]:
    """By dimension, and their mean: n, Pearson, Spearman with its interval (t on Fisher's z,
    jackknife over raters), the same within questions, errors in labels, order.

    `predicted` is records x dimensions. What is undefined is None, and the mean says how many it
    leaves out.
    """
    raters = np.array([one.rater for one in records])
    questions = np.array([one.triple.question for one in records])
    instances = np.array([f"{one.rater}\n{one.instance}" for one in records])
    found: dict[str, Any] = {}
    table = scores_said(records)
    for column, name in enumerate(DIMENSIONS):
        said, own = table[:, column], predicted[:, column]
        there = ~(np.isnan(said) | np.isnan(own))
        row = correlated(said[there], own[there], raters[there], questions[there])
        off = errors(said, own)
        order = ordering(said, own, instances)
        row |= {"mae": off.mae, "rmse": off.rmse, "ordered": order.accuracy, "pairs": order.n}
        row |= {"ties": order.ties, "differences": order.correlation}
        found[name] = {key: _plain(value) for key, value in row.items()}
    return found | {"mean": _mean(found)}


def scores_said(records: Sequence[Record]) -> np.ndarray:
    """The scores of records (records x dimensions), NaN where missing."""
    rows = []
    for one in records:
        rows.append([one.scores.get(name, np.nan) for name in DIMENSIONS])
    return np.array(rows, dtype=float).reshape(-1, len(DIMENSIONS))


def calibrations(records: Sequence[Record], predicted: np.ndarray) -> dict[str, Any]:
    """By dimension: slope, intercept, expected calibration error and the isotonic map."""
    found = {}
    table = scores_said(records)
    for column, name in enumerate(DIMENSIONS):
        one = calibration(*known_in_both(table[:, column], predicted[:, column]))
        plain = {key: _plain(value) for key, value in vars(one).items()}
        found[name] = plain | {"steps": [list(step) for step in one.steps]}
    return found


def _mean(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The mean over the dimensions in which a figure is defined, and in how many it is not."""
    found: dict[str, Any] = {}
    for key in ("pearson", "spearman", "spearman_within", "mae", "rmse", "ordered"):
        values = [row[key] for row in rows.values()]
        mean, undefined = mean_defined([np.nan if one is None else one for one in values])
        found[key] = _plain(mean)
        found[f"{key}_undefined"] = undefined
    return found


def _plain(value: Any) -> Any:
    """A value for a record: what is undefined is None."""
    return None if isinstance(value, float) and not np.isfinite(value) else value
