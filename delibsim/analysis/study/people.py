"""Beside people: the change of each measure on the topics on which both are known, how far a change
depends on where groups began, and both rank correlations of every pair of participants.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.human.groups_of_five import ERROR, GROUPS, R2, SLOPE
from delibsim.analysis.human.people import BENCHMARK
from delibsim.analysis.human.reference import ceiling_of_five, human_value, of_topics
from delibsim.analysis.result import Result, entry, make_table, said
from delibsim.analysis.study.blocks import NONE
from delibsim.analysis.study.effects import ENOUGH, noted
from delibsim.analysis.study.sample import (
    CITIZENS,
    FIVES,
    PEOPLE,
    Population,
    Taken,
    complete,
    kinds_of_participants,
    main_population,
    notes_of,
    populations,
    treatments_of,
    why_no_value,
    without_value,
)
from delibsim.analysis.study.study_table import DrawCounts, StudyTable
from delibsim.domain.run import Run
from delibsim.domain.score import MEASURES, SCORE_PHASES
from delibsim.domain.survey import PHASES
from delibsim.measures.dri import Array, over_pairs, rank_correlations, why_undefined
from delibsim.measures.inference.means import jackknifed, mean_of_units
from delibsim.measures.inference.resampling import Line, line, true_slope
from delibsim.scorers.arrays import considerations, preferences, surveyed
from delibsim.store.instruments.answers import Answers

PAIRS, OF_PEOPLE = "pair_correlations", "pair_correlations_people"
"""The names of both results."""


CORRECTED = ("corrected", "corrected_low", "corrected_high", "corrected_p", "reliability")
OF_LINE = ("slope", "se", "df", "r2", "p", "n", "clusters", "intercept")
CONDITION = ("topic", "model", "setting", "treatment")
"""What the sessions of a condition share; its replicates tell how far measurement errs."""
WHY = {
    "no_replication": said("study/no_replication"),
    "no_variance": said("study/no_reliability"),
    "no_error": "one_topic: the corrected slope has no interval",
    "denominator_may_be_0": said("study/not_defined"),
}


def slope_of(population: Population, before: str, change: str) -> dict[str, Any]:
    """The row of one population: change on before over its sessions, clustered by topic."""
    rows = population.rows[complete(population.rows, (before, change))]
    if rows.empty:
        nothing = {"n": 0, "clusters": 0, "slope": float("nan"), "note": "no_value"}
        return {"population": population.name, **nothing}
    x, y = (rows[name].to_numpy(dtype=float) for name in (before, change))
    topics = rows["topic"].astype(str).to_numpy()
    fit = line(x, y, topics)
    others = [topics != one for one in sorted(set(topics))]
    without = [line(x[kept], y[kept]).slope for kept in others]
    spread = jackknifed(fit.slope, without)
    low, high = fit.interval()
    row = row_of(population.name, fit)
    row |= {"published_se": fit.se, "published_low": low, "published_high": high}
    row |= {"se": spread.error, "df": spread.df, "low": spread.low, "high": spread.high}
    by = [name for name in CONDITION if name in rows.columns]
    conditions = rows.groupby(by, dropna=False).ngroup()
    true = true_slope(x, y, conditions, topics)
    found = true.slope
    values = (found.estimate, found.low, found.high, found.p, true.reliability)
    row |= dict(zip(CORRECTED, values, strict=True))
    return row | {"p": spread.p, "note": noted(row["note"], WHY.get(found.note, ""))}


def beside_none(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, each with the raw slope of the treatment none beside its own.

    The row of null citizens has sessions under none within it, and those of others beside it.
    """
    own = {row["population"]: row["slope"] for row in rows}
    for row in rows:
        if NONE in own and row["population"] != CITIZENS:
            row["under_none"] = own[NONE]
    return rows


def _of_people(measure: str, name: str) -> dict[str, Any]:
    """The row of people: a point a topic, the twelve of the benchmark, with plain errors."""
    before, change = (of_topics(BENCHMARK, measure, phase) for phase in ("pre", "change"))
    fit = line(before, change)
    return row_of(name, fit) | {"clusters": len(before), "note": WHY["no_replication"]}


