"""`delibsim ratings`: have debates rated, by language models or by people, and see what the ratings say."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Table

from delibsim.cli.compose import Plan, plan
from delibsim.cli.estimate import plain, print_lines
from delibsim.cli.study import voices_for
from delibsim.cli.terminal import console, echo_json, safe, shown, study_at
from delibsim.conduct import score_all
from delibsim.domain.allocation import Allocation
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.rating import Rated, Rating, debated, panel_of_rater
from delibsim.domain.run import Run, Session
from delibsim.domain.seed import seed_of
from delibsim.engine.rating import check_panel, check_texts
from delibsim.estimate import estimate_ratings
from delibsim.packs import conflicts, form, key_of, page, read_form, sheets_of
from delibsim.raters import (
    Balance,
    RatingOutcome,
    allocated,
    kin,
    panel_name,
    panel_of,
    panel_to_plain,
    rate_all,
    rehearsed_ratings,
    seated,
)
from delibsim.store.files import write_atomically
from delibsim.store.ratings import Ratings
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Have debates rated blind, and see what the ratings say.")
ROOT = Annotated[Path, typer.Option("--runs", help="The folder that holds all studies.")]
STUDY = Annotated[str, typer.Argument(help="Name or folder of the study.")]
EACH = Annotated[
    int | None,
    typer.Option("--debates-per-rater", help="How many debates each rater rates; default: all."),
]


SOURCES = {"model": "models", "human": "people"}
SHORT = {"coefficient": "estimate", "performance_low": "low", "performance_high": "high", "win_low": "low", "win_high": "high"}
"""Names of columns as the terminal has room for them."""


@app.command()
def ask(
    study: STUDY,
    overrides: Annotated[list[str] | None, typer.Argument(help="The raters: group.size=5 model=NAME persona=NAME ...")] = None,
    panel: Annotated[str, typer.Option(help="A name for these raters; another panel rates the same debates beside them.")] = "panel",
    only: Annotated[
        bool, typer.Option("--estimate", help="Say what it would take (calls, tokens, US dollars, time), and ask nobody.")
    ] = False,
    each: EACH = None,
    root: ROOT = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Have every complete debate rated by language models, blind: each is asked for its stance, then for its ballot.

    The raters are a group and are set like one: group.size=5 (the default), model=NAME or group.models=[A,B], persona=NAME,
    temperature=X, wording=NAME, limits. The same command again asks only whom it could not ask before; a larger group.size adds raters.
    With --debates-per-rater N each rater rates N debates, balanced over debates, motions, order and sides.
    Exit code 0; 3 if a rating could not be asked for or is lost to a damaged line, 4 if there is no rating at all.
    """
    runs = study_at(study, root)
    given = list(overrides or [])
    planned = plan([*([] if any(o.startswith("wording=") for o in given) else ["wording=oxford"]), *given])
    raters = panel_of(planned.session, panel)
    debates, faults = debates_of(runs)
    if changed := edited(debates):
        raise WrongInput("\n".join([*changed, "Nobody was asked. Put the debate back as it was, or hold it anew in another study."]))
    allocation = allocated(runs, raters, debates, each)
    screen = console(stderr=True)
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
    raise typer.Exit(4 if not total else 3 if outcome.faults or faults or losses else 0)


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
    found = estimate_ratings(sittings, wanted - len(sittings), raters.models, planned.limits, planned.addresses)
    if as_json:
        told = plain(planned, found)
        ratings = told.pop("sessions")
        echo_json(told | {"study": runs.study, "ratings": {name: ratings[name] for name in ("planned", "held", "waiting")}})
    else:
        screen = console()
        screen.print(safe(f"study {runs.study}: {found.planned} ratings, {found.held} there already, {found.waiting} to be asked for"))
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
    voices = await voices_for([seated(raters, debates[0])], runs, planned.limits, planned.addresses, screen)
    Ratings.of(runs).settle_panel(panel_name(raters), panel_to_plain(raters, allocation))
    tell = partial(screen.print, soft_wrap=True)
    at_once = planned.limits.concurrency
    return await rate_all(runs, raters, debates, voices, at_once, tell, allocation)


