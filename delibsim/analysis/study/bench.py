"""The seven normalised tables of a study, and the study table that they give again."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from delibsim.analysis.study.read_table import table_of_sheet
from delibsim.analysis.study.study_table import StudyTable, fixed_columns
from delibsim.domain.errors import WrongInput
from delibsim.domain.score import CATALOGUE
from delibsim.store.own_folder import MANIFEST
from delibsim.store.reading import read_json, read_yaml
from delibsim.store.tables.csv_cells import CsvSheet, read_sheet
from delibsim.store.tables.sheets import OF_PHASES, Column, Table, without

LAYOUT = "bench"
OF_RUNS = ("study", "session", "replicate", "seed", "status", "fault")
"""The columns of the design of the study table that are columns of `runs`."""
AQUA = tuple(measure.id for measure in CATALOGUE["aqua"])


@cache
def _shapes() -> dict[str, Any]:
    return read_yaml(Path(__file__).parents[2] / "data" / "bench_tables.yaml")


def bench_columns(table: str, study: StudyTable | None = None) -> tuple[Column, ...]:
    """The columns of one of the seven tables; those of measures are the study's."""
    design, counts = fixed_columns()
    columns = study.columns if study else ()
    idle = {*OF_PHASES} - {column.name for column in columns}
    design, counts = without(design, idle), without(counts, idle)
    fixed = {column.name for column in (*design, *counts)}
    parts: dict[str, Sequence[Column]] = {
        "design": [column for column in design if column.name not in OF_RUNS],
        "measures": [column for column in columns if column.name not in fixed],
        "counts": counts,
        "aqua": [_of_aqua(number) for number in range(len(AQUA))],
    }
    found: list[Column] = []
    for one in _shapes()[table]["columns"]:
        found += parts[one] if isinstance(one, str) else [Column(**one)]
    return tuple(found)


def _of_aqua(number: int) -> Column:
    measure = CATALOGUE["aqua"][number]
    meaning = f"{measure.label}: {measure.definition}"
    return Column(measure.id, "number", meaning, measure.unit)


def tables() -> dict[str, str]:
    """The names of the seven tables, and what a row of each is."""
    return {name: shape["row"] for name, shape in _shapes().items()}


def configurations_and_runs(
    study: StudyTable, settings: Callable[[str], str | None]
) -> tuple[Table, Table]:
    """The tables `configurations` and `runs`; `settings` gives those of a session as JSON text.

    Sessions of one configuration are equal in all columns of the design but those of `runs`.
    """
    names = [column.name for column in study.columns]
    of_configuration = [column.name for column in bench_columns("configurations", study)][2:-2]
    own = bench_columns("runs", study)
    known: dict[tuple[Any, ...], str] = {}
    rows: dict[str, dict[str, Any]] = {}
    held = []
    for values in study.plain_rows():
        row = dict(zip(names, values, strict=True))
        content = tuple(row[name] for name in of_configuration)
        if content not in known:
            name = str(row["cell"] or row["session"])
            number = sum(taken.partition("#")[0] == name for taken in known.values())
            known[content] = f"{name}#{number + 1}" if number else name
            described = dict(zip(of_configuration, content, strict=True))
            rows[known[content]] = described | {"planned": 0, "settings": None}
        configuration = rows[known[content]]
        configuration["planned"] += 1
        configuration["settings"] = configuration["settings"] or settings(row["session"])
        row["configuration"] = known[content]
        held.append([row[column.name] for column in own])
    columns = bench_columns("configurations", study)
    told = []
    for name, row in rows.items():
        given = row | {"study": study.study, "configuration": name}
        told.append([given[column.name] for column in columns])
    return (
        Table("configurations", tables()["configurations"], columns, told),
        Table("runs", tables()["runs"], own, held),
    )


def read_bench(folder: Path) -> StudyTable:
    """The study of a folder that `delibsim export --as bench` wrote: from runs and configurations.

    WrongInput where the folder is no such export, was written for spreadsheets, or is damaged.
    """
    folder = Path(folder)
    manifest = read_json(folder / MANIFEST)
    if not isinstance(manifest, Mapping) or manifest.get("layout") != LAYOUT:
        raise WrongInput(f"{folder} was not written by `delibsim export --as bench`")
    if manifest.get("spreadsheet_safe"):
        raise WrongInput(f"{folder} was written for spreadsheets; export it without that option")
    runs, found = read_sheet(folder / "runs.csv"), read_sheet(folder / "configurations.csv")
    by_name = {row[found.header.index("configuration")]: row for row in found.rows}
    design, _ = fixed_columns()
    idle = {*OF_PHASES} - {*runs.header, *found.header}
    header = [column.name for column in design if column.name not in idle]
    header += [name for name in runs.header if name not in (*header, "configuration")]
    place = {name: runs.header.index(name) for name in runs.header}
    other = {name: found.header.index(name) for name in found.header}
    rows, faults = [], []
    for line, row in zip(runs.lines, runs.rows, strict=True):
        configuration = by_name.get(row[place["configuration"]])
        if configuration is None:
            faults.append(f"line {line}: no configuration '{row[place['configuration']]}'")
            continue
        cells = []
        for name in header:
            cells.append(row[place[name]] if name in place else configuration[other[name]])
        rows.append(cells)
    if faults:
        raise WrongInput("\n  ".join([f"{folder / 'runs.csv'}:", *faults[:20]]))
    joined = CsvSheet(tuple(header), rows, runs.lines)
    return table_of_sheet(folder / "runs.csv", joined)
