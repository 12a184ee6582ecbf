"""The instruments and human answers published with the R package deliberr, read from its files as
surveys and answers of ours.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import openpyxl
from openpyxl.utils.exceptions import InvalidFileException

from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.study import slug
from delibsim.domain.survey import PHASES, Item, Survey
from delibsim.store.instruments.answers import (
    Answers,
    Columns,
    Ratings,
    read_answers,
    read_rows,
    whole_number,
)
from delibsim.store.instruments.library import PUBLISHED
from delibsim.store.instruments.ranks import in_source

LONG, SHEETS, HUMAN = "surveys.csv", "surveys.xlsx", "human_data.csv"
"""The file names: all instruments in one table, the same with a sheet each, and the answers of
people.
"""

COLUMNS = Columns(participant="pnum", phase="stage_id", phases={"1": "pre", "2": "post"})
SHEET_COLUMNS = (
    "considerations_order",
    "considerations",
    "policies_order",
    "policies",
    "scale_max",
    "q-method",
)

ANSWERS_PER_POINT = 20
"""How many answers a scale point must have had on average before one that nobody used counts as no
part of the scale.
"""

REMARKS = {
    "auscj": "rank 1 is the least preferred in its answers, by what the options say: turned round",
    "zukunft": "its statements are about care for mental health, whatever the name suggests",
}
"""What the files do not say and a reader of them finds."""

UNDECLARED = (
    "the answers of an earlier import do not say what rank 1 is, and stay as they are; "
    f"import {HUMAN} again before personas are made of them"
)


@dataclass(frozen=True)
class Instrument:
    """A survey as the package publishes it: `scale_max` is what its table says, which the answers
    may contradict.

    `padded` counts the statements of a workbook that began or ended in spaces, which are dropped.
    """

    id: str
    considerations: tuple[str, ...]
    preferences: tuple[str, ...]
    scale_max: int
    q_sort: bool
    where: str
    padded: int = 0


@dataclass(frozen=True, eq=False)
class Published:
    """Surveys and answers read from the published files, with notes on everything that was decided
    or found on the way.
    """

    surveys: tuple[Survey, ...]
    answers: tuple[Answers, ...]
    notes: tuple[str, ...]


def find_files(paths: Iterable[Path]) -> dict[str, Path]:
    """The published files among files and folders, by name; WrongInput where there is none or two
    of one name.
    """
    found: dict[str, Path] = {}
    for path in paths:
        names = [LONG, SHEETS, HUMAN]
        if not path.exists():
            raise WrongInput(f"{path}: there is no such file or folder")
        if not path.is_dir() and path.name not in names:
            raise unknown(
                "file",
                path.name,
                names,
                f"{path} should be one of these, as the R package deliberr publishes them",
            )
        here = (
            [path / name for name in names if (path / name).is_file()] if path.is_dir() else [path]
        )
        if not here:
            raise WrongInput(f"{path}: none of {', '.join(names)} is in this folder")
        for file in here:
            if file.name in found:
                raise WrongInput(
                    f"two files named {file.name}: {found[file.name]} and {file}; give one"
                )
            found[file.name] = file
    return found


def local_name(survey: Survey) -> str:
    """The name of a survey in the published files: ccps of deliberr.ccps."""
    return survey.id.removeprefix(PUBLISHED)


def read_published(
    files: Mapping[str, Path], version: str, answers: Sequence[Answers] = ()
) -> Published:
    """Surveys and answers from the published files as `find_files` gives them; `version` is that of
    the package.

    `answers` are those of an earlier import, which stand where the files hold none. Raises
    WrongInput naming file, line and column.
    """
    instruments, notes = _instruments(files)
    if HUMAN in files:
        answers = published_answers(files[HUMAN])
    for own in answers:
        if own.survey not in instruments:
            raise WrongInput(
                f"{own.path}, line {own.lines['pre'][0]}, column survey:"
                f" {unknown('survey', own.survey, instruments)}"
            )
    by_survey = {own.survey: own for own in answers}
    surveys = []
    for instrument in instruments.values():
        survey, found = _survey(instrument, by_survey.get(instrument.id), version)
        surveys.append(survey)
        notes += found
    order = list(instruments)
    return Published(
        tuple(surveys),
        tuple(sorted(answers, key=lambda own: order.index(own.survey))),
        tuple(notes),
    )


def published_answers(path: Path) -> tuple[Answers, ...]:
    """The answers in the package's `human_data` table, with rank 1 as the most preferred."""
    found = read_answers(path, COLUMNS).values()
    return tuple(own.facing(in_source(PUBLISHED + own.survey)) for own in found)


