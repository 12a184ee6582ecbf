"""Two studies beside each other: contrasts, differences, what cannot be compared; their page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.pages.page import Entry, PagePart
from delibsim.analysis.report import Report
from delibsim.analysis.result import Result, catalogue, make_table
from delibsim.analysis.study.methods import StudyRecord
from delibsim.analysis.study.outcomes import (
    measured,
    missing,
    named,
    sentence,
    short,
    with_interval,
)
from delibsim.analysis.study.people import compared
from delibsim.analysis.study.report import Findings, plain
from delibsim.analysis.study.study_table import StudyTable
from delibsim.analysis.study.summary import summary
from delibsim.domain.text import counted

OUTCOMES = ("dri", "dri_adjusted", "diversity", "consideration_agreement", "preference_agreement")
KINDS = ("wordings", "procedures", "surveys", "personas")


def report_on_two(
    first: Findings,
    second: Findings,
    records: tuple[StudyRecord | None, StudyRecord | None] = (None, None),
) -> Report:
    """The report on two studies beside each other; two of one name are told apart as (1) and (2).

    Its data are the sentences on what cannot be compared.
    """
    names = names_of(first, second)
    tables = [_contrasts(first, second, names), _differences(first.study, second.study, names)]
    results = {one.name: one for one in tables}
    doubts = [*_not_shared(first.study, second.study, names), *_held_otherwise(records)]
    told = list(in_words(results["differences"], names))
    last = []
    for own, name, id in ((first, names[0], "first"), (second, names[1], "second")):
        entries = [Entry(what, f"{n:,}") for what, n in own.runs.items()]
        sentences = [*own.warnings, *summary(own.results, own.of_citizens)]
        last.append(PagePart(id, f"{name} alone", sentences=sentences, entries=entries))
    absent = [Entry(one.title, one.detail) for one in tables if not one.given]
    if absent:
        last.append(PagePart("not-shown", "Not shown, and why", entries=absent))
    return Report(
        catalogue=catalogue("study_pair"),
        title=f"{names[0]} and {names[1]}",
        results=results,
        about={},
        told=[*told, *doubts],
        summary=told or ["The studies share nothing that could be compared."],
        warnings=list(dict.fromkeys([*first.warnings, *second.warnings])),
        something=any(one.given for one in tables),
        complete=first.whole and second.whole,
        first=[PagePart("not-compared", "What cannot be compared", sentences=doubts)],
        last=last,
        tells_missing=False,
        shape=lambda: _plain(first, second, tables, doubts),
        data=doubts,
    )


def _plain(
    first: Findings, second: Findings, tables: Sequence[Result], doubts: Sequence[str]
) -> dict[str, Any]:
    """As plain values: what both studies show, the tables of both, what cannot be compared."""
    own = []
    for one in (first, second):
        own.append({"study": one.study.study, "runs": dict(one.runs), **plain(one)})
    both = {result.name: result.plain() if result.given else [] for result in tables}
    return {"studies": own, **both, "not_compared": list(doubts)}


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
    made = make_table("study_pair/contrasts_of_both", rows)
    return replace(made, definition=definition)


def _differences(first: StudyTable, second: StudyTable, names: tuple[str, str]) -> Result:
    rows = list(_difference_rows(first, second))
    return make_table("study_pair/differences", rows, first=names[0], second=names[1])


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
            both = {"first": found.pop("people"), "second": found.pop("here")}
            note = "" if len(topics) > 1 else "one_topic: no interval over topics"
            named = {"outcome": outcome, "treatment": treatment, "topics": len(topics)}
            yield {**named, **both, **found, "note": note}


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


def _held_otherwise(records: tuple[StudyRecord | None, StudyRecord | None]) -> Iterator[str]:
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


def in_words(result: Result, names: tuple[str, str]) -> list[str]:
    """The differences between the studies in the index, a sentence for each treatment."""
    if not result.given:
        return []
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
