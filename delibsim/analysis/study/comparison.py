"""Two studies beside each other: contrasts, differences, what cannot be compared; their page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.pages.page import Entry, Page, Part
from delibsim.analysis.result import Result, make_table
from delibsim.analysis.study.findings import Findings
from delibsim.analysis.study.people import compared
from delibsim.analysis.study.record import Record
from delibsim.analysis.study.study_table import StudyTable
from delibsim.analysis.study.summary import summary
from delibsim.analysis.study.words import measured, missing, named, sentence, short, with_interval
from delibsim.domain.text import counted

OUTCOMES = ("dri", "dri_adjusted", "diversity", "consideration_agreement", "preference_agreement")
KINDS = ("wordings", "procedures", "surveys", "personas")


@dataclass(frozen=True, eq=False)
class Comparison:
    """The tables of two studies beside each other, and in sentences what cannot be compared."""

    first: Findings
    second: Findings
    results: Sequence[Result]
    not_compared: Sequence[str]

    def plain(self) -> dict[str, Any]:
        """As plain values: both studies' findings, the tables of both, what cannot be compared."""
        plain: dict[str, Any] = {"studies": [self.first.plain(), self.second.plain()]}
        for result in self.results:
            plain[result.name] = result.plain() if result.given else []
        return plain | {"not_compared": list(self.not_compared)}


def comparison(
    first: Findings,
    second: Findings,
    records: tuple[Record | None, Record | None] = (None, None),
) -> Comparison:
    """Both studies beside each other; two of one name are told apart as (1) and (2)."""
    names = names_of(first, second)
    results = [_contrasts(first, second, names), _differences(first.study, second.study, names)]
    doubts = [*_not_shared(first.study, second.study, names), *_held_otherwise(records)]
    return Comparison(first, second, results, doubts)


def names_of(first: Findings, second: Findings) -> tuple[str, str]:
    """The names of both studies, which differ."""
    one, other = first.study.study, second.study.study
    return (f"{one} (1)", f"{other} (2)") if one == other else (one, other)


def _contrasts(first: Findings, second: Findings, names: tuple[str, str]) -> Result:
    """The contrasts of both, with a column `study`."""
    tables, definition = [], ""
    for own, name in zip((first, second), names, strict=True):
        result = own.results.get("contrasts")
        if result is None or not result.given:
            continue
        definition = result.definition
        table = result.rows.copy()
        table.insert(0, "study", name)
        tables.append(table)
    rows = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
    if len(rows):
        keys = ["population", "outcome", "scale", "a", "b"]
        rows = rows.sort_values(keys, kind="stable", ignore_index=True)
    made = make_table("study/contrasts_of_both", rows)
    return replace(made, definition=definition)


def _differences(first: StudyTable, second: StudyTable, names: tuple[str, str]) -> Result:
    rows = list(_difference_rows(first, second))
    return make_table("study/differences", rows, first=names[0], second=names[1])


def _difference_rows(first: StudyTable, second: StudyTable) -> Iterator[dict[str, object]]:
    """A row for each outcome and each treatment of both."""
    shared = [one for one in _levels(first, "treatment") if one in _levels(second, "treatment")]
    for outcome in OUTCOMES:
        column = f"{outcome}_change"
        if column not in first.rows.columns or column not in second.rows.columns:
            continue
        for treatment in shared:
            mine, others = _by_topic(first, treatment, column), _by_topic(second, treatment, column)
            topics = [topic for topic in mine if topic in others]
            if not topics:
                continue
            here = np.array([others[topic] for topic in topics])
            there = np.array([mine[topic] for topic in topics])
            found = compared(here, there)
            yield {
                "outcome": outcome,
                "treatment": treatment,
                "first": found.pop("people"),
                "second": found.pop("here"),
                **found,
                "topics": len(topics),
                "note": "" if len(topics) > 1 else "one_topic: no interval over topics",
            }


def _by_topic(study: StudyTable, treatment: str, column: str) -> dict[str, float]:
    """By topic, the mean of a column over the means of models and settings."""
    rows = study.analysed(column)
    rows = rows[rows["treatment"].astype(str) == treatment]
    blocks = rows.groupby(["topic", "model", "setting"])[column].mean()
    means = blocks.groupby("topic").mean()
    return {str(topic): float(value) for topic, value in means.items()}


def _levels(study: StudyTable, column: str) -> list[str]:
    return list(map(str, study.rows[column].drop_duplicates()))


