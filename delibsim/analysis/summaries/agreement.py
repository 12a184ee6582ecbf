"""How far judges agree, with each other and with people, and order two summaries as people do."""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.result import Result, make_table
from delibsim.analysis.summaries.judged import OVERALL, JudgedSet
from delibsim.domain.judgment import DIMENSIONS, SCALE
from delibsim.domain.seed import seed_of
from delibsim.measures.correlations import (
    exact_rank_p,
    pearson,
    spearman,
    spearman_interval,
)
from delibsim.measures.inference.components import intraclass, of_means, raters_needed
from delibsim.measures.inference.resampling import cluster_interval
from delibsim.measures.reliability.codes import codes_of
from delibsim.measures.reliability.coefficients import coefficient
from delibsim.measures.summaries.prediction import SAME, derived, errors, linear, normalised

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

    return make_table("summaries/agreement", rows, resamples=RESAMPLES)


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
    return make_table("summaries/rankings", rows)


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

    return make_table("summaries/reliability", rows, wanted=WANTED)


SEED_OF_ORDERINGS = seed_of("orderings of judges")
COMPARED, RATED = "comparisons", "ratings"
LABELS = ("rated", "additive", "linear")
KEYS = ["study", "opinion", "a", "b"]


def orderings(sets: Sequence[JudgedSet]) -> Result:
    """Each judge against people, on the two summaries that a person compared."""
    rows = []
    said = _of_people(sets)
    for judge, by, leads in _of_judges(sets, said) if len(said) else ():
        both = said.merge(leads, on=KEYS, suffixes=("", "_judge"))
        for name in DIMENSIONS:
            known = both[both[[name, f"{name}_judge"]].notna().all(axis=1)]
            if len(known):
                rows.append({"judge": judge, "dimension": name, "by": by} | _ordered(known, name))

    return make_table("summaries/orderings", rows, resamples=RESAMPLES)


def _ordered(known: pd.DataFrame, name: str) -> dict[str, Any]:
    """How far a judge orders as people do, on one dimension."""
    theirs, ours = known[name].to_numpy(dtype=float), known[f"{name}_judge"].to_numpy(dtype=float)
    preferred = theirs != 0
    row: dict[str, Any] = {"n": int(preferred.sum()), "ties": int((~preferred).sum())}
    row["judge_ties"] = int((ours[preferred] == 0).sum())
    row |= {"ordered": float("nan"), "low": float("nan"), "high": float("nan")}
    if preferred.any():
        same = (np.sign(theirs[preferred]) * np.sign(ours[preferred]) + 1) / 2
        row["ordered"] = float(same.mean())
        people = known.loc[preferred, "person"].to_numpy()
        row["low"], row["high"] = cluster_interval(same, people, RESAMPLES, SEED_OF_ORDERINGS)
    row["spearman"] = spearman(theirs, ours).value
    means = known.groupby("study")[[name, f"{name}_judge"]].transform("mean")
    within = theirs - means[name].to_numpy(), ours - means[f"{name}_judge"].to_numpy()
    row["spearman_within"] = spearman(*within).value
    row["differences"] = pearson(theirs, ours).value
    return row


def labels(sets: Sequence[JudgedSet]) -> Result:
    """Each judge's ratings against the labels of people on one scale: as rated, and for the summary
    that was compared, by both rules.
    """
    rows = []
    said = _labelled(sets)
    for judge, own in _orderings_ratings(sets) if len(said) else ():
        both = said.merge(own, on=["study", "opinion", "summary"], suffixes=("", "_judge"))
        for label, name in product(LABELS, DIMENSIONS):
            known = both[(both["label"] == label) & (both["dimension"] == name)]
            row = _on_labels(known, f"{name}_judge")
            if row["n"]:
                rows.append({"judge": judge, "dimension": name, "label": label} | row)

    return make_table("summaries/labels", rows, resamples=RESAMPLES)


def _on_labels(known: pd.DataFrame, given: str) -> dict[str, Any]:
    """How far the ratings in the column `given` agree with labels of people."""
    both = known[known["value"].notna() & known[given].notna()]
    x, y = both["value"].to_numpy(dtype=float), both[given].to_numpy(dtype=float)
    ranked, off = spearman(x, y), errors(normalised(x), normalised(y))
    row = {"n": len(x), "pearson": pearson(x, y).value, "spearman": ranked.value}
    people = both["person"].to_numpy()
    row["low"], row["high"] = spearman_interval(x, y, people, RESAMPLES, SEED_OF_ORDERINGS)
    return row | {"mae": off.mae, "rmse": off.rmse, "note": ranked.note}


