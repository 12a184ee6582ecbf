"""Any report: its tables and what they say, as plain values, as a page, and as a folder."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

import pandas as pd

from delibsim.analysis.figures.drawing import Drawing
from delibsim.analysis.figures.words import filled_in
from delibsim.analysis.pages.cells import INTERVALS, interval
from delibsim.analysis.pages.folder import write_report
from delibsim.analysis.pages.page import Page, PagePart, Picture
from delibsim.analysis.result import Catalogue, Result, catalogue
from delibsim.domain.text import as_card, in_short
from delibsim.store.files import json_text


class FirstPage(Protocol):
    """What a report says on one page, which is written beside it."""

    file: ClassVar[str]

    def html(self, pictures: Sequence[Picture], parts: Sequence[PagePart]) -> str:
        """The page, with those of the pictures of the report that it shows, and the parts of the
        report that it leads to.
        """
        ...

    def plain(self) -> Mapping[str, Any]:
        """What it says, as plain values, for those who list many studies."""
        ...

    def _repr_html_(self) -> str:
        """What a notebook shows of it."""
        ...


@dataclass(frozen=True, eq=False)
class Report:
    """The tables of a report by name, in the order of its catalogue, and what they say.

    `title` is that of its page, `about` is what its JSON says of the study and the settings, `told`
    are all its sentences, of which the first screen of the page has the `summary`. `faults` say
    what could not be read, `warnings` what must be known before anything else. `something` is
    whether there is anything to report, `complete` whether everything is there that was planned.
    `first` are the parts of the page before those of the catalogue, `last` those behind them; with
    `tells_missing` each part says which of its tables are not given.
    `drawn` gives the figures, which are written as files of these `kinds`. `beside` are tables
    that are kept as files and are no part of what the report says. `finding` is its first page.
    `shape` gives the plain values of its tables where they are not simply all of them. A report is
    made from its `data`.
    """

    catalogue: Catalogue
    title: str
    results: Mapping[str, Result]
    about: Mapping[str, Any]
    told: Sequence[str]
    summary: Sequence[str]
    faults: Sequence[str] = ()
    warnings: Sequence[str] = ()
    something: bool = True
    complete: bool = True
    first: Sequence[PagePart] = ()
    last: Sequence[PagePart] = ()
    tells_missing: bool = True
    finding: FirstPage | None = None
    drawn: Callable[[], Sequence[Drawing]] = tuple
    kinds: Sequence[str] = ("svg",)
    beside: Sequence[Result] = ()
    shape: Callable[[], Mapping[str, Any]] | None = None
    data: Any = None

    __repr__ = in_short

    def _repr_html_(self) -> str:
        """A notebook shows its first screen, and which tables it has."""
        names = as_card("", {"tables": ", ".join(result.name for result in self.given)})
        if self.finding is not None:
            return f"{self.finding._repr_html_()}{names}"
        table = self.results.get(self.catalogue.headline)
        shown = "" if table is None else table._repr_html_()
        return as_card(self.title, {}, [*self.warnings, *self.summary]) + shown + names

    @property
    def whole(self) -> bool:
        """Whether nothing is missing or damaged."""
        return self.complete and not self.faults

    @property
    def given(self) -> list[Result]:
        """The tables that the study gives."""
        return [result for result in self.results.values() if result.given]

    @property
    def missing(self) -> list[Result]:
        """The tables that the study cannot give, with their reasons."""
        return [result for result in self.results.values() if not result.given]

    def plain(self) -> dict[str, Any]:
        """As plain values; tables as lists of rows, with the reason of those not given."""
        if self.shape is not None:
            return {**self.about, **self.shape()}
        reasons = {}
        for result in self.missing:
            reasons[result.name] = {"reason": result.why_not, "detail": result.detail}
        return {
            **self.about,
            "sentences": list(self.told),
            "faults": list(self.faults),
            "tables": {result.name: result.plain() for result in self.given},
            "not_given": reasons,
        }

    def page(self, pictures: Sequence[Picture] = ()) -> Page:
        """The page: the summary, then the parts of the catalogue, each figure with its table."""
        parts = [*self.first]
        for section in self.catalogue.sections:
            found = [self.results[name] for name in section.tables if name in self.results]
            drawn = [one for one in pictures if self.catalogue.place_of(one.name) == section]
            tables = [_on_page(one) for one in found if one.given]
            missing = [f"{one.title}: {one.detail}." for one in found if not one.given]
            if not self.tells_missing:
                missing = []
            if tables or missing or drawn:
                parts.append(PagePart(section.id, section.title, (), missing, (), tables, drawn))
        return Page(
            title=self.title,
            kind=self.catalogue.kind,
            summary=self.summary,
            headline=self.results.get(self.catalogue.headline),
            parts=[*parts, *self._in_files(), *self.last],
            warnings=[*self.warnings, *(f"left out, damaged: {fault}" for fault in self.faults)],
            finding="" if self.finding is None else self.finding.file,
        )

    def _in_files(self) -> list[PagePart]:
        """The part that names the tables which stand in files alone."""
        shown = {name for section in self.catalogue.sections for name in section.tables}
        shown.add(self.catalogue.headline)
        names = [f"{one.name}.csv" for one in self.given if one.name not in shown]
        told = [f"Further tables lie in tables/: {', '.join(names)}."] if names else []
        return [PagePart("files", "Further tables", sentences=told)] if told else []

    def write(self, folder: Path, kinds: Sequence[str] | None = None) -> Path:
        """Write page, tables and figures into a folder, which takes their place as a whole; the
        page. WrongInput for a folder that holds anything but a report.

        `kinds` are those of the files of its figures, by default its own; SVG, which the page
        shows, is always among them. With an empty list no figure is drawn.
        """
        kinds = self.kinds if kinds is None else kinds
        pictures = []
        files = {}
        for figure in self.drawn() if kinds else ():
            made = figure.files(dict.fromkeys(("svg", *kinds)))
            pictures.append(figure.picture(made["svg"].decode("utf-8")))
            for kind, content in made.items():
                files[f"figures/{figure.name}.{kind}"] = content
        page, tables = self.page(pictures), [*self.beside, *self.given]
        if self.finding is not None:
            files[self.finding.file] = self.finding.html(pictures, page.parts).encode()
            told = json_text(self.finding.plain(), indent=1) + "\n"
            files[self.finding.file.replace(".html", ".json")] = told.encode()
        return write_report(page, tables, folder, files)


def _on_page(result: Result) -> Result:
    """A table as the page shows it, without the columns that stand in files alone."""
    return replace(result, rows=result.rows.drop(columns=list(result.off_page)))


def sayings(kind: str, results: Mapping[str, Result], *names: str, **values: Any) -> Iterator[str]:
    """The sayings of a catalogue by these names, a sentence a row, where their tables are given.

    They may name the columns of the row, its intervals (`interval` is that of low and high,
    `people_interval` that of people_low and people_high) and these values.
    """
    for _, sentence in said_of_rows(kind, results, *names, **values):
        yield sentence


def said_of_rows(
    kind: str, results: Mapping[str, Result], *names: str, **values: Any
) -> Iterator[tuple[Mapping[Any, Any], str]]:
    """The same with the row of each sentence."""
    for name in names:
        own = catalogue(kind).sayings[name]
        found = results.get(own.table)
        rows = found.rows if found is not None and found.given else pd.DataFrame()
        if rows.empty:
            continue
        rows = rows[rows.eval(own.where)] if own.where else rows
        rows = rows.assign(**{fact: rows.eval(how) for fact, how in own.facts.items()})
        conditions = {where for texts in own.words.values() for where in texts.values()}
        holds = {where: rows.eval(where) for where in conditions}
        for place, row in rows.to_dict("index").items():
            known = {**row, **_intervals(row), **values}
            for word, texts in own.words.items():
                chosen = [text for text, where in texts.items() if holds[where][place]]
                known[word] = "".join(filled_in(text, known) for text in chosen)
            yield row, filled_in(own.says, known)


def _intervals(row: Mapping[Any, Any]) -> dict[str, str]:
    """The intervals of a row in words."""
    found = {}
    for low, (high, _) in INTERVALS.items():
        if low in row and high in row:
            found[low.replace("low", "interval")] = interval(row[low], row[high])
    return found
