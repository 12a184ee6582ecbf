"""`delibsim estimate`: what a plan will cost, before anything is called, and all of its prompts."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from delibsim.analysis.table import numbers, texts
from delibsim.cli.options import RUNS, Words, declared, study_first, with_runs
from delibsim.cli.table import print_table
from delibsim.cli.terminal import agreed, console, echo_json, on_terminal, print_each, safe, shown
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted

if TYPE_CHECKING:
    from delibsim.models.limits import Limits
    from delibsim.models.replay import Exchange
    from delibsim.planning.compose import Plan
    from delibsim.planning.costing import Assumptions
    from delibsim.planning.effects import Effects
    from delibsim.planning.estimate import Estimate
    from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)

PAID = ("litellm", "openai_compatible")
"""The kinds of models that may cost money."""

FOLDER = "Write every prompt of the plan into this folder, a file a cell."


@declared(app, "estimate", "estimate")
def command(
    study: str | None = None,
    settings: Words = None,
    multirun: bool = False,
    words: str = "",
    latency: float = 10.0,
    thinking: str = "",
    folder: Path | None = None,
    every: bool = False,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """What holding these sessions takes: calls, tokens, US dollars, time. Nothing is called, and
    the study is left as it is.
    """
    from delibsim.planning.compose import plan  # slow to import, and no part of the help
    from delibsim.planning.costing import Assumptions
    from delibsim.planning.dry_run import render

    assumptions = Assumptions(_range(words, "words"), latency, _range(thinking, "thinking"))
    if every and folder is None:
        raise WrongInput("--every says how prompts are written, and needs --render FOLDER")
    named, words_of_plan = study_first(study, settings)
    planned = plan(with_runs(words_of_plan, root, named), sweep=multirun, named=False)
    rendered = None
    if folder is not None:
        files, different = render(planned.sessions, folder, every)
        rendered = {"folder": str(folder), "files": files, "different": different}
    show_estimate(planned, as_json, assumptions, rendered)
    if as_json:
        return
    if folder is not None and rendered is not None:
        console().print(
            f"Prompts    {counted(int(rendered['files']), 'file')} in {shown(folder.resolve())},"
            f" {rendered['different']} of them different in more than the models asked",
            soft_wrap=True,
        )


def ask_first(
    planned: "Plan", runs: "Runs", yes: bool, past: "Mapping[str, Sequence[Exchange]] | None" = None
) -> None:
    """On a terminal, ask whether sessions are to be held that may cost more than 5 USD; exit code 3
    where the answer is no. `past` holds for every branch what it has of its parent's record.
    """
    if yes or not on_terminal():
        return
    if not any(
        one.get("kind") in PAID for each in planned.sessions for one in each.voices.values()
    ):
        return
    import asyncio

    from delibsim.planning.estimate import estimate

    found = asyncio.run(
        estimate(planned.sessions, runs, planned.limits, planned.addresses, past=past)
    )
    agreed(found.usd.high, yes)


def show_estimate(
    planned: "Plan",
    as_json: bool,
    assumptions: "Assumptions | None" = None,
    rendered: dict[str, Any] | None = None,
) -> None:
    """Print what holding the sessions of a plan takes that have no run yet. Nobody is called, and
    nothing is written.
    """
    from delibsim.planning.freeze import frozen
    from delibsim.store.runs import Runs

    runs = Runs(planned.root, planned.study)
    runs.compare(frozen(planned), planned.sessions)
    for session in planned.sessions:
        runs.compare_plan(session)
    show_waiting(planned, runs, as_json, assumptions, rendered)


def show_waiting(
    planned: "Plan",
    runs: "Runs",
    as_json: bool,
    assumptions: "Assumptions | None" = None,
    rendered: dict[str, Any] | None = None,
) -> None:
    """The same of sessions whose plans lie in the study."""
    import asyncio

    from delibsim.planning.effects import effects_of
    from delibsim.planning.estimate import estimate
    from delibsim.planning.estimate_tables import plain

    found = asyncio.run(
        estimate(planned.sessions, runs, planned.limits, planned.addresses, assumptions)
    )
    effects = effects_of(planned.sessions)
    if as_json:
        repeated = {"combinations_without_a_session_of_their_own": planned.repeated}
        found_plain = plain(planned, found)
        echo_json({**found_plain, **repeated, **effects.plain(), "rendered": rendered})
    else:
        print_estimate(planned, found, effects, console(), runs)


def print_estimate(
    planned: "Plan", found: "Estimate", effects: "Effects", screen: Console, runs: "Runs"
) -> None:
    """Print an estimate for reading, and what it rests on."""
    from delibsim.planning.compose import REPEATED
    from delibsim.planning.estimate_tables import heading

    screen.print(safe(heading(planned, found)), soft_wrap=True)
    if planned.repeated:
        screen.print(REPEATED.format(planned.repeated), soft_wrap=True)
    print_each(effects.lines(), screen)
    print_lines(planned, found, screen, runs=runs)


def print_lines(
    planned: "Plan | Limits",
    found: "Estimate",
    screen: Console,
    unit: str = "sessions",
    runs: "Runs | None" = None,
) -> None:
    """Print what each model is asked and what that costs, and what the numbers rest on; of a budget
    what the calls of the study `runs` have cost is spent.
    """
    from delibsim.conduct.cost import spent
    from delibsim.models.limits import Limits
    from delibsim.planning.estimate_tables import heads, notes, rows

    if not found.waiting:
        screen.print("Nothing is left to be asked: 0 calls, 0 tokens, 0 USD")
        return
    first, *others = heads(unit)
    print_table("", [*texts(first), *numbers(others)], rows(found), screen)
    limits = planned if isinstance(planned, Limits) else planned.limits
    limited = limits.budget_usd is not None or limits.budget_tokens is not None
    before = spent(runs) if runs is not None and limited else (0.0, 0)
    print_each(notes(planned, found, before), screen)


def _range(text: str, option: str) -> tuple[int, int] | None:
    """The range that an option gives; None where it is not given, WrongInput where it is none."""
    if not text:
        return None
    found = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", text.strip())
    if found:
        low, high = int(found[1]), int(found[2] or found[1])
        if low <= high:
            return low, high
    raise WrongInput(f"--{option} is a range of whole numbers, such as 75-200, not '{safe(text)}'")
