"""The measures of real people as a page, and as files beside it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from delibsim.analysis.human.report import PeopleReport
from delibsim.analysis.human.tables import (
    ceiling_of_five,
    notes_on_groups,
    table_of_figures,
    table_of_five,
    tables_of_groups,
)
from delibsim.analysis.pages.folder import write_report
from delibsim.analysis.pages.page import Page, Part
from delibsim.analysis.result import Result
from delibsim.analysis.table import Table
from delibsim.domain.text import counted

SOURCE = "docs/human-reference.md; docs/measures.md"
GROUPS = (
    "A row a group of people who deliberated in person: how many answered before and after, and"
    " each measure before, after and its change. At full precision: delibsim list people --json."
)
OF_FIVE = (
    "The same people dealt into groups of five, as large as groups of models are; means over"
    " random partitions, and the SD of the change."
)
FIGURES = "Published figures, and what the imported answers give."


def page_of_people(report: PeopleReport) -> Page:
    """The page of a report on people."""
    notes = list(notes_on_groups(report))
    groups = [_result(table, GROUPS) for table in tables_of_groups(report)]
    parts = [Part("groups", "Measures of people", sentences=notes, tables=groups)]
    if not report.missing:
        figures = _result(table_of_figures(report), FIGURES)
        parts.append(Part("published", "Published figures beside", tables=[figures]))
    if report.topics:
        told = [*report.without_index(), ceiling_of_five(report)]
        five = _result(table_of_five(report), OF_FIVE)
        parts.append(Part("five", "Groups of five", sentences=told, tables=[five]))
    return Page(
        title="Real citizen deliberations",
        kind="Report on people, by delibsim",
        summary=list(_summary(report)),
        parts=parts,
    )


def write_people(report: PeopleReport, folder: Path) -> Path:
    """Write the page and its tables into a folder; the HTML file."""
    page = page_of_people(report)
    return write_report(page, list(page.tables()), folder)


def _summary(report: PeopleReport) -> Iterator[str]:
    people = sum(group.n for group in report.groups)
    groups = counted(len(report.groups), "group")
    yield f"{groups} by {report.by}, {counted(people, 'person', 'people')}."
    if report.has_mean:
        change = report.mean.change.get("dri")
        if change is not None:
            yield (
                f"Their Deliberative Reason Index changed by {change:.3f} on average of"
                f" {report.benchmark} groups of the benchmark."
            )
    if report.missing:
        yield f"No answers are there on {', '.join(report.missing)}."


def _result(table: Table, definition: str) -> Result:
    """A table for reading as a result: its columns named by group and heading."""
    names = [" ".join(filter(None, (one.group, one.heading))) for one in table.columns]
    rows = [list(row) for row in table.rows if row is not None]
    name = re.sub(r"[^a-z0-9]+", "_", table.title.lower()).strip("_")[:60]
    frame = pd.DataFrame(rows, columns=names)
    return Result(name or "table", table.title, definition, SOURCE, frame)
