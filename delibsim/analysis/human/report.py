"""What is reported of real people: measures, published figures beside them, groups of five."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from delibsim.analysis.human import people
from delibsim.analysis.human.groups_of_five import (
    OF_FIVE,
    SIZE,
    Dealt,
    GroupCeiling,
    Spread,
    dealt,
    drawn_with_replacement,
    group_ceiling,
    over_groups,
    over_topics,
    spread,
)
from delibsim.analysis.human.people import Reference
from delibsim.analysis.human.published import Figure, published_figures
from delibsim.domain.measure import HEADINGS, SCORE_PHASES
from delibsim.domain.survey import PHASES
from delibsim.domain.text import counted
from delibsim.measures.inference.means import mean_of_units
from delibsim.store.instruments.answers import Answers

GROUPINGS = {"topic": people.by_topic, "case": people.by_case}
"""How people are grouped: all participants of a survey, or each deliberation."""

Spreads = Mapping[str, Mapping[str, Spread]]
"""Figures of groups of five by measure and phase (pre, post, change)."""


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

    def ceiling(self) -> GroupCeiling:
        """The regression of the change of DRI on DRI before, over groups of five."""
        return group_ceiling(self.topics)

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
            "published": [_plain_figure(figure) for figure in self.figures],
        }

    def _of_five(self) -> dict[str, Any]:
        """The groups of five: each topic's, means over topics and over groups, the ceiling."""
        topics = []
        for topic in self.topics:
            row = {"id": topic.id, "n": topic.n, "groups": topic.groups}
            topics.append(row | _plain_spreads(of_topic(topic)))
        return {
            "partitions": self.partitions,
            "topics": topics,
            "mean_of_topics": _plain_spreads(mean_of_topics(self.topics)),
            "mean_of_groups": _plain_spreads(mean_of_groups(self.topics)),
            "ceiling": asdict(self.ceiling()),
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


def of_topic(topic: Dealt) -> Spreads:
    """The figures of the groups of one topic."""
    return _spreads(lambda measure, phase: spread(topic.values[measure][phase]))


def mean_of_topics(topics: Sequence[Dealt]) -> Spreads:
    """The figures of all groups, each topic counting once."""
    return _spreads(lambda measure, phase: over_topics(topics, measure, phase))


def mean_of_groups(topics: Sequence[Dealt]) -> Spreads:
    """The figures of all groups, each group counting once."""
    return _spreads(lambda measure, phase: over_groups(topics, measure, phase))


def _spreads(of: Callable[[str, str], Spread]) -> Spreads:
    found: dict[str, dict[str, Spread]] = {}
    for measure in OF_FIVE:
        found[measure] = {phase: of(measure, phase) for phase in SCORE_PHASES}
    return found


def _plain_spreads(spreads: Spreads) -> dict[str, Any]:
    plain = {}
    for measure, phases in spreads.items():
        plain[measure] = {phase: asdict(own) for phase, own in phases.items()}
    return plain


def _without_index(topic: Dealt, shares: Mapping[str, float], answers: Answers) -> str:
    """The sentence on a topic; `shares` are those of its groups before, after and in change."""
    alike = []
    for phase in PHASES:
        ranges = np.ptp(answers.considerations[phase], axis=1)
        alike.append(int((ranges == 0).sum()))
    before, after = alike
    said = ", ".join(f"{share:.1%} {name}" for name, share in shares.items())
    people = f"of {topic.n} people {before} rated all considerations alike before and {after} after"
    return (
        f"{topic.id}: groups of five without a DRI are in no mean or slope here ({said}); {people},"
        " which leaves their groups without one."
    )


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


def _plain_figure(figure: Figure) -> dict[str, Any]:
    return {
        "figure": figure.name,
        "published": figure.published,
        "here": figure.here,
        "verdict": figure.verdict,
        "note": figure.note,
    }
