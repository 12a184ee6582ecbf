"""An answer on power, printed for reading: what is assumed, a table a test, and what it costs."""

import math

from rich.console import Console

from delibsim.analysis.study.power import Answer, Found
from delibsim.analysis.table import numbers, texts
from delibsim.cli.table import print_table
from delibsim.cli.terminal import print_each
from delibsim.domain.text import counted
from delibsim.measures.inference.power import TESTS
from delibsim.planning.estimate import DesignPrice
from delibsim.planning.load import Range

NAMES = {
    "topics": "over topics like these (t over topics)",
    "draws": "on these topics (signs flipped by draw)",
}
ROUGH = 10
"""Draws below which the power of flips is too high by up to .03."""
NO_PRICE = (
    "Price     unknown: give the settings of the study, as for delibsim estimate, such as"
    " topic=acp,ccps treatment=none,normative model=gpt_5_1"
)


def print_answer(found: Answer, price: DesignPrice | None, screen: Console) -> None:
    """Print an answer."""
    print_each(_heading(found), screen)
    for i, test in enumerate(TESTS):
        screen.print("")
        _print_grid(found, i, test, screen)
    screen.print("")
    _print_design(found, screen)
    print_each(_prices(found, price), screen)


def _heading(found: Answer) -> list[str]:
    question, assumed = found.question, found.assumed
    a, b = question.between
    spread, low_high = assumed.spread, assumed.intervals
    members = {"topic": spread.topic, "residual": spread.residual}
    parts = [f"{name} {_between(value, low_high.get(name))}" for name, value in members.items()]
    together = _between(spread.correlation, low_high.get("correlation"))
    lines = [
        f"Effect    {question.effect:g} in the change of {question.outcome}, {a} less {b};"
        f" alpha {question.alpha:g}, two-sided",
        f"SD        {', '.join(parts)}; correlation of models in a draw {together}",
        f"From      {assumed.source}",
    ]
    return lines + [f"Note      {note}" for note in assumed.notes]


def _between(value: float, ends: tuple[float, float] | None) -> str:
    interval = f" [{_short(ends[0])}, {_short(ends[1])}]" if ends else ""
    return f"{_short(value)}{interval}"


def _print_grid(found: Answer, place: int, test: str, screen: Console) -> None:
    """Power by topics (down) and replicates (across)."""
    topics = sorted({key[0] for key in found.grid})
    replicates = sorted({key[1] for key in found.grid})
    models = found.sample.models
    title = f"Power {NAMES[test]}; {counted(models, 'model')}"
    columns = [*texts("topics"), *numbers(map(str, replicates), group="replicates")]
    rows = []
    for count in topics:
        cells = [_two(found.grid[count, size][place]) for size in replicates]
        rows.append([str(count), *cells])
    print_table(title, columns, rows, screen)


def _print_design(found: Answer, screen: Console) -> None:
    """For the design asked for: power, smallest effect, and what the effect needs."""
    sample, question = found.sample, found.question
    sizes = (
        f"{counted(sample.topics, 'topic')} x {counted(sample.models, 'model')} x"
        f" {counted(sample.replicates, 'replicate')}"
    )
    heads = ["power", "smallest effect", "replicates needed", "topics needed"]
    rows = [[_question(one), *_cells(one)] for one in found.tests]
    print_table(f"Design    {sizes}", [*texts("question"), *numbers(heads)], rows, screen)
    lines = [
        f"Needed    for an effect of {question.effect:g} with power {question.power:g}, the other"
        " numbers as in the design; smallest effect: found with this power"
    ]
    if sample.topics * sample.replicates < ROUGH:
        lines.append(f"Note      below {ROUGH} draws the second power is too high by up to .03")
    print_each(lines, screen)


def _question(one: Found) -> str:
    return NAMES[one.test].partition(" (")[0]


def _cells(one: Found) -> list[str]:
    return [
        _two(one.power),
        _short(one.smallest),
        "-" if one.replicates is None else f"{one.replicates:,}",
        "-" if one.topics is None else f"{one.topics:,}",
    ]


def _prices(found: Answer, price: DesignPrice | None) -> list[str]:
    """The price of the design, and of those that the effect needs."""
    if price is None:
        return [NO_PRICE]
    sample = found.sample
    lines = [_price_line("this design", sample.topics, sample.replicates, found, price)]
    for one in found.tests:
        if one.replicates is not None:
            words = f"{counted(one.replicates, 'replicate')}, {_question(one)}"
            lines.append(_price_line(words, sample.topics, one.replicates, found, price))
        if one.topics is not None:
            words = f"{counted(one.topics, 'topic')}, {_question(one)}"
            lines.append(_price_line(words, one.topics, sample.replicates, found, price))
    unknown = f"; unknown for {', '.join(price.unpriced)}" if price.unpriced else ""
    lines.append(
        f"          in proportion to the {price.sessions} sessions that delibsim estimate counts,"
        f" {price.treatments} treatments{unknown}"
    )
    return lines


def _price_line(
    words: str,
    topics: int,
    replicates: int,
    found: Answer,
    price: DesignPrice,
) -> str:
    sessions = topics * replicates * found.sample.models * price.treatments
    usd = price.of(sessions)
    dollars = "0" if usd == Range() else f"{usd.low:,.2f} - {usd.high:,.2f}"
    return f"Price     {words}: {counted(sessions, 'session')}, USD {dollars}"


def _two(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


def _short(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"
