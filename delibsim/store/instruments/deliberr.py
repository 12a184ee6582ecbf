"""The instruments and human answers published with the R package deliberr, as surveys and answers
of ours.
"""

import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import openpyxl
from openpyxl.utils.exceptions import InvalidFileException

from delibsim.domain.errors import WrongInput, phrase, unknown
from delibsim.domain.study import slug
from delibsim.domain.survey import PHASES, Item, Survey
from delibsim.store.instruments.answers import (
    Answers,
    Ratings,
    in_source,
    read_answers,
    read_rows,
    whole_number,
)
from delibsim.store.instruments.library import PUBLISHED
from delibsim.store.reading import file_bytes

LONG, SHEETS = "surveys.csv", "surveys.xlsx"
"""The file names: all instruments in one table, and the same with a sheet each."""

LONG_COLUMNS = ("type", "order", "statement", "name", "scale_max", "q_method")
SHEET_COLUMNS = (
    "considerations_order",
    "considerations",
    "policies_order",
    "policies",
    "scale_max",
    "q-method",
)

_Row = tuple[str, dict[str, str]]
"""Where a row of the table stands, and its cells by column."""


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


def read_instruments(files: Mapping[str, Path]) -> tuple[dict[str, Instrument], list[str]]:
    """The instruments by id, and notes on where the workbook departs from the table, which is the
    one taken where both are given; WrongInput where neither is.
    """
    if LONG not in files and SHEETS not in files:
        raise WrongInput(f"the answers need their instruments: give {LONG} or {SHEETS} too")
    if SHEETS not in files:
        return read_instruments_csv(files[LONG]), []
    sheets = read_instruments_xlsx(files[SHEETS])
    if LONG not in files:
        return sheets, []
    long = read_instruments_csv(files[LONG])
    return long, _differences(long, sheets)


def read_instruments_csv(path: Path) -> dict[str, Instrument]:
    """The instruments in the package's `surveys` table (type, order, statement, name, scale_max,
    q_method), by id.
    """
    rows: dict[str, list[_Row]] = {}
    for line, cells in read_rows(path, LONG_COLUMNS):
        where = f"{path}, line {line}"
        if cells["type"] not in ("C", "P"):
            raise WrongInput(f"{where}, column type: expected C or P, got {cells['type']!r}")
        rows.setdefault(cells["name"], []).append((where, cells))
    return {name: _instrument_of_rows(name, own) for name, own in rows.items()}


def read_instruments_xlsx(path: Path) -> dict[str, Instrument]:
    """The instruments in the package's workbook, a sheet each, by id."""
    try:
        book = openpyxl.load_workbook(io.BytesIO(file_bytes(path)), read_only=True, data_only=True)
        with closing(book):
            sheets = {}
            for sheet in book.worksheets:
                sheets[sheet.title] = list(sheet.iter_rows(values_only=True))
    except (BadZipFile, InvalidFileException, SyntaxError, KeyError, ValueError, OSError) as error:
        raise WrongInput(f"{path}: cannot be read as a workbook: {error}") from error
    return {title: _instrument_of_sheet(path, title, rows) for title, rows in sheets.items()}


def _differences(long: Mapping[str, Instrument], sheets: Mapping[str, Instrument]) -> list[str]:
    """Notes on where the workbook departs from the table."""
    notes = [f"{name}: only in {LONG}" for name in long if name not in sheets]
    notes += [f"{name}: only in {SHEETS}, left out" for name in sheets if name not in long]
    padded = sum(theirs.padded for theirs in sheets.values())
    if padded:
        notes.append(phrase("spaces_dropped", sheets=SHEETS, long=LONG, padded=padded))
    for name, ours in long.items():
        if name in sheets:
            notes += [f"{name}: {difference}" for difference in _departures(ours, sheets[name])]
    return notes


def _departures(ours: Instrument, theirs: Instrument) -> list[str]:
    """How one instrument of the workbook departs from the table."""
    found = []
    for what in ("scale_max", "q_sort"):
        here, there = getattr(ours, what), getattr(theirs, what)
        if here != there:
            found.append(f"{what} is {here} in {LONG} (taken) and {there} in {SHEETS}")
    for kind, field in (("C", "considerations"), ("P", "preferences")):
        here, there = getattr(ours, field), getattr(theirs, field)
        if len(here) != len(there):
            found.append(f"{len(here)} {kind} items in {LONG} (taken) and {len(there)} in {SHEETS}")
        both = enumerate(zip(here, there, strict=False), start=1)
        changed = [f"{kind}{k}" for k, (text, other) in both if text != other]
        if changed:
            found.append(
                f"the wording of {', '.join(changed)} differs between {LONG} (taken) and {SHEETS}"
            )
    return found


def _instrument_of_rows(name: str, rows: Sequence[_Row]) -> Instrument:
    texts: dict[str, dict[int, str]] = {"C": {}, "P": {}}
    for where, cells in rows:
        order = whole_number(cells["order"], f"{where}, column order")
        own = texts[cells["type"]]
        _add_item(own, order, cells["statement"], where, ("order", "statement"))
    rated = [(where, cells) for where, cells in rows if cells["type"] == "C"]
    first, own = (rated or rows)[0]
    settings = {column: own[column] for column in ("scale_max", "q_method")}
    for where, cells in rated:
        for column, value in settings.items():
            if cells[column] != value:
                line = first.rpartition(", ")[2]
                raise WrongInput(
                    f"{where}, column {column}: {cells[column]!r}, but {value!r} in {line}"
                )
    return _instrument(name, texts, settings, first)


