"""Which scheme and texts a command about codes means, what is coded, what models gave; and codes of
people in a table that was made elsewhere, long or wide, checked cell by cell.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from delibsim.asking.collect import NOTHING, refuse
from delibsim.asking.texts import CITIZENS, of_roles, roles_in, shown_texts, texts_of, unit_in
from delibsim.domain.annotation import Text
from delibsim.domain.coding import ENSEMBLE, NO_CODE, Code
from delibsim.domain.errors import WrongInput
from delibsim.domain.reason import Reason
from delibsim.domain.scheme import Dimension, LevelValue, Scheme
from delibsim.domain.text import quoted, study_named, word_count, wordless
from delibsim.store.annotations import ANNOTATIONS, packs_of
from delibsim.store.answers import Codings
from delibsim.store.coded import SchemeCodes
from delibsim.store.instruments.library import Library
from delibsim.store.places import study_at
from delibsim.store.runs import Runs
from delibsim.store.tables.csv_cells import CsvSheet, read_sheet

LONG = ("text", "coder", "dimension", "level")
TEXT_COLUMNS = ("text", "id", "text_id")
"""What the column with the ids of texts may be called in a wide table."""
NOT_APPLICABLE = "not applicable"
"""What a coder writes in the place of a level where the question of a dimension is answered no."""
KEPT = (
    "Nothing was imported: codes are never overwritten. Put these lines back as they were, or"
    " import the new codes under another coder's name"
)


class CellFault(ValueError):
    """What is wrong with one cell or line of a table."""


@dataclass(frozen=True)
class ImportedCodes:
    """What came of a table: how many codes it held, new ones, of training, empty cells, by coder.

    `runs` is the study that keeps them; `not_read` are the columns that were left aside.
    """

    given: int
    new: int
    training: int
    empty: int
    coders: Mapping[str, int]
    runs: Runs
    not_read: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """As JSON prints it."""
        fields = {name: value for name, value in vars(self).items() if name != "runs"}
        listed = {"studies": [self.runs.study], "not_read": list(self.not_read)}
        return fields | {"known": self.given - self.new} | listed


@dataclass(frozen=True)
class Coding:
    """The codes of a study by one scheme, and how its texts are cut: `unit`, `context`, and the
    `roles` of those who spoke.
    """

    runs: Runs
    scheme: Scheme
    codings: Codings
    unit: str
    context: int
    roles: Sequence[str] = CITIZENS

    @property
    def cut(self) -> dict[str, Any]:
        """How its texts are cut, as a study keeps it."""
        return {"unit": self.unit, "context": self.context, **of_roles(self.roles)}

    def texts(self) -> list[Text]:
        """Every text of the study, word for word."""
        return texts_of(self.runs, self.unit, self.context, roles=self.roles)

    def shown(self, texts: Sequence[Text]) -> dict[str, Text]:
        """Texts by id as coders see them; imported ones word for word."""
        return shown_texts(self.runs, texts)


def coding_of(
    runs: Runs,
    name: str = "",
    by: str = "",
    context: int | None = None,
    home: Path | None = None,
    roles: Sequence[str] = (),
) -> Coding:
    """The coding of a study by a scheme; by the only one that was applied where none is named.

    What was begun keeps its scheme, unit, context and roles. Raises WrongInput for others than
    these, for a scheme that was edited since a pack was handed out, and where no scheme or one of
    several has to be named.
    """
    name = name or _only_scheme(runs)
    codings = Codings.of(runs, name)
    kept = codings.settled()
    packs = packs_of(codings.files)
    scheme = codings.scheme() if kept else Library(home or Path.cwd()).scheme(name)
    for pack, plain in packs.items():
        if plain["scheme_sha256"] != scheme.sha256:
            raise WrongInput(
                f"scheme {name} is not the one by which pack {pack} is coded"
                f" ({codings.files.packs / pack}.json holds that one whole); put the file of the"
                " scheme back as it was, or give the new one an id of its own"
            )
    begun: dict[str, Any] = kept or next(iter(packs.values()), {})
    unit = _settled("by", by, begun.get("unit"), unit_in(runs, "statement"))
    shown_before = _settled("context", context, begun.get("context"), 0)
    heard = _settled("roles", roles or None, roles_in(begun) if begun else None, CITIZENS)
    return Coding(runs, scheme, codings, unit, shown_before, heard)


def _settled(name: str, given: Any, begun: Any, default: Any) -> Any:
    """A setting: as it was begun, else as it is given, else the default."""
    if given in ("", None):
        return default if begun is None else begun
    if begun is not None and begun != given:
        raise WrongInput(
            f"{name}={given}: this coding was begun with {name}={begun}; leave {name} out, or code"
            " another study"
        )
    return given


def _only_scheme(runs: Runs) -> str:
    """The scheme by which a study was coded, or a pack of it handed out, where it is one only."""
    folders = (runs.folder / ANNOTATIONS).glob(f"{Codings.prefix}*")
    names = sorted(path.name.removeprefix(Codings.prefix) for path in folders if path.is_dir())
    if len(names) == 1:
        return names[0]
    if names:
        listed = ", ".join(names)
        raise WrongInput(
            f"{study_named(runs.study)} is coded by several schemes; name one: scheme=NAME"
            f" ({listed})"
        )
    raise WrongInput(
        f"{study_named(runs.study)} is not coded yet; name a scheme: scheme=NAME. delibsim list"
        " schemes names them"
    )


@dataclass(frozen=True)
class Uncoded:
    """A text that is not put before coders on a dimension, and why."""

    text: str
    dimension: str
    reason: Reason


def occurrences_of(texts: Iterable[Text]) -> dict[str, int]:
    """How many texts before it, in this order, are word for word like each text, by id."""
    seen: Counter[str] = Counter()
    found = {}
    for text in texts:
        digest = text.sha256
        found[text.id] = seen[digest]
        seen[digest] += 1
    return found


def why_not_coded(text: str, scheme: Scheme, dimension: Dimension) -> Reason | None:
    """Why a text is not put before coders on a dimension; None if it is."""
    if not text.strip():
        return Reason("empty")
    if wordless(text):
        return Reason("wordless")
    words = word_count(text)
    least, most = max(scheme.least_words, dimension.least_words), scheme.most_words
    if words < least:
        return Reason("too_short", f"{words} words, and the scheme codes from {least} on")
    if most is not None and words > most:
        return Reason("too_long", f"{words} words, and the scheme codes up to {most}")
    return None


def dimensions_for(scheme: Scheme, text: Text) -> list[str]:
    """The ids of the dimensions on which a text is coded; none for one that is not coded at all."""
    found = []
    for dimension in scheme.dimensions:
        if why_not_coded(text.text, scheme, dimension) is None:
            found.append(dimension.id)
    return found


def uncoded_of(
    scheme: Scheme, dimensions: Sequence[Dimension], texts: Sequence[Text]
) -> tuple[Uncoded, ...]:
    """The texts that are not put before coders, by dimension."""
    found = []
    for dimension in dimensions:
        for text in texts:
            reason = why_not_coded(text.text, scheme, dimension)
            if reason is not None:
                found.append(Uncoded(text.id, dimension.id, reason))
    return tuple(found)


def twins_of(
    shown: Mapping[str, Text], occurrences: Mapping[str, int], texts: Sequence[Text]
) -> dict[str, tuple[str, ...]]:
    """By the id of the first of the texts that coders see alike, context included: all of them; by
    the id of any other: nothing.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for text in sorted(texts, key=lambda text: occurrences[text.id]):
        seen = shown[text.id]
        groups.setdefault((seen.text, seen.context), []).append(text.id)
    found: dict[str, tuple[str, ...]] = {}
    for ids in groups.values():
        found |= dict.fromkeys(ids[1:], ())
        found[ids[0]] = tuple(ids)
    return found