def read_instruments_csv(path: Path) -> dict[str, Instrument]:
    """The instruments in the package's `surveys` table (type, order, statement, name, scale_max,
    q_method), by id.
    """
    rows: dict[str, list[tuple[int, dict[str, str]]]] = {}
    for line, cells in read_rows(
        path, ["type", "order", "statement", "name", "scale_max", "q_method"]
    ):
        if cells["type"] not in ("C", "P"):
            raise WrongInput(
                f"{path}, line {line}, column type: expected C or P, got {cells['type']!r}"
            )
        rows.setdefault(cells["name"], []).append((line, cells))
    return {name: _instrument_of_rows(path, name, own) for name, own in rows.items()}


def read_instruments_xlsx(path: Path) -> dict[str, Instrument]:
    """The instruments in the package's workbook, a sheet each, by id."""
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        with closing(book):
            sheets = {
                sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book.worksheets
            }
    except (BadZipFile, InvalidFileException, SyntaxError, KeyError, ValueError, OSError) as error:
        raise WrongInput(f"{path}: cannot be read as a workbook: {error}") from error
    return {title: _instrument_of_sheet(path, title, rows) for title, rows in sheets.items()}


def scale_shown(ratings: Ratings, scale_max: int) -> tuple[int, int] | None:
    """The scale from which people answered, given the instrument's `scale_max`; None where no such
    scale holds every rating.

    1 to scale_max, or as many points centred on 0 where ratings below 1 occur, or 1 to the highest
    rating where the points above were never used in `ANSWERS_PER_POINT` times as many answers as
    the scale has points.
    """
    low, high = int(ratings.min()), int(ratings.max())
    half = (scale_max - 1) // 2
    if low < 1:
        return (-half, half) if scale_max % 2 and -half <= low and high <= half else None
    if high > scale_max:
        return None
    return (
        (1, high) if ratings.size >= ANSWERS_PER_POINT * scale_max and high > 1 else (1, scale_max)
    )


def sort_shared(ratings: Ratings, scale: tuple[int, int]) -> tuple[int, ...] | None:
    """How many items each scale point got in the majority of the sorts (rows); None where no
    distribution has one.
    """
    counts = Counter(
        tuple(int((row == point).sum()) for point in range(scale[0], scale[1] + 1))
        for row in ratings
    )
    distribution, sorts = counts.most_common(1)[0]
    return distribution if sorts > len(ratings) / 2 else None


def _instruments(files: Mapping[str, Path]) -> tuple[dict[str, Instrument], list[str]]:
    if LONG not in files and SHEETS not in files:
        raise WrongInput(f"the answers need their instruments: give {LONG} or {SHEETS} too")
    readers = {LONG: read_instruments_csv, SHEETS: read_instruments_xlsx}
    found = [readers[name](files[name]) for name in (LONG, SHEETS) if name in files]
    return found[0], _differences(*found) if len(found) > 1 else []


def _differences(long: Mapping[str, Instrument], sheets: Mapping[str, Instrument]) -> list[str]:
    """Where the workbook departs from the table, which is the one taken."""
    notes = [f"{name}: only in {LONG}" for name in long if name not in sheets]
    notes += [f"{name}: only in {SHEETS}, left out" for name in sheets if name not in long]
    if padded := sum(theirs.padded for theirs in sheets.values()):
        notes.append(
            f"{SHEETS}: statements that began or ended in spaces, dropped before comparing with"
            f" {LONG}: {padded}"
        )
    for name in (name for name in long if name in sheets):
        ours, theirs = long[name], sheets[name]
        for what in ("scale_max", "q_sort"):
            if getattr(ours, what) != getattr(theirs, what):
                notes.append(
                    f"{name}: {what} is {getattr(ours, what)} in {LONG} (taken) and"
                    f" {getattr(theirs, what)} in {SHEETS}"
                )
        for kind, here, there in (
            ("C", ours.considerations, theirs.considerations),
            ("P", ours.preferences, theirs.preferences),
        ):
            if len(here) != len(there):
                notes.append(
                    f"{name}: {len(here)} {kind} items in {LONG} (taken) and {len(there)} in"
                    f" {SHEETS}"
                )
            changed = [
                f"{kind}{k}"
                for k, (a, b) in enumerate(zip(here, there, strict=False), start=1)
                if a != b
            ]
            if changed:
                notes.append(
                    f"{name}: the wording of {', '.join(changed)} differs between {LONG} (taken)"
                    f" and {SHEETS}"
                )
    return notes


