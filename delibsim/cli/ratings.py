"""`delibsim ratings`: have debates rated, by language models or by people, and report on it."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from delibsim.asking.kinds.rating_people import export_debates
from delibsim.asking.people import Online
from delibsim.cli.estimate import EstimateOnly, print_lines
from delibsim.cli.online import HOURS, HandOn, show_collected, show_online
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.ratings_report import report
from delibsim.cli.terminal import console, echo_json, exit_code, print_each, shown, study_at
from delibsim.conduct.annotate import (
    RatingPlan,
    ask_panel,
    estimate_panel,
    plan_ratings,
)
from delibsim.conduct.packs import collect_and_score
from delibsim.conduct.panel import kin
from delibsim.conduct.score import score_all
from delibsim.domain.text import counted, quoted, study_named
from delibsim.planning.compose import plan
from delibsim.planning.estimate_tables import plain
from delibsim.store.ratings import Ratings

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Have debates rated blind, and see what the ratings say.",
)
RATERS = "The raters: group.size=5 model=NAME persona=NAME ..."
PANEL = "A name for these raters; another panel rates the same debates beside them."
EACH = "How many debates each rater rates; default: all."
READ = "What raters read: a file of conf/wording."
TO = "The folder to write; default: pack-NAME."
Each = Annotated[int | None, typer.Option("--debates-per-rater", help=EACH)]
WORDING = "oxford"
"""The wording that raters read by default."""


@app.command()
def ask(
    study: StudyName,
    overrides: Annotated[list[str] | None, typer.Argument(metavar="settings", help=RATERS)] = None,
    panel: Annotated[str, typer.Option(help=PANEL)] = "panel",
    only: EstimateOnly = False,
    each: Each = None,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Have every complete debate rated by language models, blind: each is asked for its stance,
    then for its ballot.

    The raters are a group and are set like one: group.size=5 (the default), model=NAME or
    group.models=[A,B], persona=NAME, temperature=X, wording=NAME, limits. The same command again
    asks only whom it could not ask before; a larger group.size adds raters. With
    --debates-per-rater N each rater rates N debates, balanced over debates, motions, order and
    sides. Exit code 0; 3 if a rating could not be asked for or is lost to a damaged line, 4 if
    there is no rating at all.
    """
    runs = study_at(study, root)
    given = list(overrides or [])
    if not any(one.startswith("wording=") for one in given):
        given.insert(0, f"wording={WORDING}")
    planned = plan_ratings(runs, given, panel, each)
    screen = console(stderr=True)
    print_each([f"warning: {one}" for one in kin(planned.panel, planned.debates)], screen)
    if only:
        _print_estimate(planned, as_json)
        return
    notify = partial(screen.print, soft_wrap=True)
    outcome = asyncio.run(ask_panel(planned, notify, notify))
    losses = Ratings.of(runs).losses(run.session.id for run in planned.debates)
    score_all(runs, ["ratings"])
    if as_json:
        echo_json(planned.report(outcome, losses))
    else:
        print_each(planned.told(outcome), console())
        print_each(planned.missing(outcome, losses), screen)
        console().print(f"Next       delibsim ratings report {quoted(planned.runs.study)}")
    whole = not (outcome.faults or planned.faults or losses)
    raise typer.Exit(exit_code(bool(outcome.new + outcome.before), whole))


def _print_estimate(planned: RatingPlan, as_json: bool) -> None:
    """Say what the ratings that are still to be asked for will take."""
    found = asyncio.run(estimate_panel(planned))
    study = planned.runs.study
    if as_json:
        estimate = plain(planned.plan, found)
        counts = estimate.pop("sessions")
        ratings = {name: counts[name] for name in ("planned", "held", "waiting")}
        echo_json(estimate | {"study": study, "ratings": ratings})
        return
    screen = console()
    ratings = counted(found.planned, "rating")
    counts = f"{ratings}, {found.held} there already, {found.waiting} to be asked for"
    screen.print(f"{study_named(study)}: {counts}")
    print_lines(planned.plan, found, screen, "ratings", planned.runs)


@app.command()
def export(
    study: StudyName,
    raters: Annotated[int, typer.Option(min=1, max=1000, help="How many people rate.")] = 5,
    each: Each = None,
    wording: Annotated[str, typer.Option(help=READ)] = WORDING,
    out: Annotated[Path | None, typer.Option("--to", help=TO)] = None,
    root: RunsFolder = RUNS,
) -> None:
    """Write a blinded pack for human raters: pages to print for each of them, and a form to fill
    in.

    With --debates-per-rater N each rater rates N debates, balanced over debates, motions, order and
    sides.
    """
    runs = study_at(study, root)
    texts = plan([f"wording={wording}"]).session.wording
    pack = export_debates(runs, texts, raters, each, out)
    screen, folder = console(), shown(Path(pack.folder or "").resolve())
    shares = "" if each is None else f", {each} each,"
    screen.print(
        f"{counted(pack.debates, 'debate')} for {counted(raters, 'rater')}{shares} in {folder}:"
        " rater-1.html and so on to"
        " print, form.csv to fill in"
    )
    screen.print(f"Next       delibsim ratings import {quoted(f'{folder}/form.csv')}")


@app.command()
def online(
    study: StudyName,
    raters: Annotated[int, typer.Option(min=1, max=1000, help="How many people rate.")] = 5,
    each: Each = None,
    wording: Annotated[str, typer.Option(help=READ)] = WORDING,
    hand_on: HandOn = HOURS,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Hand debates out to people who rate in a browser: the draw, the blinding and the questions of
    a pack on paper.

    Each who follows a link of `delibsim people invite STUDY --rater TASK` gets the next free place.
    Ratings are kept as they are handed in, as from paper. With --debates-per-rater N each rater
    rates N debates, balanced over debates, motions, order and sides.
    """
    runs = study_at(study, root)
    texts = plan([f"wording={wording}"]).session.wording
    pack = export_debates(runs, texts, raters, each, online=Online(hand_on))
    shares = "" if each is None else f", {each} each"
    told = f"{counted(pack.debates, 'debate')} for {counted(raters, 'rater')}{shares}, on pages"
    plain_pack = {"debates": pack.debates, "raters": raters, "debates_per_rater": each}
    show_online(runs.study, pack.name, [told], plain_pack if as_json else None)


@app.command(name="import")
def import_(
    file: Annotated[Path, typer.Argument(help="The form of a pack, filled in.")],
    root: RunsFolder = RUNS,
) -> None:
    """Read the answers of human raters back. Every line is checked; if one is wrong, all that are
    wrong are named and nothing is kept.
    """
    raise typer.Exit(show_collected(collect_and_score(file, root), False))


app.command()(report)
