"""`delibsim human`: every measure of real citizen deliberations, before and after, with the published figures beside them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from delibsim.analysis import human as analysis
from delibsim.analysis.human import Reference
from delibsim.cli.terminal import console, echo_json, number
from delibsim.domain.errors import unknown
from delibsim.store.imported import read_people

GROUPINGS = {"topic": analysis.by_topic, "case": analysis.by_case}

PARTS = ("pre", "post", "change")

TABLES = (
    ("Deliberative Reason Index", (("DRI", "dri"), ("adjusted DRI", "dri_adjusted"))),
    ("Perspective diversity", (("raw", "diversity"), ("normalised", "diversity_range_normalised"))),
    ("Agreement on considerations (C) and preferences (P)", (("C", "consideration_agreement"), ("P", "preference_agreement"))),
)
"""The printed tables: title, and the measures in them with their headings."""

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
    benchmark = analysis.of_benchmark(references[by])
    shown = references[by] if all_ else benchmark
    mean = analysis.mean_of(references[by])
    missing = analysis.missing_topics(references["topic"])
    if as_json:
        echo_json(
            {
                "groups": [{"id": group.id, "n": group.n, **_values(group)} for group in shown],
                "mean": _values(mean),
                "inference": None if missing else _inference(references["topic"], references["case"]),
            }
        )
        return
    screen = console()
    for title, measures in TABLES:
        screen.print(_table(f"{title}, by {by}", measures, shown, mean, f"mean of {len(benchmark)} {by}s"))
    for group in shown:
        for name, reason in group.notes.items():
            typer.echo(f"{group.id}: {name} is undefined ({reason})")
    if len(references[by]) > len(shown):
        typer.echo(f"Left out as no topic of the benchmark: {len(references[by]) - len(shown)}; --all shows them.")
    if missing:
        typer.echo(f"No mean and no comparison with published figures: no answers of {', '.join(missing)}.")
    else:
        screen.print(_published(references["topic"], references["case"]))
    typer.echo("Definitions: docs/human-reference.md. Normalised: by the range of each item. More measures: --json.")


def _values(group: Reference) -> dict[str, Any]:
    values: dict[str, Any] = {part: dict(getattr(group, part)) for part in PARTS}
    return values | ({"notes": dict(group.notes)} if group.notes else {})


def _inference(topics: Sequence[Reference], cases: Sequence[Reference]) -> dict[str, Any]:
    """What the means allow to conclude, and the published figures beside it."""
    twelve = analysis.of_benchmark(topics)
    fit = analysis.ceiling(twelve)
    gains = analysis.mean_of(cases).change
    return {
        "dri_change_interval": analysis.interval_of_mean_change(twelve),
        "resamples": analysis.RESAMPLES,
        "seed": analysis.BOOTSTRAP,
        "ceiling": {"beta": fit.beta, "se": fit.se, "r2": fit.r2, "p": fit.p, "df": fit.df},
        "agreement_gain_by_case": {name: gains[name] for name in ("consideration_agreement", "preference_agreement")},
        "published": [
            {"figure": figure.name, "published": figure.published, "here": figure.here, "reproduced": figure.reproduced}
            for figure in analysis.published_figures(topics, cases)
        ],
    }


def _table(title: str, measures: Sequence[tuple[str, str]], groups: Sequence[Reference], mean: Reference, mean_label: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("\nid", overflow="fold")
    table.add_column("\nn", justify="right", no_wrap=True)
    for heading, _ in measures:
        for above, part in zip((heading, "", ""), PARTS, strict=True):
            table.add_column(f"{above}\n{part}", justify="right", no_wrap=True)
    for group in groups:
        table.add_row(group.id, str(group.n), *_cells(group, measures))
    table.add_section()
    table.add_row(mean_label, "", *_cells(mean, measures))
    return table


def _cells(group: Reference, measures: Sequence[tuple[str, str]]) -> list[str]:
    return [number(getattr(group, part)[name], signed=part == "change") for _, name in measures for part in PARTS]


def _published(topics: Sequence[Reference], cases: Sequence[Reference]) -> Table:
    table = Table(title="Published figures", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("figure")
    for heading in ("published", "here"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("reproduced")
    for figure in analysis.published_figures(topics, cases):
        sampled = figure.tolerance == analysis.RESAMPLING_ERROR
        verdict = ("yes, to resampling error" if sampled else "yes") if figure.reproduced else "no"
        table.add_row(figure.name, number(figure.published), number(figure.here), verdict)
    return table
