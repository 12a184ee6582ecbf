"""How a table of codes is laid out: a row a code, a row a text, or a row a coder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from delibsim.domain.errors import WrongInput, unknown

TEXT, CODER, LEVEL, DIMENSION = "text", "coder", "level", "dimension"
ROLES = (TEXT, CODER, LEVEL, DIMENSION)
"""What a column may hold; with several coder columns, each of them holds the codes of one."""
KNOWN = {
    TEXT: (
        "text_id", "text id", "id", "text", "item", "unit", "statement", "document", "row",
        "unnamed: 0",
    ),
    CODER: ("coder", "coder_id", "rater", "annotator", "judge"),
    LEVEL: ("level", "code", "rating", "label", "value", "score"),
    DIMENSION: ("dimension", "variable"),
}  # fmt: skip
"""The names of columns that are understood without being told, the first that is there."""
NO_CODES = ("comment", "comments", "note", "notes", "source", "speaker", "date")
"""Columns of such a name are not taken for coders, and neither are further names of texts."""
LONG, WIDE, CODERS_IN_ROWS = "long", "wide", "coders in rows"


@dataclass(frozen=True)
class Layout:
    """Which column holds what: the names of columns, "" where there is none.

    In the form "long" a row is a code, `coders` is the column with who gave it, `level` that with
    the code. In the form "wide" a row is a text and each of `coders` the codes of one coder; in
    "coders in rows" a row is a coder and each of `coders` the codes of one text. `unused` columns
    hold something else.
    """

    form: str
    text: str
    coders: tuple[str, ...]
    level: str = ""
    dimension: str = ""
    by: str = ""
    unused: tuple[str, ...] = ()


def layout_of(
    header: Sequence[str],
    named: Mapping[str, Sequence[str]],
    by: str = "",
    coders_in_rows: bool = False,
) -> Layout:
    """The layout of a table with this header.

    `named` gives columns by role, as the user named them; the others are found by name. WrongInput
    for a column that is not there, and where no column is left for codes.

    >>> layout_of(["id", "anna", "ben", "notes"], {}).coders
    ('anna', 'ben')
    >>> layout_of(["id", "coder", "level"], {}).form
    'long'
    """
    _check(header, named, by, coders_in_rows)
    free = [name for name in header if name != by]
    level = _one(LEVEL, free, named)
    dimension = _one(DIMENSION, free, named)
    in_one_column = len(named.get(CODER, ())) < 2
    coder = _one(CODER, free, named) if in_one_column else ""
    if coder and level and not coders_in_rows:
        text = _one(TEXT, [name for name in free if name not in (coder, level, dimension)], named)
        if not text:
            raise WrongInput(
                f"no column says which text was coded; name it: text=NAME ({_listed(header)})"
            )
        used = (text, coder, level, dimension, by)
        unused = tuple(name for name in header if name not in used)
        return Layout(LONG, text, (coder,), level, dimension, by, unused)
    if coders_in_rows:
        return _with_coders_in_rows(header, coder or _one(TEXT, free, named), dimension)
    text = _one(TEXT, free, named)
    taken = {text, dimension, by}
    others = [name for name in header if name not in taken]
    if named.get(CODER):
        coders = tuple(named[CODER])
    else:
        coders = tuple(name for name in others if not _no_coder(name))
    if not coders:
        raise WrongInput(f"no column holds codes; name them: coder=NAME ({_listed(header)})")
    unused = tuple(name for name in others if name not in coders)
    return Layout(WIDE, text, coders, "", dimension, by, unused)


def _with_coders_in_rows(header: Sequence[str], coder: str, dimension: str) -> Layout:
    texts = tuple(name for name in header if name not in (coder, dimension))
    return Layout(CODERS_IN_ROWS, coder, texts, "", dimension)


def _check(
    header: Sequence[str],
    named: Mapping[str, Sequence[str]],
    by: str,
    coders_in_rows: bool,
) -> None:
    """WrongInput for roles and columns that are not there."""
    for role, columns in named.items():
        if role not in ROLES:
            raise unknown("role of a column", role, ROLES)
        if role != CODER and len(columns) > 1:
            raise WrongInput(f"one column holds the {role}, not {len(columns)}: {_listed(columns)}")
        for column in columns:
            if column not in header:
                raise unknown("column", column, header)
    if by and by not in header:
        raise unknown("column", by, header)
    if by and coders_in_rows:
        raise WrongInput(
            "--by names a column that says from where a text is, and with --coders-in-rows texts"
            " are columns; turn the table round, with a row a text"
        )


def _one(role: str, free: Sequence[str], named: Mapping[str, Sequence[str]]) -> str:
    """The column with a role: the one that is named, or the first of a known name; "" if none."""
    if named.get(role):
        return named[role][0]
    taken = [column for columns in named.values() for column in columns]
    by_name = {name.casefold(): name for name in free if name not in taken}
    found = [by_name[known] for known in KNOWN[role] if known in by_name]
    return found[0] if found else ""


def _no_coder(name: str) -> bool:
    return name.casefold() in (*KNOWN[TEXT], *NO_CODES)


def _listed(names: Sequence[str]) -> str:
    return f"columns: {', '.join(names)}"
