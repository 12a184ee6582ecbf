"""`delibsim show`: read a run."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from delibsim.analysis.calls import dropped_in, without_effect
from delibsim.analysis.run_transcript import (
    Line,
    facts,
    lines,
    on_answers,
    on_cuts,
    people_of,
    tables_of_answers,
)
from delibsim.cli.options import RUNS, Json, RunName, RunsFolder
from delibsim.cli.table import print_text, show_table
from delibsim.cli.terminal import brief, console, echo_json, print_each, run_at, safe
from delibsim.conduct.replay import exchanges_of
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.run import Run
from delibsim.models.replay import Exchange
from delibsim.store.codec import Damaged, run_to_plain
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)
INDENT = 5  # columns before what was said

ANSWERS = "Print everybody's answers before and after."
CALL = "Print one call whole, by its id (Participant 1/pre/0); 'all' lists them."
WHOLE = "Print long statements whole."


@app.command()
def show(
    run: RunName,
    answers: Annotated[bool, typer.Option(help=ANSWERS)] = True,
    call: Annotated[str | None, typer.Option(help=CALL)] = None,
    whole: Annotated[bool, typer.Option("--whole", help=WHOLE)] = False,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Read a run: the transcript with who spoke when, and everybody's answers before and after."""
    runs, session = run_at(run, root)
    screen = console()
    if call is None:
        held = _read(runs, session)
        if as_json:
            echo_json(run_to_plain(held))
        else:
            _print_run(held, runs, screen, answers, whole)
        return
    exchanges = _exchanges(runs, session)
    if call == "all":
        _print_list(exchanges, screen, as_json)
    elif call not in exchanges:
        raise unknown("call", call, exchanges)
    elif as_json:
        echo_json(exchanges[call].record())
    else:
        _print_call(exchanges[call], screen)


def _read(runs: Runs, session: str) -> Run:
    try:
        return runs.run(session)
    except Damaged as error:
        raise WrongInput(
            f"{error}. The file is left alone; its exchanges may still replay"
        ) from None


def _exchanges(runs: Runs, session: str) -> dict[str, Exchange]:
    """The calls by id; a repeated attempt takes the place of the one that failed on the way."""
    return {exchange.id: exchange for exchange in exchanges_of(runs, session)[0]}


def _print_run(run: Run, runs: Runs, screen: Console, with_answers: bool, whole: bool) -> None:
    """Print a run for reading, long statements cut unless `whole`."""
    session = run.session
    screen.print(safe(session.topic.question), style="bold")
    screen.print(f"session {safe(session.id)}, seed {session.seed}, {run.status}")
    for line in people_of(run):
        print_text(line, screen, "dim")
    turns = list(lines(run, _exchanges(runs, session.id)))
    for turn in turns:
        _print_line(turn, screen, whole)
    if not turns:
        screen.print("\nNobody spoke in this session.")
    if with_answers:
        tables = tables_of_answers(run)
        if not tables:
            screen.print()
        for table in tables:
            screen.print()
            show_table(table, screen)
        for line in on_answers(run):
            screen.print(safe(line))
    print_each(on_cuts(run), screen)
    for line in without_effect(dropped_in(run, runs)):
        screen.print(f"dropped: {safe(line)}")


def _print_line(line: Line, screen: Console, whole: bool) -> None:
    if line.heading:
        screen.print(f"\n{line.heading}", style="bold")
    speaker = Text(f"\n{line.turn.index:>3}  {safe(line.turn.speaker)}", style="bold")
    screen.print(speaker.append(f"  {line.time} UTC" if line.time else "", style="dim"))
    text, cut = (safe(line.text), "") if whole else brief(line.text)
    print_text(text, screen, indent=INDENT)
    if cut:
        screen.print(f"     {cut}; the rest is shown with --whole", style="dim", soft_wrap=True)


def _print_list(exchanges: Mapping[str, Exchange], screen: Console, as_json: bool) -> None:
    """Print the id, the status and the detail of every call."""
    listed: list[dict[str, Any]] = []
    for id, exchange in exchanges.items():
        done = exchange.completion
        listed.append({"id": id, "status": done.status, "detail": done.detail})
    if as_json:
        echo_json(listed)
        return
    print_each((f"{one['id']}  {one['status']}  {one['detail']}" for one in listed), screen)


def _print_call(exchange: Exchange, screen: Console) -> None:
    """Print exactly what was sent and what came back.

    When it was sent is left to --json, so that two calls that were asked alike are printed alike.
    """
    for message in exchange.messages:
        screen.print(f"[{message.role}]", style="bold")
        screen.print(safe(message.content), soft_wrap=True)
    screen.print(f"\n[reply: {exchange.completion.status}]", style="bold")
    screen.print(safe(exchange.completion.text), soft_wrap=True)
    known = facts(exchange).items()
    print_each((f"{name}: {fact}" for name, fact in known), screen, "dim")
