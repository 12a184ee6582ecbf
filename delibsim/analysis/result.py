"""Tables of reports: what a table is stands in `data/tables`, its rows come from an analysis."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import chain
from math import nan
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from delibsim.domain.text import as_card, in_short
from delibsim.measures.inference.means import holm
from delibsim.store.reading import read_yaml

TABLES = Path(__file__).parents[1] / "data" / "tables"
SHOWN = 30
"""Rows of a table that a notebook shows."""
Screen = Literal["always", "asked", "never"]
"""When a table is printed: always, where all tables are asked for, or never."""


@dataclass(frozen=True, eq=False)
class Result:
    """One table of a report.

    `name` names the file and the member of the JSON, `title` stands above the table. `definition`
    says in plain sentences what a row is and how its numbers come about; `source` is a DOI, a URL
    or a page of the docs. `rows` has one estimate a row, at full precision, NaN where there is
    none, with a column `note` for the reason. `meanings` says of each column what it holds.
    `notes` are sentences on what was left out, or on how an estimate departs from its definition.
    `why_not` is the reason code of a table that this study cannot give, "" where it is given;
    `detail` says the same in a sentence, with what would be needed. The columns `hidden` are not
    printed, those `off_page` stand on no page; files hold all.
    """

    name: str
    title: str
    definition: str
    source: str
    rows: pd.DataFrame
    meanings: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    why_not: str = ""
    detail: str = ""
    screen: Screen = "always"
    hidden: Sequence[str] = ()
    off_page: Sequence[str] = ()

    __repr__ = in_short

    def _repr_html_(self) -> str:
        """A notebook shows the table as it is read, or why there is none."""
        from delibsim.analysis.pages.cells import reading

        if not self.given:
            return as_card(self.title, {}, [self.detail])
        read = reading(self)
        rows = pd.DataFrame(list(read.rows), columns=[head.name for head in read.heads])
        table = rows.to_html(index=False, border=0, max_rows=SHOWN)
        return as_card(self.title, {}) + table + as_card("", {}, [read.in_words, *self.notes])

    @property
    def given(self) -> bool:
        """Whether the study gives this table."""
        return not self.why_not

    def plain(self) -> list[dict[str, Any]]:
        """The rows as plain values, None where there is no value."""
        known = self.rows.astype(object).where(self.rows.notna(), None)
        named = known.rename(columns=str)
        return named.to_dict("records")


@dataclass(frozen=True)
class TableEntry:
    """What a catalogue says of a table; texts may have {places} for values of a study.

    `columns` are names with meanings, in their order; those named `whole` hold whole numbers where
    every known value is one. `empty` are sentences by reason code; the first is that of a table
    without rows. `notes` stand below every table that is given, behind its own. `rows` names the
    function of delibsim.analysis that gives the rows, by its module, and `of` what it takes.
    """

    name: str
    title: str
    definition: str
    source: str
    columns: Mapping[str, str]
    empty: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    screen: Screen = "always"
    hidden: Sequence[str] = ()
    off_page: Sequence[str] = ()
    whole: Sequence[str] = ()
    rows: str = ""
    of: str = ""

    def result(
        self,
        rows: pd.DataFrame | Iterable[Mapping[str, Any]],
        notes: Sequence[str] = (),
        why: str | None = None,
        detail: str = "",
        **values: Any,
    ) -> Result:
        """The table with these rows.

        `why` is the code of the reason why there is none, "" where there is; None: the first of the
        entry, if there is no row. `detail` stands for the entry's sentence on it.
        """
        table = self.frame(rows)
        if why is None:
            why = next(iter(self.empty), "") if table.empty else ""
        if why and not detail:
            detail = _filled(self.empty[why], values)
        always = () if why else [_filled(note, values) for note in self.notes]
        return Result(
            name=self.name,
            title=_filled(self.title, values),
            definition=_filled(self.definition, values),
            source=self.source,
            rows=table,
            meanings={column: _filled(told, values) for column, told in self.columns.items()},
            notes=[*notes, *always],
            why_not=why,
            detail=detail,
            screen=self.screen,
            hidden=self.hidden,
            off_page=self.off_page,
        )

    def frame(self, rows: pd.DataFrame | Iterable[Mapping[str, Any]]) -> pd.DataFrame:
        """Rows as a table with the columns of the entry; one that has others as it is."""
        found = rows
        if not isinstance(found, pd.DataFrame):
            found = pd.DataFrame(list(found), columns=list(self.columns))
        if found.empty or set(found.columns) <= set(self.columns):
            found = found.reindex(columns=list(self.columns))
        for name in self.whole:
            known = found[name].dropna()
            if len(known) and all(float(value).is_integer() for value in known):
                found = found.assign(**{name: found[name].astype("Int64")})
        return found


@dataclass(frozen=True)
class Section:
    """A part of a report's page: its title and the names of its tables, in their order.

    `figures` are those whose name is no table's.
    """

    id: str
    title: str
    tables: Sequence[str]
    figures: Sequence[str] = ()


@dataclass(frozen=True)
class Saying:
    """What is said of each row of a table, of those of which `where` (a condition) holds.

    `says` is a template (figures/words.py) over the columns of the row, its `facts`, which are
    computed from columns, and its `words`: by name those of some templates whose conditions hold.
    """

    table: str
    says: str
    where: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Catalogue:
    """The tables of one kind of report in the order of its files, and the parts of its page.

    A table of no part stands in the files alone. `kind` says what the report is, `headline` names
    the table of the first screen, `sayings` are what it says of rows in sentences, `said` are
    further sentences of the report by their names.
    """

    kind: str
    entries: Mapping[str, TableEntry]
    sections: Sequence[Section]
    headline: str = ""
    sayings: Mapping[str, Saying] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)

    def in_order(self, results: Iterable[Result]) -> dict[str, Result]:
        """Tables by name, in the order of the catalogue; those that it does not know come last."""
        found = {result.name: result for result in results}
        known = {name: found.pop(name) for name in self.entries if name in found}
        return known | found

    def place_of(self, figure: str) -> Section | None:
        """The part in which a figure stands: where the longest name stands with which its own
        begins; None where it stands in none.
        """
        found: dict[str, Section] = {}
        for section in self.sections:
            for name in (*section.tables, *section.figures):
                if f"{figure}_".startswith(f"{name}_"):
                    found.setdefault(name, section)
        return found[max(found, key=len)] if found else None


@cache
def _plain_catalogue(name: str) -> Mapping[str, Any]:
    return read_yaml(TABLES / f"{name}.yaml")


def _entry_of(table: str, own: Mapping[str, Any]) -> TableEntry:
    """The entry of a table; `as` names that of another report, which it takes with changes."""
    report, _, other = own.get("as", "").partition("/")
    known = _plain_catalogue(report)["tables"][other] if report else {}
    changed = {name: value for name, value in own.items() if name != "as"}
    return TableEntry(table, **known | changed)


@cache
def catalogue(name: str) -> Catalogue:
    """The catalogue of a report, from `data/tables/NAME.yaml`."""
    plain = _plain_catalogue(name)
    entries = {table: _entry_of(table, own) for table, own in plain["tables"].items()}
    sections = [Section(id, **own) for id, own in plain.get("parts", {}).items()]
    sayings = {saying: Saying(**own) for saying, own in plain.get("sayings", {}).items()}
    own = {name: plain[name] for name in ("headline", "said") if name in plain}
    return Catalogue(plain["kind"], entries, sections, sayings=sayings, **own)


def make_table(
    name: str,
    rows: pd.DataFrame | Iterable[Mapping[str, Any]],
    /,
    notes: Sequence[str] = (),
    why: str | None = None,
    detail: str = "",
    **values: Any,
) -> Result:
    """A table by its full name, such as "codes/levels"; the rest is as for `Entry.result`."""
    return entry(name).result(rows, notes, why, detail, **values)


def tables_of(
    kind: str, data: Mapping[str, Iterable[tuple[Any, ...]]], **values: Any
) -> Iterator[Result]:
    """The tables of a report whose entries name the function that gives their rows, as far as its
    data are there: a tuple of arguments for each part, whose rows stand one below the other.
    """
    for own in catalogue(kind).entries.values():
        if own.rows and own.of in data:
            module, _, name = own.rows.rpartition(".")
            function = getattr(import_module(f"delibsim.analysis.{module}"), name)
            parts = [function(*part) for part in data[own.of]]
            yield own.result(parts[0] if len(parts) == 1 else chain.from_iterable(parts), **values)


def each(
    parts: Iterable[Any], rows: Callable[..., Iterable[Mapping[str, Any]]], *more: Any
) -> Iterable[Mapping[str, Any]]:
    """The rows of all parts, one below the other, from a function that gives those of one."""
    return chain.from_iterable(rows(part, *more) for part in parts)


def with_holm(rows: Iterable[dict[str, Any]], *by: str, p: str = "p") -> list[dict[str, Any]]:
    """The rows with p after Holm's correction, over those together that have the same `by`; a row
    may have no p.
    """
    found = list(rows)
    together: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in found:
        together.setdefault(tuple(row[name] for name in by), []).append(row)
    for own in together.values():
        for row, corrected in zip(own, holm([row.get(p, nan) for row in own]), strict=True):
            row[f"{p}_holm"] = corrected
    return found


def entry(name: str) -> TableEntry:
    """What the catalogues say of a table by its full name, such as "codes/levels"."""
    report, _, own = name.partition("/")
    return catalogue(report).entries[own]


def said(name: str, /, **values: Any) -> str:
    """A sentence of the catalogues by its full name, such as "study/twin", with these values."""
    report, _, own = name.partition("/")
    return _filled(catalogue(report).said[own], values)


def _filled(text: str, values: Mapping[str, Any]) -> str:
    return text.format(**values) if values else text
