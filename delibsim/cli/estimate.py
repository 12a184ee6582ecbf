"""What a plan takes, as commands print it before anything is asked: plain values, rows, sentences;
and the question whether to go on.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from delibsim.analysis.table import DisplayTable, numbers, texts
from delibsim.cli.table import show
from delibsim.cli.terminal import agreed, console, echo_json, on_terminal
from delibsim.conduct.cost import spent
from delibsim.conduct.forks import Branches
from delibsim.domain.cost import dollars
from delibsim.domain.text import counted, study_named
from delibsim.models.ask import apart
from delibsim.models.limits import Limits
from delibsim.models.replay import Exchange
from delibsim.planning.compose import REPEATED, StudyPlan
from delibsim.planning.costing import Assumptions, CostLine
from delibsim.planning.effects import effects_of
from delibsim.planning.estimate import CostEstimate, estimate
from delibsim.planning.freeze import as_begun, frozen
from delibsim.planning.load import Load, Range
from delibsim.store.runs import Runs

NOT_COUNTED = ("re-asks", "repeated attempts")


def plain(found: CostEstimate, study: str | None = None) -> dict[str, Any]:
    """An estimate as plain values; tokens are whole numbers, from low to high."""
    seconds, binding = found.longest
    cost = {"usd": asdict(found.usd), "usd_unknown": found.unpriced}
    providers = {}
    for name, (taken, why) in found.seconds.items():
        providers[name] = {"seconds": taken, "bound_by": why}
    return {
        "study": study,
        "sessions": {
            "planned": found.planned,
            "held": found.held,
            "waiting": found.waiting,
            "cut_off": found.cut_off,
        },
        "calls_on_record": found.recorded,
        "models": [_plain_line(line) for line in found.lines],
        "total": _plain_tokens(found.total, found.cached) | cost,
        "time": {"seconds": seconds, "bound_by": binding, "providers": providers},
        "assumptions": asdict(found.assumptions),
        "not_counted": list(NOT_COUNTED),
    }


def _plain_line(line: CostLine) -> dict[str, Any]:
    """One model as plain values."""
    return {
        "model": line.model,
        "provider": line.provider or None,
        "sessions": line.load.sessions,
        **_plain_tokens(line.load, line.cached),
        "usd": None if line.usd is None else asdict(line.usd),
        "price": line.price,
        "unknown": list(line.unknown),
    }


def _plain_tokens(load: Load, cached: Range) -> dict[str, Any]:
    """Calls and tokens as plain values."""
    ranges = {"input_tokens": load.input, "cached_tokens": cached, "output_tokens": load.output}
    found: dict[str, Any] = {"calls": load.calls}
    for name, tokens in ranges.items():
        found[name] = {"low": round(tokens.low), "high": round(tokens.high)}
    return found


def heading(study: str, found: CostEstimate) -> str:
    """How many sessions are planned, held and to be held."""
    parts = [f"{found.held} held already, {found.waiting} to be held"]
    if found.cut_off:
        parts.append(
            f"{found.cut_off} of them cut off, with {counted(found.recorded, 'call')} on record,"
            " not to be asked again"
        )
    sessions = counted(found.planned, "session")
    return f"{study_named(study)}: {sessions}, {', '.join(parts)}"


def notes(
    found: CostEstimate, limits: Limits, spent: tuple[float, int] = (0.0, 0)
) -> Iterator[str]:
    """What binds the time, what is unknown, and what the numbers rest on; US dollars and tokens
    were `spent` before.
    """
    yield from (*_times(found), *_unknowns(found), *_budgets(limits, found, spent))
    low, high = found.assumptions.words or (0, 0)
    statements = f"statements of {low} to {high} words, " if high else ""
    latency = found.assumptions.latency
    yield f"Assumed    {statements}{latency:g} s a call, replies that are readable at once"
    priced = {line.price for line in found.lines if line.usd is not None and line.price != "free"}
    if priced:
        yield f"Prices     {', '.join(sorted(priced))}"


HEADS = ("calls", "input tokens", "of it cached", "output tokens", "USD")
"""What stands in `rows` behind the model and how much it is asked for."""


def rows(found: CostEstimate) -> Iterator[list[str]]:
    """A row for each model; where there are several, a total."""
    for line in found.lines:
        usd = "unknown" if line.usd is None else _dollars(line.usd)
        yield [line.model, *_cells(line.load, line.cached), usd]
    if len(found.lines) > 1:
        unknown = " + unknown" if found.unpriced else ""
        yield ["total", *_cells(found.total, found.cached), _dollars(found.usd) + unknown]


def _times(found: CostEstimate) -> list[str]:
    """How long each provider is busy, and all of them together."""
    lines = []
    for provider, (seconds, binding) in found.seconds.items():
        lines.append(f"Time       {provider}: at least {_duration(seconds)}, bound by {binding}")
    if len(found.seconds) > 1:
        longest = _duration(found.longest[0])
        lines.append(f"           in all at least {longest}: providers are asked side by side")
    return lines


def _unknowns(found: CostEstimate) -> list[str]:
    """What is unknown, each with the models of which it is."""
    models: dict[str, list[str]] = {}
    for line in found.lines:
        for text in line.unknown:
            models.setdefault(text, []).append(line.model)
    return [f"Unknown    {', '.join(names)}: {text}" for text, names in models.items()]


def _budgets(limits: Limits, found: CostEstimate, spent: tuple[float, int]) -> list[str]:
    """The budgets that the plan may exceed."""
    lines = []
    end = "it may stop the study before its end"
    usd, tokens = limits.budget_usd, limits.budget_tokens
    if usd is not None and found.usd.high > usd - spent[0]:
        before = f", of which {dollars(spent[0])} USD are spent or reserved," if spent[0] else ""
        told = f"limits.budget_usd={usd:g}{before} is less than this may cost: {end}"
        lines.append(f"Budget     {told}")
    most = found.total.input.high + found.total.output.high
    if tokens is not None and most > tokens - spent[1]:
        before = f", of which {spent[1]:,} are spent or reserved," if spent[1] else ""
        told = f"limits.budget_tokens={tokens}{before} is less than this may use: {end}"
        lines.append(f"Budget     {told}")
    return lines


def _cells(load: Load, cached: Range) -> list[str]:
    """Sessions, calls and tokens of a row."""
    at_most = f"up to {_count(cached.high)}" if cached.high else "-"
    return [
        f"{load.sessions:,}",
        f"{load.calls:,}",
        _between(load.input),
        at_most,
        _between(load.output),
    ]


def _between(tokens: Range) -> str:
    return f"{_count(tokens.low)} - {_count(tokens.high)}"


def _count(tokens: float) -> str:
    """Three digits of a count of tokens.

    >>> _count(950), _count(12_340), _count(8_668_803)
    ('950', '12.3k', '8.67M')
    """
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if tokens >= 999.5 * size:
            return f"{tokens / size:,.0f}{unit}"
        if tokens >= size:
            return f"{tokens / size:.3g}{unit}"
    return f"{tokens:.0f}"


def _dollars(usd: Range) -> str:
    return "0" if usd == Range() else f"{usd.low:,.2f} - {usd.high:,.2f}"


def _duration(seconds: float) -> str:
    """Seconds in the unit that a person would use.

    >>> _duration(3700), _duration(42)
    ('1 h 2 min', '42 s')
    """
    hours, minutes = divmod(round(seconds / 60), 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min" if seconds >= 90 else f"{seconds:.0f} s"


FREE = ("citizen", "human", "person")
"""The kinds of models that cost nothing; any other may, those of plug-ins too."""
Past = Mapping[str, Sequence[Exchange]] | None
"""What every branch has of the record of its parent."""


def expected(
    planned: StudyPlan, runs: Runs, assumptions: Assumptions | None = None, past: Past = None
) -> CostEstimate:
    """What it takes to hold the sessions of a plan that have no run yet; nobody is asked."""
    limits, addresses = planned.limits, planned.addresses
    return asyncio.run(estimate(planned.sessions, runs, limits, addresses, assumptions, past))


def ask_first(planned: StudyPlan, runs: Runs, yes: bool, past: Past = None) -> None:
    """On a terminal, ask whether sessions are to be held that may cost more than 5 USD; exit code 3
    where the answer is no.
    """
    if yes or not on_terminal():
        return
    voices = [one for session in planned.sessions for one in session.voices.values()]
    if any(one.get("kind") not in FREE for one in voices):
        agreed(expected(planned, runs, past=past).usd.high, yes)


def show_estimate(
    planned: StudyPlan,
    as_json: bool,
    assumptions: Assumptions | None = None,
    rendered: dict[str, Any] | None = None,
) -> None:
    """Print what holding the sessions of a plan takes that have no run yet. Nobody is called, and
    nothing is written.
    """
    runs = Runs(planned.root, planned.study)
    planned = as_begun(planned, runs)
    runs.compare(frozen(planned), planned.sessions)
    for session in planned.sessions:
        runs.compare_plan(session)
    show_waiting(planned, runs, as_json, assumptions, rendered)


def show_waiting(
    planned: StudyPlan,
    runs: Runs,
    as_json: bool,
    assumptions: Assumptions | None = None,
    rendered: dict[str, Any] | None = None,
) -> None:
    """The same of sessions whose plans lie in the study."""
    found = expected(planned, runs, assumptions)
    effects = effects_of(planned.sessions)
    repeated = {"combinations_without_a_session_of_their_own": planned.repeated}
    values = {**plain(found, planned.study), **repeated, **effects.plain(), "rendered": rendered}
    before = [heading(planned.study, found)]
    voices = {name: own for one in planned.sessions for name, own in one.models.items()}
    before += [f"warning: {issue.text}" for issue in apart(voices.values())]
    before += [REPEATED.format(planned.repeated)] if planned.repeated else []
    show_found(found, planned.limits, values, as_json, [*before, *effects.lines()], runs=runs)


def show_estimate_of_branches(branches: Branches, as_json: bool) -> None:
    """Print what branches will take that have no run yet."""
    planned = branches.plan
    found = expected(planned, branches.runs, past=branches.past)
    counts = f"{found.held} held already, {found.waiting} to be held"
    number = counted(found.planned, "branch", "branches")
    before = [f"{study_named(planned.study)}: {number}, {counts}"]
    values = plain(found, planned.study)
    show_found(found, planned.limits, values, as_json, before, "branches", branches.runs)


def show_found(
    found: CostEstimate,
    limits: Limits,
    values: Mapping[str, Any],
    as_json: bool,
    before: Iterable[str],
    unit: str = "sessions",
    runs: Runs | None = None,
    after: Iterable[str] = (),
) -> None:
    """Give an estimate as JSON, by its plain values, or print what each model is asked in such
    units, what that costs, and what the numbers rest on, with sentences before and after it; of a
    budget what the calls of the study `runs` have cost is spent.
    """
    if as_json:
        echo_json(values)
        return
    limited = limits.budget_usd is not None or limits.budget_tokens is not None
    paid = spent(runs) if runs is not None and limited else (0.0, 0)
    parts: list[str | DisplayTable] = ["Nothing is left to be asked: 0 calls, 0 tokens, 0 USD"]
    if found.waiting:
        table = DisplayTable([*texts("model"), *numbers([unit, *HEADS])], list(rows(found)))
        parts = [table, *notes(found, limits, paid)]
    show([*before, *parts, *after], console())
