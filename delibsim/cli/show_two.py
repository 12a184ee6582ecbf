"""Two runs beside each other, on a terminal and as JSON."""

from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console

from delibsim.analysis.run.beside import Beside
from delibsim.analysis.run.beside_tables import (
    TWO_DRAWS,
    Words,
    answers_that_differ,
    cost_in_words,
    in_turn,
    long_settings,
    measures_beside,
    other_measures,
    ratings_beside,
    short_settings,
    who_moved_in_both,
    why_no_value,
    words_of,
)
from delibsim.analysis.table import Table
from delibsim.cli.pager import paged
from delibsim.cli.table import print_text, show_table
from delibsim.cli.terminal import brief, echo_json, print_each, safe
from delibsim.conduct.view import Place, beside_each_other
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted
from delibsim.domain.word_differences import AROUND, marked

INDENT = 5  # columns before what was said
MARKS = "[-words of A alone-]  {+words of B alone+}"


def show_two(a: Place, b: Place, names: Sequence[str], whole: bool, as_json: bool) -> None:
    """Print two runs beside each other; WrongInput where they are one, `names` as they were
    named.
    """
    if a[0].path(a[1]).resolve() == b[0].path(b[1]).resolve():
        raise WrongInput(f"'{names[0]}' and '{names[1]}' are one run; name two")
    found = beside_each_other(a, b)
    if as_json:
        echo_json(found.plain())
        return
    with paged() as screen:
        _print(found, screen, whole)


def _print(found: Beside, screen: Console, whole: bool) -> None:
    for letter, view in zip("AB", found.runs, strict=True):
        screen.print(f"{letter}  {safe(view.name)}, {view.run.status}", style="bold")
    print_each(found.relation, screen)
    if found.settings:
        short = short_settings(found)
        screen.print(f"\n{short.title}", style="bold")
        if short.rows:
            show_table(replace(short, title=""), screen)
        for words in long_settings(found):
            screen.print(f"\n{safe(words.heading)}", style="bold")
            _print_words(words, screen, whole=False)
    else:
        screen.print("\nThe settings are the same.")
    screen.print("\nTranscripts", style="bold")
    if not found.turns:
        screen.print("Nobody spoke in either session.")
    elif any(not pair.same for pair in found.turns):
        screen.print(MARKS, style="dim")
    for part in in_turn(found.turns):
        if part[0].same and not whole:
            _print_same(part, screen)
            continue
        for words in part:
            screen.print(f"\n{safe(words.heading)}", style="bold")
            _print_words(words, screen, whole)
    tables = [*answers_that_differ(found, whole), who_moved_in_both(found), measures_beside(found)]
    for table in (*tables, other_measures(found)):
        _print_table(table, screen)
    _print_statements(found, screen, whole)
    _print_table(ratings_beside(found), screen)
    print_each((*why_no_value(found), TWO_DRAWS), screen)
    screen.print("\nCost", style="bold")
    for letter, cost in zip("AB", found.costs, strict=True):
        screen.print(f"{letter}  {cost_in_words(cost)}")


def _print_statements(found: Beside, screen: Console, whole: bool) -> None:
    """Print the collective statements, where one was sought."""
    if found.statements == (None, None):
        return
    screen.print("\nCollective statements", style="bold")
    texts = [sought[0] or None if sought else None for sought in found.statements]
    _print_words(words_of("", *texts), screen, whole)
    for letter, sought in zip("AB", found.statements, strict=True):
        told = "none was sought" if sought is None else sought[1]
        print_text(f"{letter}  {told}", screen, indent=INDENT)


def _print_same(part: list[Words], screen: Console) -> None:
    """Print which turns are the same in both runs."""
    places = [words.heading.split()[0] for words in part]
    which = f"{places[0]} to {places[-1]}" if len(places) > 1 else places[0]
    turns = counted(len(part), "turn")
    screen.print(f"\n     {turns} ({which}) the same, word for word", style="dim")


def _print_words(words: Words, screen: Console, whole: bool) -> None:
    """Print two texts as one with marks, or one below the other where they have little in
    common.
    """
    if words.pieces is not None:
        text = marked(words.pieces, None if whole else AROUND)
        print_text(_cut(text, whole), screen, indent=INDENT)
        return
    for letter, text in (("A", words.a), ("B", words.b)):
        if text is not None:
            print_text(f"{letter}  {_cut(text, whole)}", screen, indent=INDENT)


def _cut(text: str, whole: bool) -> str:
    return text if whole else " ".join(brief(text)).rstrip()


def _print_table(table: Table, screen: Console) -> None:
    if table.rows:
        screen.print()
        show_table(table, screen)
