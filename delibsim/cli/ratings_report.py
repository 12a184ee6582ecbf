"""`delibsim ratings report`: the analysis of a tournament, printed, as files and as JSON."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.results import end_with_report
from delibsim.cli.table import print_text, show_table
from delibsim.cli.terminal import (
    console,
    print_each,
    safe,
    say,
    study_at,
)
from delibsim.domain.text import counted, quoted, study_named

TO = "Write the report (HTML), every table (CSV) and figure (SVG) into this folder."
PANEL = "Only the ratings of this panel or pack; may be given several times."
SOURCE = "Only the ratings of models, or of people."
FOCUS = "The debater to compare with the rest; default: models with people."
PEOPLE = "CSV of debaters and raters: id, age, gender, education, expertise."


def report(
    study: StudyName,
    out: Annotated[Path | None, typer.Option("--to", help=TO)] = None,
    panel: Annotated[list[str] | None, typer.Option(help=PANEL)] = None,
    source: Annotated[Literal["models", "people"] | None, typer.Option(help=SOURCE)] = None,
    focus: Annotated[str | None, typer.Option(help=FOCUS)] = None,
    people: Annotated[Path | None, typer.Option(help=PEOPLE)] = None,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """The analysis of a tournament: who wins, how far raters agree, what makes a winner.

    Where both people and models debate, models are compared with people; --focus compares one
    debater with the rest. Whose ratings are pooled is said, with a warning where raters read
    different wordings or debates were held under different conditions. Exit code 0; 3 if something
    could not be read, a rating is lost, a debate is missing or was edited, 4 if no debate has been
    rated.
    """
    from delibsim.analysis.debates.report import study_report  # pandas is slow to import

    runs = study_at(study, root)
    found = study_report(runs, panel or [], source, focus, people)
    if found.something or as_json:
        end_with_report(found, out, as_json, everything=True, printed=print_sections)
    if out is not None:
        found.write(out)
    _print_unrated(found, quoted(study), bool(panel or source))
    raise typer.Exit(4)


def _print_unrated(found: Any, study: str, chosen: bool) -> None:
    """Print what there is where nothing was rated, and how to have it rated."""
    what = "no ratings of those asked for" if chosen else "no ratings"
    say(f"{study_named(found.title)}: {counted(found.data, 'debate')}, {what}")
    print_each(found.told[1:], console())
    say(f"next: delibsim ratings ask {study} (models rate)")
    say(f"      delibsim ratings export {study} (people rate)")


def print_sections(result: Any, screen: Console) -> None:
    """Print a table under its title; one of models model by model."""
    from delibsim.analysis.debates.sections import on_screen, sections

    screen.print()
    screen.print(result.title, soft_wrap=True, style="bold")
    for section in sections(on_screen(result)):
        _print_section(section, screen)


def _print_section(section: Any, screen: Console) -> None:
    """Print one section of a table; what all of its rows share stands once, below it."""
    if section.name:
        screen.print()
        screen.print(safe(section.name), soft_wrap=True)
    show_table(section.for_reading(), screen)
    for line in section.shared():
        print_text(line, screen)