def _instrument_of_rows(
    path: Path, name: str, rows: Sequence[tuple[int, dict[str, str]]]
) -> Instrument:
    texts: dict[str, dict[int, str]] = {"C": {}, "P": {}}
    for line, cells in rows:
        order = whole_number(cells["order"], f"{path}, line {line}, column order")
        _add_item(
            texts[cells["type"]],
            order,
            cells["statement"],
            f"{path}, line {line}",
            ("order", "statement"),
        )
    first = next(((line, cells) for line, cells in rows if cells["type"] == "C"), rows[0])
    for line, cells in rows:
        for column in ("scale_max", "q_method"):
            if cells["type"] == "C" and cells[column] != first[1][column]:
                raise WrongInput(
                    f"{path}, line {line}, column {column}: {cells[column]!r}, but"
                    f" {first[1][column]!r} in line {first[0]}"
                )
    return _instrument(
        name,
        texts,
        {column: first[1][column] for column in ("scale_max", "q_method")},
        f"{path}, line {first[0]}",
    )


def _instrument_of_sheet(path: Path, name: str, rows: Sequence[Sequence[object]]) -> Instrument:
    where = f"{path}, sheet {name}"
    header = [str(cell).strip() if cell is not None else "" for cell in rows[0]] if rows else []
    if missing := [column for column in SHEET_COLUMNS if column not in header]:
        raise WrongInput(
            f"{where}, row 1: column {', '.join(missing)} is missing; the sheet has:"
            f" {', '.join(header) or 'nothing'}"
        )
    texts: dict[str, dict[int, str]] = {"C": {}, "P": {}}
    settings, padded = {"scale_max": "", "q-method": ""}, 0
    for number, row in enumerate(rows[1:], start=2):
        given = {
            column: str(cell) for column, cell in zip(header, row, strict=False) if cell is not None
        }
        cells = {column: given.get(column, "").strip() for column in header}
        for kind, column in (("C", "considerations"), ("P", "policies")):
            padded += given.get(column, "") != cells[column]
            if cells[column] or cells[f"{column}_order"]:
                order = whole_number(
                    cells[f"{column}_order"], f"{where}, row {number}, column {column}_order"
                )
                _add_item(
                    texts[kind],
                    order,
                    cells[column],
                    f"{where}, row {number}",
                    (f"{column}_order", column),
                )
        settings = {setting: value or cells[setting] for setting, value in settings.items()}
    return replace(_instrument(name, texts, settings, where), padded=padded)


def _add_item(
    texts: dict[int, str], order: int, text: str, where: str, columns: tuple[str, str]
) -> None:
    if order in texts:
        raise WrongInput(f"{where}, column {columns[0]}: {order} was used before in this survey")
    if not text:
        raise WrongInput(f"{where}, column {columns[1]}: the statement is empty")
    texts[order] = text


def _instrument(
    name: str, texts: Mapping[str, Mapping[int, str]], settings: Mapping[str, str], where: str
) -> Instrument:
    (_, scale_max), (flag, q_method) = settings.items()
    if not name or slug(name) != name:
        raise WrongInput(
            f"{where}: {name!r} cannot name a survey: lower-case letters, digits, '-' and '_' can"
        )
    for kind, own in texts.items():
        if set(own) != set(range(1, len(own) + 1)) or len(own) < 2:
            raise WrongInput(
                f"{where}: the {kind} items of {name} are numbered {sorted(own)}; expected 1, 2, 3"
                " ... without gaps"
            )
    if q_method.upper() not in ("TRUE", "FALSE"):
        raise WrongInput(f"{where}, column {flag}: expected TRUE or FALSE, got {q_method!r}")
    return Instrument(
        id=name,
        considerations=tuple(texts["C"][k] for k in sorted(texts["C"])),
        preferences=tuple(texts["P"][k] for k in sorted(texts["P"])),
        scale_max=whole_number(scale_max, f"{where}, column scale_max"),
        q_sort=q_method.upper() == "TRUE",
        where=where,
    )


