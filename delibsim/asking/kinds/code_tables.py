"""Codes of people in a table: the form of a pack, long or wide, checked cell by cell."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from delibsim.asking.forms import Fault, key_of
from delibsim.asking.kinds.code_sheets import COLUMNS, NOT_APPLICABLE
from delibsim.domain.coding import ENSEMBLE, NO_CODE, Code
from delibsim.domain.reason import Reason
from delibsim.domain.scheme import Dimension, LevelValue, Scheme
from delibsim.store.tables.csv_cells import Sheet

LONG = ("text", "coder", "dimension", "level")
TEXT_COLUMNS = ("text", "id", "text_id")
"""What the column with the ids of texts may be called in a wide table."""


@dataclass
class CodeTable:
    """What a table of codes holds: codes with the line of each, empty cells, columns not read."""

    codes: list[tuple[Code, int]] = field(default_factory=list)
    empty: int = 0
    faults: list[str] = field(default_factory=list)
    not_read: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Known:
    """What codes may be about: a scheme, the SHA-256 of each text by id, and names of models."""

    scheme: Scheme
    texts: Mapping[str, str]
    models: tuple[str, ...] = ()
    training: bool = False


def is_form(sheet: Sheet) -> bool:
    """Whether a table is the form of a pack."""
    return set(COLUMNS) <= set(sheet.header)


def read_form_codes(
    sheet: Sheet, packs: Mapping[str, Mapping[str, Any]], known: Mapping[str, Known]
) -> CodeTable:
    """The codes in the form of one or several packs; `known` by the name of the pack."""
    found = CodeTable()
    for line, row in sheet.records():
        about = known.get(row["pack"])
        if no_code(row["level"], None if about is None else about.scheme):
            found.empty += 1
            continue
        try:
            pack, key = key_of(row, packs, "coder")
            about = known[row["pack"]]
            _refuse_edited(key, about)
            code = _code(about, key["text"], key["coder"], row["dimension"], row["level"])
        except Fault as fault:
            found.faults.append(f"line {line}: {fault}")
            continue
        training = pack["kind"] == "training"
        found.codes.append((replace(code, training=training, pack=row["pack"]), line))
    _refuse_twice(found)
    return found


def read_codes(sheet: Sheet, known: Known) -> CodeTable:
    """The codes in a table that was made elsewhere, long or wide.

    Long: the columns text, coder, dimension, level. Wide: a column of texts, and one for each
    coder and dimension, named CODER.DIMENSION. Other columns are named in `not_read`.
    """
    long = set(LONG) <= set(sheet.header)
    found = _long(sheet, known) if long else _wide(sheet, known)
    _refuse_twice(found)
    return found


def _long(sheet: Sheet, known: Known) -> CodeTable:
    found = CodeTable(not_read=[name for name in sheet.header if name not in LONG])
    for line, row in sheet.records():
        _add(found, known, (row["text"], row["coder"], row["dimension"], row["level"]), line)
    return found


def _wide(sheet: Sheet, known: Known) -> CodeTable:
    found = CodeTable()
    texts = next((name for name in TEXT_COLUMNS if name in sheet.header), "")
    columns: dict[str, tuple[str, str]] = {}
    for name in sheet.header:
        coder, point, dimension = name.rpartition(".")
        if point and coder and _has(known.scheme, dimension):
            columns[name] = coder, dimension
        elif name != texts:
            found.not_read.append(name)
    if not texts or not columns:
        ids = ", ".join(one.id for one in known.scheme.dimensions)
        found.faults.append(
            "line 1: codes stand in the columns text, coder, dimension and level; or in a column"
            f" text and columns CODER.DIMENSION, such as Ann.{known.scheme.dimensions[0].id}"
            f" (dimensions: {ids}); or in the form of a pack"
        )
        return found
    for line, row in sheet.records():
        for name, (coder, dimension) in columns.items():
            _add(found, known, (row[texts], coder, dimension, row[name]), line)
    return found


def _add(found: CodeTable, known: Known, cells: tuple[str, str, str, str], line: int) -> None:
    """Read one code, or note what is wrong with it."""
    text, coder, dimension, level = cells
    if no_code(level, known.scheme):
        found.empty += 1
        return
    try:
        found.codes.append((_code(known, text, coder, dimension, level), line))
    except Fault as fault:
        found.faults.append(f"line {line}: {fault}")


def _code(known: Known, text: str, coder: str, dimension: str, level: str) -> Code:
    """One code of a person; Fault with everything that is wrong with it."""
    faults = [*_of_text(text, known.texts), *_of_coder(coder, known)]
    value: LevelValue | None = None
    missing = None
    try:
        value, missing = level_of(_dimension(known.scheme, dimension), level)
    except Fault as fault:
        faults.append(str(fault))
    if faults:
        raise Fault("; ".join(faults))
    sha256 = known.texts[text]
    return Code(
        text,
        dimension,
        coder,
        "human",
        value,
        missing,
        training=known.training,
        text_sha256=sha256,
    )


def no_code(cell: str, scheme: Scheme | None) -> bool:
    """Whether a cell is empty, or holds what stands for an empty one, such as NA, in a scheme that
    has no level of this name.
    """
    written = cell.casefold()
    if not written or scheme is None:
        return not written
    levels = {str(value).casefold() for own in scheme.dimensions for value in own.values}
    return written in NO_CODE and written not in levels


def level_of(dimension: Dimension, cell: str) -> tuple[LevelValue | None, Reason | None]:
    """The level in a cell, or the reason why there is none; Fault for what is no level.

    A name may stand in other capitals, as spreadsheets write it, where one level alone is meant. A
    number is read only as the scheme writes it: 1.0 where levels are whole numbers comes from a
    program that took the column for measurements, which may have changed more than that.
    """
    if cell.casefold() == NOT_APPLICABLE and dimension.applies:
        return None, Reason("not_applicable")
    for value in dimension.values:
        if cell == str(value):
            return value, None
    alike = [value for value in dimension.values if str(value).casefold() == cell.casefold()]
    if len(alike) == 1:
        return alike[0], None
    number = _number(cell)
    if dimension.scale == "interval" and number in dimension.values:
        return dimension.values[dimension.values.index(number)], None
    levels = [str(value) for value in dimension.values]
    fault = f"'{cell}' is no level of {dimension.id} ({', '.join(levels)})"
    if dimension.scale == "ordinal" and number in dimension.values:
        fault += f"; a whole number was saved with decimals: write {_whole(cell)}"
    raise Fault(fault)


def _of_text(text: str, texts: Mapping[str, str]) -> list[str]:
    """What is wrong with the id of a text."""
    if text in texts:
        return []
    if not text:
        return ["the text is not named"]
    whole = _whole(text)
    if whole is not None and str(whole) in texts:
        return [f"there is no text '{text}', but '{whole}': it was saved with decimals"]
    return [f"there is no text '{text}' in the study"]


def _of_coder(coder: str, known: Known) -> list[str]:
    """What is wrong with the name of a coder."""
    if not coder:
        return ["the coder is not named"]
    if coder == ENSEMBLE or coder in known.models:
        return [f"coder '{coder}' has the name of a model or of the ensemble; rename the person"]
    return []


def _has(scheme: Scheme, id: str) -> bool:
    return any(dimension.id == id for dimension in scheme.dimensions)


def _dimension(scheme: Scheme, id: str) -> Dimension:
    """A dimension by its id; Fault if there is none."""
    if not _has(scheme, id):
        ids = ", ".join(dimension.id for dimension in scheme.dimensions)
        raise Fault(f"scheme {scheme.id} has no dimension '{id}' ({ids})")
    return scheme.dimension(id)


def _whole(cell: str) -> int | None:
    """The whole number of a cell that was written with decimals, None if it is no such cell."""
    number = _number(cell)
    return int(number) if number is not None and float(number).is_integer() else None


def _number(cell: str) -> float | None:
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if abs(number) < 2**53 else None


def _refuse_edited(key: Mapping[str, str], known: Known) -> None:
    """Fault where a text is another than the one that was handed out."""
    now = known.texts.get(key["text"])
    if now != key["text_sha256"]:
        what = "is no longer in the study" if now is None else "was edited since"
        raise Fault(f"text {key['text']} {what} (the pack was handed out before)")


def _refuse_twice(found: CodeTable) -> None:
    """Note every code that stands in the table twice."""
    seen: dict[tuple[str, str, str, bool], int] = {}
    for code, line in found.codes:
        if code.key in seen:
            found.faults.append(
                f"line {line}: {code.coder} coded {code.text} on {code.dimension} twice, first on"
                f" line {seen[code.key]}"
            )
        seen.setdefault(code.key, line)


def contradictions(
    codes: Sequence[tuple[Code, int]], known: Iterable[Code]
) -> tuple[list[Code], list[str]]:
    """The codes that are new, and a line for each that contradicts what was imported before."""
    before = {code.key: code for code in known}
    new, clashes = [], []
    for code, line in codes:
        old = before.get(code.key)
        place = f"line {line}: {code.coder}, {code.text}, {code.dimension}"
        if old is None:
            new.append(code)
        elif old.text_sha256 != code.text_sha256:
            clashes.append(f"{place}: the text was edited since it was coded")
        elif (old.level, old.missing) != (code.level, code.missing):
            clashes.append(f"{place}: {given(old)} before, {given(code)} here")
    return new, clashes


def given(code: Code) -> str:
    """What a coder gave, in words: a level, or why there is none."""
    return f"level {code.level}" if code.missing is None else code.missing.code.replace("_", " ")
