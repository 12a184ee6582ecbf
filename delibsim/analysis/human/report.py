"""What is reported of real people: measures, published figures beside them, groups of five; as
tables for reading and as a page.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.human import people
from delibsim.analysis.human.groups_of_five import (
    SIZE,
    Dealt,
    Figure,
    GroupCeiling,
    Spreads,
    dealt,
    drawn_with_replacement,
    group_ceiling,
    mean_of_groups,
    mean_of_topics,
    of_topic,
    one_partition,
    plain_spreads,
    published_figures,
    spread,
)
from delibsim.analysis.human.people import Reference
from delibsim.analysis.pages.page import PagePart
from delibsim.analysis.report import Report
from delibsim.analysis.result import Result, catalogue, said
from delibsim.analysis.table import DisplayColumn, DisplayTable, Row, number, numbers, texts
from delibsim.domain.score import CATALOGUE, HEADINGS, MEASURES, SCORE_PHASES, Measure
from delibsim.domain.survey import PHASES
from delibsim.domain.text import counted
from delibsim.measures.inference.means import mean_of_units
from delibsim.store.instruments.answers import Answers

GROUPINGS = {"topic": people.by_topic, "case": people.by_case}
"""How people are grouped: all participants of a survey, or each deliberation."""


@dataclass(frozen=True)
class PeopleReport:
    """The measures of groups of people, and what they allow to conclude.

    `groups` are those that are shown, `mean` is that of the benchmark's, `left_out` the number of
    groups that are no topic of the benchmark and not shown. `missing` are the topics of the
    benchmark without answers; with any there are no published `figures`. `topics` are dealt into
    groups of five, `partitions` times.
    """

    by: str
    groups: Sequence[Reference]
    mean: Reference
    left_out: int
    missing: Sequence[str]
    figures: Sequence[Figure]
    topics: Sequence[Dealt]
    partitions: int
    references: Mapping[str, Sequence[Reference]]
    answers: Mapping[str, Answers]

    @property
    def has_mean(self) -> bool:
        """Whether the mean has a value, or groups of the benchmark are shown that it lacks."""
        known = len(self.mean.notes) < len(people.CHANGES)
        return known or bool(people.of_benchmark(self.groups))

    @property
    def benchmark(self) -> int:
        """The number of groups that the mean stands on."""
        return len(people.of_benchmark(self.references[self.by]))

    def means_of_five(self) -> dict[str, Spreads]:
        """The means of the groups of five by name: over topics, and over groups."""
        groups = sum(topic.groups for topic in self.topics)
        return {
            f"mean of {counted(len(self.topics), 'topic')}": mean_of_topics(self.topics),
            f"mean of {groups} {'group' if groups == 1 else 'groups'}": mean_of_groups(self.topics),
        }

    def ceiling(self, measure: str = "dri") -> GroupCeiling:
        """The regression of a measure's change on its value before, over groups of five."""
        return group_ceiling(self.topics, measure)

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "groups": [{"id": group.id, "n": group.n, **_values(group)} for group in self.groups],
            "mean": _values(self.mean),
            "inference": None if self.missing else self._inference(),
            "groups_of_five": self._of_five() if self.topics else None,
        }

    def _inference(self) -> dict[str, Any]:
        """What the means allow to conclude, and the published figures beside it."""
        twelve = people.of_benchmark(self.references["topic"])
        gains = people.mean_of(self.references["case"]).change
        names = ("consideration_agreement", "preference_agreement")
        mean = mean_of_units([one.change["dri"] for one in twelve])
        return {
            "dri_change_interval": (mean.low, mean.high),
            "dri_change_df": mean.df,
            "dri_change_interval_published": people.interval_of_mean_change(twelve),
            "resamples": people.RESAMPLES,
            "seed": people.BOOTSTRAP,
            "ceiling": asdict(people.ceiling(twelve)),
            "agreement_gain_by_case": {name: gains[name] for name in names},
            "published": list(map(_plain_figure, self.figures)),
        }

    def _of_five(self) -> dict[str, Any]:
        """The groups of five: each topic's, means over topics and over groups, the ceiling."""
        topics = []
        for topic in self.topics:
            row = {"id": topic.id, "n": topic.n, "groups": topic.groups}
            row |= plain_spreads(of_topic(topic))
            topics.append(row | {"one_partition": one_partition(topic)})
        return {
            "partitions": self.partitions,
            "topics": topics,
            "mean_of_topics": plain_spreads(mean_of_topics(self.topics)),
            "mean_of_groups": plain_spreads(mean_of_groups(self.topics)),
            "ceiling": asdict(self.ceiling()),
            "convergence": asdict(self.ceiling("diversity")),
        }

    def without_index(self) -> list[str]:
        """A sentence for each topic with groups of five that have no DRI: which share, and why."""
        found = []
        for topic in self.topics:
            shares = {}
            for phase, name in HEADINGS.items():
                shares[name] = spread(topic.values["dri"][phase]).undefined
            if shares["change"]:
                found.append(_without_index(topic, shares, self.answers[topic.id]))
        return found


