"""Reports and their tables as commands print them; `delibsim agreement` of any table of codes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import typer
from rich.console import Console

from delibsim.analysis.figures.style import COLUMNS, FORMATS, kinds_of_files
from delibsim.analysis.table import DisplayColumn, texts
from delibsim.cli.commands import loaded
from delibsim.cli.options import RUNS, Words, declared
from delibsim.cli.table import print_table, print_text, show_table
from delibsim.cli.terminal import (
    console,
    echo_json,
    exit_code,
    print_each,
    progress,
    safe,
    say,
    shown,
    study_at,
)
from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.study import slug
from delibsim.domain.text import study_named
from delibsim.store.runs import Runs
from delibsim.store.study_texts import refuse_texts, votes_on

agreement_app = typer.Typer(add_completion=False)


MORE = "Every table behind this one: --tables all prints them, -o FOLDER writes them with a page."
ALL = "all"


def end_with_report(
    report: Any,
    to: Path | None,
    as_json: bool,
    tables: str = "",
    figures: Sequence[str] | None = None,
) -> NoReturn:
    """Write a report into the folder `to`, if one is given, print it, or give it as JSON; end with
    the exit code.

    `tables` all also prints the tables that are printed where they are asked for, all sentences,
    and which tables the study cannot give; or it names the tables that alone are printed, parted by
    commas. `figures` are the kinds of files of its figures, by default the report's own.
    """
    names = [name.strip() for name in tables.split(",") if name.strip()]
    for name in names if tables != ALL else ():
        if name not in report.results:
            raise unknown("table", name, report.results)
    page = None if to is None else report.write(to, figures)
    if as_json:
        print_each(report.warnings, console(stderr=True))
        echo_json(report.plain() | {"page": None if page is None else shown(page.resolve())})
    else:
        if tables in ("", ALL):
            _print(report, tables == ALL)
        else:
            _print_some([report.results[name] for name in names])
        if page is not None:
            say(safe(f"written: {shown(page.resolve())}"))
    for fault in report.faults:
        say(f"left out, damaged: {safe(fault)}", err=True)
    raise typer.Exit(exit_code(report.something, report.whole))


def _print_some(results: Sequence[Any]) -> None:
    """Print some tables, and of those that the study cannot give why."""
    screen = console()
    for result in results:
        if result.given:
            print_result(result, screen)
        else:
            print_each([f"{result.title}: {result.detail}"], screen)


def _print(report: Any, everything: bool) -> None:
    """Print sentences and tables."""
    screen = console()
    print_each(report.told if everything else report.summary, screen)
    wanted = ("always", "asked") if everything else ("always",)
    for result in report.given:
        if result.screen in wanted:
            print_result(result, screen)
    if everything:
        missing = [f"not given: {one.title.lower()}: {one.detail}" for one in report.missing]
        screen.print()
        print_each(missing, screen)
    elif any(result.screen == "asked" for result in report.given):
        screen.print()
        say(MORE)


def print_result(result: Any, screen: Console) -> None:
    """Print one table under its title, with what must be known of it below. A table without rows is
    its title and the words "no rows".
    """
    from dataclasses import replace

    from delibsim.analysis.pages.cells import reading
    from delibsim.analysis.table import DisplayColumn

    read = reading(replace(result, rows=result.rows.drop(columns=list(result.hidden))))
    screen.print()
    columns = [DisplayColumn(head.name, text=head.text) for head in read.heads]
    if read.rows:
        print_table(result.title, columns, read.rows, screen)
    else:
        print_table(result.title, [], [], screen)
        screen.print("no rows")
    if read.in_words:
        screen.print(safe(read.in_words), soft_wrap=True)
    print_each((f"{letter} {text}" for letter, text in read.footnotes.items()), screen)
    if read.left_out:
        screen.print(f"and {read.left_out} rows more: -o FOLDER writes all")
    print_each(result.notes, screen)


analyze_app = typer.Typer(add_completion=False)

VOTES = "votes"
GOLD = "gold"
"""What people's sessions are where those of models are corrected by them."""
KINDS = {
    "code": "code",
    "pairs": "compare",
    "ratings": "rate",
    "judgments": "judge",
    "summaries": "summarise",
}
"""The commands of what may have been asked about texts, by what their answers are called."""


