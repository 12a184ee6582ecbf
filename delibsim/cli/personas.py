"""`delibsim personas`: personas from real people's answers, or of your own, for persona=NAME."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from delibsim.analysis.personas.report import (
    check_in_words,
    origin_in_words,
    table_of_clusters,
    texts_of,
    warnings_of,
)
from delibsim.cli.estimate import EstimateOnly, print_lines
from delibsim.cli.options import Json
from delibsim.cli.table import print_text, show_table
from delibsim.cli.terminal import console, echo_json, safe, say, shown
from delibsim.conduct.personas import (
    TEMPLATE,
    NotWritten,
    Recipe,
    build_personas,
    estimate_personas,
)
from delibsim.domain.errors import unknown
from delibsim.domain.text import counted
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
ITEMS: dict[str, Literal["considerations", "all"]] = {
    "considerations": "considerations",
    "all": "all",
}
TOPIC = "The topic whose people are to be clustered (delibsim topics)."
SETTINGS = "Settings as key=value: survey=ID, limits.budget_usd=2 ..."
K = "The number of clusters, and of personas."
ON = "What people are clustered on: considerations, or all (ranks too)."
SEED = "The seed of the clustering; labels change with it."
WRITER = "The model that writes the profiles, or template: words put together offline."
READER = "The model that answers the survey from a profile alone, as a check."
NAME = "The name of the set; by default TOPIC_K."
FILE = "CSV with a column persona (and size), or YAML: a list of texts."
TO = "Also write the report as a page (HTML, CSV, LaTeX, Word) into this folder."
OWN_NAME = "The name of the set; by default that of the file."


@app.command()
def build(
    topic: Annotated[str, typer.Argument(help=TOPIC)],
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="settings", help=SETTINGS)
    ] = None,
    k: Annotated[int, typer.Option(help=K)] = 5,
    items: Annotated[str, typer.Option(help=ON)] = "considerations",
    seed: Annotated[int, typer.Option(min=0, help=SEED)] = 0,
    writer: Annotated[str, typer.Option(help=WRITER)] = TEMPLATE,
    reader: Annotated[str, typer.Option(help=READER)] = "citizen",
    name: Annotated[str | None, typer.Option(help=NAME)] = None,
    only: EstimateOnly = False,
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
    if only:
        planned, found = asyncio.run(estimate_personas(recipe, overrides or [], home))
        console().print(
            f"personas {safe(recipe.label)}: {counted(found.waiting, 'call')} to be made"
        )
        print_lines(planned, found, console(), "profiles")
        return
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
    path: Annotated[Path, typer.Argument(metavar="FILE", help=FILE)],
    name: Annotated[str | None, typer.Option(help=OWN_NAME)] = None,
) -> None:
    """Bring in personas of your own."""
    personas = read_own_personas(path, name or path.stem)
    kept, _ = keep_personas(personas, Path.cwd())
    count = counted(len(personas.texts), "persona")
    say(f"{count} in {shown(kept)}; use them with persona={personas.name}")


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="The name of the set.")],
    to: Annotated[Path | None, typer.Option(help=TO)] = None,
    as_json: Json = False,
) -> None:
    """Print a set of personas and, where it was built from people's answers, the report on it."""
    plain = read_persona_file(name, Path.cwd())
    if to is not None:
        from delibsim.analysis.personas.report import write_personas  # pandas is slow to import

        written = write_personas(plain, to)
    if as_json:
        echo_json(plain)
        return
    _print(plain)
    if to is not None:
        say(f"written: {shown(written.resolve())}")


def _print(plain: Mapping[str, Any]) -> None:
    """A set of personas; of one that was built, how the clusters differ and what the check says."""
    screen, built = console(), plain.get("built")
    if not built:
        for text in texts_of(plain):
            print_text(text, screen)
        return
    screen.print(origin_in_words(built))
    show_table(table_of_clusters(plain, built), screen)
    screen.print(check_in_words(built["check"]), soft_wrap=True)
    for warning in warnings_of(built):
        screen.print(safe(f"warning: {warning}"))
