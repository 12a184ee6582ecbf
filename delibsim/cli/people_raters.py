"""`delibsim people raters`: how far raters and coders on pages are, and their times."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from delibsim.cli.options import RUNS, Dir, Json, StudyName
from delibsim.cli.people_invite import promised
from delibsim.cli.terminal import console, echo_json, print_each, shown, study_at
from delibsim.domain.text import counted

TASK = "Only this task."
TIMES = "Write the times of every page to this CSV file."


def raters(
    study: StudyName,
    task: Annotated[str | None, typer.Option("--task", help=TASK)] = None,
    times: Annotated[Path | None, typer.Option("--times", help=TIMES)] = None,
    root: Dir = RUNS,
    as_json: Json = False,
) -> None:
    """Who rates, codes, compares or judges on pages: how many sheets are handed in, how many are in
    the study, and the minutes without breaks.

    What was handed in and is not in the study yet, because no server runs, is brought into it
    first. Exit code 0; 3 if a sheet cannot be kept, 4 if nothing was handed in.
    """
    from delibsim.analysis.table import numbers, texts
    from delibsim.cli.table import print_table
    from delibsim.cli.terminal import exit_code
    from delibsim.people.raters import PLACES, RaterDesk, Rows, rater_rows, write_times
    from delibsim.store.people.register import Register

    runs = study_at(study, root)
    promised(runs)
    desk = RaterDesk(runs, Register.of(runs))
    names = [desk.task(task).name] if task else desk.names()
    for name in names:
        desk.task(name)
    rows = Rows(desk, runs.lock)
    rows.bring()
    rows.rescore(at_once=True)
    found = rater_rows(desk, names)
    if times is not None:
        n = write_times(desk, times, names)
        told = f"{counted(n, 'page')} with their times in {shown(times)}"
        print_each([told], console(stderr=True))
    if as_json:
        echo_json({"study": runs.study, "places": found})
    else:
        heads = [*texts(*PLACES[:5]), *numbers(PLACES[5:])]
        lines = [_cells(row) for row in found]
        print_table("Raters and coders on pages", heads, lines, console())
    whole = sum(int(str(row["whole"])) for row in found)
    raise typer.Exit(exit_code(whole > 0, not any(row["not_kept"] for row in found)))


def _cells(row: Mapping[str, Any]) -> list[str]:
    """The cells of one place; what is missing is empty."""
    from delibsim.people.raters import PLACES

    return ["" if row[name] is None else str(row[name]) for name in PLACES]
