"""How far the change of a measure depends on where groups began: the ceiling, convergence."""

from typing import Any

import numpy as np

from delibsim.analysis.human.people import BENCHMARK
from delibsim.analysis.human.published import ERROR, GROUPS, R2, SLOPE
from delibsim.analysis.human.reference import ceiling_of_five, of_topics
from delibsim.analysis.result import Result
from delibsim.analysis.study.effects import ENOUGH, noted
from delibsim.analysis.study.sample import (
    CITIZENS,
    FIVES,
    PEOPLE,
    Population,
    Taken,
    complete,
    main_population,
    notes_of,
    populations,
    why_no_value,
    without_value,
)
from delibsim.analysis.study.silent_sessions import NONE
from delibsim.analysis.study.study_table import Draws, StudyTable
from delibsim.measures.inference.means import jackknifed
from delibsim.measures.inference.resampling import Line, line, true_slope

CORRECTED = ("corrected", "corrected_low", "corrected_high", "corrected_p", "reliability")
CONDITION = ("topic", "model", "setting", "treatment")
"""What the sessions of a condition share; its replicates tell how far measurement errs."""
WHY = {
    "no_replication": "no_replication: the slope is not corrected, because no condition was"
    " held twice",
    "no_variance": "no_reliability: the slope is not corrected, because conditions differ by no"
    " more than their replicates",
    "no_error": "one_topic: the corrected slope has no interval",
    "denominator_may_be_0": "not_defined: the corrected slope has no interval, because conditions"
    " may differ by no more than their replicates",
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
    own = [row["slope"] for row in rows if row["population"] == NONE]
    under_none = own[0] if own else float("nan")
    return [
        row | {"under_none": float("nan") if row["population"] == CITIZENS else under_none}
        for row in rows
    ]


def of_people(measure: str, name: str) -> dict[str, Any]:
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
    return {
        "population": name,
        "slope": fit.slope,
        "se": fit.se,
        "df": fit.df,
        "low": low,
        "high": high,
        "r2": fit.r2,
        "p": fit.p,
        "n": fit.n,
        "clusters": fit.clusters,
        "intercept": fit.intercept,
        "note": "one_topic" if note == "one_cluster" else note,
    }


def ceiling(study: StudyTable, draws: Draws) -> Result:
    """The table `ceiling`; nothing in it is drawn at random, and `draws` is not used."""
    return _table(study, "ceiling", "dri")


def convergence(study: StudyTable, draws: Draws) -> Result:
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
    people = of_people(measure, PEOPLE) | {"mean_change": float(np.mean(changes))}
    rows = [*beside_none(rows), people]
    if measure == "dri":
        rows.append(_of_five())
    notes = [*notes_of(study), *without_value(study.rows, columns)]
    own = Taken(study.rows, notes=notes, why=why, detail=detail)
    topics = main_population(study)[0]["topic"].nunique()
    told: dict[str, Any] = {"slope": SLOPE, "error": ERROR, "r2": R2, "groups": GROUPS}
    told |= {"topics": topics, "enough": ENOUGH, "plain_error": ceiling_of_five()["se"]}
    return own.result(f"study/{name}", rows, **told)


def _of_five() -> dict[str, Any]:
    """People in groups of five, from the shipped reference: the errors clustered by topic."""
    shipped = ceiling_of_five()
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
    return row_of(FIVES, fit) | {"p": shipped["p_clustered"], "note": WHY["no_replication"]}
