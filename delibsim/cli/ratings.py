"""`delibsim ratings`: have debates rated, by language models or by people, and see what the ratings
say.
"""

import asyncio
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from delibsim.analysis.debates.rated import debates_of, edited
from delibsim.annotation.debates import check_panel, check_texts
from delibsim.annotation.sheets import conflicts, form, key_of, page, read_form, sheets_of
from delibsim.cli.estimate import plain, print_lines
from delibsim.cli.ratings_report import report
from delibsim.cli.study import printer
from delibsim.cli.terminal import console, echo_json, exit_code, safe, shown, study_at
from delibsim.conduct.annotate import (
    Balance,
    RatingOutcome,
    allocated,
    as_begun,
    kin,
    panel_name,
    panel_of,
    panel_to_plain,
    rate_all,
    rehearsed_ratings,
    seated,
)
from delibsim.conduct.score import score_all
from delibsim.conduct.study import proven_models
from delibsim.domain.allocation import Allocation
from delibsim.domain.errors import WrongInput
from delibsim.domain.rating import Rating, debated, panel_of_rater
from delibsim.domain.run import Run, Session
from delibsim.domain.seed import seed_of
from delibsim.domain.treatment import Wording
from delibsim.planning.compose import Plan, plan
from delibsim.planning.estimate import estimate_ratings
from delibsim.store.editions import NOW
from delibsim.store.files import write_atomically
from delibsim.store.ratings import Ratings
from delibsim.store.runs import Runs

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Have debates rated blind, and see what the ratings say.",
)
ROOT = Annotated[Path, typer.Option("--runs", help="The folder that holds all studies.")]
STUDY = Annotated[str, typer.Argument(help="Name or folder of the study.")]
EACH = Annotated[
    int | None,
    typer.Option("--debates-per-rater", help="How many debates each rater rates; default: all."),
]


KEPT = (
    "Nothing was imported: ratings are never overwritten. To go on, put these lines back as they"
    " were; or give the corrected answers to another pack (delibsim ratings export STUDY), by its"
    " own pages, where A and B may be the other way round, and have it alone reported: --panel"
    " PACK."
)
"""What is said of a form whose answers contradict those that were imported before."""


