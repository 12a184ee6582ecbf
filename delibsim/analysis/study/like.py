"""How like people the sessions of a study are: measures of opinion and process beside each other.

Works between any two studies; "people" is the second one. Only topics that both have are compared,
and measures of opinion only where both answered the same survey.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.result import Result, make_table, said, with_holm
from delibsim.analysis.study.mixed_subjects import held_by_people
from delibsim.analysis.study.outcomes import listed, missing, p_in_words
from delibsim.analysis.study.sample import (
    CITIZENS,
    MODELS,
    OF_MEASURE,
    PEOPLE,
    kinds_of_participants,
    main_population,
)
from delibsim.analysis.study.study_table import HELD, DrawCounts, StudyTable
from delibsim.domain.data import read_data
from delibsim.domain.run import Run
from delibsim.domain.text import counted
from delibsim.measures.inference.apart import Sessions, apart, classified, moments
from delibsim.measures.inference.components import intraclass

SIDES = ("here", "people")
ANSWER = ("session", "topic", "phase", "item", "value")


COMPARED: Mapping[str, Mapping[str, str]] = read_data("like.yaml")
COLUMNS = {column: words for own in COMPARED.values() for column, words in own.items()}
"""What is compared: columns of the table of a study, each in words."""
MEASURES = tuple(dict.fromkeys(OF_MEASURE.sub("", column) for column in COLUMNS))
"""The measures of these columns."""
ALPHA = 0.05
ENOUGH = 0.8
"""The share of sessions that must have a measure which the classifier takes."""
WHOM = {MODELS: "models", CITIZENS: "the null citizen"}
CONDITION = ("treatment", "model", "setting")
CELL = ["topic", "replicate", "treatment", "model", "setting"]


@dataclass(frozen=True, eq=False)
class BesidePeople:
    """The sessions of one population and those of people, on the topics that both have.

    `rows` and `people` have columns `topic_number` and `draw_number`. `surveyed` are the topics on
    which both answered the same survey.
    """

    population: str
    rows: pd.DataFrame
    people: pd.DataFrame
    surveyed: Collection[str]

    def values(self, column: str) -> tuple[pd.DataFrame, pd.DataFrame, str]:
        """The sessions of both that have a value of a column, on topics on which both have one, and
        the reason code where there is none.
        """
        both = [one[one[column].notna()] if column in one else one[:0] for one in self.both]
        if column in COMPARED["opinion"]:
            if all(map(len, both)) and not self.surveyed:
                return both[0][:0], both[1][:0], "surveys_differ"
            both = [one[one["topic"].isin(self.surveyed)] for one in both]
        topics = set(both[0]["topic"]) & set(both[1]["topic"])
        found = [one[one["topic"].isin(topics)] for one in both]
        return found[0], found[1], "" if topics else "not_in_both"

    @property
    def both(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The sessions of the population, and those of people."""
        return self.rows, self.people


