"""`delibsim compare plan`: how many comparisons designs of pairs need, and what that costs."""

from typing import Annotated, Any

import typer

from delibsim.cli.options import RUNS, Json, RunsFolder
from delibsim.cli.terminal import console, echo_json, exit_code, print_each, safe, study_at
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted

GIVEN = (
    "A pilot (a study with a comparison, by name or folder), whose votes say what is not given;"
    " then settings: --texts 100 (in a group), --spread 2 (standard deviation of strengths, in log"
    " odds), --ties 0.15 (share), --place 0.4 (advantage of the text shown first, in log odds),"
    " --reach r=0.95 or rho=0.9, --designs random,adaptive, --repeats 20, --groups 1, --penalty"
    " dummy:0.1 (of the report); of a pilot name=NAME and dimension=NAME. A judge gives the price:"
    " model=NAME --words 100 (a text), and settings as for delibsim compare ask."
)
EPILOG = (
    "For example: delibsim compare plan --texts 100 --spread 2 --reach r=0.95 model=gpt_5_1."
    " Comparisons a text are 2 calls / texts, whatever the calls are for. Nothing is called."
)


def plan(
    given: Annotated[
        list[str] | None, typer.Argument(metavar="[PILOT] [SETTINGS]", help=GIVEN)
    ] = None,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """How many comparisons designs need for scores that agree with the truth as well as is asked,
    by simulation, and what they cost.

    Exit code 3 if a design does not reach it with all of its pairs, 4 if none does.
    """
    from delibsim.conduct.comparing.simulate import pair_plan, pilot_of  # scipy is slow to import
    from delibsim.planning.pair_plan import pair_plan_asked

    words = given or []
    names = [word for word in words if "=" not in word]
    if len(names) > 1:
        raise WrongInput(f"one study is the pilot, not {len(names)}: {safe(', '.join(names))}")
    asked = pair_plan_asked([word for word in words if "=" in word])
    if not names and (asked.name or (asked.dimension and asked.judge is None)):
        raise WrongInput("name= and dimension= are those of a pilot; name the study: PILOT")
    pilot = pilot_of(study_at(names[0], root), asked) if names else None
    err = console(stderr=True)
    found = pair_plan(asked, pilot, lambda design: print_each([f"simulating {design}"], err))
    if as_json:
        echo_json(found.plain() | {"pilot": pilot.told if pilot else None})
    else:
        _print(found, pilot.told if pilot else "")
    reached = [row["comparisons"] is not None for row in found.rows]
    raise typer.Exit(exit_code(any(reached), all(reached)))


def _print(found: Any, pilot: str) -> None:
    """Print the world, and a row for each design."""
    from delibsim.analysis.table import numbers, texts
    from delibsim.cli.table import print_table

    screen, world, question = console(), found.world, found.asked.question
    if pilot:
        print_each([f"Pilot      {pilot}"], screen)
    place = f"place bias {world.delta:.2f}"
    several = counted(found.groups, "group")
    lines = [
        f"Simulated  {several} of {world.texts} texts, spread {world.spread:.2f}, ties"
        f" {world.ties:.3f} (threshold {world.theta:.3f}), {place}, {question.repeats} repeats",
        f"Reached    {question.measure} = {question.target:g} with the truth, scores with penalty"
        f" {found.asked.penalty}",
    ]
    print_each(lines, screen)
    heads = ["comparisons a text", "error", "calls", "error of calls"]
    priced = found.asked.judge is not None
    rows = [[row["design"], *_cells(row, priced)] for row in found.rows]
    columns = [*texts("design"), *numbers([*heads, "USD"] if priced else heads)]
    print_table("", columns, rows, screen)
    for row in found.rows:
        if row["comparisons"] is None:
            value = f"{question.measure} {row['reached']:.3f} (error {row['reached_error']:.3f})"
            most = f"{row['most']:.0f} comparisons a text, which are all that it has"
            print_each([f"note: {row['design']} reaches {value} with {most}"], screen)
    print_each([f"note: {line}" for line in found.notes], screen)


def _cells(row: dict[str, Any], priced: bool) -> list[str]:
    """The numbers of a design; a dash where there is none."""
    cells = []
    for name, form in (("comparisons", ".1f"), ("error", ".1f"), ("calls", ",.0f")):
        cells.append("-" if row[name] is None else format(row[name], form))
    cells.append("-" if row["calls_error"] is None else f"{row['calls_error']:,.0f}")
    if priced:
        low, high = row["usd_low"], row["usd_high"]
        unknown = "-" if row["calls"] is None else "unknown"
        cells.append(unknown if low is None else f"{low:,.2f} - {high:,.2f}")
    return cells
