"""How far judges agree, with each other and with people, and order two summaries as people do."""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.summaries.judged import OVERALL, JudgedSet, by_judge
from delibsim.domain.summary import DIMENSIONS, SCALE
from delibsim.measures.correlations import (
    correlation_interval,
    exact_rank_p,
    pearson,
    spearman,
)
from delibsim.measures.inference.components import (
    crossed_components,
    intraclass,
    of_means,
    raters_needed,
)
from delibsim.measures.inference.shares import share_of
from delibsim.measures.reliability.codes import codes_of
from delibsim.measures.reliability.coefficients import coefficient
from delibsim.measures.summaries.prediction import SAME, derived, errors, linear, normalised

Row = dict[str, Any]
Array = np.ndarray
PEOPLE = "people"
FEWEST = 4
NAN = float("nan")
NO_ENDS = {"low": NAN, "high": NAN}
WANTED = 0.8
"""The reliability for which the raters of a summary are counted."""
LEVELS = list(range(SCALE[0], SCALE[1] + 1))
SAID = list(DIMENSIONS)


def judges(sets: Sequence[JudgedSet]) -> Iterator[Row]:
    """Each judge with each, and with people, on the sittings that both have judged."""
    table = _ratings(sets)
    for name in DIMENSIONS:
        wide = table.pivot_table(
            index=["study", "summary", "opinion"], columns="judge", values=name
        )
        for a, b in combinations(wide.columns.tolist(), 2):
            both = wide[[a, b]].dropna()
            if len(both) >= FEWEST:
                yield {"dimension": name, "a": a, "b": b} | _agreed(both, a, b)


def _ratings(sets: Sequence[JudgedSet], on_0_1: bool = False) -> pd.DataFrame:
    """Ratings from 1 to 5, or from 0 to 1, of all sets; those of people under one name."""
    parts = []
    for one in sets:
        own = one.every if on_0_1 else one.ratings[~one.ratings["control"]]
        model = own["summary"].map(one.summaries["model"])
        judge = own["judge"].where(~own["people"], PEOPLE)
        parts.append(own.assign(study=one.study, model=model, judge=judge))
    return pd.concat(parts, ignore_index=True)


def _agreed(both: pd.DataFrame, a: str, b: str) -> Row:
    """What two judges agree on, of the sittings that both have judged."""
    x, y = both[a].to_numpy(dtype=float), both[b].to_numpy(dtype=float)
    opinions, studies = (both.index.get_level_values(name) for name in ("opinion", "study"))
    row = correlated(x, y, opinions, studies)
    whole = np.column_stack([x, y])
    if np.isin(whole, LEVELS).all():  # means of several people are no codes
        codes = codes_of(whole, LEVELS)
        row["alpha"] = coefficient(codes, "alpha", "ordinal").value
        row["quadratic_kappa"] = coefficient(codes, "kappa", "quadratic").value
    return row


def correlated(x: Array, y: Array, clusters: Any, within: Any) -> Row:
    """The correlations of two series (n,): Pearson, Spearman with its interval over `clusters`, and
    Spearman of values less the mean of what they stand `within`.
    """
    from scipy.stats import rankdata

    ranked = spearman(x, y)
    row: Row = {"n": len(x), "pearson": pearson(x, y).value, "spearman": ranked.value}
    ends = correlation_interval(rankdata(x), rankdata(y), np.asarray(clusters))
    row |= {"low": ends.low, "high": ends.high} if len(x) >= FEWEST else NO_ENDS
    values = pd.DataFrame({"x": x, "y": y})
    centred = values - values.groupby(np.asarray(within)).transform("mean")
    row["spearman_within"] = spearman(centred["x"], centred["y"]).value
    return row | {"note": ranked.note}


