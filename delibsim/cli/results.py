"""Reports and their tables as commands print them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import typer
from rich.console import Console

from delibsim.cli.table import print_table
from delibsim.cli.terminal import console, echo_json, exit_code, print_each, safe, say, shown
from delibsim.domain.errors import unknown

MORE = "Every table behind this one: --tables all prints them, -o FOLDER writes them with a page."
ALL = "all"


def end_with_report(
    report: Any,
    to: Path | None,
    as_json: bool,
    tables: str = "",
    printed: Callable[[Any, Console], None] | None = None,
) -> NoReturn:
    """Write a report into the folder `to`, if one is given, print it, or give it as JSON; end with
    the exit code.

    `tables` all also prints the tables that are printed where they are asked for, all sentences,
    and which tables the study cannot give; or it names the tables that alone are printed, parted by
    commas. `printed` prints one table, where not as others are.
    """
    names = [name.strip() for name in tables.split(",") if name.strip()]
    for name in names if tables != ALL else ():
        if name not in report.results:
            raise unknown("table", name, report.results)
    page = None if to is None else report.write(to)
    if as_json:
        print_each(report.warnings, console(stderr=True))
        echo_json(report.plain() | {"page": None if page is None else shown(page.resolve())})
    else:
        if tables in ("", ALL):
            _print(report, tables == ALL, printed or print_result)
        else:
            _print_some([report.results[name] for name in names], printed or print_result)
        if page is not None:
            say(safe(f"written: {shown(page.resolve())}"))
    for fault in report.faults:
        say(f"left out, damaged: {safe(fault)}", err=True)
    raise typer.Exit(exit_code(report.something, report.whole))


def _print_some(results: Sequence[Any], printed: Callable[[Any, Console], None]) -> None:
    """Print some tables, and of those that the study cannot give why."""
    screen = console()
    for result in results:
        if result.given:
            printed(result, screen)
        else:
            print_each([f"{result.title}: {result.detail}"], screen)


def _print(report: Any, everything: bool, printed: Callable[[Any, Console], None]) -> None:
    """Print sentences and tables."""
    screen = console()
    print_each(report.told if everything else report.summary, screen)
    wanted = ("always", "asked") if everything else ("always",)
    for result in report.given:
        if result.screen in wanted:
            printed(result, screen)
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
    from delibsim.analysis.table import Column

    read = reading(replace(result, rows=result.rows.drop(columns=list(result.hidden))))
    screen.print()
    columns = [Column(head.name, text=head.text) for head in read.heads]
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