def _of_people(sets: Sequence[JudgedSet]) -> pd.DataFrame:
    """A row a comparison by a person: study, opinion, a, b, and how far b is preferred, -2..2."""
    parts = []
    for one in sets:
        own = one.comparisons[one.comparisons["people"]]
        found = own[["opinion", "a", "b", *DIMENSIONS]].assign(study=one.study)
        found[list(DIMENSIONS)] -= SAME
        parts.append(found.assign(person=one.study + " " + found["opinion"]))
    return pd.concat(parts, ignore_index=True)


def _of_judges(
    sets: Sequence[JudgedSet], said: pd.DataFrame
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """For each judge that is no person how far it prefers b of a pair that a person compared: by
    its comparisons, in both orders where it gave both, and by its ratings.
    """
    names = list(DIMENSIONS)
    parts = []
    for one in sets:
        own = one.comparisons[~one.comparisons["people"]]
        straight = own[["judge", "opinion", "a", "b", *names]].assign(study=one.study)
        straight[names] -= SAME
        turned = straight.rename(columns={"a": "b", "b": "a"})
        turned[names] = -turned[names]
        parts += [straight, turned]
    compared = pd.concat(parts, ignore_index=True)
    for judge, own in compared.groupby("judge", sort=False):
        yield str(judge), COMPARED, own.groupby(KEYS, sort=False)[names].mean().reset_index()
    pairs = said[KEYS]
    for judge, own in _orderings_ratings(sets):
        given = own.rename(columns={f"{name}_judge": name for name in names})
        first = given.rename(columns={"summary": "a"})
        second = given.rename(columns={"summary": "b"})
        found = pairs.merge(first, on=["study", "opinion", "a"])
        found = found.merge(second, on=["study", "opinion", "b"], suffixes=("_a", "_b"))
        leads = found[KEYS].copy()
        for name in names:
            leads[name] = found[f"{name}_b"] - found[f"{name}_a"]
        yield judge, RATED, leads


def _orderings_ratings(sets: Sequence[JudgedSet]) -> Iterator[tuple[str, pd.DataFrame]]:
    """The ratings of each judge that is no person: study, opinion, summary, values by dimension."""
    parts = []
    for one in sets:
        own = one.ratings[~one.ratings["people"] & ~one.ratings["control"]]
        parts.append(own[["judge", "opinion", "summary", *DIMENSIONS]].assign(study=one.study))
    table = pd.concat(parts, ignore_index=True)
    for judge, own in table.groupby("judge", sort=False):
        values = {name: f"{name}_judge" for name in DIMENSIONS}
        yield str(judge), own.drop(columns="judge").rename(columns=values)


def _labelled(sets: Sequence[JudgedSet]) -> pd.DataFrame:
    """A row a label of a person: study, person, opinion, summary, label, dimension, value."""
    parts = []
    for one in sets:
        rated = one.ratings[one.ratings["people"]]
        compared = one.comparisons[one.comparisons["people"] & (one.comparisons["first"] != "")]
        is_a = (compared["first"] == compared["a"]).to_numpy()
        other = compared["b"].where(is_a, compared["a"])
        ratings = rated.set_index(["opinion", "summary"])
        keys = list(zip(compared["opinion"], compared["first"], strict=True))
        for name in DIMENSIONS:
            c = compared[name].to_numpy(dtype=float)
            r = ratings[name].reindex(keys).to_numpy(dtype=float)
            turned = linear(np.where(is_a, c, 2 * SAME - c))
            opinions = compared["opinion"].to_numpy()
            for label, values in (("additive", derived(r, c, is_a)), ("linear", turned)):
                own = {"opinion": opinions, "summary": other.to_numpy(), "value": values}
                parts.append(pd.DataFrame(own).assign(label=label, dimension=name, study=one.study))
            own = {"opinion": rated["opinion"], "summary": rated["summary"], "value": rated[name]}
            parts.append(pd.DataFrame(own).assign(label="rated", dimension=name, study=one.study))
    found = pd.concat(parts, ignore_index=True)
    return found.assign(person=found["study"] + " " + found["opinion"])
