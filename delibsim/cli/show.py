"""`delibsim show`: read a run, or two runs beside each other; and a run as a text for others."""

import json
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from delibsim.analysis.run.view import Line, Part, RunView
from delibsim.cli.options import RUNS, Dir, Json
from delibsim.cli.pager import paged
from delibsim.cli.table import print_text, show_table
from delibsim.cli.terminal import brief, console, echo_json, print_each, run_at, safe, say, shown
from delibsim.conduct.view import Place, run_view, shared_view
from delibsim.domain.errors import WrongInput, unknown
from delibsim.store.codec import Damaged, run_to_plain

app = typer.Typer(add_completion=False)
INDENT = 5  # columns before what was said
WIDTH = 80  # columns of plain text
FORMS = ("html", "markdown", "text", "json", "csv", "cite")

RUN = "Folder of a run, or study/session, or a study that has one session; two for both together."
ANSWERS = "Print everybody's answers, how each person's changed, and the measures."
CALL = "Print one call whole, by its id (Participant 1/pre/0); 'all' lists them."
WHOLE = "Print long statements whole; of two runs also what is the same in both."


@app.command()
def show(
    run: Annotated[list[str], typer.Argument(metavar="RUN [RUN]", help=RUN)],
    answers: Annotated[bool, typer.Option(help=ANSWERS)] = True,
    call: Annotated[str | None, typer.Option(help=CALL)] = None,
    whole: Annotated[bool, typer.Option("--whole", help=WHOLE)] = False,
    root: Dir = RUNS,
    as_json: Json = False,
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
        from delibsim.cli.show_two import show_two  # what reads no two runs

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
        raise WrongInput(
            f"{error}. The file is left alone; its exchanges may still replay"
        ) from None


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


def _print_part(part: Part, screen: Console, whole: bool) -> None:
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


def _print_line(line: Line, screen: Console, whole: bool) -> None:
    if line.heading:
        screen.print(f"\n{line.heading}", style="bold")
    speaker = Text(f"\n{line.turn.index:>3}  {safe(line.turn.speaker)}", style="bold")
    screen.print(speaker.append(f"  {line.time} UTC" if line.time else "", style="dim"))
    text, cut = (safe(line.text), "") if whole else brief(line.text)
    print_text(text, screen, indent=INDENT)
    if cut:
        screen.print(f"     {cut}; the rest is shown with --whole", style="dim", soft_wrap=True)
    for code in line.codes:
        print_text(code, screen, "dim", indent=INDENT)


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
