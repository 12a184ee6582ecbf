"""`delibsim show`: read a run."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from delibsim.analysis.calls import dropped_in, without_effect
from delibsim.analysis.run_summary import missing
from delibsim.analysis.run_transcript import Line, answers_to, facts, lines
from delibsim.cli.options import RUNS, Json, RunName, RunsFolder
from delibsim.cli.table import Column, print_table, print_text
from delibsim.cli.terminal import brief, console, echo_json, run_at, safe
from delibsim.conduct.replay import exchanges_of
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.measure import HEADINGS
from delibsim.domain.run import Run
from delibsim.models.replay import Exchange
from delibsim.store.codec import Damaged, run_to_plain
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)
BESIDE = 6  # participants in one table of answers
INDENT = 5  # columns before what was said


@app.command()
def show(
    run: RunName,
    answers: Annotated[
        bool, typer.Option(help="Print everybody's answers before and after.")
    ] = True,
    call: Annotated[
        str | None,
        typer.Option(
            help="Print one call whole, by its id (Participant 1/pre/0); 'all' lists them."
        ),
    ] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Print long statements whole.")] = False,
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
    for person in session.participants:
        persona = f": {' '.join(person.persona.split())}" if person.persona else ""
        print_text(safe(f"  {person.id} ({person.model}){persona}"), screen, "dim")
    turns = list(lines(run, _exchanges(runs, session.id)))
    for line in turns:
        _print_line(line, screen, whole)
    if not turns:
        screen.print("\nNobody spoke in this session.")
    if with_answers:
        _print_answers(run, screen)
    shortened = [str(said.turn.index) for said in run.transcript if said.cut]
    if shortened:
        which = f"{len(shortened)} (turn {', '.join(shortened)})"
        screen.print(f"speeches cut at the end of a sentence: {which}", soft_wrap=True)
    for dropped in without_effect(dropped_in(run, runs)):
        screen.print(f"dropped: {safe(dropped)}")


def _print_line(line: Line, screen: Console, whole: bool) -> None:
    if line.heading:
        screen.print(f"\n{line.heading}", style="bold")
    speaker = Text(f"\n{line.turn.index:>3}  {safe(line.turn.speaker)}", style="bold")
    screen.print(speaker.append(f"  {line.time} UTC" if line.time else "", style="dim"))
    text, cut = (safe(line.text), "") if whole else brief(line.text)
    print_text(text, screen, indent=INDENT)
    if cut:
        screen.print(f"     {cut}; the rest is shown with --whole", style="dim", soft_wrap=True)


def _print_answers(run: Run, screen: Console) -> None:
    people = [person.id for person in run.session.respondents]
    screen.print()
    _print_table(run, people, screen)
    turned = [one.participant for one in run.responses if one.reversed and one.phase == "pre"]
    if turned:
        screen.print(
            f"scale shown the other way round, answers mapped back: {safe(', '.join(turned))}"
        )
    for gap in missing(run):
        occasion = HEADINGS.get(gap["occasion"], gap["occasion"])
        line = f"missing: {gap['participant']}, {occasion}: {gap['reason']}"
        screen.print(safe(line))


def _print_table(run: Run, people: Sequence[str], screen: Console) -> None:
    """Print the answers of all, before > after, one column a participant."""
    survey = run.session.survey
    scale = f"{survey.scale_min} to {survey.scale_max}"
    title = f"Answers before > after ({scale}; P: ranks, 1 is best)"
    for first in range(0, len(people), BESIDE):
        beside = people[first : first + BESIDE]
        names = [safe(person).replace("Participant ", "P.") for person in beside]
        rows = []
        for item in survey.items:
            given = list(answers_to(run, item.id))[first : first + BESIDE]
            cells = [_cell(before, after) for before, after in given]
            rows.append([f"{item.id} {safe(item.text)}", *cells])
        if first:
            screen.print()
        print_table(title, [Column("item", text=True), *map(Column, names)], rows, screen)


def _cell(before: int | None, after: int | None) -> str:
    shown = ["?" if value is None else str(value) for value in (before, after)]
    return " > ".join(shown)


def _print_list(exchanges: Mapping[str, Exchange], screen: Console, as_json: bool) -> None:
    """Print the id, the status and the detail of every call."""
    listed: list[dict[str, Any]] = []
    for id, exchange in exchanges.items():
        done = exchange.completion
        listed.append({"id": id, "status": done.status, "detail": done.detail})
    if as_json:
        echo_json(listed)
        return
    for one in listed:
        screen.print(f"{one['id']}  {one['status']}  {safe(one['detail'])}", soft_wrap=True)


def _print_call(exchange: Exchange, screen: Console) -> None:
    """Print exactly what was sent and what came back.

    When it was sent is left to --json, so that two calls that were asked alike are printed alike.
    """
    for message in exchange.messages:
        screen.print(f"[{message.role}]", style="bold")
        screen.print(safe(message.content), soft_wrap=True)
    screen.print(f"\n[reply: {exchange.completion.status}]", style="bold")
    screen.print(safe(exchange.completion.text), soft_wrap=True)
    for name, fact in facts(exchange).items():
        screen.print(f"{name}: {safe(fact)}", style="dim", soft_wrap=True)
