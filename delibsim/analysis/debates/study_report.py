"""The report on the ratings of one study: its tables, what they rest on, and what is missing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd

from delibsim.analysis.debates.figures import drawings
from delibsim.analysis.debates.findings import findings
from delibsim.analysis.debates.pooled import Pooled
from delibsim.analysis.debates.rated import chosen, debates_of, edited, ids_of
from delibsim.analysis.debates.report import tables
from delibsim.analysis.pages.page import Part
from delibsim.analysis.report import Report
from delibsim.analysis.result import catalogue, make_table
from delibsim.analysis.study.report.words import with_interval
from delibsim.domain.rating import debated
from delibsim.store.instruments.own_answers import read_covariates
from delibsim.store.ratings import Ratings
from delibsim.store.runs import Runs


def study_report(
    runs: Runs,
    panels: Sequence[str] = (),
    source: str | None = None,
    focus: str | None = None,
    people: Path | None = None,
) -> Report:
    """The report on the ratings of a study, or only of these panels and of this source.

    `people` is a file of covariates; the rest is as in `tables` and `chosen`.
    """
    debates, faults = debates_of(runs)
    planned = len(runs.sessions())
    covariates = None if people is None else read_covariates(people, ids_of(debates))
    rated = chosen(debates, panels, source)
    waiting = planned - len(debates) - len(faults)
    losses = Ratings.of(runs).losses(run.session.id for run in debates)
    changed = edited(debates)
    said = [f"lost: {loss}" for loss in losses]
    said += [f"warning: {line}" for line in changed]
    said += [f"planned and not held yet: {waiting}"] if waiting else []
    frames = tables(rated, focus=focus, people=covariates)
    found = report_of(runs.study, frames, Pooled.of(rated), said)
    held = f"Debates planned: {planned}; held: {planned - waiting}."
    return replace(
        found,
        about={**found.about, "planned": planned, "lost": losses, "edited": changed},
        summary=[held, *found.summary],
        faults=faults,
        complete=all(map(debated, debates)) and not said,
        data=len(debates),
    )


def report_of(
    study: str, frames: Mapping[str, pd.DataFrame], pooled: Pooled, said: Sequence[str] = ()
) -> Report:
    """A report of these tables; `said` are sentences on what is missing."""
    found = [make_table(f"debates/{name}", frame) for name, frame in frames.items()]
    return Report(
        catalogue=catalogue("debates"),
        title=study,
        results=catalogue("debates").in_order(found),
        about={"study": study, **pooled.plain()},
        told=[pooled.whose(), *pooled.warned(), *said],
        summary=list(_summary(frames)),
        warnings=pooled.warned(),
        something=not frames["ratings"].empty,
        first=[Part("whose", "Whose ratings", [pooled.whose()], said)],
        drawn=partial(drawings, frames),
    )


def _summary(frames: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    """Who stands first, and what may be said of differences."""
    placed = frames["standings"]
    if placed.empty:
        yield "No debate has been rated."
        return
    for row in placed.head(3).to_dict("records"):
        rate = with_interval(row["win_rate"], row["win_low"], row["win_high"])
        of = f"{row['df'] + 1:g} {row['unit']}s" if row["win_low"] == row["win_low"] else ""
        over = f", 95% interval by t over {of}" if of else ""
        told = f"{row['debater']} was named the winner in a share of {rate} of its ratings"
        yield f"{told}{over} (rank {row['rank']:g})."
    yield from findings(frames["contrasts"])