def row_of(name: str, fit: Line) -> dict[str, Any]:
    """The row of a fitted line."""
    low, high = fit.interval()
    note = fit.note
    if not note and 0 < fit.clusters < ENOUGH:
        note = "few_topics"
    row: dict[str, Any] = {name: getattr(fit, name) for name in OF_LINE}
    note = "one_topic" if note == "one_cluster" else note
    return {"population": name, **row, "low": low, "high": high, "note": note}


def ceiling(study: StudyTable, draws: DrawCounts) -> Result:
    """The table `ceiling`; nothing in it is drawn at random, and `draws` is not used."""
    return _table(study, "ceiling", "dri")


def convergence(study: StudyTable, draws: DrawCounts) -> Result:
    """The table `convergence`; nothing in it is drawn at random, and `draws` is not used."""
    return _table(study, "convergence", "diversity")


def _table(study: StudyTable, name: str, measure: str) -> Result:
    """How far the change of a measure depends on its value before, by population."""
    columns = f"{measure}_pre", f"{measure}_change"
    why, detail = why_no_value(study, columns)
    rows: list[dict[str, Any]] = []
    for population in () if why else populations(study):
        known = population.rows[complete(population.rows, columns)]
        mean = float(known[columns[1]].mean()) if len(known) else float("nan")
        rows.append(slope_of(population, *columns) | {"mean_change": mean})
    changes = of_topics(BENCHMARK, measure, "change")
    people = _of_people(measure, PEOPLE) | {"mean_change": float(np.mean(changes))}
    rows = [*beside_none(rows), people, _of_five(measure)]
    notes = [*notes_of(study), *without_value(study.rows, columns)]
    own = Taken(study.rows, notes=notes, why=why, detail=detail)
    topics = main_population(study)[0]["topic"].nunique()
    told: dict[str, Any] = {"slope": SLOPE, "error": ERROR, "r2": R2, "groups": GROUPS}
    told |= {"topics": topics, "enough": ENOUGH, "plain_error": ceiling_of_five()["se"]}
    return own.result(f"study/{name}", rows, **told)


def _of_five(measure: str) -> dict[str, Any]:
    """People in groups of five, from the shipped reference: the errors clustered by topic."""
    shipped = ceiling_of_five(measure)
    fit = Line(
        slope=shipped["beta"],
        intercept=shipped["intercept"],
        se=shipped["se_clustered"],
        r2=shipped["r2"],
        df=11,
        n=shipped["n"],
        clusters=12,
    )
    # The median of p over partitions, not the p of the mean slope.
    means = of_topics(BENCHMARK, measure, "change")
    row = row_of(FIVES, fit) | {"p": shipped["p_clustered"], "note": WHY["no_replication"]}
    return row | {"mean_change": float(np.mean(means))}


OUTCOMES = (
    "dri",
    "dri_adjusted",
    "consideration_agreement",
    "preference_agreement",
    "diversity",
)
"""The measures that are set beside people's, as far as their instruments allow it."""


def people(study: StudyTable, draws: DrawCounts) -> Result:
    """The table `people`."""
    rows = []
    for population, own in kinds_of_participants(study).items():
        for outcome in OUTCOMES if len(own) else ():
            for phase in SCORE_PHASES:
                rows += _rows(own, population, outcome, phase)
    if not any(row["topics"] for row in rows):
        reasons = ", ".join(_codes(row["note"] for row in rows) or ["not_measured"])
        return make_table("study/people", (), why="no_people", reasons=reasons)
    return make_table("study/people", rows, why="")


def _rows(own: pd.DataFrame, population: str, outcome: str, phase: str) -> list[dict[str, object]]:
    """A row for each treatment."""
    column = f"{outcome}_{phase}"
    if outcome not in MEASURES or column not in own.columns:
        return []
    rows = []
    for treatment in treatments_of(own):
        sessions = own[own["treatment"].astype(str) == treatment]
        valid = sessions[sessions[column].notna()]
        blocks = valid.groupby(["topic", "model", "setting"])[column].mean()
        means = blocks.groupby("topic").mean()
        known, notes = _people(valid, means.index, outcome, phase)
        both = [topic for topic in means.index if topic in known]
        row: dict[str, object] = {"population": population, "outcome": outcome, "phase": phase}
        row |= {"treatment": treatment, "topics": len(both)}
        row |= compared(np.array([means[t] for t in both]), np.array([known[t] for t in both]))
        if not len(means):
            notes = ["no value in this treatment"]
        row["note"] = "; ".join(notes)
        rows.append(row)
    return rows


