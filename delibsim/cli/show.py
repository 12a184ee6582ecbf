"""`delibsim show`: read a run."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from delibsim.analysis.calls import CallSummary, dropped_in, summary_of, without_effect
from delibsim.analysis.collective_statement import (
    on_consensus,
    statement_of,
    tables_of_votes,
)
from delibsim.analysis.individual_change import MEANING, who_moved, why_undefined
from delibsim.analysis.run_headings import design_in_words, table_of_measures, who_and_how
from delibsim.analysis.run_notes import notes_on_measures
from delibsim.analysis.run_summary import design, run_summary
from delibsim.analysis.run_transcript import (
    Line,
    codes_of,
    lineage,
    lines,
    on_answers,
    on_cuts,
    on_given,
    people_of,
    tables_of_answers,
)
from delibsim.cli.options import RUNS, Json, RunName, RunsFolder
from delibsim.cli.pager import paged
from delibsim.cli.table import print_text, show_table
from delibsim.cli.terminal import brief, console, echo_json, print_each, run_at, safe
from delibsim.conduct.scorers import annotator, measures_of, scorers_of_summary, scores_of
from delibsim.domain.consensus import Consensus
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.run import Run
from delibsim.domain.text import counted
from delibsim.store.branches import inherited
from delibsim.store.codec import Damaged, run_to_plain
from delibsim.store.interventions import KINDS, interventions_in
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)
INDENT = 5  # columns before what was said

ANSWERS = "Print everybody's answers, how each person's changed, and the measures."
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
    """Read a run: who took part under which treatment, the transcript with who spoke when,
    everybody's answers before and after, how each person's changed, and the measures.
    """
    runs, session = run_at(run, root)
    if call is None:
        held = _read(runs, session)
        if as_json:
            echo_json(run_to_plain(held))
            return
        with paged() as screen:
            _print_run(held, runs, screen, answers, whole)
        return
    runs.refuse_withdrawn(session)
    exchanges = _exchanges(runs, session)
    if call == "all":
        _print_list(exchanges, console(), as_json)
    elif call not in exchanges:
        raise unknown("call", call, exchanges)
    elif as_json:
        echo_json(exchanges[call].record())
    else:
        with paged() as screen:
            _print_call(exchanges[call], screen)


def _read(runs: Runs, session: str) -> Run:
    try:
        return runs.run(session)
    except Damaged as error:
        raise WrongInput(
            f"{error}. The file is left alone; its exchanges may still replay"
        ) from None


def _exchanges(runs: Runs, session: str) -> dict[str, Any]:
    """The calls by id; a repeated attempt takes the place of the one that failed on the way."""
    from delibsim.conduct.replay import record_of  # takes as long to import as all the rest

    return {exchange.id: exchange for exchange in record_of(runs, session)}


def _print_run(run: Run, runs: Runs, screen: Console, with_answers: bool, whole: bool) -> None:
    """Print a run for reading, long statements cut unless `whole`."""
    session = run.session
    records, damaged = runs.exchanges(session.id)
    _print_heading(run, summary_of(records, damaged), screen, whole)
    turns = list(lines(run, [*inherited(runs, session.id)[0], *records]))
    codes = codes_of(annotator(runs)(run))
    for turn in turns:
        _print_line(turn, screen, whole)
        _print_codes(codes.pop(f"{session.id}/{turn.turn.index}", ()), screen)
    if not turns:
        screen.print("\nNobody spoke in this session.")
    for text, own in codes.items():
        screen.print(f"\ncodes of {safe(text)}", soft_wrap=True)
        _print_codes(own, screen)
    if with_answers:
        tables = tables_of_answers(run)
        if not tables:
            screen.print()
        for table in tables:
            screen.print()
            show_table(table, screen)
        for line in on_answers(run):
            screen.print(safe(line))
        _print_who_moved(run, screen)
        _print_measures(run, runs, screen)
    if run.consensus is not None:
        _print_consensus(run.consensus, screen)
    print_each([*on_cuts(run), *on_given(run)], screen)
    _print_interventions(runs, session.id, screen)
    for line in without_effect(dropped_in(run, runs)):
        screen.print(f"dropped: {safe(line)}")


def _print_heading(run: Run, calls: CallSummary, screen: Console, whole: bool) -> None:
    """Print how a run was planned and who took part; the instructions of its treatment if
    `whole`.
    """
    session = run.session
    plan = design(session, calls) | {"calls": vars(calls)}
    screen.print(safe(session.topic.question), style="bold")
    screen.print(f"session {safe(session.id)}, {run.status}")
    print_each(lineage(session), screen)
    print_each((who_and_how(plan),), screen)
    print_each((design_in_words(plan),), screen, "dim")
    if whole and session.treatment.instructions:
        print_text(f"  {session.treatment.instructions}", screen, "dim")
    for line in people_of(run):
        print_text(line, screen, "dim")


def _print_measures(run: Run, runs: Runs, screen: Console) -> None:
    """Print the measures of a deliberation, beside those of people where they are known."""
    if run.session.kind.sides:
        return
    scorers = scorers_of_summary()
    measures, scores = measures_of(scorers), scores_of(run, scorers)
    summary = run_summary(runs, run.session.id, scores, measures).plain()
    screen.print()
    show_table(table_of_measures(summary, measures), screen)
    notes = notes_on_measures(summary, measures)
    print_each((f"{label:<11}{note}" for label, note in notes), screen)


def _print_who_moved(run: Run, screen: Console) -> None:
    """Print how far every participant of a deliberation moved."""
    from delibsim.analysis.individual_change import rows_of  # numpy, which no other reader needs

    if rows := rows_of(run):
        screen.print()
        show_table(who_moved(rows), screen)
        print_each(why_undefined(rows), screen)
        screen.print(MEANING, soft_wrap=True)


def _print_consensus(consensus: Consensus, screen: Console) -> None:
    """Print the collective statement, the votes, and whom it leaves out."""
    text, chosen = statement_of(consensus)
    screen.print("\nCollective statement", style="bold")
    if text:
        print_text(safe(text), screen, indent=INDENT)
    screen.print(f"{' ' * INDENT}{chosen}", soft_wrap=True)
    for table in tables_of_votes(consensus):
        screen.print()
        show_table(table, screen)
    print_each(on_consensus(consensus), screen)


def _print_interventions(runs: Runs, session: str, screen: Console) -> None:
    """Print what the researcher did to the people of a session while it was held."""
    acts, damaged = interventions_in(runs, session)
    if acts or damaged:
        screen.print("\nInterventions of the researcher", style="bold")
    for act in acts:
        whom = f" ({safe(act.seat)})" if act.seat else ""
        text = f": {safe(act.text)}" if act.text else ""
        screen.print(f"{act.at}  {KINDS[act.kind]}{whom}{text}", soft_wrap=True)
    if damaged:
        screen.print(f"{counted(damaged, 'damaged line')} left out")


def _print_line(line: Line, screen: Console, whole: bool) -> None:
    if line.heading:
        screen.print(f"\n{line.heading}", style="bold")
    speaker = Text(f"\n{line.turn.index:>3}  {safe(line.turn.speaker)}", style="bold")
    screen.print(speaker.append(f"  {line.time} UTC" if line.time else "", style="dim"))
    text, cut = (safe(line.text), "") if whole else brief(line.text)
    print_text(text, screen, indent=INDENT)
    if cut:
        screen.print(f"     {cut}; the rest is shown with --whole", style="dim", soft_wrap=True)


def _print_codes(codes: Iterable[str], screen: Console) -> None:
    """Print the levels that coders gave a text, below it."""
    for line in codes:
        print_text(line, screen, "dim", indent=INDENT)


def _print_list(exchanges: Mapping[str, Any], screen: Console, as_json: bool) -> None:
    """Print the id, the status and the detail of every call."""
    listed: list[dict[str, Any]] = []
    for id, exchange in exchanges.items():
        done = exchange.completion
        listed.append({"id": id, "status": done.status, "detail": done.detail})
    if as_json:
        echo_json(listed)
        return
    print_each((f"{one['id']}  {one['status']}  {one['detail']}" for one in listed), screen)


def _print_call(exchange: Any, screen: Console) -> None:
    """Print exactly what was sent and what came back.

    When it was sent is left to --json, so that two calls that were asked alike are printed alike.
    """
    from delibsim.analysis.call_facts import facts

    for message in exchange.messages:
        screen.print(f"[{message.role}]", style="bold")
        screen.print(safe(message.content), soft_wrap=True)
    screen.print(f"\n[reply: {exchange.completion.status}]", style="bold")
    screen.print(safe(exchange.completion.text), soft_wrap=True)
    known = facts(exchange).items()
    print_each((f"{name}: {fact}" for name, fact in known), screen, "dim")
