"""`delibsim rate`: debates rated blind, by language models or by people, and what ratings say."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import typer
from rich.console import Console

from delibsim.asking.kinds.rating_people import export_debates
from delibsim.cli.asking import (
    Asked,
    Call,
    Handed,
    Handing,
    Kind,
    Reported,
    commands_of,
    counted_plain,
)
from delibsim.cli.estimate import show_found
from delibsim.cli.options import parted, settings_of, settings_of_kind
from delibsim.cli.table import print_text, show_table
from delibsim.cli.terminal import agreed, console, echo_json, exit_code, print_each, safe
from delibsim.conduct.annotate import RatingPlan, ask_panel, estimate_panel, plan_ratings
from delibsim.conduct.panel import kin
from delibsim.conduct.score import score_all
from delibsim.domain.text import counted, quoted, study_named
from delibsim.planning.compose import plan
from delibsim.store.ratings import Ratings

WORDING = "oxford"
"""The wording that raters read by default."""
ASKED, HANDED = settings_of_kind("rate_ask"), settings_of_kind("rate_handout")
REPORTED = settings_of_kind("rate_report")


class Rate(Kind):
    """Stances and ballots on debates."""

    command = "rate"
    answers = "ratings"
    following = "rate report"
    raters = "5"
    handed = HANDED
    reported = REPORTED

    def ask(self, call: Call, asked: Asked) -> NoReturn:
        """Have a panel rate, or say what it takes."""
        runs = call.runs
        own, others = parted(call.words, ASKED)
        given = settings_of(own, ASKED)
        if not any(one.startswith("wording=") for one in others):
            others.insert(0, f"wording={WORDING}")
        planned = plan_ratings(runs, others, given["panel"] or "panel", given["each"])
        screen = console(stderr=True)
        print_each([f"warning: {one}" for one in kin(planned.panel, planned.debates)], screen)
        if asked.only:
            _show_estimate(planned, asked.as_json)
        if asked.may_ask(planned.panel.models):
            agreed(asyncio.run(estimate_panel(planned)).usd.high, asked.yes)
        notify = asked.notify(screen)
        outcome = asyncio.run(ask_panel(planned, notify, notify))
        losses = Ratings.of(runs).losses(run.session.id for run in planned.debates)
        score_all(runs, ["ratings"])
        if asked.as_json:
            echo_json(planned.report(outcome, losses))
        else:
            print_each(planned.told(outcome), console())
            print_each(planned.missing(outcome, losses), screen)
            console().print(f"Next       delibsim rate report {quoted(planned.runs.study)}")
        complete = not (outcome.faults or planned.faults or losses)
        raise typer.Exit(exit_code(bool(outcome.new + outcome.before), complete))

    def hand_out(self, call: Call, handing: Handing) -> Handed:
        """Hand out debates to be rated."""
        runs = call.runs
        wording = settings_of(call.words, HANDED)["wording"] or WORDING
        texts = plan([f"wording={wording}"]).session.wording
        raters, each = len(handing.people(self.raters, "rater")), handing.n
        pack = export_debates(runs, texts, raters, each, handing.out, handing.online)
        shares = "" if each is None else f", {each} each"
        where = "rater-1.html and so on to print, form.csv to fill in"
        line = (
            f"{counted(pack.debates, 'debate')} for {counted(raters, 'rater')}{shares}:"
            f" {where if pack.folder else 'on pages'}"
        )
        return Handed(pack.name, pack.folder, [line], pack.plain())

    def report(self, call: Call) -> Reported:
        """The analysis of a tournament."""
        from delibsim.analysis.debates.report import study_report  # pandas is slow to import

        given = settings_of(call.words, REPORTED)
        panels, source = list(given["panel"]), given["source"] or None
        people = Path(given["people"]) if given["people"] else None
        found = study_report(call.runs, panels, source, given["focus"] or None, people)
        what = "no ratings of those asked for" if panels or source else "no ratings"
        study = quoted(call.study)
        nothing = [
            f"{study_named(found.title)}: {counted(found.data, 'debate')}, {what}",
            *found.told[1:],
            f"next: delibsim rate ask {study} (models rate)",
            f"      delibsim rate handout {study} (people rate)",
        ]
        return Reported(found, nothing, tables="all", printed=print_sections)


def _show_estimate(planned: RatingPlan, as_json: bool) -> NoReturn:
    """Say what the ratings that are still to be asked for will take."""
    found = asyncio.run(estimate_panel(planned))
    study, limits = planned.runs.study, planned.plan.limits
    counts = f"{found.held:,} there already, {found.waiting:,} to be asked for"
    before = [f"{study_named(study)}: {counted(found.planned, 'rating')}, {counts}"]
    values = counted_plain(found, study, "ratings")
    show_found(found, limits, values, as_json, before, "ratings", planned.runs)
    raise typer.Exit(0)


def print_sections(result: Any, screen: Console) -> None:
    """Print a table under its title; one of models model by model, with what all rows of a part
    share below it.
    """
    from delibsim.analysis.debates.sections import on_screen, sections

    screen.print()
    screen.print(result.title, soft_wrap=True, style="bold")
    for section in sections(on_screen(result)):
        if section.name:
            screen.print()
            screen.print(safe(section.name), soft_wrap=True)
        show_table(section.for_reading(), screen)
        shared: Sequence[str] = section.shared()
        for line in shared:
            print_text(line, screen)


app = commands_of(Rate())