def _people(
    sessions: pd.DataFrame, topics: pd.Index, outcome: str, phase: str
) -> tuple[dict[str, float], list[str]]:
    """People's values by topic, and why other topics have none, with their number."""
    surveys = sessions.groupby("topic")["survey"].first() if "survey" in sessions else {}
    known: dict[str, float] = {}
    reasons: dict[str, int] = {}
    for topic in topics:
        survey = surveys.get(topic, "")
        value, why = human_value(str(topic), outcome, phase, str(survey or ""))
        if value is None:
            reasons[why] = reasons.get(why, 0) + 1
        else:
            known[topic] = value
    return known, [f"{why} ({n} of {len(topics)} topics)" for why, n in sorted(reasons.items())]


def _codes(notes: Iterable[object]) -> list[str]:
    """Why topics have no people, without their numbers, which are those of one row."""
    parts = [part for note in notes for part in str(note).split("; ")]
    return sorted({part.partition(" (")[0] for part in parts})


def compared(here: np.ndarray, there: np.ndarray) -> dict[str, float]:
    """Both means and their difference with its interval; NaN where topics do not suffice."""
    apart, both = mean_of_units(here - there), {"here": here, "people": there}
    found = {name: values.mean() if len(values) else np.nan for name, values in both.items()}
    ends = {"low": apart.low, "high": apart.high, "p": apart.p}
    return found | {"difference": apart.estimate} | ends


def pair_correlations(runs: Iterable[Run]) -> Result:
    """Both correlations of every pair, session by session; debates have none."""
    return pairs_told(map(pairs_of, runs))


def pairs_of(run: Run) -> list[dict[str, Any]]:
    """Both correlations of the pairs of a run, of each phase; none of a debate."""
    parts = []
    for one in surveyed([run]):
        for phase in PHASES:
            rated, ranked = considerations(one, phase), preferences(one, phase)
            parts.append(_of_group(one.session.id, phase, rated, ranked))
    return parts


def pairs_told(runs: Iterable[Sequence[dict[str, Any]]]) -> Result:
    """The table of these pairs of runs."""
    return _result(PAIRS, list(chain.from_iterable(runs)))


def people_pair_correlations(answers: Mapping[str, Answers], topics: Sequence[str]) -> Result:
    """Both correlations of every pair of people on these topics, all cases of a topic together."""
    parts = []
    for topic in topics:
        if topic not in answers:
            continue
        own = answers[topic]
        for phase in PHASES:
            rated, ranked = own.considerations[phase], own.preferences[phase]
            parts.append(_of_group(topic, phase, rated, ranked))
    return _result(OF_PEOPLE, parts)


def why_not_people(detail: str) -> Result:
    """The result of people whose answers are not there; `detail` says so in a sentence."""
    return _result(OF_PEOPLE, [], "no_answers", detail)


def _of_group(group: str, phase: str, rated: Any, ranked: Any) -> dict[str, Any]:
    note = why_undefined(rated, ranked)
    if note:
        nothing: Array = np.array([np.nan])
        return _part(group, phase, nothing, nothing, note)
    rc, rp = rank_correlations(rated), rank_correlations(ranked)
    return _part(group, phase, over_pairs(rc), over_pairs(rp), "")


def _part(group: str, phase: str, rc: Array, rp: Array, note: str) -> dict[str, Any]:
    names = {"group": group, "phase": phase, "note": note}
    return {**names, "considerations": rc, "preferences": rp}


def _result(
    name: str, parts: Sequence[Mapping[str, Any]], why_not: str = "", detail: str = ""
) -> Result:
    counts = [len(part["considerations"]) for part in parts]
    columns = {}
    for column in entry(f"study/{name}").columns:
        if column in ("considerations", "preferences"):
            values = [part[column] for part in parts]
            columns[column] = np.concatenate(values) if values else np.array([])
        else:
            columns[column] = np.repeat([part[column] for part in parts], counts)
    rows = pd.DataFrame(columns)
    if not why_not and not rows["considerations"].notna().any():
        why_not = "no_pairs"
    return make_table(f"study/{name}", rows, why=why_not, detail=detail)
