"""`delibsim judge`: have summaries judged by language models or people."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from delibsim.analysis.table import number, numbers, texts
from delibsim.asking.kinds.judgment import JUDGMENTS
from delibsim.asking.kinds.judgment_people import export_summaries
from delibsim.asking.kinds.judgment_plan import (
    counts_of,
    judge_rows,
    judging_plain,
    judging_told,
    notes_of,
    plan_judging,
)
from delibsim.asking.nouns import Outcome, Plan
from delibsim.asking.people import Online
from delibsim.asking.settings import task_name
from delibsim.cli import judge_train
from delibsim.cli.asking import View, carry_out, replay_and_exit
from delibsim.cli.code_options import values_of
from delibsim.cli.estimate import EstimateOnly
from delibsim.cli.online import HOURS, HandOn, show_collected, show_online
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.table import print_table
from delibsim.cli.terminal import console, echo_json, print_each, shown, study_at
from delibsim.conduct.packs import collect_and_score
from delibsim.domain.judgment import DIMENSIONS
from delibsim.domain.text import counted, quoted, study_named
from delibsim.planning.estimate import Estimate

app = typer.Typer(add_completion=False, no_args_is_help=True)
SETTINGS = "Who judges what: model=NAME asked=rating|comparison|both --per-summary 30 ..."
BOTH_WAYS = "Ask every comparison both ways round."
CONTROLS = "Also have placebos rated: summaries by opinions that they were not written from."
EPILOG = (
    "For example: delibsim judge ask tram model=local --per-summary 30 --estimate. Settings:"
    " asked=rating|comparison|both (rating), per_summary (0: all opinions that a summary was"
    " written from; also --per-summary), k (6: comparisons of a summary as A), role=reader|author"
    " (whether the opinion is shown or is the judge's own), people=true (judge what people have"
    " judged too), summaries=NAME, name (main),"
    " temperature (0), max_tokens (200), wording (verdict), and those of models and limits."
)
PACK_SETTINGS = "summaries=NAME, name=NAME (of the judgments), wording=NAME."
RATERS = "How many people rate each summary."
PACK = "The name of the pack."
TO = "The folder of the pack, which must be empty. Default: pack_NAME in the study."
FORM = "The form of a pack, filled in."
NAME = "name=NAME, where a study has several sets of judgments."


@app.callback()
def _group() -> None:
    """Have summaries judged by language models or people, or by a judge trained on them."""


app.command(epilog=judge_train.TRAINING_EPILOG)(judge_train.train)
app.command()(judge_train.setup)
app.command()(judge_train.score)


@app.command(epilog=EPILOG)
def ask(
    study: StudyName,
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="settings", help=SETTINGS)
    ] = None,
    both_ways: Annotated[bool, typer.Option("--both-ways", help=BOTH_WAYS)] = False,
    controls: Annotated[bool, typer.Option("--controls", help=CONTROLS)] = False,
    only: EstimateOnly = False,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Have summaries rated, or compared two at a time, on four dimensions beside an opinion.

    The same command again asks only for what is not there yet. Exit code 0; 3 if judgments are
    missing, 4 if there is none.
    """
    flags = {"both_ways": both_ways, "controls": controls}
    given = [f"{name}=true" for name, on in flags.items() if on]
    planned = plan_judging(study_at(study, root), [*(overrides or []), *given])
    carry_out(planned, VIEW, only, as_json)


