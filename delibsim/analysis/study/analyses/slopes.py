"""How far the change of a measure depends on where groups began, as rows of a table."""

from typing import Any

import pandas as pd

from delibsim.analysis.human.people import BENCHMARK
from delibsim.analysis.human.reference import of_topics
from delibsim.analysis.study.analyses.effects import ENOUGH, noted
from delibsim.analysis.study.sample.outcomes import NONE
from delibsim.analysis.study.sample.populations import CITIZENS, Population, complete
from delibsim.measures.inference.means import jackknifed
from delibsim.measures.inference.resampling import Line, line, true_slope

CORRECTED = ("corrected", "corrected_low", "corrected_high", "corrected_p", "reliability")
COLUMNS = (
    "population", "slope", "se", "df", "low", "high", "p", "under_none", *CORRECTED, "r2", "n",
    "clusters", "intercept", "published_se", "published_low", "published_high", "note",
)  # fmt: skip
CONDITION = ("topic", "model", "setting", "treatment")
"""What the sessions of a condition share; its replicates tell how far measurement errs."""
FEW_CLUSTERS = (
    "published_se is the sandwich with the factor G/(G-1) x (N-1)/(N-2), G topics and N sessions,"
    " and t with G - 1 degrees of freedom: with few topics it is too small (Cameron and Miller"
    " 2015, doi:10.3368/jhr.50.2.317): in simulated studies of twelve topics its intervals held the"
    f" slope in 91%. This study has {{n}} topics; rows with fewer than {ENOUGH} are marked"
    " few_topics."
)
NOISE = (
    "Whether groups that begin high gain less is told by corrected, not by slope: compare slope"
    " with under_none and with the null citizen's."
)
WHY = {
    "no_replication": "no_replication: the slope is not corrected, because no condition was"
    " held twice",
    "no_variance": "no_reliability: the slope is not corrected, because conditions differ by no"
    " more than their replicates",
    "no_error": "one_topic: the corrected slope has no interval",
    "denominator_may_be_0": "not_defined: the corrected slope has no interval, because conditions"
    " may differ by no more than their replicates",
}


NOT_CORRECTED = WHY["no_replication"]


def slope_of(population: Population, before: str, change: str) -> dict[str, Any]:
    """The row of one population: change on before over its sessions, clustered by topic."""
    rows = population.rows[complete(population.rows, (before, change))]
    if rows.empty:
        return empty_row(population.name, "no_value")
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
    return row_of(name, fit) | {"clusters": len(before), "note": NOT_CORRECTED}


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


def empty_row(name: str, reason: str) -> dict[str, Any]:
    """The row of a population without a line."""
    values = dict.fromkeys(COLUMNS[1:-1], float("nan")) | {"n": 0, "clusters": 0}
    return {"population": name, **values, "note": reason}


def as_table(rows: list[dict[str, Any]], *more: str) -> pd.DataFrame:
    """Rows as a table with the columns in their order, further ones before the note."""
    return pd.DataFrame(rows, columns=[*COLUMNS[:-1], *more, COLUMNS[-1]])
