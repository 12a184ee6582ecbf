"""Analysis of covariance: treatments compared after, the values before being held equal."""

from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.study.analyses.effects import noted, told, too_few
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.result import Result
from delibsim.analysis.study.sample.blocks import compared
from delibsim.analysis.study.sample.outcomes import (
    OUTCOMES,
    Outcome,
    contrasts_of,
    outcomes_of,
    treatments_of,
    why_no_contrast,
)
from delibsim.analysis.study.sample.populations import main_population
from delibsim.analysis.study.study_table import StudyTable
from delibsim.measures.inference.means import Mean, jackknifed

ABSOLUTE = [outcome for outcome in OUTCOMES if outcome.scale == "absolute"]
MEANINGS = {
    "outcome": "the measure that is compared after",
    "a": "the treatment that is compared",
    "b": "the treatment that it is compared with",
    "estimate": "mean over topics of the difference after, a less b, at equal values before",
    "error": "its standard error: jackknife over topics",
    "df": "degrees of freedom of t: topics less one",
    "low": "lower end of the 95% interval, by t over topics",
    "high": "upper end of the 95% interval, by t over topics",
    "p": "two-sided p of 0, by t over topics",
    "slope": "common slope of the value after on the value before, within blocks and treatments",
    "topics": "number of topics",
    "n": "number of sessions",
    "note": "what was left out, or why there is no value",
}
DEFINITION = (
    "The value after on the value before and the treatment, blocks (topic, model, setting)"
    " being held constant: the difference after, within each block, less the common slope times"
    " the difference before; its mean over the blocks of a topic, and the mean over topics. The"
    " error is the jackknife over topics, the slope being estimated anew without each; t has one"
    " degree"
    " of freedom less than topics. Treatments are given at random, so that this estimates the same"
    " as the contrast of changes, often with a smaller error, and no ceiling can enter through"
    " where groups began. No correction for several tests."
)


def covariance(study: StudyTable, draws: Draws) -> Result:
    """The table `covariance`; nothing in it is drawn at random, and `draws` is not used."""
    rows, notes = main_population(study)
    given, missing = outcomes_of(rows, ABSOLUTE)
    code, detail = why_no_contrast(rows, given)
    found: list[dict[str, Any]] = []
    if not code:
        for outcome in given:
            for a, b in contrasts_of(treatments_of(rows)):
                named = {"outcome": outcome.measure, "a": a, "b": b}
                found.append(named | adjusted(rows, outcome, a, b))
    return Result(
        name="covariance",
        title="Analysis of covariance",
        definition=DEFINITION,
        source="docs/analysis.md; Cox and McCullagh 1982, Biometrics 38, 541-561",
        rows=pd.DataFrame(found, columns=list(MEANINGS)),
        meanings=MEANINGS,
        notes=[] if code else [*notes, *missing],
        why_not=code,
        detail=detail,
    )


def adjusted(rows: pd.DataFrame, outcome: Outcome, a: str, b: str) -> dict[str, Any]:
    """A contrast adjusted for the values before: the columns of the table from estimate on."""
    blocks, runs, left_out = _sides(rows, outcome, a, b)
    names = list(dict.fromkeys(blocks["topic"]))
    mean, slope = Mean(np.nan), np.nan
    if names:
        estimate, slope = _estimate(blocks, runs)
        without = []
        for name in names if len(names) > 1 else ():
            kept = blocks["topic"] != name
            own = runs["block"].isin(blocks.index[kept])
            without.append(_estimate(blocks[kept], runs[own])[0])
        mean = jackknifed(estimate, without)
    notes = [too_few("topic", len(names)), *left_out]
    if len(names) > 1 and np.isnan(mean.error):
        notes.insert(0, "no_variance: all topics have the same difference, and nothing is tested")
    row = told(mean) | {"error": mean.error, "p": mean.p, "slope": slope}
    return row | {"topics": len(names), "n": len(runs), "note": noted(*notes)}


def before_of(outcome: Outcome) -> str:
    """The column of the values before of an outcome."""
    return f"{outcome.measure}_pre"


def _sides(
    rows: pd.DataFrame, outcome: Outcome, a: str, b: str
) -> tuple[pd.DataFrame, pd.DataFrame, tuple[str, ...]]:
    """Blocks with the differences `after` and `before`, and sessions about the means of their block
    and treatment, as `after` and `before`.
    """
    before = before_of(outcome)
    known = rows[outcome.column].notna()
    if before not in rows.columns:
        empty = pd.DataFrame(columns=["topic", "block", "after", "before"])
        return empty, empty, (f"missing: the study has no column {before}",)
    values = rows.assign(
        after=rows[outcome.column] + rows[before], before=rows[before].where(known)
    )
    of_after, of_before = (compared(values, name, a, b) for name in ("after", "before"))
    blocks = of_after.blocks[["topic"]].assign(
        after=of_after.blocks["difference"], before=of_before.blocks["difference"]
    )
    runs = of_after.runs[["block", "treatment"]].assign(
        after=of_after.runs["value"], before=of_before.runs["value"]
    )
    means = runs.groupby(["block", "treatment"])[["after", "before"]].transform("mean")
    about = runs[["after", "before"]] - means
    return blocks, about.assign(block=runs["block"]), of_after.left_out


def _estimate(blocks: pd.DataFrame, runs: pd.DataFrame) -> tuple[float, float]:
    """The adjusted mean over topics and the common slope; 0 where nothing varies before."""
    spread = float(runs["before"] @ runs["before"])
    slope = float(runs["before"] @ runs["after"]) / spread if spread > 0 else 0.0
    adjusted = blocks["after"] - slope * blocks["before"]
    return float(adjusted.groupby(blocks["topic"]).mean().mean()), slope