def rankings(sets: Sequence[JudgedSet]) -> Iterator[Row]:
    """How alike judges rank the summarisers."""
    table = _ratings(sets, on_0_1=True)
    for name in (OVERALL, *DIMENSIONS):
        wide = table.pivot_table(index="model", columns="judge", values=name)
        for a, b in combinations(wide.columns.tolist(), 2):
            ranks = wide[[a, b]].dropna().rank()
            if len(ranks) < 2:
                continue
            known = (ranks.nunique() > 1).all()
            rho = float(ranks[a].corr(ranks[b])) if known else float("nan")
            row = {"dimension": name, "a": a, "b": b, "models": len(ranks), "spearman": rho}
            yield row | {"p": exact_rank_p(rho, len(ranks)), "note": "" if known else "no_variance"}


def reliability(sets: Sequence[JudgedSet]) -> Iterator[Row]:
    """How much of what a judge says is about the summary: reliability of its ratings, opinions that
    rate several summaries being crossed with them; one-way where none does.
    """
    for judge, name, known in by_judge(_ratings(sets)):
        if len(known) < FEWEST:
            continue
        units, raters = (known["study"] + " " + known[one] for one in ("summary", "opinion"))
        ratings = known[name].to_numpy(dtype=float)
        found = intraclass(ratings, units.to_numpy())
        each = len(known) / max(found.clusters, 1)
        row: Row = {"judge": judge, "dimension": name, "summaries": found.clusters, "each": each}
        row |= {f"one_way_{end}": getattr(found, end) for end in ("low", "high")}
        row |= {"one_way": found.icc, "estimate": found.icc, "note": found.note}
        row |= {"low": found.low, "high": found.high}
        if raters.nunique() < len(known):
            table = pd.Series(ratings).groupby([units.to_numpy(), raters.to_numpy()]).mean()
            crossed = crossed_components(table.unstack().to_numpy())
            row |= {"estimate": crossed.icc_21, "note": crossed.note}
            row |= dict(zip(("low", "high"), crossed.interval_21, strict=True))
        row["of_the_mean"] = of_means(row["estimate"], each)
        yield row | {"raters_for_80": raters_needed(row["estimate"], WANTED)}


COMPARED, RATED = "comparisons", "ratings"
LABELS = ("rated", "additive", "linear")
KEYS = ["study", "opinion", "a", "b"]
PERSON = ["person", "opinion"]


def orderings(sets: Sequence[JudgedSet]) -> Iterator[Row]:
    """Each judge against people, on the two summaries that a person compared."""
    said = _compared(sets, people=True)
    said = said.assign(person=said["study"] + " " + said["judge"])
    for judge, by, leads in _of_judges(sets, said) if len(said) else ():
        both = said.merge(leads, on=KEYS, suffixes=("", "_judge"))
        for name in DIMENSIONS:
            known = both[both[[name, f"{name}_judge"]].notna().all(axis=1)]
            if len(known):
                yield {"judge": judge, "dimension": name, "by": by} | _ordered(known, name)


def _ordered(known: pd.DataFrame, name: str) -> Row:
    """How far a judge orders as people do, on one dimension."""
    theirs, ours = known[name].to_numpy(dtype=float), known[f"{name}_judge"].to_numpy(dtype=float)
    preferred = theirs != 0
    row: Row = {"n": int(preferred.sum()), "ties": int((~preferred).sum())}
    row["judge_ties"] = int((ours[preferred] == 0).sum())
    row |= {"ordered": NAN, **NO_ENDS}
    if preferred.any():
        same = (np.sign(theirs[preferred]) * np.sign(ours[preferred]) + 1) / 2
        share = share_of(same, known.loc[preferred, "person"].to_numpy())
        row |= {"ordered": share.share, "low": share.low, "high": share.high}
    found = correlated(theirs, ours, known["person"], known["study"])
    row |= {name: found[name] for name in ("spearman", "spearman_within")}
    return row | {"differences": found["pearson"]}


def labels(sets: Sequence[JudgedSet]) -> Iterator[Row]:
    """Each judge's ratings against the labels of people on one scale: as rated, and for the summary
    that was compared, by both rules.
    """
    said = _labelled(sets)
    for judge, own in _rated(sets) if len(said) else ():
        both = said.merge(own, on=["study", "opinion", "summary"], suffixes=("", "_judge"))
        for label, name in product(LABELS, DIMENSIONS):
            known = both[(both["label"] == label) & (both["dimension"] == name)]
            known = known[known["value"].notna() & known[name].notna()]
            if len(known):
                row = {"judge": judge, "dimension": name, "label": label}
                yield row | _on_labels(known, name)


