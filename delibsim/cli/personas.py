"""`delibsim personas`: personas from real people's answers, or of your own, for persona=NAME."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from delibsim.analysis.personas.clusters import Items
from delibsim.cli.table import Column, print_table, print_text
from delibsim.cli.terminal import console, echo_json, number, safe, say, shown
from delibsim.conduct.personas import TEMPLATE, NotWritten, Recipe, build_personas
from delibsim.domain.errors import unknown
from delibsim.store.instruments.persona_files import (
    keep_personas,
    read_own_personas,
    read_persona_file,
)

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Personas from people's answers, or of your own, for persona=NAME.",
)
ITEMS: dict[str, Items] = {"considerations": "considerations", "all": "all"}
TOPIC = Annotated[
    str, typer.Argument(help="The topic whose people are to be clustered (delibsim topics).")
]
SETTINGS = Annotated[
    list[str] | None,
    typer.Argument(help="Settings as key=value: survey=ID, limits.budget_usd=2 ..."),
]
WRITER = Annotated[
    str,
    typer.Option(
        help="The model that writes the profiles, or template: words put together offline."
    ),
]
READER = Annotated[
    str,
    typer.Option(help="The model that answers the survey from a profile alone, as a check."),
]


@app.command()
def build(
    topic: TOPIC,
    overrides: SETTINGS = None,
    k: Annotated[int, typer.Option(help="The number of clusters, and of personas.")] = 5,
    items: Annotated[
        str, typer.Option(help="What people are clustered on: considerations, or all (ranks too).")
    ] = "considerations",
    seed: Annotated[
        int, typer.Option(min=0, help="The seed of the clustering; labels change with it.")
    ] = 0,
    writer: WRITER = TEMPLATE,
    reader: READER = "citizen",
    name: Annotated[
        str | None, typer.Option(help="The name of the set; by default TOPIC_K.")
    ] = None,
) -> None:
    """Cluster the people who answered a survey on a topic, and write a persona for each cluster.

    The survey is deliberr.TOPIC where that is imported, else the topic's own, or survey=ID. What is
    asked of models is recorded beside the set; the same command again asks nothing twice. Exit code
    3 where a profile could not be checked, 4 where one could not be written.
    """
    if items not in ITEMS:
        raise unknown("set of items", items, tuple(ITEMS))
    recipe = Recipe(topic, k, ITEMS[items], seed, writer, reader, name or "")
    home = Path.cwd()
    try:
        built = asyncio.run(build_personas(recipe, overrides or [], home, _notify))
    except NotWritten as error:
        kept = "What was recorded is kept; the same command goes on from there."
        say(f"no personas: {safe(str(error))}. {kept}", err=True)
        raise typer.Exit(4) from None
    _print(read_persona_file(built.name, home))
    state = "written" if built.new else "unchanged"
    console().print(f"{state}: {shown(built.path)}; use them with persona={built.name}")
    raise typer.Exit(0 if built.checked else 3)


def _notify(line: str) -> None:
    say(line, err=True)


@app.command(name="import")
def import_(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="CSV with a column persona (and size), or YAML: a list of texts."
        ),
    ],
    name: Annotated[
        str | None, typer.Option(help="The name of the set; by default that of the file.")
    ] = None,
) -> None:
    """Bring in personas of your own."""
    personas = read_own_personas(path, name or path.stem)
    kept, _ = keep_personas(personas, Path.cwd())
    say(f"{len(personas.texts)} personas in {shown(kept)}; use them with persona={personas.name}")


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="The name of the set.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Print a set of personas and, where it was built from people's answers, the report on it."""
    plain = read_persona_file(name, Path.cwd())
    if as_json:
        echo_json(plain)
    else:
        _print(plain)


def _print(plain: Mapping[str, Any]) -> None:
    """A set of personas; of one that was built, how the clusters differ and what the check says."""
    screen, built = console(), plain.get("built")
    if not built:
        for n, text in enumerate(plain["personas"], 1):
            print_text(f"{n}  {safe(' '.join(text.split()))}", screen)
        return
    people = f"{len(built['participants'])} people who answered {built['survey']}"
    made = f"{built['k']} clusters on {built['items']}, seed {built['seed']}"
    library = f"scikit-learn {built['versions']['scikit-learn']}"
    by = f"written by {built['writer']}, read by {built['reader']}"
    screen.print(f"{people}, {made}, {library}; {by}")
    _print_clusters(plain, built, screen)
    screen.print(_check(built["check"]), soft_wrap=True)
    if built["writer"] == built["reader"]:
        screen.print(
            "warning: the same model wrote and read the profiles, so the check says little"
        )
    for warning in built["warnings"]:
        screen.print(f"warning: {safe(warning)}")


def _print_clusters(plain: Mapping[str, Any], built: Mapping[str, Any], screen: Console) -> None:
    """Print a row for each cluster."""
    departs = Column("departs most on (SD from the mean)", text=True)
    columns = [*map(Column, ("cluster", "people")), departs, *map(Column, ("r", "rho"))]
    columns.append(Column("recognised", text=True))
    table = []
    sizes = plain.get("sizes") or [None] * len(plain["personas"])
    rows = zip(sizes, built["departures"], built["check"], strict=True)
    for n, (size, departures, check) in enumerate(rows, 1):
        signs = ", ".join(f"{entry['item']} {entry['z']:+.1f}" for entry in departures[:5])
        reason = check.get("reason", "-")
        recognised = {True: "yes", False: "no", None: reason}[check["recognised"]]
        numbers = (number(check["r"]), number(check["rho"]))
        table.append([str(n), str(size), signs, *numbers, safe(recognised)])
    print_table("", columns, table, screen)


def _check(checks: Sequence[Mapping[str, Any]]) -> str:
    """What the manipulation check says of all profiles together."""
    valid = [check["r"] for check in checks if check["r"] is not None]
    mean = number(sum(valid) / len(valid) if valid else None)
    recognised = sum(check["recognised"] is True for check in checks)
    return (
        f"Manipulation check: mean correlation of reading and centroid {mean} ({len(valid)} of"
        f" {len(checks)} profiles), {recognised} recognised as their own cluster. r is Pearson's,"
        " rho Spearman's."
    )
