"""`delibsim show`: read a run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from delibsim.cli.calls import dropped_in, without_effect
from delibsim.cli.summary import missing
from delibsim.cli.terminal import brief, console, echo_json, run_at, safe
from delibsim.conduct.replay import exchanges_of
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.participant import Participant
from delibsim.domain.run import Run
from delibsim.domain.transcript import Statement
from delibsim.models.replay import Exchange
from delibsim.store.codec import Damaged, run_to_plain

app = typer.Typer(add_completion=False)
BESIDE = 6  # participants in one table of answers


@app.command()
def show(
    run: Annotated[
        str,
        typer.Argument(
            help="Folder of the run, or study/session, or a study that has one session."
        ),
    ],
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
    root: Annotated[Path, typer.Option("--runs", help="The folder that holds all studies.")] = Path(
        "runs"
    ),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the run as JSON, every text as it came.")
    ] = False,
) -> None:
    """Read a run: the transcript with who spoke when, and everybody's answers before and after."""
    runs, session = run_at(run, root)
    if call is not None:
        # A repeated attempt stands in the place of the one that failed on the way.
        print_call(
            {exchange.id: exchange for exchange in exchanges_of(runs, session)[0]},
            call,
            console(),
            as_json,
        )
        return
    try:
        held = runs.run(session)
    except Damaged as error:
        raise WrongInput(
            f"{error}. The file is left alone; its exchanges may still replay"
        ) from None
    if as_json:
        echo_json(run_to_plain(held))
        return
    times = {
        exchange.purpose.occasion: exchange.started for exchange in exchanges_of(runs, session)[0]
    }
    print_run(held, times, console(), answers, whole)
    if shortened := [str(said.turn.index) for said in held.transcript if said.cut]:
        console().print(
            f"speeches cut at the end of a sentence: {len(shortened)} (turn"
            f" {', '.join(shortened)})",
            soft_wrap=True,
        )
    for line in without_effect(dropped_in(held, runs)):
        console().print(f"dropped: {safe(line)}")


def print_run(
    run: Run, times: dict[str, str], screen: Console, answers: bool = True, whole: bool = False
) -> None:
    """Print a run for reading, long statements cut unless `whole`; `times` gives the UTC time of
    each occasion.
    """
    session = run.session
    screen.print(safe(session.topic.question), style="bold")
    screen.print(f"session {safe(session.id)}, seed {session.seed}, {run.status}")
    for participant in session.participants:
        persona = f": {safe(' '.join(participant.persona.split()))}" if participant.persona else ""
        screen.print(safe(f"  {participant.id} ({participant.model})") + persona, style="dim")
    spoken = sorted([*run.transcript, *run.silences], key=lambda said: said.turn.index)
    round_ = 0
    for said in spoken:
        turn = said.turn
        if turn.round != round_:
            round_ = turn.round
            title = f"Round {round_}" if session.format != "debate" else turn.task.capitalize()
            screen.print(f"\n{title}", style="bold")
        time = times.get(f"turn {turn.index}", "")[11:19]
        screen.print(
            Text(f"\n{turn.index:>3}  {safe(turn.speaker)}", style="bold").append(
                f"  {time} UTC" if time else "", style="dim"
            )
        )
        text = (
            said.text
            if isinstance(said, Statement)
            else f"(no statement: {said.status}: {said.reason})"
        )
        shown, cut = (safe(text), "") if whole else brief(text)
        screen.print(Padding(Text(shown), (0, 0, 0, 5)))
        if cut:
            screen.print(f"     {cut}; the rest is shown with --whole", style="dim", soft_wrap=True)
    if not spoken:
        screen.print("\nNobody spoke in this session.")
    if answers:
        people = run.session.respondents
        for first in range(0, len(people), BESIDE):
            screen.print()
            screen.print(_answers(run, people[first : first + BESIDE]))
        if turned := [
            response.participant
            for response in run.responses
            if response.reversed and response.phase == "pre"
        ]:
            screen.print(
                f"scale shown the other way round, answers mapped back: {safe(', '.join(turned))}"
            )
        for entry in missing(run):
            screen.print(
                f"missing: {safe(entry['participant'])}, {entry['occasion']}:"
                f" {safe(entry['reason'])}"
            )


def print_call(exchanges: dict[str, Exchange], call: str, screen: Console, as_json: bool) -> None:
    """Print exactly what was sent and what came back in one call, or list all calls.

    When it was sent is left to --json, so that two calls that were asked alike are printed alike.
    """
    if call == "all":
        if as_json:
            echo_json(
                [
                    {"id": id, "status": e.completion.status, "detail": e.completion.detail}
                    for id, e in exchanges.items()
                ]
            )
            return
        for id, exchange in exchanges.items():
            screen.print(
                f"{id}  {exchange.completion.status}  {safe(exchange.completion.detail)}",
                soft_wrap=True,
            )
        return
    if call not in exchanges:
        raise unknown("call", call, exchanges)
    exchange = exchanges[call]
    if as_json:
        echo_json(exchange.record())
        return
    for message in exchange.messages:
        screen.print(f"[{message.role}]", style="bold")
        screen.print(safe(message.content), soft_wrap=True)
    completion = exchange.completion
    screen.print(f"\n[reply: {completion.status}]", style="bold")
    screen.print(safe(completion.text), soft_wrap=True)
    facts = {
        "detail": completion.detail,
        "reasoning": completion.reasoning,
        "model": f"{completion.model_requested}, answered by {completion.model_returned}",
        "parameters sent": dict(completion.parameters_sent),
        "parameters dropped": list(completion.parameters_dropped),
        "usage": completion.usage,
        "finish_reason": completion.finish_reason,
        "tries before": "; ".join(
            f"{t.status}: {t.detail} (waited {t.waited:g} s)" for t in completion.tries
        ),
        "seed": exchange.seed,
    }
    for name, fact in facts.items():
        if fact != "":
            screen.print(f"{name}: {safe(str(fact))}", style="dim", soft_wrap=True)


def _answers(run: Run, people: Sequence[Participant]) -> Table:
    """A table of answers, before > after, one column a participant."""
    survey = run.session.survey
    table = Table(
        title=(
            f"Answers before > after ({survey.scale_min} to {survey.scale_max}; P: ranks, 1 is"
            " best)"
        ),
        title_justify="left",
        box=None,
    )
    table.add_column("item", overflow="fold")
    for participant in people:
        table.add_column(
            safe(participant.id).replace("Participant ", "P."), justify="right", no_wrap=True
        )
    for item in survey.items:
        row: list[Any] = [Text(f"{item.id} {safe(item.text)}")]
        for participant in people:
            before, after = (
                run.response(participant.id, phase).answers.get(item.id)
                for phase in ("pre", "post")
            )
            moved = before is not None and after is not None and before != after
            row.append(Text(f"{_cell(before)} > {_cell(after)}", style="bold" if moved else "dim"))
        table.add_row(*row)
    return table


def _cell(value: int | None) -> str:
    return "?" if value is None else str(value)