@app.command(name="export")
def export_(
    study: StudyName,
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="settings", help=PACK_SETTINGS)
    ] = None,
    per_summary: Annotated[int, typer.Option("--raters", min=1, max=1_000, help=RATERS)] = 6,
    pack: Annotated[str, typer.Option(help=PACK)] = "people",
    to: Annotated[Path | None, typer.Option("--to", help=TO)] = None,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Write a pack for people: a sheet a person, with own opinion first, then a rating, then a
    comparison, and a form to fill in.

    Exit code 0; 2 where a pack of that name is there.
    """
    runs = study_at(study, root)
    planned = plan_judging(runs, overrides or [])
    name = task_name("pack", pack)
    made = export_summaries(planned, name, per_summary, to)
    hints, folder = made.hints(), shown(Path(made.folder or "").resolve())
    if as_json:
        plain_pack = {"pack": made.name, "folder": folder}
        echo_json(plain_pack | {"sheets": made.sheets, "hints": hints})
        return
    screen = console()
    screen.print(f"{counted(made.sheets, 'sheet')} in {folder}, a person each")
    screen.print("Reliability of the mean of a summary, by published ratings of people:")
    print_each(hints, screen)
    screen.print(f"Next       delibsim judge import {quoted(f'{folder}/form.csv')}")


@app.command()
def online(
    study: StudyName,
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="settings", help=PACK_SETTINGS)
    ] = None,
    per_summary: Annotated[int, typer.Option("--raters", min=1, max=1_000, help=RATERS)] = 6,
    pack: Annotated[str, typer.Option(help=PACK)] = "people",
    hand_on: HandOn = HOURS,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Hand summaries out to people who judge in a browser, a sheet a person as on paper: own
    opinion first, then a rating, then a comparison.

    Each who follows a link of `delibsim people invite STUDY --rater TASK` gets the next free sheet.
    Exit code 0; 2 where a pack of that name is there.
    """
    runs = study_at(study, root)
    planned = plan_judging(runs, overrides or [])
    made = export_summaries(planned, task_name("pack", pack), per_summary, online=Online(hand_on))
    told = [
        f"{counted(made.sheets, 'sheet')} on pages, a person each",
        "Reliability of the mean of a summary, by published ratings of people:",
        *made.hints(),
    ]
    plain_pack = {"sheets": made.sheets, "hints": made.hints()}
    show_online(runs.study, made.name, told, plain_pack if as_json else None)


@app.command(name="import")
def import_(
    file: Annotated[Path, typer.Argument(help=FORM)],
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Read the form of a pack back: delibsim judge import form.csv. All of it or nothing.

    Exit code 0; 3 if a line is empty or of somebody inattentive, 4 if all are, 2 if a line is
    wrong.
    """
    raise typer.Exit(show_collected(collect_and_score(file, root), as_json))


@app.command()
def replay(
    study: StudyName,
    settings: Annotated[list[str] | None, typer.Argument(metavar="[name=NAME]", help=NAME)] = None,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Compute all judgments again from the recorded exchanges alone: delibsim judge replay tram.

    No model is asked. Exit code 0 if they are equal to those that were kept, 4 if not.
    """
    name = values_of(settings, ["name"])["name"]
    replay_and_exit(JUDGMENTS.kept(study_at(study, root), name), "judging", as_json)


def _show(planned: Plan, outcome: Outcome, screen: Console) -> None:
    """Print what came of judging: judgments by judge, and what must be known of them."""
    found = judge_rows(planned)
    print_each(judging_told(planned, outcome), screen)
    rows = []
    for row in found:
        counts = [f"{row[name]:,}" for name in ("planned", "judged", "missing")]
        rows.append([row["judge"], *counts, *(number(row[name]) for name in DIMENSIONS)])
    heads = ["planned", "judged", "missing", *DIMENSIONS]
    print_table(
        "Judgments, mean ratings from 1 to 5", [*texts("judge"), *numbers(heads)], rows, screen
    )
    print_each([f"note: {line}" for line in notes_of(planned, found)], screen)
    screen.print(f"Next       delibsim summaries report {quoted(planned.runs.study)}")


def _before(planned: Plan, found: Estimate) -> list[str]:
    """How many sittings there are of which kind."""
    listed = ", ".join(f"{n:,} {kind}" for kind, n in counts_of(planned).items())
    judgments = f"{listed} a judge; {counted(found.planned, 'judgment')}"
    told = f"{found.held:,} there already, {found.waiting:,} to be asked for"
    return [f"{study_named(planned.runs.study)}: {judgments}", told]


def _values(planned: Plan, found: Estimate) -> dict[str, Any]:
    """What an estimate says of sittings."""
    return {"sittings": counts_of(planned)}


VIEW = View("judgments", _before, _values, judging_plain, _show)
