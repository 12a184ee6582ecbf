"""Whether judges order two summaries as people do, and agree with people's labels on one scale.

An instance is one person: a summary that the person rated, and another one that the person compared
it with. A judge's preference is that of its own comparison beside the same opinion or, where it
gave none, the difference of its two ratings.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.study.result import Result
from delibsim.analysis.summaries.judged import JudgedSet, frame
from delibsim.domain.judgment import DIMENSIONS
from delibsim.domain.seed import seed_of
from delibsim.measures.correlations import pearson, spearman, spearman_interval
from delibsim.measures.inference.resampling import cluster_interval
from delibsim.measures.summaries.prediction import SAME, derived, errors, linear, normalised

RESAMPLES = 2_000
SEED = seed_of("orderings of judges")
COMPARED, RATED = "comparisons", "ratings"
LABELS = ("rated", "additive", "linear")
KEYS = ["study", "opinion", "a", "b"]
NOBODY = "It needs comparisons by people: delibsim judge export STUDY."


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
    columns = (
        "judge dimension by n ties judge_ties ordered low high differences spearman spearman_within"
    ).split()
    return Result(
        name="orderings",
        title="Do judges order two summaries as people do?",
        definition="Of the comparisons in which the person prefers one summary, the share that the"
        " judge orders as the person did, a tie of the judge as half; 0.5 is chance. The interval"
        f" is a percentile interval ({RESAMPLES:,} resamples of people). Comparisons without a"
        " preference of the person are counted and not scored. The correlations are those of the"
        " signed preferences, and of these less the mean of their question.",
        source="docs/summaries.md",
        rows=frame(rows, columns),
        meanings={
            "by": "what gives the judge's preference: a comparison, or two ratings",
            "n": "comparisons in which the person prefers one",
            "ties": "those in which the person prefers none",
            "judge_ties": "those of the n in which the judge prefers none",
            "differences": "Pearson's correlation of the signed preferences",
        },
        why_not="" if rows else "not_asked",
        detail="" if rows else NOBODY,
    )


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
        row["low"], row["high"] = cluster_interval(same, people, RESAMPLES, SEED)
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
    for judge, own in _ratings(sets) if len(said) else ():
        both = said.merge(own, on=["study", "opinion", "summary"], suffixes=("", "_judge"))
        for label, name in product(LABELS, DIMENSIONS):
            known = both[(both["label"] == label) & (both["dimension"] == name)]
            row = _on_labels(known, f"{name}_judge")
            if row["n"]:
                rows.append({"judge": judge, "dimension": name, "label": label} | row)
    columns = "judge dimension label n pearson spearman low high mae rmse note".split()
    return Result(
        name="labels",
        title="Ratings of judges and labels of people on one scale",
        definition="Rated: the rating r that a person gave. The other summary has a label from"
        " the comparison c (1 A much better, 5 B much better): additive is r + (c - 3) where the"
        " rated one is A and r - (c - 3) where it is B; linear is 2c - 3, with c turned where the"
        f" rated one is B. Both lie in -1..7. Spearman with a percentile interval ({RESAMPLES:,}"
        " resamples of people, ranks held); errors in points of the scale.",
        source="https://arxiv.org/abs/2510.05154",
        rows=frame(rows, columns),
        meanings={"n": "pairs of a person and a summary that both have a value for"},
        why_not="" if rows else "not_asked",
        detail="" if rows else NOBODY,
    )


def _on_labels(known: pd.DataFrame, given: str) -> dict[str, Any]:
    """How far the ratings in the column `given` agree with labels of people."""
    both = known[known["value"].notna() & known[given].notna()]
    x, y = both["value"].to_numpy(dtype=float), both[given].to_numpy(dtype=float)
    ranked, off = spearman(x, y), errors(normalised(x), normalised(y))
    row = {"n": len(x), "pearson": pearson(x, y).value, "spearman": ranked.value}
    people = both["person"].to_numpy()
    row["low"], row["high"] = spearman_interval(x, y, people, RESAMPLES, SEED)
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
    for judge, own in _ratings(sets):
        given = own.rename(columns={f"{name}_judge": name for name in names})
        first = given.rename(columns={"summary": "a"})
        second = given.rename(columns={"summary": "b"})
        found = pairs.merge(first, on=["study", "opinion", "a"])
        found = found.merge(second, on=["study", "opinion", "b"], suffixes=("_a", "_b"))
        leads = found[KEYS].copy()
        for name in names:
            leads[name] = found[f"{name}_b"] - found[f"{name}_a"]
        yield judge, RATED, leads


def _ratings(sets: Sequence[JudgedSet]) -> Iterator[tuple[str, pd.DataFrame]]:
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
