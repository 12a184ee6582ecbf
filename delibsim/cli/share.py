"""`delibsim share`: one run as a file for others, or the line that cites it."""

import json
from io import StringIO
from pathlib import Path
from typing import Annotated

import typer

from delibsim.analysis.sharing.plain import plain, table
from delibsim.analysis.sharing.shared_run import SharedRun
from delibsim.cli.options import RUNS, RunName, RunsFolder
from delibsim.cli.table import print_text, show_table
from delibsim.cli.terminal import console, echo_json, run_at, say, shown
from delibsim.conduct.share import share_run
from delibsim.domain.errors import WrongInput, unknown

app = typer.Typer(add_completion=False)
FORMATS = ("md", "txt", "json", "csv", "html", "cite")
WIDTH = 80  # columns of plain text

FORMAT = "md, txt, json, csv, html; cite is one line. Default: the ending of --to, or md."
TO = "The file to write, which must not exist. Default: stdout."
WITHOUT = "Leave out personas, and the answers, votes and ratings of people."


@app.command()
def share(
    run: RunName,
    format: Annotated[str, typer.Option(help=FORMAT)] = "",
    to: Annotated[Path | None, typer.Option(help=TO)] = None,
    without_personas: Annotated[bool, typer.Option("--without-personas", help=WITHOUT)] = False,
    root: RunsFolder = RUNS,
) -> None:
    """Write one run for others: design, participants, transcript, answers, who moved, measures, and
    a citation with the SHA-256 of its run.json. Markdown, plain text, JSON, CSV, or one HTML file
    that fetches and runs nothing.
    """
    wanted = format or (to.suffix.removeprefix(".").lower() if to else "md")
    if wanted not in FORMATS:
        raise unknown("format", wanted, FORMATS, "Name it: --format md")
    if to is not None:
        _refuse(to)
    shared = share_run(*run_at(run, root), personas=not without_personas)
    if to is None and wanted == "json":
        echo_json(plain(shared))
    elif to is None:
        typer.echo(_text(shared, wanted), nl=False)
    else:
        _write(to, _text(shared, wanted))
        say(f"written: {shown(to)}")
        say(shared.citation)


def _text(shared: SharedRun, wanted: str) -> str:
    """The run in one of the formats."""
    if wanted == "json":
        return json.dumps(plain(shared), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    if wanted == "csv":
        return table(shared)
    if wanted == "cite":
        return f"{shared.citation}\n"
    if wanted == "txt":
        return _plain_text(shared)
    if wanted == "md":
        from delibsim.analysis.sharing.markdown import markdown

        return markdown(shared)
    from delibsim.analysis.sharing.html import html  # imports Jinja2

    return html(shared)


def _plain_text(shared: SharedRun) -> str:
    """The run as text of 80 columns."""
    file = StringIO()
    screen = console(file=file, force_terminal=True, color_system=None, width=WIDTH)
    for term, said in shared.facts:
        print_text(f"{term + ':':<15}{said}", screen)
    screen.print("\nParticipants")
    for who, persona in shared.people:
        print_text(f"{who}: {persona}" if persona else who, screen, indent=2)
    for line in shared.lines:
        if line.heading:
            screen.print(f"\n{line.heading}")
        time = f"  {line.time} UTC" if line.time else ""
        print_text(f"\n{line.turn.index:>3}  {line.turn.speaker}{time}", screen)
        print_text(line.text, screen, indent=5)
    if not shared.lines:
        screen.print("\nNobody spoke in this session.")
    if shared.statement is not None:
        text, chosen = shared.statement
        screen.print("\nCollective statement")
        print_text("\n".join(filter(None, (text, chosen))), screen, indent=5)
    for one in shared.tables:
        screen.print()
        show_table(one, screen)
    screen.print()
    for note in shared.notes:
        print_text(f"-  {note}", screen)
    screen.print()
    print_text(shared.citation, screen)
    return file.getvalue()


def _refuse(to: Path) -> None:
    """WrongInput where a file cannot be written without touching another."""
    if to.exists() or to.is_symlink():
        raise WrongInput(f"{to} is there already and is left as it is; take another name")
    if not to.parent.is_dir():
        raise WrongInput(f"there is no folder {to.parent}; make it, or name another file: --to")


def _write(to: Path, text: str) -> None:
    """Write a file that is not there yet, as it stands."""
    try:
        with to.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except FileExistsError:
        _refuse(to)
