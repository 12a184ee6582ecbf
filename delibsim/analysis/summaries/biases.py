"""What of the scores is not merit: order of the input, place, scale use, kinship of judges."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.result import Result, make_table, with_holm
from delibsim.analysis.result import said as sentence
from delibsim.analysis.summaries.judged import OVERALL, JudgedSet, by_judge
from delibsim.domain.model_family import family_of
from delibsim.domain.summary import DIMENSIONS, SCALE
from delibsim.measures.inference.means import least_squares
from delibsim.measures.inference.shares import share_of
from delibsim.measures.summaries.gaps import t_mean, within_slope
from delibsim.measures.summaries.prediction import preferences

Row = dict[str, Any]
PEOPLE = "people"
BIN = 20
"""Positions of a bin of the order of the input."""
NAN = float("nan")


def order(sets: Sequence[JudgedSet]) -> list[Row]:
    """Whether opinions that stand later in the prompt are represented less; p is corrected over all
    rows.
    """
    rows = []
    for one in sets:
        for model, own in _positions(one).groupby("model", sort=False):
            found = within_slope(own["rep"], own["share"], own["opinion"], own["summary"])
            row = {"study": one.study, "model": model, "opinions": found.clusters}
            rows.append(row | {"estimate": found.slope, **vars(found)})
    return with_holm(rows)


def bins(sets: Sequence[JudgedSet]) -> list[Row]:
    """Representativeness by the place in the prompt, in bins."""
    rows = []
    for one in sets:
        table = _positions(one)
        for _, own in table.groupby(["model", table["position"] // BIN]):
            first = own["position"].iloc[0] // BIN * BIN + 1
            row = {"study": one.study, "model": own["model"].iloc[0], "first": int(first)}
            row |= {"last": int(first) + BIN - 1, "n": len(own), "score": float(own["rep"].mean())}
            rows.append(row | {"se": float(own["rep"].std() / len(own) ** 0.5)})
    return sorted(rows, key=lambda row: (row["study"], row["model"], row["first"]))


def _positions(judged: JudgedSet) -> pd.DataFrame:
    """A row a rating of a whole summary: where its opinion stood (from 0), and where as a share."""
    places = {}
    for summary, ids in judged.sources.items():
        for position, opinion in enumerate(ids):
            places[summary, opinion] = position, position / max(len(ids) - 1, 1)
    known = judged.scored
    keys = zip(known["summary"], known["opinion"], strict=True)
    found = np.array([places.get(key, (-1, NAN)) for key in keys], dtype=float).reshape(-1, 2)
    models = known["summary"].map(judged.summaries["model"])
    known = known.assign(position=found[:, 0].astype(int), share=found[:, 1], model=models)
    return known[known["position"] >= 0]


def comparisons_of(sets: Sequence[JudgedSet]) -> pd.DataFrame:
    """All comparisons, with the log ratio of the words of A to those of B."""
    parts = []
    for one in sets:
        words = one.summaries["words"].clip(lower=1)
        own = one.comparisons.assign(study=one.study)
        ratio = own["a"].map(words).astype(float) / own["b"].map(words).astype(float)
        both = np.sort(own[["a", "b"]].astype(str).to_numpy(), axis=1)
        pair = [f"{one.study} {a} {b}" for a, b in both]
        own["opinion"] = one.study + " " + own["opinion"].astype(str)
        parts.append(own.assign(log_ratio=np.log(ratio), pair=pair))
    return pd.concat(parts, ignore_index=True)


def places(sets: Sequence[JudgedSet]) -> list[Row]:
    """Whether judges favour the summary that is shown as A, and what is left at equal length."""
    table = comparisons_of(sets)
    people = table["people"].astype(bool)
    named = {"models": table[~people], "people": table[people]}
    return place_of(named, ("pair", "opinion", "judge"))


def place_of(comparisons: Mapping[str, pd.DataFrame], alike: Sequence[str] = ()) -> list[Row]:
    """The rows of `places`, from the comparisons of each kind of judge: 1..5 by dimension, and
    `log_ratio`, the log of the words of A over those of B. Comparisons are `alike` that have the
    same in one of these columns.
    """
    rows = []
    for judges, given in comparisons.items():
        for name in DIMENSIONS:
            known = given[given[name].notna()]
            if not len(known):
                continue
            lead = 3 - known[name].to_numpy(dtype=float)
            first, second = int((lead > 0).sum()), int((lead < 0).sum())
            row: Row = {"judges": judges, "dimension": name, "n": len(known)}
            row["ties"] = len(known) - first - second
            decided = known[lead != 0]
            kinds = [decided[one].to_numpy() for one in alike if one != "judge" or judges == PEOPLE]
            found = share_of(lead[lead != 0] > 0, *kinds)
            row |= {"share": found.share, "low": found.low, "high": found.high, "p": found.p}
            row["worth"] = found.worth
            row["note"] = "one_cluster" if first + second and found.p != found.p else ""
            row |= _published(first, first + second)
            rows.append(row | _at_equal_length(lead, known["log_ratio"].to_numpy(float)))
    return with_holm(rows, "judges")


def _published(first: int, decided: int) -> Row:
    """The exact interval and p of a share of comparisons that are taken one by one (Clopper and
    Pearson 1934).
    """
    from scipy.stats import binomtest

    if not decided:
        return {}
    found = binomtest(first, decided)
    ends = found.proportion_ci()
    row = {"published_low": ends.low, "published_high": ends.high}
    return row | {"published_p": float(found.pvalue)}


def _at_equal_length(lead: np.ndarray, ratio: np.ndarray) -> Row:
    """Intercept and slope of preference on log length, and the error (HC1) of the intercept."""
    x = np.column_stack([np.ones(len(lead)), ratio])
    if len(lead) < 4 or np.linalg.matrix_rank(x) < 2:
        return {}
    slopes, errors = least_squares(x, lead)
    return {
        "at_equal_length": float(slopes[0]),
        "se": float(errors[0]),
        "per_log_length": float(slopes[1]),
    }


def strengths(sets: Sequence[JudgedSet]) -> Result:
    """How strong summarisers are in comparisons, raw and with place and length held equal."""
    table = comparisons_of(sets)
    writers = pd.concat([one.summaries["model"] for one in sets])
    writers = writers[~writers.index.duplicated()]
    names = list(dict.fromkeys(writers))
    numbers = {name: number for number, name in enumerate(names)}
    rows, notes = [], []
    for dimension in DIMENSIONS:
        known = table[table[dimension].notna()]
        if not len(known):
            continue
        a, b = (known[side].map(writers).map(numbers).to_numpy() for side in ("a", "b"))
        said = np.sign(3 - known[dimension].to_numpy(dtype=float)).astype(int)
        found = preferences(a, b, said, known["log_ratio"].to_numpy(float), len(names))
        apart = a != b
        for number, name in enumerate(names):
            lead = np.concatenate([said[apart & (a == number)], -said[apart & (b == number)]])
            row: Row = {"dimension": dimension, "model": name, "n": len(lead)}
            row["win_rate"] = float(((lead > 0) + (lead == 0) / 2).mean()) if len(lead) else NAN
            row["strength"] = float(found.strengths[number])
            rows.append(row | {"se": float(found.errors[number]), "note": found.note})
        if not found.note:
            notes.append(sentence("summaries/strengths", dimension=dimension, **vars(found)))
    return make_table("summaries/strengths", rows, notes=notes)


def consistency(sets: Sequence[JudgedSet]) -> Iterator[Row]:
    """How far the two answers to a pair mirror each other that was asked both ways round."""
    table = comparisons_of(sets)
    turned = table.assign(a=table["b"], b=table["a"])
    keys = ["study", "judge", "opinion", "a", "b"]
    both = table.merge(turned, on=keys, suffixes=("", "_turned"))
    for judge, name, own in by_judge(both[both["a"] < both["b"]]):
        known = own[own[f"{name}_turned"].notna()]
        if len(known):
            lead, back = 3 - known[name], 3 - known[f"{name}_turned"]
            row: Row = {"judge": judge, "dimension": name, "n": len(known)}
            row["mirrored"] = float((lead == -back).mean())
            yield row | {"same_winner": float((np.sign(lead) == -np.sign(back)).mean())}


def scale_use(sets: Sequence[JudgedSet]) -> Iterator[Row]:
    """How judges use the scale: shares of each rating, spread, and how often all four are equal."""
    table = pd.concat([one.ratings for one in sets], ignore_index=True)
    table = table[~table["control"]]
    given = table.dropna(subset=list(DIMENSIONS))
    equal = given[list(DIMENSIONS)].nunique(axis=1) == 1
    all_four = equal.groupby(given["judge"]).mean()
    for judge, name, own in by_judge(table):
        values = own[name]
        row: Row = {"judge": judge, "dimension": name, "n": len(values)}
        row |= {"mean": float(values.mean()), "sd": float(values.std())}
        for level in range(SCALE[0], SCALE[1] + 1):
            row[f"share_{level}"] = float((values == level).mean())
        row["all_four_equal"] = float(all_four.get(judge, NAN))
        yield row | {"note": "no_variance" if values.nunique() < 2 else ""}


def kinship(sets: Sequence[JudgedSet]) -> Iterator[Row]:
    """Whether judges favour summaries by models of their own family."""
    for one in sets:
        writers = {name: family_of(name, own) for name, own in one.models.items()}
        families = {judge: family_of(judge, own) for judge, own in one.judges.items()}
        table = one.scored.assign(model=one.scored["summary"].map(one.summaries["model"]))
        table["cell"] = table["summary"].map(one.summaries["cell"])
        for judge, family in families.items():
            kin = [name for name, own in writers.items() if own == family]
            others = [name for name, own in families.items() if own != family]
            if not kin or not others or len(kin) == table["model"].nunique():
                continue
            own_lead = _lead(table[table["judge"] == judge], kin)
            their_lead = _lead(table[table["judge"].isin(others)], kin)
            found = t_mean((own_lead - their_lead).to_numpy(float))
            row = {"study": one.study, "judge": judge, "family": family}
            yield row | {"estimate": found.mean, **vars(found)}


def _lead(table: pd.DataFrame, kin: Sequence[str]) -> pd.Series:
    """The mean score of kin less that of others, by cell."""
    own = table["model"].isin(kin)
    return table[own].groupby("cell")[OVERALL].mean() - table[~own].groupby("cell")[OVERALL].mean()