def coded_by_models(coding: Coding) -> SchemeCodes:
    """The codes of a coding; WrongInput where no model was asked."""
    found = SchemeCodes.of(coding.codings) if coding.codings.files.begun() else None
    if found is None or not found.by_dimension:
        raise WrongInput(
            f"{study_named(coding.runs.study)} has no codes of models by {coding.scheme.id}; ask"
            f" for them: delibsim code ask {quoted(coding.runs.study)} scheme={coding.scheme.id}"
        )
    return found


def import_codes(
    file: Path, root: Path, study: str, scheme: str = "", training: bool = False
) -> ImportedCodes:
    """Keep the codes in a long or wide table about the texts of a study below `root`.

    WrongInput that names every line at fault, and nothing is kept, where a level is off the scale,
    an id unknown, a code given twice, or another than was imported before.
    """
    if not study:
        raise WrongInput(
            f"{file} is no form of a pack; a table of codes is imported: delibsim import STUDY"
            f" {file} --as codes scheme=NAME"
        )
    coding = coding_of(study_at(study, root), scheme)
    texts = {text.id: text.sha256 for text in coding.texts()}
    models = tuple(coding.codings.files.task().get("models", {}))
    table = read_codes(read_sheet(file), CodeScope(coding.scheme, texts, models, training))
    refuse(file, table.faults, NOTHING)
    new, clashes = contradictions(table.codes, coding.codings.people())
    refuse(file, clashes, KEPT)
    codes = [code for code, _ in table.codes]
    if codes:
        with coding.runs.lock():
            coding.codings.keep_scheme(coding.scheme, coding.cut)
            coding.codings.add(new, people=True)
    return ImportedCodes(
        given=len(codes),
        new=len(new),
        training=sum(code.training for code in codes),
        empty=table.empty,
        coders=dict(Counter(code.coder for code in codes)),
        runs=coding.runs,
        not_read=tuple(table.not_read),
    )