@app.command()
def export(
    study: STUDY,
    raters: Annotated[int, typer.Option(min=1, max=1000, help="How many people rate.")] = 5,
    each: EACH = None,
    wording: Annotated[str, typer.Option(help="What raters read: a file of conf/wording.")] = "oxford",
    out: Annotated[Path | None, typer.Option(help="The folder to write; default: pack-NAME.")] = None,
    root: ROOT = Path("runs"),
) -> None:
    """Write a blinded pack for human raters: pages to print for each of them, and a form to fill in.

    With --debates-per-rater N each rater rates N debates, balanced over debates, motions, order and sides.
    """
    runs = study_at(study, root)
    said = plan([f"wording={wording}"]).session.wording
    check_texts(said)
    ratings = Ratings.of(runs)
    debates = [run for run in debates_of(runs)[0] if debated(run)]
    if not debates:
        raise WrongInput(f"study '{runs.study}' has no complete debate to rate")
    # The name of a study may say who debates: a pack is named after a number drawn from it.
    pack = f"{seed_of(str(runs.folder.resolve()), 'pack', len(ratings.packs()) + 1) % 16**8:08x}"
    folder = out or Path(f"pack-{pack}")
    if folder.exists():
        raise WrongInput(f"{folder} exists; name another folder with --out")
    sheets = sheets_of(debates, pack, raters, each)
    ratings.add_pack(pack, key_of(sheets))
    for k, own in enumerate(sheets.values(), 1):
        write_atomically(folder / f"rater-{k}.html", page(own, said))
    write_atomically(folder / "form.csv", form(sheets, pack))
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
    """Read the answers of human raters back. Every line is checked; if one is wrong, all that are wrong are named and nothing is kept."""
    keys, studies = {}, {}
    for path in sorted(root.glob("*/study.json")):
        for pack, key in Ratings(path.parent).packs().items():
            keys[pack], studies[pack] = json.loads(key.read_bytes()), path.parent
    given, empty = read_form(file, keys)
    kept = 0
    for pack, folder in studies.items():
        own = [rating for rating in given if rating.rater.startswith(f"{pack} ")]
        store = Ratings(folder)
        known = {(r.session, r.rater): r for rating in own for r in store.read(rating.session)}
        new, clashes = conflicts(own, known)
        if clashes:
            raise WrongInput("\n".join([*clashes, "Nothing was imported."]))
        with Runs.at(folder).lock():
            for rating in new:
                store.add(rating)
        kept += len(new)
        if new:
            score_all(Runs.at(folder), ["ratings"])
    partial = sum(bool(rating.missing) for rating in given)
    screen = console()
    screen.print(f"{kept} ratings kept, {len(given) - kept} known before, {partial} with something missing, {empty} sheets left empty")
    raise typer.Exit(0 if given and not empty and not partial else 3 if given else 4)


