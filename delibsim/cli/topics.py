"""`delibsim topics`: the topics to deliberate on and the motions to debate."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from delibsim.cli.options import Json
from delibsim.cli.terminal import console, echo_json, readable, report, safe
from delibsim.domain.topic import Motion, Topic
from delibsim.store.instruments.library import Library

app = typer.Typer(add_completion=False)


@app.command()
def topics(
    id: Annotated[str | None, typer.Argument(help="Print this topic or motion whole.")] = None,
    as_json: Json = False,
) -> None:
    """List the topics to deliberate on and the motions to debate, or print one."""
    library = Library()
    entries, faults = ([library.entry(id)], []) if id else readable(library.topics(), library.entry)
    screen = console()
    if as_json:
        plain = [{"kind": type(entry).__name__.lower(), **asdict(entry)} for entry in entries]
        echo_json(plain[0] if id else plain)
    elif id:
        for field, value in asdict(entries[0]).items():
            screen.print(f"{field}: {safe(str(value))}")
    else:
        entries = sorted(entries, key=lambda entry: entry.id)
        screen.print(_topics(entry for entry in entries if isinstance(entry, Topic)))
        screen.print(_motions(entry for entry in entries if isinstance(entry, Motion)))
    report(faults)


def _topics(topics: Iterable[Topic]) -> Table:
    table = Table("id", "question", "survey", title="Topics", title_justify="left", box=None)
    for topic in topics:
        table.add_row(topic.id, safe(topic.question), topic.survey)
    return table


def _motions(motions: Iterable[Motion]) -> Table:
    """Motions, and whether a tournament that names none takes each."""
    columns = ("id", "text", "theme", "tournament")
    table = Table(*columns, title="Motions for debates", title_justify="left", box=None)
    for motion in motions:
        taken = "by default" if motion.tournament else "if named"
        table.add_row(motion.id, safe(motion.text), motion.theme, taken)
    return table