def people_report(
    answers: Sequence[Answers],
    scales: Mapping[str, tuple[int, int]],
    by: str,
    partitions: int,
    whole: bool = False,
) -> PeopleReport:
    """The report of answers, grouped by topic or by case, and dealt into groups of five.

    `scales` are the surveys' lowest and highest rating; 0 partitions deal nobody. `whole` also
    shows the surveys that are no topics of the benchmark, as is done where none is one.
    """
    references = {grouping: of(answers, scales) for grouping, of in GROUPINGS.items()}
    benchmark = people.of_benchmark(references[by])
    whole = whole or not benchmark
    shown = references[by] if whole else benchmark
    missing = people.missing_topics(references["topic"])
    by_survey = {own.survey: own for own in answers}
    topics = references["topic"] if whole else people.of_benchmark(references["topic"])
    large = [topic.id for topic in topics if partitions and topic.n >= SIZE]
    groups_of_five = [dealt(by_survey[topic], partitions) for topic in large]
    figures = [] if missing else _figures(references, by_survey, groups_of_five, partitions)
    return PeopleReport(
        by=by,
        groups=shown,
        mean=people.mean_of(references[by]),
        left_out=len(references[by]) - len(shown),
        missing=missing,
        figures=figures,
        topics=groups_of_five,
        partitions=partitions,
        references=references,
        answers=by_survey,
    )


def _plain_figure(one: Figure) -> dict[str, Any]:
    own = {name: getattr(one, name) for name in ("published", "here", "verdict", "note")}
    return {"figure": one.name, **own}


def _without_index(topic: Dealt, shares: Mapping[str, float], answers: Answers) -> str:
    """The sentence on a topic; `shares` are those of its groups before, after and in change."""
    alike = []
    for phase in PHASES:
        ranges = np.ptp(answers.considerations[phase], axis=1)
        alike.append(int((ranges == 0).sum()))
    told = {"topic": topic.id, "n": topic.n, "before": alike[0], "after": alike[1]}
    lacking = ", ".join(f"{share:.1%} {name}" for name, share in shares.items())
    return said("people/without_index", **told, shares=lacking)


def _figures(
    references: Mapping[str, Sequence[Reference]],
    answers: Mapping[str, Answers],
    topics: Sequence[Dealt],
    partitions: int,
) -> list[Figure]:
    """The published figures; those of groups of five where each of the twelve topics has groups."""
    disjoint = [topic for topic in topics if topic.id in people.BENCHMARK]
    if len(disjoint) < len(people.BENCHMARK):
        disjoint = []
    redrawn = [drawn_with_replacement(answers[topic.id], partitions) for topic in disjoint]
    return published_figures(references["topic"], references["case"], disjoint, redrawn)


def _values(group: Reference) -> dict[str, Any]:
    """The measures of a group by phase, with the reasons of what is undefined, if anything is."""
    values: dict[str, Any] = {phase: dict(getattr(group, phase)) for phase in SCORE_PHASES}
    return values | ({"notes": dict(group.notes)} if group.notes else {})


TITLES = {
    "dri": "Deliberative Reason Index",
    "agreement": "Agreement",
    "diversity": "Perspective diversity",
}
"""The tables of groups of people, one of each scorer of surveys."""

