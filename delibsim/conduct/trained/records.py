"""Records to train a judge on: from judgments of a study, or from a file."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from delibsim.asking.kinds.judgment import judged_material, with_people
from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.summary import DIMENSIONS, LABELS, Judgment, Record, Triple
from delibsim.domain.text import counted, study_named
from delibsim.measures.summaries.prediction import derived, normalised
from delibsim.store.answers import Judgments, Summaries
from delibsim.store.reading import file_text, json_value
from delibsim.store.runs import Runs
from delibsim.store.study_texts import opinions_of
from delibsim.store.tables.csv_cells import CsvSheet, read_sheet, refuse_faults
from delibsim.store.training import habermas_records

COLUMNS: Mapping[str, tuple[str, ...]] = read_data("foreign_columns.yaml")["judgments"]
"""The names under which a column is known, our own first."""
NEEDED = ("question", "opinion", "summary")
MISSING = ("", "na", "n/a", "nan", "none")


def records_of_study(runs: Runs, judge: str = "people") -> list[Record]:
    """What people, or one judge, gave the summaries of a study: ratings, and what follows from
    comparisons for the summary that was not rated.

    A person is the rater of its own judgments. A model judges beside an opinion, so there the rater
    is whose opinion it is: parts by rater keep the judgments beside one opinion together.
    WrongInput where there is nothing.
    """
    found: list[Record] = []
    for name in Judgments.names(runs):
        judgments = Judgments.of(runs, name)
        given = judgments.people() if judge == "people" else judgments.all()
        own = [one for one in given if judge in ("people", one.judge)]
        usable = [one for one in own if one.missing is None and not one.sitting.control]
        if usable:
            found += _records(runs, judgments, usable, of_people=judge == "people")
    if not found:
        raise refused("nothing_to_train_on", study=study_named(runs.study), judge=judge)
    return found


def _records(
    runs: Runs, judgments: Judgments, given: Sequence[Judgment], of_people: bool
) -> list[Record]:
    opinions = opinions_of(runs)
    authors = {text.id: text.author or text.id for text in opinions.texts}
    summaries = Summaries.of(runs, judgments.files.task()["summaries"])
    made = [one for one in summaries.all() if one.missing is None]
    material = with_people(judged_material(runs, summaries, opinions, made), judgments)

    def triple(summary: str, opinion: str) -> Triple:
        words = material.opinions[opinion], material.summaries[summary]
        return Triple(material.question, *words)

    def rater_of(judge: str, opinion: str) -> str:
        return judge if of_people else authors.get(opinion, opinion)

    rated = {}
    for one in given:
        if not one.sitting.other:
            rated[one.judge, one.sitting.opinion, one.sitting.summary] = one.values
    found = []
    for (judge, opinion, summary), values in rated.items():
        rater = rater_of(judge, opinion)
        y = {name: float(normalised(value)) for name, value in values.items()}
        found.append(Record(triple(summary, opinion), rater, opinion, y))
    for one in given:
        a, b, opinion = one.sitting.summary, one.sitting.other, one.sitting.opinion
        if not b:
            continue
        first = one.first or (a if (one.judge, opinion, a) in rated else b)
        other = b if first == a else a
        base = rated.get((one.judge, opinion, first))
        if base is None or (one.judge, opinion, other) in rated:
            continue
        y = {}
        for name in base.keys() & one.values.keys():
            label = derived(base[name], one.values[name], first == a)
            y[name] = float(normalised(label))
        if y:
            rater = rater_of(one.judge, opinion)
            found.append(Record(triple(other, opinion), rater, opinion, y, derived=True))
    return found


def records_of_file(file: Path, scale: str = "") -> list[Record]:
    """The records of a file: of a CSV, or of JSON lines as published, a row each: question,
    opinion, summary, scores by dimension, and, where it has them, rater and instance; or of the
    Habermas Machine data (.parquet).

    Scores are labels from -1 to 7 (`scale` "labels") or y from 0 to 1 ("unit"); without a scale
    they are taken for y only where a number with a fraction shows it. An empty cell is missing.
    Without raters an opinion is of one person. WrongInput names every fault by its line.
    """
    if file.suffix == ".parquet":
        return habermas_records(file)
    sheet = _lines(file) if file.suffix == ".jsonl" else _with_scores(read_sheet(file), file)
    columns = _columns(sheet, file)
    texts = {name: sheet.header.index(column) for name, column in columns.items()}
    scores, faults = _scores(sheet, texts)
    for row, line in zip(sheet.rows, sheet.lines, strict=True):
        for name in NEEDED:
            if not row[texts[name]].strip():
                faults.append(f"line {line}: {columns[name]} is empty")
    refuse_faults(file, faults)
    scale = scale or _scale(scores, file)
    found = []
    for place, row in enumerate(sheet.rows):
        y, wrong = _unit(scores[place], scale)
        if wrong:
            faults.append(f"line {sheet.lines[place]}: {wrong}")
        triple = Triple(*(row[texts[name]].strip() for name in NEEDED))
        rater = row[texts["rater"]].strip() if "rater" in texts else ""
        rater = rater or f"{triple.question} | {triple.opinion}"
        instance = row[texts["instance"]].strip() if "instance" in texts else triple.opinion
        found.append(Record(triple, rater, instance, y))
    refuse_faults(file, faults)
    usable = [one for one in found if one.scores]
    if not usable:
        raise WrongInput(f"{file} has no score in {counted(len(found), 'row')}")
    return usable


def hash_of(records: Sequence[Record]) -> str:
    """Twelve characters that change with any record."""
    digest = hashlib.sha256()
    for one in records:
        values = sorted(one.scores.items())
        digest.update(repr((one.triple, one.rater, one.instance, values)).encode())
    return digest.hexdigest()[:12]


def _with_scores(sheet: CsvSheet, file: Path) -> CsvSheet:
    """A sheet whose column `scores`, an object of scores by name, is taken apart."""
    if "scores" not in sheet.header:
        return sheet
    place, names = sheet.header.index("scores"), list(DIMENSIONS)
    rows, faults = [], []
    for row, line in zip(sheet.rows, sheet.lines, strict=True):
        try:
            inner = json_value(row[place]) if row[place].strip() else {}
            rows.append([*row, *_cells(inner, names)])
        except (ValueError, AttributeError):
            faults.append(f"line {line}: scores is no JSON object")
    refuse_faults(file, faults)
    return CsvSheet((*sheet.header, *names), rows, sheet.lines)


def _lines(file: Path) -> CsvSheet:
    """JSON lines as published: texts by name, and an object of scores."""
    header = tuple(name for name in COLUMNS if name != "scores")
    rows, lines, faults = [], [], []
    given = enumerate(file_text(file).split("\n"), start=1)
    for number, line in ((n, line) for n, line in given if line.strip()):
        try:
            plain = json_value(line)
            inner = plain.get("scores", {})
        except (ValueError, AttributeError):
            plain, inner = {}, None
        if not isinstance(inner, dict):
            faults.append(f"line {number}: it is no object with texts and scores")
        else:
            rows.append(_cells({**plain, **inner}, header))
            lines.append(number)
    refuse_faults(file, faults)
    return CsvSheet(header, rows, lines)


def _cells(plain: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Values under any of their names, as texts; "" for what is not there."""
    found = []
    for name in names:
        there = [plain[other] for other in COLUMNS[name] if plain.get(other) is not None]
        found.append(str(there[0]) if there else "")
    return found