@declared(analyze_app, "analyze", "analyze")
def analyze(
    study: str,
    other: Words = None,
    of: str = "",
    outcome: Words = None,
    people_are: str = "",
    like: str = "",
    to: Path | None = None,
    draws: int = 10_000,
    seed: int = 0,
    margin: float | None = None,
    figures: str | None = None,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Analyse a study: every table and figure that it can give, in one HTML report with tidy files.

    A study that is not scored is scored first. With two studies, both stand beside each other.
    Exit code 0; 3 if a planned session has no value, 4 if nothing could be analysed.
    """
    if of == VOTES:
        _report_on_votes(study_at(study, root), to, as_json)
    if of:
        words = [study, *(other or []), *(["--figures", figures] if figures is not None else [])]
        raise typer.Exit(_report_of(of, words, to, root, as_json))
    kinds = kinds_of_files(figures)
    conditions = [word for word in other or () if "=" in word and not Path(word).exists()]
    others = [word for word in other or () if word not in conditions]
    if len(others) > 1:
        raise WrongInput(f"two studies stand beside each other, not {1 + len(others)}")
    if conditions and not like:
        raise refused("like_not_given", conditions=conditions[0])
    second = others[0] if others else None
    asked = [like, *conditions] if like else ()
    from delibsim.analysis.study.study_table import DrawCounts
    from delibsim.conduct.analyse import analyse, check, compare, folder_of_both, source_of

    check(margin)
    chosen = DrawCounts(draws, draws, max(1, draws // 5), seed)
    watch = progress(quiet=as_json)
    names = outcome or []
    if people_are not in ("", GOLD):
        raise unknown("--people-are", people_are, [GOLD])
    if (people_are or names or like) and second is not None:
        raise refused("options_of_one_study")
    source = source_of(study, root, watch, to, second is None, names, people_are, asked)
    if second is None:
        report = analyse(source, chosen, margin, watch)
        folder = to or source.folder
    else:
        sources = source, source_of(second, root, watch, None, False, names)
        folder = folder_of_both(sources, to)
        report = compare(sources, chosen, margin, watch)
    file = report.write(folder, kinds)
    if as_json:
        echo_json(report.plain())
    else:
        print_report(report, console())
        if report.finding is not None:
            page = file.with_name(report.finding.file)
            console().print(safe(f"finding: {shown(page.resolve())}"), soft_wrap=True)
        console().print(safe(f"report: {shown(file.resolve())}"), soft_wrap=True)
    raise typer.Exit(exit_code(report.something, report.whole))


def _report_on_votes(runs: Runs, to: Path | None, as_json: bool) -> NoReturn:
    """Print what people's votes on the opinions of a study say."""
    from delibsim.analysis.summaries.report import votes_report

    opinions, voters = votes_on(runs)
    end_with_report(votes_report(opinions, voters), to, as_json)


def _report_of(kind: str, words: list[str], to: Path | None, root: Path, as_json: bool) -> int:
    """Print the report of what was asked about texts, as its own command does; the exit code."""
    if kind not in KINDS and kind not in KINDS.values():
        raise unknown("kind", kind, [*KINDS, VOTES])
    command = loaded(KINDS.get(kind, kind)).commands["report"]
    words += ["--dir", str(root)] if root != RUNS else []
    words += ["-o", str(to)] if to else []
    words += ["--json"] if as_json else []
    path = f"delibsim {KINDS.get(kind, kind)} report"
    return command(args=words, prog_name=path, standalone_mode=False) or 0


def print_report(report: Any, screen: Console) -> None:
    """Print the finding; of two studies what the tables say in words, and their differences."""
    if report.finding is not None:
        print_finding(report.finding, screen)
        return
    print_each(report.told, screen)
    table = report.results["differences"]
    if table.given:
        screen.print()
        show_result(table, screen)
    screen.print()


def print_finding(finding: Any, screen: Console) -> None:
    """Print a finding as its page has it."""
    print_each(finding.warnings, screen, "bold")
    print_each([f"{topic.term}: {topic.said}" for topic in finding.topics if topic.said], screen)
    print_each([finding.compared], screen)
    print_each(finding.sentences, screen, "bold")
    grid = finding.grid
    rows = [[name, unit, *map(" ".join, cells)] for (name, unit), cells in grid.rows]
    if rows:
        screen.print()
        heads = texts(grid.of, "unit", *grid.heads)
        print_table(finding.table.title, heads, rows, screen)
    screen.print()
    print_each([f"{term}: {told}" for term, told in finding.facts.items()], screen)


def show_result(result: Any, screen: Console) -> None:
    """Print a table of results below its title."""
    from delibsim.analysis.pages.cells import reading

    read = reading(result)
    columns = [DisplayColumn(head.name, text=head.text) for head in read.heads]
    print_table(result.title, columns, read.rows, screen)


plot_app = typer.Typer(add_completion=False)


@declared(plot_app, "plot", "plot", formats=", ".join(FORMATS))
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

    Exit code 0; 3 if a damaged or changed run is left out, 4 if the study cannot give the figure,
    or any.
    """
    from delibsim.analysis.study.counts import left_out  # pandas is slow to import
    from delibsim.analysis.study.study_table import DrawCounts
    from delibsim.conduct.answers import figure_named, figure_source

    kind = figure_named(figure) if figure else None
    if columns is not None and columns not in COLUMNS:
        raise WrongInput(f"--columns is 1 or 2, not {columns}")
    watch = progress()
    source = figure_source(_given(study, root), condition or [], session or [], watch)
    changed = left_out(source.study)
    print_each(changed, console(stderr=True))
    if kind is None:
        raise typer.Exit(exit_code(_list_figures(source, as_json), not changed))
    results = source.results(kind, DrawCounts(), watch)
    drawing = kind.draw(source.study, results)
    if drawing is None:
        why = kind.why_not(results)
        say(f"{study_named(source.study.study)} has no figure {figure}: {safe(why)}", err=True)
        raise typer.Exit(4)
    path = to or Path(f"{slug(source.study.study)}-{figure}.svg")
    drawing.write(path, columns)
    _print_drawing(drawing, path, as_json)
    raise typer.Exit(exit_code(True, not changed))


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


def _print_drawing(drawing: Any, path: Path, as_json: bool) -> None:
    if as_json:
        names = {"figure": drawing.name, "title": drawing.title, "caption": drawing.caption}
        echo_json({**names, "alt": drawing.alt, "file": shown(path)})
        return
    say(drawing.title)
    say(drawing.caption)
    say(f"written: {shown(path)}")


def _list_figures(source: Any, as_json: bool) -> bool:
    """Print which figures there are; whether there are any."""
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
    return "" in found.values()


@declared(agreement_app, "agreement", "agreement")
def agreement(
    file: list[str],
    weights: str | None = None,
    levels: str | None = None,
    draws: int = 0,
    by: str = "",
    coders_in_rows: bool = False,
    scale: str | None = None,
    as_json: bool = False,
) -> None:
    """How far coders agree, people or models, in any table of codes.

    Percent agreement, Gwet's AC1 or AC2, Brennan-Prediger, the kappas of Cohen or Conger and of
    Fleiss, and Krippendorff's alpha, each with its interval. Exit code 0; 3 if a coefficient is
    undefined, 4 if all are.
    """
    from delibsim.analysis.agreement.agreement import agreement as agreement_in  # scipy is slow

    path, columns = _columns(file)
    chosen = _weights(weights)
    found = agreement_in(path, chosen, levels, draws, by, scale, coders_in_rows, columns)
    if as_json:
        echo_json(found.plain())
    else:
        _print_agreement(found, by, console())
    raise typer.Exit(exit_code(found.something, found.whole))


def _print_agreement(found: Any, by: str, screen: Console) -> None:
    from delibsim.analysis.agreement.agreement import (
        counts_in_words,
        layout_in_words,
        notes_on,
        table_of,
    )

    print_text(layout_in_words(found), screen)
    for dimension in found.dimensions:
        screen.print()
        print_each(counts_in_words(dimension), screen)
        show_table(table_of(dimension), screen)
        print_each(notes_on(dimension, by), screen)
    screen.print()
    print_text("Which one to take, and what each means: docs/agreement.md.", screen)


def _columns(words: Sequence[str]) -> tuple[Path, dict[str, list[str]]]:
    """The file, and the columns by role."""
    path, *named = words
    columns: dict[str, list[str]] = {}
    for word in named:
        role, equals, name = word.partition("=")
        if not equals:
            raise WrongInput(f"one file at a time: {path} or {word}; a column is named text=NAME")
        columns.setdefault(role, []).append(name)
    return Path(path), columns


def _weights(given: str | None) -> Any:
    """The name of a weighting, or the matrix of a file."""
    if given is None or not Path(given).is_file():
        return given
    from delibsim.store.reading import file_text

    rows = [line.split(",") for line in file_text(Path(given)).splitlines() if line.strip()]
    if any(len(row) != len(rows) for row in rows):
        raise WrongInput(f"{given} holds weights: as many rows as columns, one for each level")
    try:
        return [list(map(float, row)) for row in rows]
    except ValueError as error:
        raise refused("design_no_numbers", given=given, error=error) from None
