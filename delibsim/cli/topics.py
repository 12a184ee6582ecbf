"""`delibsim topics`: the topics to deliberate on and the motions to debate."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console

from delibsim.analysis.table import texts
from delibsim.cli.options import Json
from delibsim.cli.table import print_table, print_text
from delibsim.cli.terminal import console, echo_json, readable, report, safe
from delibsim.domain.study import natural
from delibsim.domain.survey import Motion, Topic
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
            print_text(f"{field}: {safe(str(value))}", screen)
    else:
        entries = sorted(entries, key=lambda entry: natural(entry.id))
        _print_topics([entry for entry in entries if isinstance(entry, Topic)], screen)
        screen.print()
        _print_motions([entry for entry in entries if isinstance(entry, Motion)], screen)
    report(faults)


def _print_topics(topics: Iterable[Topic], screen: Console) -> None:
    columns = texts("id", "question", "survey")
    rows = [[topic.id, safe(topic.question), topic.survey] for topic in topics]
    print_table("Topics", columns, rows, screen)


def _print_motions(motions: Iterable[Motion], screen: Console) -> None:
    """Print motions, and whether a tournament that names none takes each."""
    columns = texts("id", "text", "theme", "tournament")
    rows = []
    for motion in motions:
        taken = "by default" if motion.tournament else "if named"
        rows.append([motion.id, safe(motion.text), motion.theme, taken])
    print_table("Motions for debates", columns, rows, screen)
