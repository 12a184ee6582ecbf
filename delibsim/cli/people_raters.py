"""`delibsim people raters`: how far raters and coders on pages are, and their times; a dry run."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.people_study import promised
from delibsim.cli.terminal import console, echo_json, print_each, shown, study_at
from delibsim.domain.text import counted
from delibsim.store.runs import Runs

TASK = "Only this task."
TIMES = "Write the times of every page to this CSV file."
DRY = "Let citizens fill every sheet in a copy of the study, before people come; nothing is kept."


def raters(
    study: StudyName,
    task: Annotated[str | None, typer.Option("--task", help=TASK)] = None,
    times: Annotated[Path | None, typer.Option("--times", help=TIMES)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help=DRY)] = False,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Who rates, codes, compares or judges on pages: how many sheets are handed in, how many are in
    the study, and the minutes without breaks.

    What was handed in and is not in the study yet, because no server runs, is brought into it
    first. Exit code 0; 3 if a sheet cannot be kept, 4 if nothing was handed in.

    --dry-run says of each task whether every sheet can be filled and kept, and about how many
    minutes a place takes a person.
    """
    from delibsim.analysis.table import numbers, texts
    from delibsim.cli.table import print_table
    from delibsim.cli.terminal import exit_code
    from delibsim.people.raters import PLACES, RaterDesk, Rows, rater_rows, write_times
    from delibsim.store.people.register import Register

    runs = study_at(study, root)
    if dry_run:
        _dry_run(runs, task, as_json)
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


def _dry_run(runs: Runs, task: str | None, as_json: bool) -> NoReturn:
    """Fill every sheet in a copy of a study, and say how that went."""
    from delibsim.analysis.table import numbers, texts
    from delibsim.cli.table import print_table
    from delibsim.cli.terminal import exit_code
    from delibsim.models.citizen.citizen import Citizen
    from delibsim.people.dry import DryTask, copied, rate, refuse_begun

    with copied(runs) as desk:
        names = [desk.task(task).name] if task else desk.names()
        if not names:
            desk.task("")  # which says how tasks are handed out
        refuse_begun(runs, names)
        found = [asyncio.run(rate(desk, name, Citizen())) for name in names]
    rows = [asdict(one) for one in found]
    if as_json:
        echo_json({"study": runs.study, "tasks": rows})
    else:
        columns = list(DryTask.__dataclass_fields__)
        heads = [*texts(*columns[:2]), *numbers(columns[2:])]
        lines = [list(map(str, row.values())) for row in rows]
        print_table("Dry run of raters: nothing was kept", heads, lines, console())
    kept = sum(one.kept for one in found)
    raise typer.Exit(exit_code(kept > 0, kept == sum(one.sheets for one in found)))


def _cells(row: Mapping[str, Any]) -> list[str]:
    """The cells of one place; what is missing is empty."""
    from delibsim.people.raters import PLACES

    return ["" if row[name] is None else str(row[name]) for name in PLACES]