FIVE_COLUMNS = (
    (DisplayColumn("before", group="DRI"), "dri", "pre"),
    (DisplayColumn("after", group="DRI"), "dri", "post"),
    (DisplayColumn("change", group="DRI"), "dri", "change"),
    (DisplayColumn("before", group="diversity"), "diversity", "pre"),
    (DisplayColumn("change", group="diversity"), "diversity", "change"),
    (
        DisplayColumn("considerations", group="change of agreement"),
        "consideration_agreement",
        "change",
    ),
    (DisplayColumn("preferences", group="change of agreement"), "preference_agreement", "change"),
)
"""The columns of groups of five, with measure and phase; behind them stands the SD of a change."""


def tables_of_groups(report: PeopleReport) -> Iterator[DisplayTable]:
    """The measures of each group, and their mean over the groups of the benchmark."""
    for title in TITLES.values():
        yield _of_groups(f"{title}, by {report.by}", _measures_of(title), report)


def _measures_of(title: str) -> list[Measure]:
    """The measures of a table: those that `delibsim run` prints of both phases."""
    scorer = next(scorer for scorer, own in TITLES.items() if own == title)
    known = [one for one in CATALOGUE[scorer] if one.human_reference and one.in_summary]
    return [measure for measure in known if "pre" in measure.phases]


def _of_groups(title: str, measures: Sequence[Measure], report: PeopleReport) -> DisplayTable:
    columns = [DisplayColumn("id", text=True), DisplayColumn("n")]
    for measure in measures:
        columns += numbers(HEADINGS.values(), measure.label)
    rows: list[Row | None] = []
    for group in report.groups:
        rows.append([group.id, str(group.n), *_cells(group, measures)])
    if report.has_mean:
        label = f"mean of {report.benchmark} {report.by}s"
        rows += [None, [label, "", *_cells(report.mean, measures)]]
    return DisplayTable(columns, rows, title)


def _cells(group: Reference, measures: Sequence[Measure]) -> list[str]:
    cells = []
    for measure in measures:
        for phase in HEADINGS:
            value = getattr(group, phase)[measure.id]
            cells.append(number(value, signed=phase == "change" and measure.signed))
    return cells


def notes_on_groups(report: PeopleReport) -> list[str]:
    """Which measures are undefined and why, and which groups are left out or missing."""
    notes = []
    for group in report.groups:
        for name, reason in group.notes.items():
            notes.append(f"{group.id}: {MEASURES[name].label} is undefined ({reason})")
    if n := report.left_out:
        notes.append(f"Left out as no topic of the benchmark: {n}; all=true shows them.")
    if report.missing:
        lacking = f"no answers of {', '.join(report.missing)}."
        notes.append(f"No mean and no comparison with published figures: {lacking}")
    return notes


def table_of_figures(report: PeopleReport) -> DisplayTable:
    """The published figures beside those that were computed here."""
    columns = [*texts("figure"), *numbers(("published", "here")), *texts("verdict")]
    rows = []
    for figure in report.figures:
        values = []
        for value in (figure.published, figure.here):
            values.append(f"{value:.{figure.decimals}f}" if value == value else "-")
        verdict = figure.verdict
        mark = "NOT REPRODUCED" if verdict == "not reproduced" else verdict
        rows.append([figure.name, *values, f"{mark}: {figure.note}" if figure.note else mark])
    return DisplayTable(columns, rows, "Published figures")


def table_of_five(report: PeopleReport) -> DisplayTable:
    """The measures of groups of five, by topic, and their means."""
    columns = [DisplayColumn("id", text=True), DisplayColumn("groups")]
    columns += [column for column, _, _ in FIVE_COLUMNS]
    columns.append(DisplayColumn("SD of change of DRI"))
    rows: list[Row | None] = []
    for topic in report.topics:
        rows.append([topic.id, str(topic.groups), *_figures_of_five(of_topic(topic))])
    rows.append(None)
    groups = str(sum(topic.groups for topic in report.topics))
    for label, spreads in report.means_of_five().items():
        rows.append([label, groups, *_figures_of_five(spreads)])
    partitions = f"{report.partitions:,} partitions"
    return DisplayTable(
        columns, rows, f"Groups of five: means over {partitions}; SD between partitions"
    )


