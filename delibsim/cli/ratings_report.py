"""`delibsim ratings report`: the analysis of a tournament, printed, as files and as JSON."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.table import print_text, show_table
from delibsim.cli.terminal import (
    console,
    echo_json,
    exit_code,
    print_each,
    safe,
    say,
    shown,
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
    from delibsim.analysis.debates.page import write_page
    from delibsim.analysis.debates.study_report import study_report  # pandas is slow to import

    runs = study_at(study, root)
    found = study_report(runs, panel or [], source, focus, people)
    if out is not None:
        found.write(out)
        write_page(found, out)
    if as_json:
        print_each(found.pooled.warned(), console(stderr=True))
        echo_json(found.plain())
    elif not found.rated:
        _print_unrated(found, study, bool(panel or source))
    else:
        screen = console()
        print_each([found.pooled.whose(), *found.pooled.warned()], screen)
        print_tables(found.printed, screen)
        print_each(found.missing(), screen)
        if out is not None:
            screen.print(f"written: {shown(out.resolve())}")
    raise typer.Exit(exit_code(found.rated, found.whole))


def _print_unrated(found: Any, study: str, chosen: bool) -> None:
    """Print what there is where nothing was rated, and how to have it rated."""
    what = "no ratings of those asked for" if chosen else "no ratings"
    say(f"{study_named(found.study)}: {counted(found.debates, 'debate')}, {what}")
    print_each(found.missing(), console())
    say(f"next: delibsim ratings ask {quoted(study)} (models rate)")
    say(f"      delibsim ratings export {quoted(study)} (people rate)")


def print_tables(printed: Mapping[str, Any], screen: Console) -> None:
    """Print every table under its title; those of models model by model."""
    from delibsim.analysis.debates.report import ASIDE, EMPTY, NO_ROW, TITLES
    from delibsim.analysis.debates.sections import on_screen, sections

    for name, title in TITLES.items():
        if name in printed and name not in ASIDE:
            screen.print()
            screen.print(title, soft_wrap=True, style="bold")
            if printed[name].empty:
                print_text(EMPTY.get(name, NO_ROW), screen)
                continue
            for section in sections(on_screen(name, printed[name])):
                _print_section(section, screen)


def _print_section(section: Any, screen: Console) -> None:
    """Print one section of a table; what all of its rows share stands once, below it."""
    if section.name:
        screen.print()
        screen.print(safe(section.name), soft_wrap=True)
    show_table(section.for_reading(), screen)
    for line in section.shared():
        print_text(line, screen)