def _instrument_of_sheet(path: Path, name: str, rows: Sequence[Sequence[object]]) -> Instrument:
    where = f"{path}, sheet {name}"
    first = rows[0] if rows else ()
    header = ["" if cell is None else str(cell).strip() for cell in first]
    if missing := [column for column in SHEET_COLUMNS if column not in header]:
        raise WrongInput(
            f"{where}, row 1: column {', '.join(missing)} is missing; the sheet has:"
            f" {', '.join(header) or 'nothing'}"
        )
    texts: dict[str, dict[int, str]] = {"C": {}, "P": {}}
    settings, padded = {"scale_max": "", "q-method": ""}, 0
    for number, row in enumerate(rows[1:], start=2):
        here = f"{where}, row {number}"
        given = dict.fromkeys(header, "")
        for column, cell in zip(header, row, strict=False):
            given[column] = "" if cell is None else str(cell)
        cells = {column: text.strip() for column, text in given.items()}
        for kind, column in (("C", "considerations"), ("P", "policies")):
            text, order = cells[column], cells[f"{column}_order"]
            padded += given[column] != text
            if text or order:
                place = whole_number(order, f"{here}, column {column}_order")
                _add_item(texts[kind], place, text, here, (f"{column}_order", column))
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


HUMAN = "human_data.csv"
"""The name of the file with the answers of people."""

COLUMNS = ("pnum", "stage_id")
"""The columns of that file that say whose a row is, and when."""

ANSWERS_PER_POINT = 20
"""How many answers a scale point must have had on average before one that nobody used counts as no
part of the scale.
"""

REMARKS = {
    "auscj": "rank 1 is the least preferred in its answers, by what the options say: turned round",
    "zukunft": "its statements are about care for mental health, whatever the name suggests",
}
"""What the files do not say and a reader of them finds."""


@dataclass(frozen=True, eq=False)
class PublishedSurveys:
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
            advice = f"{path} should be one of these, as the R package deliberr publishes them"
            raise unknown("file", path.name, names, advice)
        here = [path]
        if path.is_dir():
            here = [path / name for name in names if (path / name).is_file()]
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
) -> PublishedSurveys:
    """Surveys and answers from the published files as `find_files` gives them; `version` is that of
    the package.

    `answers` are those of an earlier import, which stand where the files hold none. Raises
    WrongInput naming file, line and column.
    """
    instruments, notes = read_instruments(files)
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
    ordered = tuple(by_survey[name] for name in instruments if name in by_survey)
    return PublishedSurveys(tuple(surveys), ordered, tuple(notes))


def published_answers(path: Path) -> tuple[Answers, ...]:
    """The answers in the package's `human_data` table, with rank 1 as the most preferred."""
    found = read_answers(path, COLUMNS, lambda survey: in_source(PUBLISHED + survey))
    return tuple(found.values())


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
    enough = ratings.size >= ANSWERS_PER_POINT * scale_max and high > 1
    return 1, high if enough else scale_max


def sort_shared(ratings: Ratings, scale: tuple[int, int]) -> tuple[int, ...] | None:
    """How many items each scale point got in the majority of the sorts (rows); None where no
    distribution has one.
    """
    points = np.arange(scale[0], scale[1] + 1)
    counted = (ratings[:, :, None] == points).sum(axis=1)  # (sorts, points)
    distribution, sorts = Counter(map(tuple, counted.tolist())).most_common(1)[0]
    return distribution if sorts > len(ratings) / 2 else None


def _survey(
    instrument: Instrument, answers: Answers | None, version: str
) -> tuple[Survey, list[str]]:
    """The instrument as a survey of ours, with notes on what the answers decided."""
    if answers is None:
        scale, forced, notes = (1, instrument.scale_max), None, _without_answers(instrument)
    else:
        scale, forced, notes = _by_answers(instrument, answers)
    if instrument.id in REMARKS:
        notes.append(REMARKS[instrument.id])
    items = []
    for k, text in enumerate(instrument.considerations, start=1):
        items.append(Item(f"C{k}", "consideration", text))
    for k, text in enumerate(instrument.preferences, start=1):
        items.append(Item(f"P{k}", "preference", text))
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
    return survey, [f"{instrument.id}: {note}" for note in notes]


def _without_answers(instrument: Instrument) -> list[str]:
    """Notes on an instrument that nobody's answers came with."""
    notes = [f"no answers; the scale is taken from the instrument, 1 to {instrument.scale_max}"]
    if instrument.q_sort:
        notes.append("a Q sort without answers; its forced distribution is not known and left out")
    return notes


def _by_answers(
    instrument: Instrument, answers: Answers
) -> tuple[tuple[int, int], tuple[int, ...] | None, list[str]]:
    """The scale and the forced distribution that people's answers show, with notes."""
    _same_items(instrument, answers)
    scale, note = _scale(instrument, answers)
    notes = [note] if note else []
    if not instrument.q_sort:
        return scale, None, notes
    forced, note = _forced_distribution(answers, scale)
    return scale, forced, [*notes, note]


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
    return scale, f"the instrument says 1 to {instrument.scale_max}, {found}; {taken}"


def _forced_distribution(
    answers: Answers, scale: tuple[int, int]
) -> tuple[tuple[int, ...] | None, str]:
    """The distribution that the majority of sorts keep, None where none has one, and a note."""
    sorts = np.concatenate([answers.considerations[phase] for phase in PHASES])
    forced = sort_shared(sorts, scale)
    if forced is None:
        note = f"a Q sort, but no distribution has a majority of the {len(sorts)} sorts; left out"
        return None, note
    kept = sum(sort_shared(row[None], scale) == forced for row in sorts)
    note = phrase("sort_of_most", distribution=list(forced), kept=kept, sorts=len(sorts))
    return forced, note
