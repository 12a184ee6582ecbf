"""`delibsim human`: the measures of real citizen deliberations, beside the published figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from delibsim.analysis.human.groups_of_five import PARTITIONS
from delibsim.analysis.human.people import Reference
from delibsim.analysis.human.published import Figure
from delibsim.analysis.human.report import GROUPINGS, PeopleReport, Spreads, of_topic, people_report
from delibsim.cli.table import Column, print_table, print_text
from delibsim.cli.terminal import console, echo_json, number
from delibsim.domain.errors import unknown
from delibsim.domain.measure import CATALOGUE, HEADINGS, MEASURES, Measure
from delibsim.store.instruments.imported import read_people

TITLES = {
    "dri": "Deliberative Reason Index",
    "agreement": "Agreement",
    "diversity": "Perspective diversity",
}
"""The printed tables, one of each scorer of surveys."""

OF_FIVE = (
    (Column("before", group="DRI"), "dri", "pre"),
    (Column("after", group="DRI"), "dri", "post"),
    (Column("change", group="DRI"), "dri", "change"),
    (Column("before", group="diversity"), "diversity", "pre"),
    (Column("change", group="diversity"), "diversity", "change"),
    (Column("considerations", group="change of agreement"), "consideration_agreement", "change"),
    (Column("preferences", group="change of agreement"), "preference_agreement", "change"),
)
"""The columns of groups of five, with measure and phase; behind them stands the SD of a change."""

app = typer.Typer(add_completion=False)


@app.command()
def human(
    path: Annotated[
        Path, typer.Argument(help="A folder with imported or published answers.")
    ] = Path("surveys/imported/deliberr"),
    by: Annotated[
        str,
        typer.Option(
            help="topic: all participants of a survey together; case: each deliberation on its own."
        ),
    ] = "topic",
    all_: Annotated[
        bool, typer.Option("--all", help="Also the surveys that are no topics of the benchmark.")
    ] = False,
    partitions: Annotated[
        int,
        typer.Option(
            min=0, help="How often people are dealt anew into groups of five; 0: not at all."
        ),
    ] = PARTITIONS,
    as_json: Annotated[
        bool, typer.Option("--json", help="Every measure in full precision, as JSON.")
    ] = False,
) -> None:
    """Show how real people deliberated: n, and every measure before, after and its change."""
    if by not in GROUPINGS:
        raise unknown("grouping", by, GROUPINGS)
    answers, scales = read_people(path)
    report = people_report(answers, scales, by, partitions, whole=all_)
    if as_json:
        echo_json(report.plain())
        return
    print_report(report, console())


def print_report(report: PeopleReport, screen: Console) -> None:
    """Print every table of the report, and what must be known of them."""
    for scorer, title in TITLES.items():
        measures = [measure for measure in CATALOGUE[scorer] if _printed(measure)]
        _print_groups(f"{title}, by {report.by}", measures, report, screen)
    for group in report.groups:
        for name, reason in group.notes.items():
            note = f"{group.id}: {MEASURES[name].label} is undefined ({reason})"
            screen.print(note, soft_wrap=True)
    if n := report.left_out:
        note = f"Left out as no topic of the benchmark: {n}; --all shows them."
        screen.print(note, soft_wrap=True)
    if report.missing:
        lacking = f"no answers of {', '.join(report.missing)}."
        note = f"No mean and no comparison with published figures: {lacking}"
        screen.print(note, soft_wrap=True)
    else:
        _print_published(report.figures, screen)
    if report.topics:
        _print_of_five(report, screen)
    definitions = "Definitions: docs/measures.md. Range-normalised: by the range of each item."
    print_text(f"{definitions} More measures: --json.", screen)


def _printed(measure: Measure) -> bool:
    """Whether a measure is printed: those that `delibsim run` prints of both phases."""
    return measure.human_reference and measure.in_summary and "pre" in measure.phases


def _print_groups(
    title: str,
    measures: Sequence[Measure],
    report: PeopleReport,
    screen: Console,
) -> None:
    """Print measures of each group, and their mean over the groups of the benchmark."""
    columns = [Column("id", text=True), Column("n")]
    for measure in measures:
        columns += [Column(heading, group=measure.label) for heading in HEADINGS.values()]
    rows: list[list[str] | None] = []
    for group in report.groups:
        rows.append([group.id, str(group.n), *_cells(group, measures)])
    if report.has_mean:
        label = f"mean of {report.benchmark} {report.by}s"
        rows += [None, [label, "", *_cells(report.mean, measures)]]
    print_table(title, columns, rows, screen)
    screen.print()


def _cells(group: Reference, measures: Sequence[Measure]) -> list[str]:
    cells = []
    for measure in measures:
        for phase in HEADINGS:
            value = getattr(group, phase)[measure.id]
            cells.append(number(value, signed=phase == "change" and measure.signed))
    return cells


def _print_published(figures: Sequence[Figure], screen: Console) -> None:
    columns = [Column("figure", text=True), Column("published"), Column("here")]
    rows = []
    for figure in figures:
        values = []
        for value in (figure.published, figure.here):
            values.append(f"{value:.{figure.decimals}f}" if value == value else "-")
        verdict = figure.verdict
        mark = "NOT REPRODUCED" if verdict == "not reproduced" else verdict
        rows.append([figure.name, *values, f"{mark}: {figure.note}" if figure.note else mark])
    print_table("Published figures", [*columns, Column("verdict", text=True)], rows, screen)
    screen.print()


def _print_of_five(report: PeopleReport, screen: Console) -> None:
    """Print the measures of groups of five, which groups have no index, and the ceiling."""
    columns = [Column("id", text=True), Column("groups"), *(column for column, _, _ in OF_FIVE)]
    columns.append(Column("SD of change of DRI"))
    rows: list[list[str] | None] = []
    for topic in report.topics:
        rows.append([topic.id, str(topic.groups), *_figures_of_five(of_topic(topic))])
    rows.append(None)
    groups = str(sum(topic.groups for topic in report.topics))
    for label, spreads in report.means_of_five().items():
        rows.append([label, groups, *_figures_of_five(spreads)])
    partitions = f"{report.partitions:,} partitions"
    title = f"Groups of five: means over {partitions}; SD between partitions"
    print_table(title, columns, rows, screen)
    screen.print()
    for line in report.without_index():
        screen.print(line, soft_wrap=True)
    fit = report.ceiling()
    slope = f"slope of the change of DRI on DRI before {number(fit.beta)}"
    errors = f"standard error {number(fit.se)}, clustered by topic {number(fit.se_clustered)}"
    print_text(
        f"Ceiling over these {fit.n} groups: {slope} (SD between partitions"
        f" {number(fit.beta_sd)}), {errors}, R squared {number(fit.r2)}. Small groups start with"
        " much noise, which alone makes the slope negative.",
        screen,
    )


def _figures_of_five(spreads: Spreads) -> list[str]:
    cells = []
    for _, measure, phase in OF_FIVE:
        cells.append(number(spreads[measure][phase].mean, signed=phase == "change"))
    return [*cells, number(spreads["dri"]["change"].between_partitions)]