def like(
    study: StudyTable, people: StudyTable, draws: DrawCounts, changed: Collection[str] = ()
) -> tuple[list[Result], list[str]]:
    """The tables of how like people a study is, and what they say; `changed` are surveys of one
    name whose content differs.
    """
    rows: list[dict[str, Any]] = []
    told: list[dict[str, Any]] = []
    every, notes, pooled = [], list[str](), list[str]()
    for beside in populations_beside(study, people, changed):
        notes = notes or list(_left_out(study, people, beside))
        pooled = pooled or list(_pooled(study, people, beside))
        times = min(draws.permutations, max(99, draws.permutations // 50))
        classifier, weights = classify(beside, times, draws.seed)
        own = measures_beside(beside, weights)
        if any(not missing(row["here"]) for row in own):
            rows += own
            told.append(classifier)
            every = every or [_of_figure(PEOPLE, beside.people)]
            every.append(_of_figure(beside.population, beside.rows))
    named = {"study": study.study, "other": people.study}
    tables = [
        make_table("study/like", rows, [*pooled, *notes], **named),
        make_table("study/like_classifier", told, **named),
        make_table("study/like_sessions", pd.concat(every) if every else (), **named),
    ]
    return tables, [*_sentences(rows, told, people.study), *pooled] if told else [tables[0].detail]


def populations_beside(
    study: StudyTable, people: StudyTable, changed: Collection[str] = ()
) -> Iterator[BesidePeople]:
    """The models of a study and its null citizen, as far as it has them, each beside people."""
    theirs = _held(main_population(people)[0], people.paired)
    for name in (MODELS, CITIZENS):
        found = kinds_of_participants(study).get(name)
        if found is not None and len(ours := _held(found, study.paired)):
            yield _beside(name, ours, theirs, changed)


def _held(rows: pd.DataFrame, paired: bool) -> pd.DataFrame:
    """The sessions that were held, with the numbers of their draws; where people may speak in some,
    these alone.

    Sessions of a draw share people and seeds where the study says so, and no condition has it
    twice; what people hold are draws of their own.
    """
    held = rows[rows["status"].isin(HELD)] if "status" in rows.columns else rows
    if "interaction" in held.columns:
        silent = held["interaction"].eq(False).fillna(False).astype(bool)
        held = held if silent.all() else held[~silent]
    held = held.reset_index(drop=True)
    shared = paired and not held.duplicated(CELL).any()
    alone = held_by_people(held).to_numpy(dtype=bool) | (not shared)
    own = np.where(alone, np.arange(len(held)), -1)
    keys = list(zip(held["topic"], held["replicate"], own, strict=True))
    return held.assign(draw_number=pd.factorize(pd.Series(keys, dtype=object))[0])


def _beside(
    name: str, ours: pd.DataFrame, theirs: pd.DataFrame, changed: Collection[str]
) -> BesidePeople:
    """Both on the topics that both have."""
    shared = sorted(set(ours["topic"].astype(str)) & set(theirs["topic"].astype(str)))
    both = []
    for rows in (ours, theirs):
        own = rows[rows["topic"].astype(str).isin(shared)]
        numbers = own["topic"].astype(str).map(shared.index).astype(int)
        both.append(own.assign(topic=own["topic"].astype(str), topic_number=numbers))
    surveys = [
        dict(zip(one["topic"], one.get("survey", one["topic"]), strict=True)) for one in both
    ]
    same = [
        topic
        for topic in shared
        if surveys[0][topic] == surveys[1][topic] and surveys[0][topic] not in changed
    ]
    return BesidePeople(name, *both, same)


def measures_beside(beside: BesidePeople, weights: Mapping[str, float]) -> list[dict[str, Any]]:
    """A row for each measure, with Holm's p over all; `weights` are those of the classifier."""
    rows = []
    for kind, columns in COMPARED.items():
        for column, words in columns.items():
            ours, theirs, why = beside.values(column)
            row: dict[str, Any] = {"population": beside.population, "kind": kind}
            row |= {"measure": column, "label": words}
            row |= {"weight": weights.get(column, np.nan), "note": why}
            empty = ("here", "g", "spread", "p")
            row |= dict.fromkeys(empty, np.nan) if why else _numbers(column, ours, theirs)
            rows.append(row | {"sessions": len(ours), "people_sessions": len(theirs)})
    rows = with_holm(rows)
    for row in rows:
        row["differs"] = _differs(row["p_holm"], row["g"])
    return rows


def _numbers(column: str, ours: pd.DataFrame, theirs: pd.DataFrame) -> dict[str, Any]:
    """What is computed of a measure that both have on the same topics."""
    topics = pd.factorize(pd.concat([ours["topic"], theirs["topic"]]))[0]
    both = []
    for rows, own in ((ours, topics[: len(ours)]), (theirs, topics[len(ours) :])):
        values = rows[column].to_numpy(dtype=float)
        both.append(Sessions(values, own, rows["draw_number"].to_numpy()))
    found = apart(*both)
    here, people = map(moments, both)
    overlap, overlap_low, overlap_high = found.overlap
    return {
        "here": here[0],
        "sd": here[1],
        "people": people[0],
        "people_sd": people[1],
        "g": found.g.estimate,
        "g_low": found.g.low,
        "g_high": found.g.high,
        "p": found.difference.p,
        "spread": exp(found.spread.estimate),
        "spread_low": exp(found.spread.low),
        "spread_high": exp(found.spread.high),
        "overlap": overlap,
        "overlap_low": overlap_low,
        "overlap_high": overlap_high,
        "topics": len(set(topics)),
        "unit": found.unit,
        "note": found.note,
    }


def _differs(p: float, by: float) -> str:
    """Whether something is higher or lower beside people, "" where that is not clear."""
    if not p < ALPHA or missing(by):
        return ""
    return "higher" if by > 0 else "lower"


def classify(
    beside: BesidePeople, permutations: int, seed: int
) -> tuple[dict[str, Any], Mapping[str, float]]:
    """What a classifier makes of both, and the coefficients of the measures that it takes."""
    row: dict[str, Any] = {"population": beside.population}
    columns = list(_taken(beside))
    both = [one.dropna(subset=columns) for one in beside.both]
    topics = set(both[0]["topic"]) & set(both[1]["topic"])
    ours, theirs = (one[one["topic"].isin(topics)] for one in both)
    row |= {"measures": len(columns), "sessions": len(ours), "people_sessions": len(theirs)}
    found = None
    if columns and topics:
        of_people = theirs.assign(draw_number=theirs["draw_number"] + len(beside.rows))
        rows = pd.concat([ours, of_people])
        first = np.arange(len(rows)) < len(ours)
        values = rows[columns].to_numpy(dtype=float)
        numbers = (rows[name].to_numpy() for name in ("topic_number", "draw_number"))
        found = classified(values, first, *numbers, permutations, seed)
    if found is None:
        return row | {"note": "too_few_sessions"}, {}
    weights = dict(zip(columns, map(float, found.weights), strict=True))
    row |= {"accuracy": found.accuracy, "chance": found.chance, "chance_high": found.chance_high}
    most = max(weights, key=lambda column: abs(weights[column]))
    return row | {"p": found.p, "most": COLUMNS[most], "note": ""}, weights


def _taken(beside: BesidePeople) -> Iterator[str]:
    """The measures that vary and that most sessions of both have."""
    for column in COLUMNS:
        ours, theirs, why = beside.values(column)
        known = (len(ours), len(theirs))
        enough = all(n >= ENOUGH * len(one) for n, one in zip(known, beside.both, strict=True))
        if not why and enough and pd.concat([ours[column], theirs[column]]).nunique() > 1:
            yield column


def _of_figure(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """The sessions of a population with everything that is compared."""
    return rows.reindex(columns=["session", "topic", *COLUMNS]).assign(population=name)


def _pooled(study: StudyTable, people: StudyTable, beside: BesidePeople) -> Iterator[str]:
    """Over which conditions the sessions of each are pooled."""
    for table, rows, before in ((study, beside.rows, ""), (people, beside.people, "like.")):
        known = {name: sorted(rows[name].dropna().astype(str).unique()) for name in CONDITION}
        pooled = {name: values for name, values in known.items() if len(values) > 1}
        if pooled:
            over = " and ".join(f"{name} ({', '.join(of)})" for name, of in pooled.items())
            how = " ".join(f"{before}{name}={values[0]}" for name, values in pooled.items())
            yield said("study/like_pooled", study=table.study, pooled=over, how=how)


def _left_out(study: StudyTable, people: StudyTable, beside: BesidePeople) -> Iterator[str]:
    """Which topics one study has alone, and how many sessions that leaves out."""
    for table in (study, people):
        rows = table.rows[table.rows["status"].isin(HELD)] if "status" in table.rows else table.rows
        alone = rows[~rows["topic"].astype(str).isin(set(beside.rows["topic"]))]
        if len(alone):
            topics = ", ".join(sorted(set(alone["topic"].astype(str))))
            yield f"Only {table.study} has {topics}: {counted(len(alone), 'session')} left out."


def _sentences(
    rows: Sequence[Mapping[str, Any]], told: Sequence[Mapping[str, Any]], other: str
) -> Iterator[str]:
    """What the tables say of each population."""
    for classifier in told:
        own = [row for row in rows if row["population"] == classifier["population"]]
        named = {"whom": WHOM[classifier["population"]], "other": other}
        if tested := [row for row in own if not missing(row["p_holm"])]:
            yield _of_measures(tested, named)
        else:
            yield said("study/like_few", **named)
        if not missing(classifier.get("p")):
            clear = classifier["p"] < ALPHA
            numbers = {name: f"{classifier[name]:.0%}" for name in ("accuracy", "chance")}
            numbers |= {"p": p_in_words(classifier["p"]), "most": classifier["most"]}
            yield said(f"study/like_told{'' if clear else '_not'}", **named, **numbers)


def _of_measures(rows: Sequence[Mapping[str, Any]], named: Mapping[str, Any]) -> str:
    """In how many measures they differ, and in which."""
    parts = []
    for way in ("higher", "lower"):
        labels = [row["label"] for row in rows if row["differs"] == way]
        if labels:
            parts.append(f"{way} {listed(labels)}")
    n = sum(bool(row["differs"]) for row in rows)
    values = {**named, "n": n, "all": len(rows), "which": "; ".join(parts)}
    return said(f"study/like{'' if n else '_none'}", **values)


def answers_of(run: Run) -> Iterator[dict[str, Any]]:
    """The answers of a run, a row a participant, phase and item that was answered."""
    session, topic = run.session.id, run.session.topic.id
    for response in run.responses:
        for item, value in response.answers.items():
            row = session, topic, response.phase, item, value
            yield dict(zip(ANSWER, row, strict=True))


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
    frames = [pd.DataFrame(given, columns=list(ANSWER)) for given in answers]
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
