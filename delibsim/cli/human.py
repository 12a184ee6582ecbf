"""`delibsim human`: every measure of real citizen deliberations, before and after, with the published figures beside them."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from delibsim.analysis import human as reference
from delibsim.analysis.human import Reference
from delibsim.domain.errors import unknown
from delibsim.store.imported import read_people

GROUPINGS = {"topic": reference.by_topic, "case": reference.by_case}

TABLES = (
    ("Deliberative Reason Index", (("DRI", "dri"), ("adjusted DRI", "dri_adjusted"))),
    (
        "Diversity and agreement",
        (("diversity", "diversity"), ("agreement C", "consideration_agreement"), ("agreement P", "preference_agreement")),
    ),
)
"""The printed tables: title, and the measures in them with their headings."""

WIDTH = 100
"""Columns of a table where the output is no terminal."""

app = typer.Typer(add_completion=False)


@app.command()
def human(
    path: Annotated[Path, typer.Argument(help="A folder with imported or published answers.")] = Path("surveys/imported/deliberr"),
    by: Annotated[str, typer.Option(help="topic: all participants of a survey together; case: each deliberation on its own.")] = "topic",
    all_: Annotated[bool, typer.Option("--all", help="Also the surveys that are no topics of the benchmark.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Every measure in full precision, as JSON.")] = False,
) -> None:
    """Show how real people deliberated: n, and every measure before, after and its change."""
    if by not in GROUPINGS:
        raise unknown("grouping", by, GROUPINGS)
    answers, scales = read_people(path)
    references = {grouping: of(answers, scales) for grouping, of in GROUPINGS.items()}
    shown = references[by] if all_ else reference.of_benchmark(references[by])
    mean = reference.mean_of(references[by])
    missing = reference.missing_topics(references["topic"])
    if as_json:
        document: dict[str, Any] = {
            "groups": [{"id": group.id, "n": group.n, **_values(group)} for group in shown],
            "mean": _values(mean),
            "inference": None if missing else _inference(references["topic"], references["case"]),
        }
        typer.echo(json.dumps(document, allow_nan=False))
        return
    console = Console()
    console = console if console.is_terminal else Console(width=WIDTH)
    for title, measures in TABLES:
        console.print(_table(f"{title}, by {by}", measures, shown, mean))
    _print_notes(shown)
    if missing:
        typer.echo(f"No mean and no comparison with published figures: no answers of {', '.join(missing)}.")
    else:
        console.print(_published(references["topic"], references["case"]))
    typer.echo("Definitions: docs/human-reference.md. C: considerations, P: preferences. All other measures: --json.")


def _values(group: Reference) -> dict[str, Any]:
    values: dict[str, Any] = {part: _numbers(getattr(group, part)) for part in ("pre", "post", "change")}
    return values | ({"notes": dict(group.notes)} if group.notes else {})


def _numbers(values: Mapping[str, float]) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def _inference(topics: Sequence[Reference], cases: Sequence[Reference]) -> dict[str, Any]:
    """What the means allow to conclude, and the published figures beside it."""
    twelve = reference.of_benchmark(topics)
    fit = reference.ceiling(twelve)
    gains = reference.mean_of(cases).change
    return {
        "dri_change_interval": list(reference.interval_of_mean_change(twelve)),
        "resamples": reference.RESAMPLES,
        "seed": reference.BOOTSTRAP,
        "ceiling": _numbers({"beta": fit.beta, "se": fit.se, "r2": fit.r2, "p": fit.p}) | {"df": fit.df},
        "agreement_gain_by_case": _numbers({name: gains[name] for name in ("consideration_agreement", "preference_agreement")}),
        "published": [
            _numbers({"published": figure.published, "here": figure.here}) | {"figure": figure.name, "reproduced": figure.reproduced}
            for figure in reference.published_figures(topics, cases)
        ],
    }


def _table(title: str, measures: Sequence[tuple[str, str]], groups: Sequence[Reference], mean: Reference) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("\nid", overflow="fold")
    table.add_column("\nn", justify="right", no_wrap=True)
    for heading, _ in measures:
        for above, part in ((heading, "pre"), ("", "post"), ("", "change")):
            table.add_column(f"{above}\n{part}", justify="right", no_wrap=True)
    for group in (*groups, mean):
        cells = [
            _three_decimals(getattr(group, part)[name], sign=part == "change") for _, name in measures for part in ("pre", "post", "change")
        ]
        table.add_row(group.id, str(group.n) if group.n else "", *cells, end_section=group is groups[-1] if groups else False)
    return table


def _published(topics: Sequence[Reference], cases: Sequence[Reference]) -> Table:
    table = Table(title="Published figures", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("figure")
    for heading in ("published", "here"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("reproduced")
    for figure in reference.published_figures(topics, cases):
        sampled = figure.tolerance == reference.RESAMPLING_ERROR
        verdict = ("yes, within the error of resampling" if sampled else "yes") if figure.reproduced else "no"
        table.add_row(figure.name, f"{figure.published:.3f}", f"{figure.here:.3f}", verdict)
    return table


def _print_notes(groups: Sequence[Reference]) -> None:
    for group in groups:
        for name, reason in group.notes.items():
            typer.echo(f"{group.id}: {name} is undefined ({reason})")


def _three_decimals(value: float, sign: bool) -> str:
    if math.isnan(value):
        return "n/a"
    return f"{value:+.3f}" if sign else f"{value:.3f}"
