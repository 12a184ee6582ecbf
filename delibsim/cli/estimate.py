"""`delibsim estimate`: what a plan will cost, before anything is called, and every prompt of it to
be read.
"""

import asyncio
import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from delibsim.cli.effects import Effects, effects_of
from delibsim.cli.study import REPEATED
from delibsim.cli.terminal import console, echo_json, safe, shown
from delibsim.domain.errors import WrongInput
from delibsim.planning.compose import Plan, plan
from delibsim.planning.estimate import Assumptions, Estimate, Load, Range, estimate
from delibsim.planning.freeze import frozen
from delibsim.planning.render import render
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)

EPILOG = """
Ranges hold if statements keep to --words and replies are readable at once; re-asks and repeated attempts are not counted. Tokens are
counted from characters, so the range is that of different tokenizers. Cached input: from none to all that an earlier prompt of the
plan may have begun with. --runs FOLDER is the folder that holds all studies.
"""


@app.command("estimate", epilog=EPILOG)
def command(
    overrides: Annotated[
        list[str] | None,
        typer.Argument(help="Settings as key=value, the same as for delibsim run."),
    ] = None,
    multirun: Annotated[
        bool,
        typer.Option("--multirun", "-m", help="Every combination of the values given: a sweep."),
    ] = False,
    words: Annotated[
        str,
        typer.Option(
            help=(
                "Words of a statement, at least and at most, such as 75-200; without it, half to a"
                " third more than "
                "procedure.words, or 240-725 where that names no number."
            )
        ),
    ] = "",
    latency: Annotated[
        float, typer.Option(min=0, help="Seconds that a call is assumed to take.")
    ] = 10.0,
    thinking: Annotated[
        str,
        typer.Option(
            help="Tokens of thinking in a call, such as 500-3000; without it, up to max_tokens."
        ),
    ] = "",
    folder: Annotated[
        Path | None,
        typer.Option(
            "--render", help="Write every prompt of the plan into this folder, a file a cell."
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--every", help="With --render: a file for each session instead.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """What holding these sessions takes: calls, tokens, US dollars, time. Nothing is called, and
    the study is left as it is.
    """
    assumptions = Assumptions(
        words=_range(words, "words") if words else None,
        latency=latency,
        thinking=_range(thinking, "thinking") if thinking else None,
    )
    if every and folder is None:
        raise WrongInput("--every says how prompts are written, and needs --render FOLDER")
    planned = plan(overrides or [], sweep=multirun)
    runs = Runs(planned.root, planned.study)
    runs.compare(frozen(planned))
    for session in planned.sessions:
        runs.compare_plan(session)
    found = asyncio.run(
        estimate(planned.sessions, runs, planned.limits, planned.addresses, assumptions)
    )
    effects = effects_of(planned.sessions)
    rendered = None if folder is None else render(planned.sessions, folder, every)
    if as_json:
        files = (
            None
            if rendered is None
            else {"folder": str(folder), "files": rendered[0], "different": rendered[1]}
        )
        repeated = {"combinations_without_a_session_of_their_own": planned.repeated}
        echo_json({**plain(planned, found), **repeated, **effects.plain(), "rendered": files})
        return
    print_estimate(planned, found, effects, console())
    if folder is not None and rendered is not None:
        number, different = rendered
        text = (
            f"Prompts    {number} files in {shown(folder.resolve())}, {different} of them different"
            " in more than the models asked"
        )
        console().print(text, soft_wrap=True)


def plain(planned: Plan, found: Estimate) -> dict[str, Any]:
    """An estimate as plain values; tokens are whole numbers, from low to high."""
    seconds, binding = found.longest
    lines = [
        {"model": line.model, "provider": line.provider or None, "sessions": line.load.sessions}
        | _tokens(line.load, line.cached)
        | {
            "usd": None if line.usd is None else asdict(line.usd),
            "price": line.price,
            "unknown": list(line.unknown),
        }
        for line in found.lines
    ]
    total = _tokens(found.total, sum((line.cached for line in found.lines), Range()))
    return {
        "study": planned.study,
        "sessions": {
            "planned": found.planned,
            "held": found.held,
            "waiting": found.waiting,
            "cut_off": found.cut_off,
        },
        "calls_on_record": found.recorded,
        "models": lines,
        "total": (
            total
            | {
                "usd": asdict(found.usd),
                "usd_unknown": [line.model for line in found.lines if line.usd is None],
            }
        ),
        "time": {
            "seconds": seconds,
            "bound_by": binding,
            "providers": {
                name: {"seconds": taken, "bound_by": why}
                for name, (taken, why) in found.seconds.items()
            },
        },
        "assumptions": asdict(found.assumptions),
        "not_counted": ["re-asks", "repeated attempts"],
    }


def print_estimate(planned: Plan, found: Estimate, effects: Effects, screen: Console) -> None:
    """Print an estimate for reading, and what it rests on."""
    parts = [f"{found.held} held already, {found.waiting} to be held"]
    if found.cut_off:
        parts.append(
            f"{found.cut_off} of them cut off, with {found.recorded} calls on record that are not"
            " asked again"
        )
    screen.print(
        safe(f"study {planned.study}: {found.planned} sessions, {', '.join(parts)}"), soft_wrap=True
    )
    if planned.repeated:
        screen.print(REPEATED.format(planned.repeated), soft_wrap=True)
    effects.print(screen)
    if found.waiting:
        print_lines(planned, found, screen)


def print_lines(planned: Plan, found: Estimate, screen: Console, unit: str = "sessions") -> None:
    """Print what each model is asked and what that costs, and what the numbers rest on."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("model", overflow="fold")
    for head in (unit, "calls", "input tokens", "of it cached", "output tokens", "USD"):
        table.add_column(head, justify="right", no_wrap=True)
    for line in found.lines:
        table.add_row(
            safe(line.model),
            *_cells(line.load, line.cached),
            "unknown" if line.usd is None else _dollars(line.usd),
        )
    if len(found.lines) > 1:
        cached = sum((line.cached for line in found.lines), Range())
        known = "" if all(line.usd is not None for line in found.lines) else " + unknown"
        table.add_row("total", *_cells(found.total, cached), _dollars(found.usd) + known)
    screen.print(table)
    for line in notes(planned, found):
        screen.print(safe(line), soft_wrap=True)


def notes(planned: Plan, found: Estimate) -> list[str]:
    """What binds the time, what is unknown, and what the numbers rest on."""
    limits, assumed, lines = planned.limits, found.assumptions, []
    for provider, (seconds, binding) in found.seconds.items():
        lines.append(f"Time       {provider}: at least {_duration(seconds)}, bound by {binding}")
    if len(found.seconds) > 1:
        lines.append(
            f"           in all at least {_duration(found.longest[0])}: providers are asked side by"
            " side"
        )
    unknown: dict[str, list[str]] = {}
    for line in found.lines:
        for text in line.unknown:
            unknown.setdefault(text, []).append(line.model)
    lines += [f"Unknown    {', '.join(models)}: {text}" for text, models in unknown.items()]
    if limits.budget_usd is not None and found.usd.high > limits.budget_usd:
        lines.append(
            f"Budget     limits.budget_usd={limits.budget_usd:g} is less than this may cost: it may"
            " stop the study before its end"
        )
    tokens = found.total.input.high + found.total.output.high
    if limits.budget_tokens is not None and tokens > limits.budget_tokens:
        lines.append(
            f"Budget     limits.budget_tokens={limits.budget_tokens} is less than this may use: it"
            " may stop the study before its end"
        )
    low, high = assumed.words or (0, 0)
    said = f"statements of {low} to {high} words, " if high else ""
    lines.append(
        f"Assumed    {said}{assumed.latency:g} s a call, replies that are readable at once"
    )
    prices = sorted(
        {line.price for line in found.lines if line.usd is not None and line.price != "free"}
    )
    lines += [f"Prices     {', '.join(prices)}"] if prices else []
    return lines


def _range(text: str, option: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", text.strip())
    if not found or int(found[1]) > int(found[2] or found[1]):
        raise WrongInput(
            f"--{option} is a range of whole numbers, such as 75-200, not '{safe(text)}'"
        )
    return int(found[1]), int(found[2] or found[1])


def _tokens(load: Load, cached: Range) -> dict[str, Any]:
    ranges = {"input_tokens": load.input, "cached_tokens": cached, "output_tokens": load.output}
    return {"calls": load.calls} | {
        name: {end: round(value) for end, value in asdict(r).items()} for name, r in ranges.items()
    }


def _cells(load: Load, cached: Range) -> list[str]:
    at_most = f"up to {_count(cached.high)}" if cached.high else "-"
    return [
        f"{load.sessions:,}",
        f"{load.calls:,}",
        _between(load.input),
        at_most,
        _between(load.output),
    ]


def _between(range_: Range) -> str:
    return f"{_count(range_.low)} - {_count(range_.high)}"


def _count(tokens: float) -> str:
    """Three digits of a count of tokens.

    >>> _count(950), _count(12_340), _count(8_668_803)
    ('950', '12.3k', '8.67M')
    """
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if tokens >= size:
            return (
                f"{tokens / size:.3g}{unit}"
                if tokens < 999.5 * size
                else f"{tokens / size:,.0f}{unit}"
            )
    return f"{tokens:.0f}"


def _dollars(usd: Range) -> str:
    return "0" if usd == Range() else f"{usd.low:,.2f} - {usd.high:,.2f}"


def _duration(seconds: float) -> str:
    """Seconds as a person would say them.

    >>> _duration(3700), _duration(42)
    ('1 h 2 min', '42 s')
    """
    hours, minutes = divmod(round(seconds / 60), 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min" if seconds >= 90 else f"{seconds:.0f} s"
