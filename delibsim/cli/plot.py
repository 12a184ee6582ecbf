"""`delibsim plot`: one figure of a study alone, or the list of figures that it can give."""

from pathlib import Path
from typing import Any

import typer

from delibsim.analysis.figures.style import COLUMNS, FORMATS
from delibsim.analysis.table import texts
from delibsim.cli.options import RUNS, Words, declared
from delibsim.cli.table import print_table
from delibsim.cli.terminal import console, echo_json, kept_if_stopped, safe, say, shown
from delibsim.domain.errors import WrongInput
from delibsim.domain.study import slug
from delibsim.domain.text import study_named
from delibsim.store.study_texts import refuse_texts

app = typer.Typer(add_completion=False)


@declared(app, "plot", "plot", formats=", ".join(FORMATS))
def plot(
    study: str,
    figure: str = "",
    to: Path | None = None,
    condition: Words = None,
    session: Words = None,
    columns: int | None = None,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Draw one figure of a study, such as effects or before_after; without a figure, list them.

    Exit code 0; 4 if the study cannot give the figure, or any.
    """
    from delibsim.analysis.study.study_table import Draws  # pandas is slow to import
    from delibsim.conduct.figures import figure_named, source_of

    kind = figure_named(figure) if figure else None
    if columns is not None and columns not in COLUMNS:
        raise WrongInput(f"--columns is 1 or 2, not {columns}")
    with kept_if_stopped() as watch:
        source = source_of(_given(study, root), condition or [], session or [], watch)
        if kind is None:
            raise typer.Exit(_list(source, as_json))
        results = source.results(kind, Draws(), watch)
    drawing = kind.draw(source.study, results)
    if drawing is None:
        why = kind.why_not(results)
        say(f"{study_named(source.study.study)} has no figure {figure}: {safe(why)}", err=True)
        raise typer.Exit(4)
    path = to or Path(f"{slug(source.study.study)}-{figure}.svg")
    drawing.write(path, columns)
    _print(drawing, path, as_json)


def _given(study: str, root: Path) -> Any:
    """The place of the study or table that was named; exit code 4 if nothing was held."""
    from delibsim.conduct.analysed import place_of  # pandas is slow to import

    place = place_of(study, root)
    if place.runs is not None:
        refuse_texts(place.runs, "figures are of sessions")
        if not place.runs.sessions():
            say(f"{study_named(place.runs.study)} has no sessions to draw yet", err=True)
            raise typer.Exit(4)
    return place


def _print(drawing: Any, path: Path, as_json: bool) -> None:
    if as_json:
        names = {"figure": drawing.name, "title": drawing.title, "caption": drawing.caption}
        echo_json({**names, "alt": drawing.alt, "file": shown(path)})
        return
    say(drawing.title)
    say(drawing.caption)
    say(f"written: {shown(path)}")


def _list(source: Any, as_json: bool) -> int:
    """Print which figures there are; the exit code."""
    from delibsim.analysis.figures.of_study import FIGURES

    found = {kind.name: source.why_not(kind) for kind in FIGURES}
    if as_json:
        rows = [
            {"figure": kind.name, "shows": kind.shows, "why_not": found[kind.name]}
            for kind in FIGURES
        ]
        echo_json({"study": source.study.study, "figures": rows})
    else:
        given = [[kind.name, kind.shows] for kind in FIGURES if not found[kind.name]]
        missing = [[name, why] for name, why in found.items() if why]
        screen = console()
        if given:
            print_table("", texts("figure", "shows"), given, screen)
            screen.print()
        if missing:
            print_table("", texts("figure", "not here, because"), missing, screen)
    return 0 if "" in found.values() else 4