def _survey(
    instrument: Instrument, answers: Answers | None, version: str
) -> tuple[Survey, list[str]]:
    """The instrument as a survey of ours, with notes on what the answers decided."""
    notes = []
    scale, forced = (1, instrument.scale_max), None
    if answers is None:
        notes.append(
            f"{instrument.id}: no answers; the scale is taken from the instrument, 1 to"
            f" {instrument.scale_max}"
        )
        if instrument.q_sort:
            notes.append(
                f"{instrument.id}: a Q sort without answers; its forced distribution is not known"
                " and left out"
            )
    else:
        _same_items(instrument, answers)
        if not answers.declared and in_source(PUBLISHED + instrument.id) == "least_preferred":
            notes.append(f"{instrument.id}: {UNDECLARED}")
        scale, note = _scale(instrument, answers)
        notes += [note] if note else []
        if instrument.q_sort:
            forced, note = _forced_distribution(instrument, answers, scale)
            notes.append(note)
    if instrument.id in REMARKS:
        notes.append(f"{instrument.id}: {REMARKS[instrument.id]}")
    items = [
        Item(f"C{k}", "consideration", text)
        for k, text in enumerate(instrument.considerations, start=1)
    ]
    items += [
        Item(f"P{k}", "preference", text) for k, text in enumerate(instrument.preferences, start=1)
    ]
    try:
        survey = Survey(
            id=PUBLISHED + instrument.id,
            items=tuple(items),
            scale_min=scale[0],
            scale_max=scale[1],
            forced_distribution=forced,
            validated=True,
            source=(
                f"R package deliberr {version} (G. Kreia Umbelino and F. Veri; MIT licence), survey"
                f" {instrument.id}"
            ),
        )
    except ValueError as error:
        raise WrongInput(f"{instrument.where}: {error}") from error
    return survey, notes


def _same_items(instrument: Instrument, answers: Answers) -> None:
    for kind, items, ratings in (
        ("C", instrument.considerations, answers.considerations["pre"]),
        ("P", instrument.preferences, answers.preferences["pre"]),
    ):
        if len(items) != ratings.shape[1]:
            column = f"{kind}{min(len(items), ratings.shape[1]) + 1}"
            raise WrongInput(
                f"{answers.path}, line {answers.lines['pre'][0]}, column {column}: {answers.survey}"
                f" has answers to {ratings.shape[1]} {kind} items, and its instrument"
                f" ({instrument.where}) has {len(items)}"
            )


def _scale(instrument: Instrument, answers: Answers) -> tuple[tuple[int, int], str]:
    ratings = np.concatenate([answers.considerations[phase] for phase in PHASES])
    stated = (1, instrument.scale_max)
    scale = scale_shown(ratings, instrument.scale_max)
    if scale is None:
        lines = [line for phase in PHASES for line in answers.lines[phase]]
        row, item = np.argwhere((ratings > instrument.scale_max) | (ratings < 1))[0]
        raise WrongInput(
            f"{answers.path}, line {lines[row]}, column C{item + 1}: {ratings[row, item]} is"
            f" outside the scale of {answers.survey}, 1 to {instrument.scale_max}, and the answers"
            f" fit no scale of {instrument.scale_max} points around 0 either"
        )
    if scale == stated:
        return scale, ""
    found = f"the {ratings.size:,} answers run from {ratings.min()} to {ratings.max()}"
    taken = f"the scale is taken as {scale[0]} to {scale[1]}"
    return (
        scale,
        f"{instrument.id}: the instrument says 1 to {instrument.scale_max}, {found}; {taken}",
    )


def _forced_distribution(
    instrument: Instrument, answers: Answers, scale: tuple[int, int]
) -> tuple[tuple[int, ...] | None, str]:
    sorts = np.concatenate([answers.considerations[phase] for phase in PHASES])
    forced = sort_shared(sorts, scale)
    if forced is None:
        return (
            None,
            (
                f"{instrument.id}: a Q sort, but no distribution has a majority of the {len(sorts)}"
                " sorts; left out"
            ),
        )
    kept = sum(sort_shared(row[None], scale) == forced for row in sorts)
    return (
        forced,
        (
            f"{instrument.id}: a Q sort; forced distribution {list(forced)}, as in {kept} of the"
            f" {len(sorts)} sorts of people"
        ),
    )