@dataclass
class CodesInTable:
    """What a table of codes holds: codes with the line of each, empty cells, columns not read."""

    codes: list[tuple[Code, int]] = field(default_factory=list)
    empty: int = 0
    faults: list[str] = field(default_factory=list)
    not_read: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class CodeScope:
    """What codes may be about: a scheme, the SHA-256 of each text by id, and names of models."""

    scheme: Scheme
    texts: Mapping[str, str]
    models: tuple[str, ...] = ()
    training: bool = False


def read_codes(sheet: CsvSheet, known: CodeScope) -> CodesInTable:
    """The codes in a table that was made elsewhere, long or wide.

    Long: the columns text, coder, dimension, level. Wide: a column of texts, and one for each
    coder and dimension, named CODER.DIMENSION. Other columns are named in `not_read`.
    """
    long = set(LONG) <= set(sheet.header)
    found = _long(sheet, known) if long else _wide(sheet, known)
    _refuse_twice(found)
    return found


def _long(sheet: CsvSheet, known: CodeScope) -> CodesInTable:
    found = CodesInTable(not_read=[name for name in sheet.header if name not in LONG])
    for line, row in sheet.records():
        _add(found, known, (row["text"], row["coder"], row["dimension"], row["level"]), line)
    return found


def _wide(sheet: CsvSheet, known: CodeScope) -> CodesInTable:
    found = CodesInTable()
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


def _add(
    found: CodesInTable, known: CodeScope, cells: tuple[str, str, str, str], line: int
) -> None:
    """Read one code, or note what is wrong with it."""
    text, coder, dimension, level = cells
    if no_code(level, known.scheme):
        found.empty += 1
        return
    try:
        found.codes.append((_code(known, text, coder, dimension, level), line))
    except CellFault as fault:
        found.faults.append(f"line {line}: {fault}")


def _code(known: CodeScope, text: str, coder: str, dimension: str, level: str) -> Code:
    """One code of a person; Fault with everything that is wrong with it."""
    faults = [*_of_text(text, known.texts), *_of_coder(coder, known)]
    value: LevelValue | None = None
    missing = None
    try:
        value, missing = level_of(_dimension(known.scheme, dimension), level)
    except CellFault as fault:
        faults.append(str(fault))
    if faults:
        raise CellFault("; ".join(faults))
    own = (text, dimension, coder, "human", value, missing)
    return Code(*own, training=known.training, text_sha256=known.texts[text])


def no_code(cell: str, scheme: Scheme) -> bool:
    """Whether a cell is empty, or holds what stands for an empty one, such as NA, in a scheme that
    has no level of this name.
    """
    written = cell.casefold()
    if not written:
        return True
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
    raise CellFault(fault)


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


def _of_coder(coder: str, known: CodeScope) -> list[str]:
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
        raise CellFault(f"scheme {scheme.id} has no dimension '{id}' ({ids})")
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


def _refuse_twice(found: CodesInTable) -> None:
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
            clashes.append(f"{place}: {given_by(old)} before, {given_by(code)} here")
    return new, clashes


def given_by(code: Code) -> str:
    """What a coder gave, in words: a level, or why there is none."""
    return f"level {code.level}" if code.missing is None else code.missing.code.replace("_", " ")