def _not_shared(first: StudyTable, second: StudyTable, names: tuple[str, str]) -> Iterator[str]:
    """Topics, treatments and models of one study that the other has not."""
    for column, many in (("topic", "topics"), ("treatment", "treatments"), ("model", "models")):
        mine, others = _levels(first, column), _levels(second, column)
        for own, without, name in ((mine, others, names[0]), (others, mine, names[1])):
            alone = [level for level in own if level not in without]
            if alone:
                yield f"Only {name} has the {many} {', '.join(alone)}; they are not compared."
    if "survey" in first.rows.columns and "survey" in second.rows.columns:
        of_first, of_second = _surveys(first), _surveys(second)
        for topic, survey in of_first.items():
            other = of_second.get(topic, survey)
            if survey != other:
                yield (
                    f"{topic}: the surveys differ ({survey} and {other}); only measures that are"
                    " comparable between instruments should be compared there."
                )


def _surveys(study: StudyTable) -> dict[str, str]:
    """The survey of each topic."""
    pairs = study.rows[["topic", "survey"]].dropna().drop_duplicates("topic")
    return {str(topic): str(survey) for topic, survey in pairs.itertuples(index=False)}


def _held_otherwise(records: tuple[Record | None, Record | None]) -> Iterator[str]:
    """Wordings, procedures and personas in which the studies differ."""
    first, second = records
    if first is None or second is None:
        yield "How one of the studies was held is not recorded in its table."
        return
    for kind in KINDS:
        mine, others = first.components(kind), second.components(kind)
        if kind == "surveys":  # of topics that both have
            mine = {name: own for name, own in mine.items() if name in others}
            others = {name: own for name, own in others.items() if name in mine}
        differing = _differing(mine, others)
        if differing:
            yield f"The {kind} differ: {differing}. A difference may come from that."


def _differing(mine: Mapping[str, object], others: Mapping[str, object]) -> str:
    """Names that only one study has, and names under which both have something else."""
    alone = sorted(mine.keys() ^ others.keys())
    changed = [name for name in sorted(mine.keys() & others.keys()) if mine[name] != others[name]]
    return ", ".join([*alone, *(f"{name} (in content)" for name in changed)])


def page_of_both(found: Comparison) -> Page:
    """The page: what differs between the studies, their contrasts, what cannot be compared."""
    first, second = found.first, found.second
    names = names_of(first, second)
    parts = [Part("not-compared", "What cannot be compared", sentences=list(found.not_compared))]
    given = [one for one in found.results if one.given]
    parts.append(Part("tables", "Both studies", tables=given))
    for own, name, id in ((first, names[0], "first"), (second, names[1], "second")):
        entries = [Entry(what, f"{n:,}") for what, n in own.runs.items()]
        sentences = [*own.warnings, *summary(own.results)]
        parts.append(Part(id, f"{name} alone", sentences=sentences, entries=entries))
    absent = [Entry(one.title, one.detail) for one in found.results if not one.given]
    if absent:
        parts.append(Part("not-shown", "Not shown, and why", entries=absent))
    return Page(
        title=f"{names[0]} and {names[1]}",
        kind="Report on two studies, by delibsim",
        summary=in_words(found) or ["The studies share nothing that could be compared."],
        parts=parts,
        warnings=list(dict.fromkeys([*first.warnings, *second.warnings])),
    )


def in_words(found: Comparison) -> list[str]:
    """The differences between the studies in the index, a sentence for each treatment."""
    names = names_of(found.first, found.second)
    sentences = []
    for result in found.results:
        if result.name == "differences" and result.given:
            sentences += _comparison_report_differences(result, names)
    return sentences


def _comparison_report_differences(result: Result, names: tuple[str, str]) -> list[str]:
    rows = [row for row in result.plain() if row["outcome"] == "dri"]
    told = []
    for row in rows:
        where = counted(row["topics"], "topic")
        both = f"{short(row['second'])} in {names[1]} and {short(row['first'])} in {names[0]}"
        said = (
            f"{sentence(named(row['treatment']))}: the {measured('dri')} changed by {both}, over"
            f" {where} that both have"
        )
        if missing(row["low"]):
            told.append(f"{said}; no interval, and no difference is claimed.")
            continue
        numbers = with_interval(row["difference"], row["low"], row["high"])
        clear = "a difference of" if row["low"] > 0 or row["high"] < 0 else "no clear difference:"
        told.append(f"{said}; {clear} {numbers}, without correction for several tests.")
    return told