def _on_labels(known: pd.DataFrame, given: str) -> Row:
    """How far the ratings in the column `given` agree with labels of people."""
    x, y = known["value"].to_numpy(dtype=float), known[given].to_numpy(dtype=float)
    people = known["study"] + " " + known["person"]
    off = errors(normalised(x), normalised(y))
    found = correlated(x, y, people, known["study"])
    return found | {"mae": off.mae, "rmse": off.rmse}


def _compared(sets: Sequence[JudgedSet], people: bool) -> pd.DataFrame:
    """A row a comparison by people, or by others: judge, study, opinion, a, b, and how far b is
    preferred, -2..2, by dimension.
    """
    parts = []
    for one in sets:
        own = one.comparisons[one.comparisons["people"] == people]
        found = own[["judge", "opinion", "a", "b", *DIMENSIONS]].assign(study=one.study)
        found[SAID] -= SAME
        parts.append(found)
    return pd.concat(parts, ignore_index=True)


def _of_judges(
    sets: Sequence[JudgedSet], said: pd.DataFrame
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """For each judge that is no person how far it prefers b of a pair that a person compared: by
    its comparisons, in both orders where it gave both, and by its ratings.
    """
    straight = _compared(sets, people=False)
    turned = straight.rename(columns={"a": "b", "b": "a"})
    turned[SAID] = -turned[SAID]
    compared = pd.concat([straight, turned], ignore_index=True)
    for judge, own in compared.groupby("judge", sort=False):
        yield str(judge), COMPARED, own.groupby(KEYS, sort=False)[SAID].mean().reset_index()
    for judge, own in _rated(sets):
        found = said[KEYS].drop_duplicates()
        for side in ("a", "b"):
            given = own.rename(
                columns={"summary": side} | {name: f"{name}_{side}" for name in SAID}
            )
            found = found.merge(given, on=["study", "opinion", side])
        leads = {name: found[f"{name}_b"] - found[f"{name}_a"] for name in SAID}
        yield judge, RATED, found[KEYS].assign(**leads)


def _rated(sets: Sequence[JudgedSet]) -> Iterator[tuple[str, pd.DataFrame]]:
    """The ratings of each judge that is no person: study, opinion, summary, values by dimension."""
    parts = []
    for one in sets:
        own = one.ratings[~one.ratings["people"] & ~one.ratings["control"]]
        parts.append(own[["judge", "opinion", "summary", *DIMENSIONS]].assign(study=one.study))
    for judge, own in pd.concat(parts, ignore_index=True).groupby("judge", sort=False):
        yield str(judge), own.drop(columns="judge")


def _labelled(sets: Sequence[JudgedSet]) -> pd.DataFrame:
    """A row a label of a person: study, person, opinion, summary, label, dimension, value."""
    parts = []
    for one in sets:
        rated = one.ratings[one.ratings["people"]].rename(columns={"judge": "person"})
        compared = one.comparisons.rename(columns={"judge": "person"})
        compared = compared[compared["people"] & (compared["first"] != "")]
        is_a = (compared["first"] == compared["a"]).to_numpy()
        others = compared[PERSON].assign(summary=compared["b"].where(is_a, compared["a"]))
        ratings = rated.set_index([*PERSON, "summary"])
        keys = list(compared[[*PERSON, "first"]].itertuples(index=False, name=None))
        for name in DIMENSIONS:
            c = compared[name].to_numpy(dtype=float)
            r = ratings[name].reindex(keys).to_numpy(dtype=float)
            turned = linear(np.where(is_a, c, 2 * SAME - c))
            given = (
                others.assign(value=derived(r, c, is_a), label="additive"),
                others.assign(value=turned, label="linear"),
                rated[[*PERSON, "summary"]].assign(value=rated[name], label="rated"),
            )
            parts += [own.assign(dimension=name, study=one.study) for own in given]
    return pd.concat(parts, ignore_index=True)