@app.command()
def report(
    study: STUDY,
    seed: Annotated[int, typer.Option(help="The seed of the bootstrap.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write every table as CSV and every figure as SVG into this folder.")] = None,
    panel: Annotated[list[str] | None, typer.Option(help="Only the ratings of this panel or pack; may be given several times.")] = None,
    source: Annotated[Literal["models", "people"] | None, typer.Option(help="Only the ratings of models, or of people.")] = None,
    root: ROOT = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print every table as JSON.")] = False,
) -> None:
    """The analysis of a tournament: who wins, how sure that is, how far raters agree, what makes a winner and moves a stance.

    Exit code 0; 3 if something could not be read, a rating is lost, a debate is missing or was edited, 4 if no debate has been rated.
    """
    from delibsim.analysis.debate_report import TITLES, figures, tables

    runs = study_at(study, root)
    debates, faults = debates_of(runs)
    losses, changed = Ratings.of(runs).losses(run.session.id for run in debates), edited(debates)
    rated = chosen(debates, panel or [], source)
    found = tables(rated, seed)
    pooled = pooled_in(rated)
    if out is not None:
        for name, table in found.items():
            write_atomically(out / f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))
        for name, drawing in figures(found).items():
            write_atomically(out / f"{name}.svg", drawing)
    if as_json:
        plain = {name: table.astype(object).to_dict("records") for name, table in found.items() if name != "ratings"}
        echo_json(
            {
                "study": runs.study,
                "planned": len(runs.sessions()),
                "faults": faults,
                "lost": losses,
                "edited": changed,
                "pooled": pooled,
                **plain,
            }
        )
    else:
        screen = console()
        parts = ", ".join(f"{name} ({of['source']}, {of['ratings']})" for name, of in pooled.items())
        screen.print(f"Ratings of {safe(parts)}, pooled" if len(pooled) > 1 else f"Ratings of {safe(parts) or 'nobody'}", soft_wrap=True)
        for name, title in TITLES.items():
            _print(found[name], title, screen)
        for fault in faults:
            screen.print(f"left out, damaged: {safe(fault)}", soft_wrap=True)
        for loss in losses:
            screen.print(f"lost: {safe(loss)}", soft_wrap=True)
        for line in changed:
            screen.print(f"warning: {safe(line)}", soft_wrap=True)
        waiting = len(runs.sessions()) - len(debates) - len(faults)
        if waiting:
            screen.print(f"planned and not held yet: {waiting}")
        if out is not None:
            screen.print(f"written: {shown(out.resolve())}")
    whole = not faults and not losses and not changed and all(map(debated, debates)) and len(debates) == len(runs.sessions())
    raise typer.Exit(4 if found["ratings"].empty else 0 if whole else 3)


def debates_of(runs: Runs) -> tuple[list[Run], list[str]]:
    """The debates of a study with their ratings, and the faults of runs that cannot be read; WrongInput if it has no debate."""
    held, faults = runs.all()
    debates = Ratings.of(runs).rated(run for run in held if run.session.format == "debate")
    if not debates and faults:
        raise WrongInput(f"no debate of study '{runs.study}' can be read: {faults[0]}")
    if not debates:
        raise WrongInput(f"study '{runs.study}' holds no debate; debates are held with: delibsim run format=debate motion=voting")
    return debates, faults


def edited(debates: Iterable[Run]) -> list[str]:
    """A line for every debate whose speeches are others than those that were rated."""
    return [
        f"{run.session.id}: the debate was edited after it was rated; its ratings judge another text"
        for run in debates
        if isinstance(run, Rated) and run.edited
    ]


def chosen(debates: Iterable[Run], panels: Sequence[str], source: str | None) -> list[Rated]:
    """Debates with the ratings of these panels (of all where none is named) and of this source; WrongInput for a panel there is not."""
    rated = [run for run in debates if isinstance(run, Rated)]
    known = sorted({name for run in rated for name in run.panels})
    for name in panels:
        if name not in known:
            raise unknown("panel", name, known)

    def kept(rating: Rating) -> bool:
        wanted = source is None or SOURCES[rating.source] == source
        return wanted and (not panels or panel_of_rater(rating.rater) in panels)

    return [replace(run, ratings=tuple(filter(kept, run.ratings))) for run in rated]


def pooled_in(rated: Iterable[Rated]) -> dict[str, dict[str, Any]]:
    """Source and number of ratings of every panel and pack."""
    given = [rating for run in rated for rating in run.ratings]
    counts = Counter((panel_of_rater(rating.rater), SOURCES[rating.source]) for rating in given)
    return {name: {"source": source, "ratings": n} for (name, source), n in sorted(counts.items())}


def _print(table: Any, title: str, screen: Console) -> None:
    drawn = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in map(str, table.columns):
        words = table[column].dtype == object or str(table[column].dtype) == "str"
        whole = column in ("debater", "term", "contrast")
        drawn.add_column(
            SHORT.get(column, column.replace("_", " ")), "", overflow="fold", no_wrap=whole, justify="left" if words else "right"
        )
    for row in table.itertuples(index=False):
        drawn.add_row(*(_cell(value) for value in row))
    screen.print()
    screen.print(drawn)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "-" if value != value else f"{value:.0f}" if value == int(value) and abs(value) >= 1 else f"{value:.3f}"
    return safe(str(value))
