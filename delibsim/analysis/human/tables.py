"""The measures of real people as tables for reading and as a page."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from delibsim.analysis.human.people import Reference
from delibsim.analysis.human.report import PeopleReport, Spreads, of_topic
from delibsim.analysis.pages.folder import write_report
from delibsim.analysis.pages.page import Page, Part
from delibsim.analysis.result import Result
from delibsim.analysis.table import Column, Row, Table, number, numbers, texts
from delibsim.domain.measure import CATALOGUE, HEADINGS, MEASURES, Measure
from delibsim.domain.text import counted

TITLES = {
    "dri": "Deliberative Reason Index",
    "agreement": "Agreement",
    "diversity": "Perspective diversity",
}
"""The tables of groups of people, one of each scorer of surveys."""

FIVE_COLUMNS = (
    (Column("before", group="DRI"), "dri", "pre"),
    (Column("after", group="DRI"), "dri", "post"),
    (Column("change", group="DRI"), "dri", "change"),
    (Column("before", group="diversity"), "diversity", "pre"),
    (Column("change", group="diversity"), "diversity", "change"),
    (Column("considerations", group="change of agreement"), "consideration_agreement", "change"),
    (Column("preferences", group="change of agreement"), "preference_agreement", "change"),
)
"""The columns of groups of five, with measure and phase; behind them stands the SD of a change."""


def tables_of_groups(report: PeopleReport) -> Iterator[Table]:
    """The measures of each group, and their mean over the groups of the benchmark."""
    for scorer, title in TITLES.items():
        measures = [measure for measure in CATALOGUE[scorer] if _shown(measure)]
        yield _of_groups(f"{title}, by {report.by}", measures, report)


def _shown(measure: Measure) -> bool:
    """Whether a measure is shown: those that `delibsim run` prints of both phases."""
    return measure.human_reference and measure.in_summary and "pre" in measure.phases


def _of_groups(title: str, measures: Sequence[Measure], report: PeopleReport) -> Table:
    columns = [Column("id", text=True), Column("n")]
    for measure in measures:
        columns += numbers(HEADINGS.values(), measure.label)
    rows: list[Row | None] = []
    for group in report.groups:
        rows.append([group.id, str(group.n), *_cells(group, measures)])
    if report.has_mean:
        label = f"mean of {report.benchmark} {report.by}s"
        rows += [None, [label, "", *_cells(report.mean, measures)]]
    return Table(columns, rows, title)


def _cells(group: Reference, measures: Sequence[Measure]) -> list[str]:
    cells = []
    for measure in measures:
        for phase in HEADINGS:
            value = getattr(group, phase)[measure.id]
            cells.append(number(value, signed=phase == "change" and measure.signed))
    return cells


def notes_on_groups(report: PeopleReport) -> list[str]:
    """Which measures are undefined and why, and which groups are left out or missing."""
    notes = []
    for group in report.groups:
        for name, reason in group.notes.items():
            notes.append(f"{group.id}: {MEASURES[name].label} is undefined ({reason})")
    if n := report.left_out:
        notes.append(f"Left out as no topic of the benchmark: {n}; all=true shows them.")
    if report.missing:
        lacking = f"no answers of {', '.join(report.missing)}."
        notes.append(f"No mean and no comparison with published figures: {lacking}")
    return notes


def table_of_figures(report: PeopleReport) -> Table:
    """The published figures beside those that were computed here."""
    columns = [*texts("figure"), *numbers(("published", "here")), *texts("verdict")]
    rows = []
    for figure in report.figures:
        values = []
        for value in (figure.published, figure.here):
            values.append(f"{value:.{figure.decimals}f}" if value == value else "-")
        verdict = figure.verdict
        mark = "NOT REPRODUCED" if verdict == "not reproduced" else verdict
        rows.append([figure.name, *values, f"{mark}: {figure.note}" if figure.note else mark])
    return Table(columns, rows, "Published figures")


def table_of_five(report: PeopleReport) -> Table:
    """The measures of groups of five, by topic, and their means."""
    columns = [Column("id", text=True), Column("groups")]
    columns += [column for column, _, _ in FIVE_COLUMNS]
    columns.append(Column("SD of change of DRI"))
    rows: list[Row | None] = []
    for topic in report.topics:
        rows.append([topic.id, str(topic.groups), *_figures_of_five(of_topic(topic))])
    rows.append(None)
    groups = str(sum(topic.groups for topic in report.topics))
    for label, spreads in report.means_of_five().items():
        rows.append([label, groups, *_figures_of_five(spreads)])
    partitions = f"{report.partitions:,} partitions"
    return Table(columns, rows, f"Groups of five: means over {partitions}; SD between partitions")


def _figures_of_five(spreads: Spreads) -> list[str]:
    cells = []
    for _, measure, phase in FIVE_COLUMNS:
        cells.append(number(spreads[measure][phase].mean, signed=phase == "change"))
    return [*cells, number(spreads["dri"]["change"].between_partitions)]


def ceiling_of_five(report: PeopleReport) -> str:
    """How far the change of groups of five depends on where they began, in words."""
    fit = report.ceiling()
    slope = f"slope of the change of DRI on DRI before {number(fit.beta)}"
    errors = f"standard error {number(fit.se)}, clustered by topic {number(fit.se_clustered)}"
    return (
        f"Ceiling over these {fit.n} groups: {slope} (SD between partitions"
        f" {number(fit.beta_sd)}), {errors}, R squared {number(fit.r2)}. Small groups start with"
        " much noise, which alone makes the slope negative."
    )


SOURCE = "docs/human-reference.md; docs/measures.md"
GROUPS = (
    "A row a group of people who deliberated in person: how many answered before and after, and"
    " each measure before, after and its change. At full precision: delibsim list people --json."
)
FIVE_DEFINED = (
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
        five = _result(table_of_five(report), FIVE_DEFINED)
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
