"""How answers vary within groups and between them, item by item, beside people's."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.result import Result, make_table, said
from delibsim.analysis.study.like import WHOM, BesidePeople, populations_beside
from delibsim.analysis.study.study_table import StudyTable
from delibsim.domain.run import Run
from delibsim.measures.inference.components import intraclass

SIDES = ("here", "people")
COLUMNS = ("session", "topic", "phase", "item", "value")


def answers_of(run: Run) -> Iterator[dict[str, Any]]:
    """The answers of a run, a row a participant, phase and item that was answered."""
    session, topic = run.session.id, run.session.topic.id
    for response in run.responses:
        for item, value in response.answers.items():
            row = session, topic, response.phase, item, value
            yield dict(zip(COLUMNS, row, strict=True))


def like_by_item(
    study: StudyTable,
    people: StudyTable,
    answers: Iterable[Sequence[Mapping[str, Any]]],
    changed: Collection[str] = (),
) -> tuple[Result, list[str]]:
    """The variances of every item in a study and in one of people, whose `answers` both are, on
    topics on which both answered the same survey; and what they say of each population.
    """
    rows = []
    frames = [pd.DataFrame(given, columns=list(COLUMNS)) for given in answers]
    for beside in populations_beside(study, people, changed):
        rows += list(_rows(beside, frames))
    named = {"study": study.study, "other": people.study}
    return make_table("study/like_items", rows, **named), list(_told(rows, people.study))


def _rows(beside: BesidePeople, answers: Sequence[pd.DataFrame]) -> Iterator[dict[str, Any]]:
    both = []
    for rows, given in zip(beside.both, answers, strict=True):
        own = given[given["session"].isin(rows["session"]) & given["topic"].isin(beside.surveyed)]
        both.append(dict(list(own.groupby(["topic", "item", "phase"], sort=False))))
    for topic, item, phase in both[0]:
        if (topic, item, phase) in both[1]:
            row = {"population": beside.population, "topic": topic, "item": item, "phase": phase}
            for side, known in zip(SIDES, both, strict=True):
                row |= _variances(side, known[topic, item, phase])
            yield row


def _variances(side: str, answers: pd.DataFrame) -> dict[str, Any]:
    found = intraclass(answers["value"], answers["session"].astype(str))
    values = {"within": found.within, "between": found.between, "icc": found.icc}
    named = {f"{side}_{name}": value for name, value in values.items()}
    return named | {f"{side}_groups": found.clusters, f"{side}_note": found.note}


def _told(rows: Iterable[Mapping[str, Any]], other: str) -> Iterator[str]:
    """What the items after say of each population, by the medians over those that both have."""
    frame = pd.DataFrame(list(rows))
    columns = [f"{side}_{what}" for what in ("within", "between") for side in SIDES]
    known = frame[frame["phase"] == "post"].dropna(subset=columns) if len(frame) else frame
    for population, own in known.groupby("population", sort=False) if len(known) else ():
        medians = {name: f"{np.median(own[name]):.2f}" for name in columns}
        yield said(
            "study/like_items", whom=WHOM[str(population)], other=other, **medians, n=len(own)
        )
