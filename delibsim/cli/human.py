"""`delibsim human`: every measure of real citizen deliberations, before and after, with the
published figures beside them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any

import numpy as np
import typer
from rich import box
from rich.table import Table

from delibsim.analysis.human import groups_of_five as five
from delibsim.analysis.human import people as analysis
from delibsim.analysis.human.groups_of_five import Dealt, Spread
from delibsim.analysis.human.people import Reference
from delibsim.analysis.human.published import Figure, published_figures
from delibsim.cli.terminal import console, echo_json, number
from delibsim.domain.errors import unknown
from delibsim.domain.measure import CATALOGUE, Measure
from delibsim.domain.survey import PHASES
from delibsim.store.instruments.answers import Answers
from delibsim.store.instruments.imported import read_people

GROUPINGS = {"topic": analysis.by_topic, "case": analysis.by_case}

PARTS = ("pre", "post", "change")

HEADING = 14
"""Columns of the terminal that the label of a measure may take before it is broken."""

TITLES = {
    "dri": "Deliberative Reason Index",
    "agreement": "Agreement",
    "diversity": "Perspective diversity",
}
"""The printed tables, one of each scorer of surveys."""

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
    ] = (five.PARTITIONS),
    as_json: Annotated[
        bool, typer.Option("--json", help="Every measure in full precision, as JSON.")
    ] = False,
) -> None:
    """Show how real people deliberated: n, and every measure before, after and its change."""
    if by not in GROUPINGS:
        raise unknown("grouping", by, GROUPINGS)
    answers, scales = read_people(path)
    references = {grouping: of(answers, scales) for grouping, of in GROUPINGS.items()}
    benchmark = analysis.of_benchmark(references[by])
    all_ = all_ or not benchmark
    shown = references[by] if all_ else benchmark
    mean = analysis.mean_of(references[by])
    missing = analysis.missing_topics(references["topic"])
    topics = references["topic"] if all_ else analysis.of_benchmark(references["topic"])
    by_survey = {own.survey: own for own in answers}
    dealt = [
        five.dealt(by_survey[topic.id], partitions)
        for topic in topics
        if partitions and topic.n >= five.SIZE
    ]
    figures = [] if missing else _figures(references, by_survey, dealt, partitions)
    if as_json:
        echo_json(
            {
                "groups": [{"id": group.id, "n": group.n, **_values(group)} for group in shown],
                "mean": _values(mean),
                "inference": None if missing else _inference(references, figures),
                "groups_of_five": _of_five(dealt, partitions) if dealt else None,
            }
        )
        return
    screen = console()
    for scorer, title in TITLES.items():
        measures = [measure for measure in CATALOGUE[scorer] if _printed(measure)]
        screen.print(
            _table(f"{title}, by {by}", measures, shown, mean, f"mean of {len(benchmark)} {by}s")
        )
    for group in shown:
        for name, reason in group.notes.items():
            typer.echo(f"{group.id}: {name} is undefined ({reason})")
    if len(references[by]) > len(shown):
        typer.echo(
            f"Left out as no topic of the benchmark: {len(references[by]) - len(shown)}; --all"
            " shows them."
        )
    if missing:
        typer.echo(
            f"No mean and no comparison with published figures: no answers of {', '.join(missing)}."
        )
    else:
        screen.print(_published(figures))
    if dealt:
        screen.print(_five_table(dealt, partitions))
        for topic in dealt:
            if said := _left_out(topic, by_survey[topic.id]):
                typer.echo(said)
        fit = five.group_ceiling(dealt)
        screen.print(
            f"Ceiling over these {fit.n} groups: slope of the change of DRI on DRI before"
            f" {number(fit.beta)} (SD between partitions {number(fit.beta_sd)}), standard error"
            f" {number(fit.se)}, clustered by topic {number(fit.se_clustered)}, R squared"
            f" {number(fit.r2)}. Small groups start with much noise, which alone makes the slope"
            " negative."
        )
    typer.echo(
        "Definitions: docs/measures.md. Range-normalised: by the range of each item. More measures:"
        " --json."
    )


def _values(group: Reference) -> dict[str, Any]:
    values: dict[str, Any] = {part: dict(getattr(group, part)) for part in PARTS}
    return values | ({"notes": dict(group.notes)} if group.notes else {})


def _figures(
    references: Mapping[str, Sequence[Reference]],
    answers: Mapping[str, Answers],
    dealt: Sequence[Dealt],
    partitions: int,
) -> list[Figure]:
    """The published figures; those of groups of five where each of the twelve topics has groups."""
    disjoint = [topic for topic in dealt if topic.id in analysis.BENCHMARK]
    if len(disjoint) < len(analysis.BENCHMARK):
        disjoint = []
    redrawn = [five.drawn_with_replacement(answers[topic.id], partitions) for topic in disjoint]
    return published_figures(references["topic"], references["case"], disjoint, redrawn)


def _inference(
    references: Mapping[str, Sequence[Reference]],
    figures: Sequence[Figure],
) -> dict[str, Any]:
    """What the means allow to conclude, and the published figures beside it."""
    twelve = analysis.of_benchmark(references["topic"])
    fit = analysis.ceiling(twelve)
    gains = analysis.mean_of(references["case"]).change
    return {
        "dri_change_interval": analysis.interval_of_mean_change(twelve),
        "resamples": analysis.RESAMPLES,
        "seed": analysis.BOOTSTRAP,
        "ceiling": {"beta": fit.beta, "se": fit.se, "r2": fit.r2, "p": fit.p, "df": fit.df},
        "agreement_gain_by_case": {
            name: gains[name] for name in ("consideration_agreement", "preference_agreement")
        },
        "published": [_as_json(figure) for figure in figures],
    }


def _as_json(figure: Figure) -> dict[str, Any]:
    return {
        "figure": figure.name,
        "published": figure.published,
        "here": figure.here,
        "verdict": figure.verdict,
        "note": figure.note,
    }


def _of_five(dealt: Sequence[Dealt], partitions: int) -> dict[str, Any]:
    """Measures of the groups of five: each topic's, their mean over topics and over groups, and the
    ceiling over groups.
    """

    def every(of: Callable[[str, str], Spread]) -> dict[str, Any]:
        return {
            measure: {part: asdict(of(measure, part)) for part in PARTS}
            for measure in five.MEASURES
        }

    return {
        "partitions": partitions,
        "topics": [
            {"id": topic.id, "n": topic.n, "groups": topic.groups}
            | every(lambda m, part, own=topic: five.spread(own.values[m][part]))
            for topic in dealt
        ],
        "mean_of_topics": every(partial(five.over_topics, dealt)),
        "mean_of_groups": every(partial(five.over_groups, dealt)),
        "ceiling": asdict(five.group_ceiling(dealt)),
    }


def _left_out(topic: Dealt, answers: Answers) -> str:
    """What share of a topic's groups of five is in no mean of DRI and agreement, and because of how
    many people; "" if none is.
    """
    shares = {part: five.spread(topic.values["dri"][part]).undefined for part in PARTS}
    if not shares["change"]:
        return ""
    alike = [int((np.ptp(answers.considerations[phase], axis=1) == 0).sum()) for phase in PHASES]
    said = ", ".join(f"{share:.1%} {part}" for part, share in shares.items())
    return (
        f"{topic.id}: groups of five without a DRI are in no mean or slope here ({said}); of"
        f" {topic.n} people {alike[0]} rated all considerations alike before and {alike[1]} after,"
        " which leaves their groups without one."
    )


def _printed(measure: Measure) -> bool:
    """Whether a measure is printed: those that `delibsim run` prints of both phases."""
    return measure.human_reference and measure.in_summary and "pre" in measure.phases


def _table(
    title: str,
    measures: Sequence[Measure],
    groups: Sequence[Reference],
    mean: Reference,
    mean_label: str,
) -> Table:
    table = Table(
        title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False
    )
    table.add_column("id", overflow="fold", vertical="bottom")
    table.add_column("n", justify="right", no_wrap=True, vertical="bottom")
    for measure in measures:
        heading = fill(measure.label, HEADING, break_long_words=False)
        for above, part in zip((f"{heading}\n", "", ""), PARTS, strict=True):
            table.add_column(f"{above}{part}", justify="right", no_wrap=True, vertical="bottom")
    for group in groups:
        table.add_row(group.id, str(group.n), *_cells(group, measures))
    if len(mean.notes) < len(analysis.CHANGES) or analysis.of_benchmark(groups):
        table.add_section()
        table.add_row(mean_label, "", *_cells(mean, measures))
    return table


def _cells(group: Reference, measures: Sequence[Measure]) -> list[str]:
    cells = []
    for measure in measures:
        for part in PARTS:
            value = getattr(group, part)[measure.id]
            cells.append(number(value, signed=part == "change" and measure.signed))
    return cells


def _published(figures: Sequence[Figure]) -> Table:
    table = Table(
        title="Published figures",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column("figure")
    for heading in ("published", "here"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    for figure in figures:
        values = [
            f"{value:.{figure.decimals}f}" if value == value else "-"
            for value in (figure.published, figure.here)
        ]
        mark = figure.verdict if figure.verdict != "not reproduced" else "NOT REPRODUCED"
        table.add_row(figure.name, *values, mark + (f": {figure.note}" if figure.note else ""))
    return table


def _five_table(dealt: Sequence[Dealt], partitions: int) -> Table:
    title = f"Groups of five: means over {partitions:,} partitions; SD between partitions"
    table = Table(
        title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False
    )
    table.add_column("\nid", overflow="fold")
    table.add_column("\ngroups", justify="right", no_wrap=True)
    for heading in (
        "DRI\npre",
        "\npost",
        "\nchange",
        "SD of\nchange",
        "diversity\npre",
        "\nchange",
        "agreement\nC change",
        "\nP change",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    columns = [
        (measure, part)
        for measure, parts in (("dri", PARTS), ("diversity", ("pre", "change")))
        for part in parts
    ]
    columns += [(f"{kind}_agreement", "change") for kind in ("consideration", "preference")]

    def cells(of: Callable[[str, str], Spread]) -> list[str]:
        found = {(measure, part): of(measure, part) for measure, part in columns}
        printed = [number(own.mean, signed=part == "change") for (_, part), own in found.items()]
        return [*printed[:3], number(found["dri", "change"].between_partitions), *printed[3:]]

    for topic in dealt:
        table.add_row(
            topic.id,
            str(topic.groups),
            *cells(lambda m, part, own=topic: five.spread(own.values[m][part])),
        )
    table.add_section()
    groups = str(sum(topic.groups for topic in dealt))
    table.add_row(f"mean of {len(dealt)} topics", groups, *cells(partial(five.over_topics, dealt)))
    table.add_row(f"mean of {groups} groups", groups, *cells(partial(five.over_groups, dealt)))
    return table
