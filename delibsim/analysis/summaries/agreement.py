"""How far judges agree: each with each and with people, on summarisers too, and how reliable they
are.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from delibsim.analysis.study.result import Result
from delibsim.analysis.summaries.judged import OVERALL, JudgedSet, frame
from delibsim.domain.judgment import DIMENSIONS, SCALE
from delibsim.domain.seed import seed_of
from delibsim.measures.correlations import (
    exact_rank_p,
    pearson,
    spearman,
    spearman_interval,
)
from delibsim.measures.inference.components import intraclass, of_means, raters_needed
from delibsim.measures.reliability.codes import codes_of
from delibsim.measures.reliability.coefficients import coefficient

PEOPLE = "people"
RESAMPLES = 2_000
FEWEST = 4
WANTED = 0.8
"""The reliability for which the raters of a summary are counted."""
SEED = seed_of("agreement of judges")
"""One for all pairs of judges, so that they have the same resamples."""
LEVELS = list(range(SCALE[0], SCALE[1] + 1))


def judges(sets: Sequence[JudgedSet]) -> Result:
    """Each judge with each, and with people, on the sittings that both have judged."""
    table = _ratings(sets)
    rows = []
    for name in DIMENSIONS:
        wide = table.pivot_table(
            index=["study", "summary", "opinion"], columns="judge", values=name
        )
        for a, b in combinations(wide.columns.tolist(), 2):
            both = wide[[a, b]].dropna()
            if len(both) >= FEWEST:
                rows.append({"dimension": name, "a": a, "b": b} | _agreed(both, a, b))
    columns = (
        "dimension a b n pearson spearman low high spearman_within alpha quadratic_kappa note"
    ).split()
    return Result(
        name="agreement",
        title="Agreement of judges",
        definition="Two judges on the same summaries and opinions: Pearson, Spearman with a"
        f" percentile interval ({RESAMPLES:,} resamples of opinions with all their ratings, ranks"
        " held), Spearman of ratings less the mean of their question, ordinal alpha, quadratic"
        " kappa. No judge can agree with people more than people do with each other.",
        source="docs/summaries.md",
        rows=frame(rows, columns),
        meanings={"n": "sittings that both have judged"},
        why_not="" if rows else "one_rater",
        detail="" if rows else "It needs two judges of the same sittings.",
    )


def _ratings(sets: Sequence[JudgedSet]) -> pd.DataFrame:
    """Ratings from 1 to 5 of all sets; those of people under one name."""
    parts = []
    for one in sets:
        own = one.ratings[~one.ratings["control"]].assign(study=one.study)
        own["judge"] = own["judge"].where(~own["people"], PEOPLE)
        parts.append(own)
    return pd.concat(parts, ignore_index=True)


def _agreed(both: pd.DataFrame, a: str, b: str) -> dict[str, object]:
    """What two judges agree on, of the sittings that both have judged."""
    x, y = both[a].to_numpy(dtype=float), both[b].to_numpy(dtype=float)
    straight, ranked = pearson(x, y), spearman(x, y)
    row: dict[str, object] = {"n": len(both), "pearson": straight.value}
    row |= {"spearman": ranked.value, "note": ranked.note}
    opinions = both.index.get_level_values("opinion").to_numpy()
    row["low"], row["high"] = spearman_interval(x, y, opinions, RESAMPLES, SEED)
    means = both.groupby(level="study").transform("mean")
    row["spearman_within"] = spearman(x - means[a], y - means[b]).value
    whole = np.column_stack([x, y])
    if np.isin(whole, LEVELS).all():  # means of several people are no codes
        codes = codes_of(whole, LEVELS)
        row["alpha"] = coefficient(codes, "alpha", "ordinal").value
        row["quadratic_kappa"] = coefficient(codes, "kappa", "quadratic").value
    return row


def rankings(sets: Sequence[JudgedSet]) -> Result:
    """How alike judges rank the summarisers."""
    parts = []
    for one in sets:
        own = one.every.assign(model=one.every["summary"].map(one.summaries["model"]))
        own["judge"] = own["judge"].where(~own["people"], PEOPLE)
        parts.append(own)
    table = pd.concat(parts, ignore_index=True)
    rows = []
    for name in (OVERALL, *DIMENSIONS):
        wide = table.pivot_table(index="model", columns="judge", values=name)
        for a, b in combinations(wide.columns.tolist(), 2):
            both = wide[[a, b]].dropna()
            if len(both) < 2:
                continue
            ranks = both.rank()
            known = (ranks.nunique() > 1).all()
            rho = float(ranks[a].corr(ranks[b])) if known else float("nan")
            row = {"dimension": name, "a": a, "b": b, "models": len(both), "spearman": rho}
            row |= {"p": exact_rank_p(rho, len(both)), "note": "" if known else "no_variance"}
            rows.append(row)
    return Result(
        name="rankings",
        title="Do judges rank the summarisers alike?",
        definition="Spearman's correlation of the mean scores that two judges give the summarisers,"
        " with the exact p over all orders of up to nine. With few summarisers it says little.",
        source="docs/summaries.md",
        rows=frame(rows, "dimension a b models spearman p note".split()),
        why_not="" if rows else "one_rater",
        detail="" if rows else "It needs two judges.",
    )


def reliability(sets: Sequence[JudgedSet]) -> Result:
    """How much of what a judge says is about the summary: one-way reliability of its ratings."""
    table = _ratings(sets)
    table["unit"] = table["study"] + " " + table["summary"]
    rows = []
    for judge, own in table.groupby("judge", sort=False):
        for name in DIMENSIONS:
            known = own[own[name].notna()]
            if len(known) < FEWEST:
                continue
            values = known[name].to_numpy(dtype=float)
            units = known["unit"].to_numpy()
            found = intraclass(values, units)
            each = len(values) / max(found.clusters, 1)
            row = {"judge": judge, "dimension": name, "summaries": found.clusters}
            row |= {"each": each, "estimate": found.icc, "low": found.low, "high": found.high}
            row |= {"of_the_mean": of_means(found.icc, each)}
            row |= {"raters_for_80": raters_needed(found.icc, WANTED), "note": found.note}
            rows.append(row)
    columns = "judge dimension summaries each estimate low high of_the_mean raters_for_80 note"
    return Result(
        name="reliability",
        title="Reliability of ratings",
        definition="One-way intraclass correlation of single ratings of a summary by different"
        " opinions, with its 95% interval by F; that of the mean of all ratings of"
        f" a summary; and how many ratings a summary needs for {WANTED}.",
        source="https://doi.org/10.1037/0033-2909.86.2.420",
        rows=frame(rows, columns.split()),
        meanings={"each": "ratings of a summary on average", "estimate": "of single ratings"},
    )
