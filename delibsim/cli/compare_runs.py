"""`delibsim compare-runs`: two runs beside each other."""

from typing import Annotated

import typer
from rich.console import Console

from delibsim.analysis.beside.beside import Beside
from delibsim.analysis.beside.tables import (
    TWO_DRAWS,
    answers_that_differ,
    cost_in_words,
    heading_of,
    in_turn,
    long_settings,
    measures_beside,
    other_measures,
    ratings_beside,
    short_settings,
    who_moved_in_both,
    why_no_value,
)
from delibsim.analysis.beside.turns import Said, TurnPair
from delibsim.analysis.table import Table
from delibsim.cli.options import RUNS, Json, RunsFolder
from delibsim.cli.pager import paged
from delibsim.cli.table import print_text, show_table
from delibsim.cli.terminal import brief, echo_json, print_each, run_at, safe
from delibsim.conduct.beside import beside_each_other
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted
from delibsim.domain.word_differences import AROUND, alike, marked, word_differences

app = typer.Typer(add_completion=False)
INDENT = 5  # columns before what was said
ALIKE = 0.5
"""Share of its words that two texts must have in common to be shown as one."""

RUN = "Folder of a run, or study/session, or a study that has one session."
WHOLE = "Print what is the same in both, and long statements whole."
MARKS = "[-words of A alone-]  {+words of B alone+}"


@app.command()
def compare_runs(
    a: Annotated[str, typer.Argument(help=RUN)],
    b: Annotated[str, typer.Argument(help=RUN)],
    whole: Annotated[bool, typer.Option("--whole", help=WHOLE)] = False,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Put two runs beside each other: settings that differ, transcripts turn by turn with the words
    that differ, answers by person and item, measures with the difference B - A, cost.
    """
    first, second = run_at(a, root), run_at(b, root)
    if first[0].path(first[1]).resolve() == second[0].path(second[1]).resolve():
        raise WrongInput(f"'{a}' and '{b}' are one run; name two")
    found = beside_each_other(first, second)
    if as_json:
        echo_json(found.plain())
        return
    with paged() as screen:
        _print(found, screen, whole)


def _print(found: Beside, screen: Console, whole: bool) -> None:
    for letter, name, status in zip("AB", found.names, found.statuses, strict=True):
        screen.print(f"{letter}  {safe(name)}, {status}", style="bold")
    print_each(found.relation, screen)
    _print_settings(found, screen)
    screen.print("\nTranscripts", style="bold")
    if not found.turns:
        screen.print("Nobody spoke in either session.")
    elif any(not pair.same for pair in found.turns):
        screen.print(MARKS, style="dim")
    for part in in_turn(found.turns):
        if part[0].same and not whole:
            _print_same(part, screen)
        else:
            for pair in part:
                _print_turn(pair, screen, whole)
    for table in answers_that_differ(found, whole):
        _print_table(table, screen)
    _print_table(who_moved_in_both(found), screen)
    _print_table(measures_beside(found), screen)
    _print_table(other_measures(found), screen)
    _print_statements(found, screen, whole)
    _print_table(ratings_beside(found), screen)
    print_each((*why_no_value(found), TWO_DRAWS), screen)
    screen.print("\nCost", style="bold")
    for letter, cost in zip("AB", found.costs, strict=True):
        screen.print(f"{letter}  {cost_in_words(cost)}")


def _print_settings(found: Beside, screen: Console) -> None:
    """Print the settings that differ, short ones in a table, the words of long ones below."""
    if not found.settings:
        screen.print("\nThe settings are the same.")
        return
    short = short_settings(found)
    if short.rows:
        _print_table(short, screen)
    else:
        screen.print(f"\n{short.title}", style="bold")
    for name, a, b in long_settings(found):
        screen.print(f"\n{safe(name)}", style="bold")
        _print_both(a, b, screen, whole=False)


def _print_statements(found: Beside, screen: Console, whole: bool) -> None:
    """Print the collective statements, where one was sought."""
    a, b = found.statements
    if a is None and b is None:
        return
    screen.print("\nCollective statements", style="bold")
    if a is not None and b is not None and a[0] and b[0]:
        _print_both(a[0], b[0], screen, whole)
    else:
        for letter, sought in (("A", a), ("B", b)):
            if sought is not None and sought[0]:
                print_text(f"{letter}  {_cut(sought[0], whole)}", screen, indent=INDENT)
    for letter, sought in (("A", a), ("B", b)):
        told = "none was sought" if sought is None else sought[1]
        print_text(f"{letter}  {told}", screen, indent=INDENT)


def _print_same(part: list[TurnPair], screen: Console) -> None:
    """Print which turns are the same in both runs."""
    places = [pair.a.turn.index for pair in part if pair.a]
    which = f"{places[0]} to {places[-1]}" if len(places) > 1 else str(places[0])
    turns = counted(len(part), "turn")
    screen.print(f"\n     {turns} ({which}) the same, word for word", style="dim")


def _print_turn(pair: TurnPair, screen: Console, whole: bool) -> None:
    """Print what was said in a turn of both runs."""
    screen.print(f"\n{safe(heading_of(pair))}", style="bold")
    a, b = pair.a, pair.b
    if a is not None and b is not None and not (a.missing or b.missing):
        _print_both(a.text, b.text, screen, whole)
        return
    for letter, said in (("A", a), ("B", b)):
        if said is not None:
            print_text(f"{letter}  {_words(said, whole)}", screen, indent=INDENT)


def _words(said: Said, whole: bool) -> str:
    return f"(no statement: {said.missing})" if said.missing else _cut(said.text, whole)


def _print_both(a: str, b: str, screen: Console, whole: bool) -> None:
    """Print two texts as one with marks, or one below the other where they have little in
    common.
    """
    pieces = word_differences(a, b)
    if alike(pieces) >= ALIKE or len(pieces) <= 2:  # two pieces: something added or left out
        text = marked(pieces, None if whole else AROUND)
        print_text(_cut(text, whole), screen, indent=INDENT)
        return
    for letter, text in (("A", a), ("B", b)):
        print_text(f"{letter}  {_cut(text, whole)}", screen, indent=INDENT)


def _cut(text: str, whole: bool) -> str:
    if whole:
        return text
    shown, cut = brief(text)
    return f"{shown} {cut}".rstrip()


def _print_table(table: Table, screen: Console) -> None:
    if table.rows:
        screen.print()
        show_table(table, screen)
