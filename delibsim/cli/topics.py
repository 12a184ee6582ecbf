"""`delibsim topics`: the topics and motions there are."""

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
    if as_json:
        plain = [{"kind": type(entry).__name__.lower(), **asdict(entry)} for entry in entries]
        echo_json(plain[0] if id else plain)
        report(faults)
        return
    screen = console()
    if id:
        for field, value in asdict(entries[0]).items():
            screen.print(f"{field}: {safe(str(value))}")
        return
    for kind, title, text in (
        ("Topic", "Topics", "question"),
        ("Motion", "Motions for debates", "text"),
    ):
        columns = ("survey",) if kind == "Topic" else ("theme", "tournament")
        table = Table("id", text, *columns, title=title, title_justify="left", box=None)
        for entry in sorted(entries, key=lambda entry: entry.id):
            if type(entry).__name__ == kind:
                last = [entry.survey] if isinstance(entry, Topic) else _of_motion(entry)
                table.add_row(entry.id, safe(getattr(entry, text)), *last)
        screen.print(table)
    report(faults)


def _of_motion(motion: Motion) -> list[str]:
    """Theme, and whether a tournament that names no motions takes this one."""
    return [motion.theme, "by default" if motion.tournament else "if named"]
