"""`delibsim show`: read a run, or two runs beside each other; and a run as a text for others."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from delibsim.analysis.run.beside import Beside
from delibsim.analysis.run.beside_tables import (
    TWO_DRAWS,
    TextsBeside,
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
from delibsim.analysis.run.view import RunPart, RunView, TranscriptLine
from delibsim.analysis.table import DisplayTable
from delibsim.cli.options import RUNS, declared
from delibsim.cli.table import print_text, show_table
from delibsim.cli.terminal import (
    brief,
    console,
    echo_json,
    paged,
    print_each,
    run_at,
    safe,
    say,
    shown,
)
from delibsim.conduct.view import Place, beside_each_other, run_view, shared_view
from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.text import counted
from delibsim.domain.word_differences import AROUND, marked
from delibsim.store.codec import Damaged, run_to_plain

app = typer.Typer(add_completion=False)
INDENT = 5  # columns before what was said
WIDTH = 80  # columns of plain text
FORMS = ("html", "markdown", "text", "json", "csv", "cite")


@declared(app, "show", "show")
def show(
    run: list[str],
    answers: bool = True,
    call: str | None = None,
    whole: bool = False,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Read a run: who took part under which treatment, the transcript with who spoke when,
    everybody's answers before and after, how each person's changed, and the measures.

    Two runs stand beside each other: settings that differ, transcripts turn by turn with the words
    that differ, answers by person and item, measures with the difference B - A, cost.
    """
    if len(run) > 2:
        raise WrongInput(f"{len(run)} runs are named; show reads one, or two beside each other")
    places = [run_at(place, root) for place in run]
    if len(places) == 2:
        if call is not None:
            raise WrongInput("--call prints a call of one run; name one")

        show_two(places[0], places[1], run, whole, as_json)
    elif call is not None:
        _show_call(places[0], call, as_json)
    elif as_json:
        runs, session = places[0]
        echo_json(run_to_plain(runs.run(session)))
    else:
        view = _read(places[0], scored=answers)
        with paged() as screen:
            print_view(view, screen, answers, whole)


def _read(place: Place, scored: bool) -> RunView:
    try:
        return run_view(*place) if scored else run_view(*place, scores=(), measures={})
    except Damaged as error:
        raise refused("cache_left_alone", error=error) from None


def print_view(
    view: RunView, screen: Console, answers: bool = True, whole: bool = True, cite: bool = False
) -> None:
    """Print a run for reading, long statements cut unless `whole`, with a line that cites it if
    `cite`.
    """
    for n, part in enumerate(view.parts(answers, whole)):
        if n:
            screen.print()
        _print_part(part, screen, whole)
    if cite:
        screen.print()
        print_text(view.citation, screen)


def _print_part(part: RunPart, screen: Console, whole: bool) -> None:
    if part.title:
        screen.print(safe(part.title), style="bold")
    for term, said in part.facts:
        head = f"{term + ':':<15}"
        if part.title:
            head = f"  {term}: " if said else f"  {term}"
        print_text(f"{head}{said}", screen, "dim" if part.title else "")
    for line in part.turns:
        _print_line(line, screen, whole)
    if part.text:
        print_text(part.text, screen, indent=INDENT)
    for n, table in enumerate(part.tables):
        if n:
            screen.print()
        show_table(table, screen)
    print_each(part.sentences, screen)


def _print_line(line: TranscriptLine, screen: Console, whole: bool) -> None:
    if line.heading:
        screen.print(f"\n{line.heading}", style="bold")
    speaker = Text(f"\n{line.turn.index:>3}  {safe(line.turn.shown)}", style="bold")
    screen.print(speaker.append(f"  {line.time} UTC" if line.time else "", style="dim"))
    text, cut = (safe(line.text), "") if whole else brief(line.text)
    print_text(text, screen, indent=INDENT)
    if cut:
        screen.print(f"     {cut}; the rest is shown with --whole", style="dim", soft_wrap=True)
    for code in line.codes:
        print_text(code, screen, "dim", indent=INDENT)
    if line.then:
        screen.print(f"\n{line.then}", style="bold")