def _figures_of_five(spreads: Spreads) -> list[str]:
    cells = []
    for _, measure, phase in FIVE_COLUMNS:
        cells.append(number(spreads[measure][phase].mean, signed=phase == "change"))
    return [*cells, number(spreads["dri"]["change"].between_partitions)]


def ceiling_of_five(report: PeopleReport) -> str:
    """How far the change of groups of five depends on where they began, in words."""
    fit = vars(report.ceiling())
    told = {name: number(value) for name, value in fit.items()}
    return said("people/ceiling", **told | {"n": fit["n"]})


def report_of_people(report: PeopleReport) -> Report:
    """The report on people as a page with its tables."""
    tables = [
        _result(title, "groups", _of_groups_plain(title, report)) for title in TITLES.values()
    ]
    parts = [PagePart("groups", "Measures of people", (), notes_on_groups(report), (), tables)]
    if not report.missing:
        figures = report.plain()["inference"]["published"]
        tables = [_result("Published figures", "figures", figures)]
        parts.append(PagePart("published", "Published figures beside", tables=tables))
    if report.topics:
        told = [*report.without_index(), ceiling_of_five(report)]
        tables = [_result("Groups of five", "five", _of_five_plain(report))]
        parts.append(PagePart("five", "Groups of five", (), told, (), tables))
    summary = list(_summary(report))
    return Report(
        catalogue=catalogue("people"),
        title="Real citizen deliberations",
        results={one.name: one for part in parts for one in part.tables},
        about={},
        told=summary,
        summary=summary,
        first=parts,
        tells_missing=False,
        shape=report.plain,
        data=report,
    )


def _of_groups_plain(title: str, report: PeopleReport) -> list[dict[str, Any]]:
    """The rows of one table of groups, at full precision; the mean has no n."""
    groups = {group.id: group for group in report.groups}
    if report.has_mean:
        groups[f"mean of {report.benchmark} {report.by}s"] = report.mean
    rows = []
    for name, group in groups.items():
        row: dict[str, Any] = {"id": name, "n": group.n or None}
        for measure in _measures_of(title):
            for phase, heading in HEADINGS.items():
                row[f"{measure.label} {heading}"] = getattr(group, phase)[measure.id]
        rows.append(row)
    return rows


def _of_five_plain(report: PeopleReport) -> list[dict[str, Any]]:
    """The rows of the table of groups of five, at full precision."""
    groups = {topic.id: (topic.groups, of_topic(topic)) for topic in report.topics}
    every = sum(topic.groups for topic in report.topics)
    groups |= {name: (every, own) for name, own in report.means_of_five().items()}
    rows = []
    for name, (n, spreads) in groups.items():
        row: dict[str, Any] = {"id": name, "groups": n}
        for column, measure, phase in FIVE_COLUMNS:
            row[f"{column.group} {column.heading}"] = spreads[measure][phase].mean
        rows.append(row | {"SD of change of DRI": spreads["dri"]["change"].between_partitions})
    return rows


def _summary(report: PeopleReport) -> Iterator[str]:
    people = sum(group.n for group in report.groups)
    groups = counted(len(report.groups), "group")
    yield f"{groups} by {report.by}, {counted(people, 'person', 'people')}."
    if report.has_mean:
        change = report.mean.change.get("dri")
        if change is not None:
            yield said("people/changed", change=change, groups=report.benchmark)
    if report.missing:
        yield f"No answers are there on {', '.join(report.missing)}."


def _result(title: str, defined: str, rows: Sequence[Mapping[str, Any]]) -> Result:
    """A table of the page."""
    name = re.sub(r"[^a-z0-9]+", "_", title.lower())
    frame = pd.DataFrame(rows)
    frame = frame.astype({"n": "Int64"} if "n" in frame else {})  # the mean has none
    return Result(name, title, said(f"people/{defined}"), said("people/source"), frame)