@app.command()
def ask(
    study: STUDY,
    overrides: Annotated[
        list[str] | None,
        typer.Argument(help="The raters: group.size=5 model=NAME persona=NAME ..."),
    ] = None,
    panel: Annotated[
        str,
        typer.Option(
            help="A name for these raters; another panel rates the same debates beside them."
        ),
    ] = "panel",
    only: Annotated[
        bool,
        typer.Option(
            "--estimate",
            help="Say what it would take (calls, tokens, US dollars, time), and ask nobody.",
        ),
    ] = False,
    each: EACH = None,
    root: ROOT = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
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
    usual = [] if any(o.startswith("wording=") for o in given) else ["wording=oxford"]
    planned = plan([*usual, *given], edition=runs.edition())
    raters = as_begun(panel_of(planned.session, panel), Ratings.of(runs))
    debates, faults = debates_of(runs)
    if changed := edited(debates):
        raise WrongInput(
            "\n".join(
                [
                    *changed,
                    (
                        "Nobody was asked. Put the debate back as it was, or hold it anew in"
                        " another study."
                    ),
                ]
            )
        )
    allocation = allocated(runs, raters, debates, each)
    screen = console(stderr=True)
    named = next(o for o in [*given, *usual] if o.startswith("wording=")).partition("=")[2]
    _say_wording(runs, raters.wording, named, screen)
    for warning in kin(raters, debates):
        screen.print(f"warning: {warning}", soft_wrap=True)
    if only:
        _estimate(runs, raters, debates, allocation, planned, as_json)
        return
    outcome = asyncio.run(_ask(runs, raters, debates, allocation, planned, screen))
    losses = Ratings.of(runs).losses(run.session.id for run in debates)
    score_all(runs, ["ratings"])
    total = outcome.new + outcome.before
    broken = sum(not debated(run) for run in debates)
    design = Balance.of(raters, debates, allocation)
    if as_json:
        echo_json({"study": runs.study, "panel": panel, "debates": len(debates) - broken, "incomplete": broken, "new": outcome.new,
                   "before": outcome.before, "calls": outcome.asked, "faults": [*outcome.faults, *faults], "lost": losses,
                   **asdict(design), "debates_per_rater": each})  # fmt: skip
    else:
        _say_asked(runs, raters, debates, each, design, outcome, faults, losses)
    raise typer.Exit(exit_code(bool(total), not (outcome.faults or faults or losses)))


def _say_wording(runs: Runs, wording: Wording, named: str, screen: Console) -> None:
    """Say which wording raters read where a study of an earlier edition has another of that
    name.
    """
    edition = runs.edition()
    if edition == NOW or wording == plan([f"wording={named}"]).session.wording:
        return
    begun = f"under which study {runs.study} was begun; a new study has that of {NOW}"
    said = f"note: raters read the wording '{wording.id}' of edition {edition}, {begun}"
    screen.print(safe(said), soft_wrap=True)


def _say_asked(
    runs: Runs,
    raters: Session,
    debates: list[Run],
    each: int | None,
    design: Balance,
    outcome: RatingOutcome,
    faults: list[str],
    losses: list[str],
) -> None:
    """Say how many ratings there are, and what is missing or lost."""
    out, screen = console(), console(stderr=True)
    broken = sum(not debated(run) for run in debates)
    shares = f"{len(raters.participants)} raters{design.told(each)}"
    count = f"{outcome.new} ratings now, {outcome.before} before"
    out.print(f"{len(debates) - broken} debates, {shares}: {count}", soft_wrap=True)
    if design.unallocated:
        nobody = f"allocated to nobody yet: {design.unallocated} debates"
        out.print(f"{nobody}; raters whom a larger group.size adds will rate them", soft_wrap=True)
    if broken:
        out.print(f"not rated, because they broke off: {broken}")
    for fault in (*outcome.faults, *faults):
        screen.print(safe(f"missing: {fault}"), soft_wrap=True)
    for loss in losses:
        screen.print(safe(f"lost: {loss}"), soft_wrap=True)
    out.print(f"Next       delibsim ratings report {runs.study}")


def _estimate(
    runs: Runs,
    raters: Session,
    debates: list[Run],
    allocation: Allocation | None,
    planned: Plan,
    as_json: bool,
) -> None:
    """Say what the ratings that are still to be asked for will take."""
    sittings = asyncio.run(rehearsed_ratings(runs, raters, debates, allocation))
    wanted = Balance.of(raters, debates, allocation).planned
    found = estimate_ratings(
        sittings, wanted - len(sittings), raters.models, planned.limits, planned.addresses
    )
    if as_json:
        told = plain(planned, found)
        ratings = told.pop("sessions")
        echo_json(
            told
            | {
                "study": runs.study,
                "ratings": {name: ratings[name] for name in ("planned", "held", "waiting")},
            }
        )
    else:
        screen = console()
        screen.print(
            safe(
                f"study {runs.study}: {found.planned} ratings, {found.held} there already,"
                f" {found.waiting} to be asked for"
            )
        )
        if found.waiting:
            print_lines(planned, found, screen, "ratings")


async def _ask(
    runs: Runs,
    raters: Session,
    debates: list[Run],
    allocation: Allocation | None,
    planned: Plan,
    screen: Console,
) -> RatingOutcome:
    """Ask the raters; WrongInput, before anything is asked or paid, where that cannot be done."""
    check_panel(raters)
    voices = await proven_models(
        [seated(raters, debates[0])], runs, planned.limits, planned.addresses, printer(screen)
    )
    Ratings.of(runs).settle_panel(panel_name(raters), panel_to_plain(raters, allocation))
    tell = partial(screen.print, soft_wrap=True)
    at_once = planned.limits.concurrency
    return await rate_all(runs, raters, debates, voices, at_once, tell, allocation)


@app.command()
def export(
    study: STUDY,
    raters: Annotated[int, typer.Option(min=1, max=1000, help="How many people rate.")] = 5,
    each: EACH = None,
    wording: Annotated[
        str, typer.Option(help="What raters read: a file of conf/wording.")
    ] = "oxford",
    out: Annotated[
        Path | None, typer.Option("--to", help="The folder to write; default: pack-NAME.")
    ] = None,
    root: ROOT = Path("runs"),
) -> None:
    """Write a blinded pack for human raters: pages to print for each of them, and a form to fill
    in.

    With --debates-per-rater N each rater rates N debates, balanced over debates, motions, order and
    sides.
    """
    runs = study_at(study, root)
    said = plan([f"wording={wording}"], edition=runs.edition()).session.wording
    check_texts(said)
    ratings = Ratings.of(runs)
    debates = [run for run in debates_of(runs)[0] if debated(run)]
    if not debates:
        raise WrongInput(f"study '{runs.study}' has no complete debate to rate")
    # The name of a study may say who debates: a pack is named after a number drawn from it.
    pack = f"{seed_of(str(runs.folder.resolve()), 'pack', len(ratings.packs()) + 1) % 16**8:08x}"
    folder = out or Path(f"pack-{pack}")
    if folder.exists():
        raise WrongInput(f"{folder} exists; name another folder with --to")
    sheets = sheets_of(debates, pack, raters, each)
    ratings.add_pack(pack, key_of(sheets), said)
    for k, own in enumerate(sheets.values(), 1):
        write_atomically(folder / f"rater-{k}.html", page(own, said))
    write_atomically(folder / "form.csv", form(sheets, pack))
    _say_wording(runs, said, wording, console(stderr=True))
    screen = console()
    shares = "" if each is None else f", {each} each,"
    place = f"{len(debates)} debates for {raters} raters{shares} in {shown(folder.resolve())}"
    screen.print(f"{place}: rater-1.html and so on to print, form.csv to fill in")
    screen.print(f"Next       delibsim ratings import {shown(folder.resolve())}/form.csv")


@app.command(name="import")
def import_(
    file: Annotated[Path, typer.Argument(help="The form of a pack, filled in.")],
    root: ROOT = Path("runs"),
) -> None:
    """Read the answers of human raters back. Every line is checked; if one is wrong, all that are
    wrong are named and nothing is kept.
    """
    keys, studies = {}, {}
    for path in sorted(root.glob("*/study.json")):
        store = Ratings(path.parent)
        for pack in store.packs():
            keys[pack], studies[pack] = store.key(pack), path.parent
    lines, empty = read_form(file, keys)
    given = [line.rating for line in lines]
    waiting, clashes = {}, []
    for pack, folder in studies.items():
        own = [line for line in lines if panel_of_rater(line.rating.rater) == pack]
        debates = {line.rating.session for line in own}
        known = [rating for debate in debates for rating in Ratings(folder).read(debate)]
        waiting[pack], found = conflicts(own, {(r.session, r.rater): r for r in known})
        clashes += found
    if clashes:
        raise WrongInput("\n".join([*clashes, KEPT]))
    kept = 0
    for pack, new in waiting.items():
        _keep(new, studies[pack])
        kept += len(new)
    partial = sum(bool(rating.missing) for rating in given)
    screen = console()
    screen.print(
        f"{kept} ratings kept, {len(given) - kept} known before, {partial} with something missing,"
        f" {empty} sheets left empty"
    )
    raise typer.Exit(exit_code(bool(given), not empty and not partial))


def _keep(new: list[Rating], folder: Path) -> None:
    """Keep the ratings of a pack with its study, and score them."""
    if not new:
        return
    with Runs.at(folder).lock():
        for rating in new:
            Ratings(folder).add(rating)
    score_all(Runs.at(folder), ["ratings"])


app.command()(report)