def _show_call(place: Place, call: str, as_json: bool) -> None:
    """Print one call, or the list of all; a repeated attempt takes the place of the one that failed
    on the way.
    """
    from delibsim.conduct.replay import record_of  # takes as long to import as all the rest

    runs, session = place
    runs.refuse_withdrawn(session)
    exchanges = {exchange.id: exchange for exchange in record_of(runs, session)}
    if call == "all":
        _print_list(exchanges, as_json)
    elif call not in exchanges:
        raise unknown("call", call, exchanges)
    elif as_json:
        echo_json(exchanges[call].record())
    else:
        with paged() as screen:
            _print_call(exchanges[call], screen)


def _print_list(exchanges: Mapping[str, Any], as_json: bool) -> None:
    """Print the id, the status and the detail of every call."""
    listed: list[dict[str, Any]] = []
    for id, exchange in exchanges.items():
        done = exchange.completion
        listed.append({"id": id, "status": done.status, "detail": done.detail})
    if as_json:
        echo_json(listed)
        return
    print_each((f"{one['id']}  {one['status']}  {one['detail']}" for one in listed), console())


def _print_call(exchange: Any, screen: Console) -> None:
    """Print exactly what was sent and what came back.

    When it was sent is left to --json, so that two calls that were asked alike are printed alike.
    """
    from delibsim.analysis.calls import facts

    for message in exchange.messages:
        screen.print(f"[{message.role}]", style="bold")
        screen.print(safe(message.content), soft_wrap=True)
    screen.print(f"\n[reply: {exchange.completion.status}]", style="bold")
    screen.print(safe(exchange.completion.text), soft_wrap=True)
    known = facts(exchange).items()
    print_each((f"{name}: {fact}" for name, fact in known), screen, "dim")


def share(place: Place, form: str, to: Path | None, personas: bool = True) -> None:
    """Write one run for others into a file that is not there yet, or print it: html, markdown,
    text, json, csv, or cite, the line that cites it. WrongInput for another form.
    """
    if form not in FORMS:
        raise unknown("form", form, FORMS, "Name it: --as markdown")
    if to is not None:
        _refuse(to)
    view = shared_view(*place, personas=personas)
    text = _text(view, form)
    if to is None:
        typer.echo(text, nl=False)
        return
    try:
        with to.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except FileExistsError:
        _refuse(to)
    say(f"written: {shown(to)}")
    say(view.citation)


def _text(view: RunView, form: str) -> str:
    """The run in one of the forms."""
    if form == "cite":
        return f"{view.citation}\n"
    if form == "text":
        file = StringIO()
        screen = console(file=file, force_terminal=True, color_system=None, width=WIDTH)
        print_view(view, screen, cite=True)
        return file.getvalue()
    from delibsim.analysis.run import written  # imports Jinja2

    if form == "json":
        plain = written.plain(view)
        return json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    return {"html": written.html, "markdown": written.markdown, "csv": written.table}[form](view)


def _refuse(to: Path) -> None:
    """WrongInput where a file cannot be written without touching another."""
    if to.exists() or to.is_symlink():
        raise WrongInput(f"{to} is there already and is left as it is; take another name")
    if not to.parent.is_dir():
        raise WrongInput(f"there is no folder {to.parent}; make it, or name another file: -o")


INDENT2 = 5  # columns before what was said
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
        _print_two(found, screen, whole)


def _print_two(found: Beside, screen: Console, whole: bool) -> None:
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
        print_text(f"{letter}  {told}", screen, indent=INDENT2)


def _print_same(part: list[TextsBeside], screen: Console) -> None:
    """Print which turns are the same in both runs."""
    places = [words.heading.split()[0] for words in part]
    which = f"{places[0]} to {places[-1]}" if len(places) > 1 else places[0]
    turns = counted(len(part), "turn")
    screen.print(f"\n     {turns} ({which}) the same, word for word", style="dim")


def _print_words(words: TextsBeside, screen: Console, whole: bool) -> None:
    """Print two texts as one with marks, or one below the other where they have little in
    common.
    """
    if words.pieces is not None:
        text = marked(words.pieces, None if whole else AROUND)
        print_text(_cut(text, whole), screen, indent=INDENT2)
        return
    for letter, text in (("A", words.a), ("B", words.b)):
        if text is not None:
            print_text(f"{letter}  {_cut(text, whole)}", screen, indent=INDENT2)


def _cut(text: str, whole: bool) -> str:
    return text if whole else " ".join(brief(text)).rstrip()


def _print_table(table: DisplayTable, screen: Console) -> None:
    if table.rows:
        screen.print()
        show_table(table, screen)