def _columns(sheet: CsvSheet, file: Path) -> dict[str, str]:
    by_name = {column.casefold(): column for column in sheet.header}
    found = {}
    for name, either in COLUMNS.items():
        there = [by_name[one] for one in either if one in by_name]
        if there:
            found[name] = there[0]
    lacking = [name for name in NEEDED if name not in found]
    if not any(name in found for name in DIMENSIONS):
        lacking.append(" or ".join(f"{name} ({LABELS[name]})" for name in DIMENSIONS))
    if lacking:
        raise refused(
            "columns_missing",
            file=file,
            lacking=", nor ".join(lacking),
            header=", ".join(sheet.header),
        )
    return found


def _scores(sheet: CsvSheet, places: Mapping[str, int]) -> tuple[list[dict[str, float]], list[str]]:
    found, faults = [], []
    for row, line in zip(sheet.rows, sheet.lines, strict=True):
        own = {}
        for name in DIMENSIONS:
            cell = row[places[name]].strip() if name in places else ""
            if cell.casefold() in MISSING:
                continue
            try:
                own[name] = float(cell.replace(",", ".") if sheet.decimal_comma else cell)
            except ValueError:
                faults.append(f"line {line}: {name} '{cell}' is no number")
        found.append(own)
    return found, faults


def _scale(scores: Sequence[Mapping[str, float]], file: Path) -> str:
    values = [value for row in scores for value in row.values()]
    if not values:
        raise WrongInput(f"{file} has no score in {counted(len(scores), 'row')}")
    within = all(0 <= value <= 1 for value in values)
    if not within:
        return "labels"
    if any(value != int(value) for value in values):
        return "unit"
    raise refused("scale_not_said", file=file)


def _unit(labels: Mapping[str, float], scale: str) -> tuple[dict[str, float], str]:
    """Scores from 0 to 1, and what is wrong with a value."""
    low, high = (-1, 7) if scale == "labels" else (0, 1)
    found = {}
    for name, value in labels.items():
        if not low <= value <= high:
            return {}, f"{name} {value:g} is not within {low} and {high} (scale={scale})"
        found[name] = float(normalised(value)) if scale == "labels" else value
    return found, ""
