"""Which summariser is better, by how much: overall, by dimension, size, kind and topic; and what of
the scores is not merit: order of the input, place, scale use, kinship of judges.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd

from delibsim.analysis.result import Result, make_table, said, with_holm
from delibsim.analysis.result import said as sentence
from delibsim.analysis.summaries.judged import (
    OVERALL,
    SCORED,
    JudgedSet,
    by_judge,
    by_topic,
    cells_of,
    finite,
    ranked,
)
from delibsim.domain.model_family import family_of
from delibsim.domain.summary import DIMENSIONS, FLOORS, SCALE
from delibsim.measures.correlations import partial_spearman, spearman
from delibsim.measures.inference.means import least_squares
from delibsim.measures.inference.shares import share_of
from delibsim.measures.summaries.gaps import sign_flip_p, t_mean, within_slope
from delibsim.measures.summaries.prediction import preferences

Row = dict[str, Any]
PEOPLE = "people"
BIN = 20
"""Positions of a bin of the order of the input."""
NAN = float("nan")


Intervals = Literal["topics", "cells"]
FLOOR = FLOORS[0]


def overall(scores: pd.DataFrame, intervals: Intervals = "topics") -> Iterator[Row]:
    """The score of each model on each dimension, with its interval and what it is above the
    extractive floor.
    """
    cells = cells_of(scores)
    for name in SCORED:
        topics = by_topic(scores, name)
        for model in ranked(cells):
            own = cells[cells["model"] == model]
            values = finite(own[name])
            row: Row = {"dimension": name, "model": model, "n": len(values)}
            if intervals == "cells":
                row |= _of_cells(values)
            else:
                found = t_mean(topics.get(model, pd.Series(dtype=float)))
                row |= {"score": found.mean, "low": found.low, "high": found.high}
                row["note"] = found.note
            row |= {"topics": int(own["topic"].nunique()), "above_floor": NAN}
            if FLOOR in topics and model in topics and model != FLOOR:
                row["above_floor"] = float((topics[model] - topics[FLOOR]).mean())
            yield row


def _of_cells(values: np.ndarray) -> Row:
    """Mean and published interval of cells."""
    mean = float(values.mean()) if len(values) else NAN
    half = 1.96 * float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else NAN
    note = "" if len(values) > 1 else "too_few_ratings"
    return {"score": mean, "low": mean - half, "high": mean + half, "note": note}


def pairs(scores: pd.DataFrame) -> Result:
    """Differences of models, paired within topic, with Holm's correction over all pairs."""
    topics = by_topic(scores, OVERALL)
    rows = []
    for a, b in combinations([one for one in ranked(cells_of(scores)) if one in topics], 2):
        difference = finite(topics[a] - topics[b])
        found = t_mean(difference)
        row = {"a": a, "b": b, "topics": found.n, "estimate": found.mean, **vars(found)}
        rows.append(row | {"p_sign": sign_flip_p(difference)})
    notes = () if topics.shape[0] > 1 else (said("summaries/one_topic"),)
    return make_table("summaries/pairs", with_holm(rows), notes=notes)


def sizes(scores: pd.DataFrame) -> Iterator[Row]:
    """Scores by size and model, and over all models."""
    models = ranked(cells_of(scores))
    for size, own in scores.groupby("size"):
        for model in ["all", *models]:
            chosen = own if model == "all" else own[own["model"] == model]
            if len(chosen):
                row: Row = {"size": int(str(size)), "model": model}
                row["n"] = len(finite(chosen[OVERALL]))
                yield row | {name: float(chosen[name].mean()) for name in SCORED}


def kinds(scores: pd.DataFrame) -> Iterator[Row]:
    """Scores by the kind of question."""
    cells = cells_of(scores)
    means = cells.pivot_table(index="model", columns="kind", values=OVERALL)
    for model in ranked(cells):
        own = {kind: means.get(kind, pd.Series(dtype=float)) for kind in ("open", "stance")}
        row = {kind: float(one.get(model, NAN)) for kind, one in own.items()}
        yield {"model": model, "difference": row["stance"] - row["open"]} | row


def topics(scores: pd.DataFrame) -> Iterator[Row]:
    """How each model does on each topic, relative to its mean over topics."""
    found = by_topic(scores, OVERALL)
    for model in [one for one in ranked(cells_of(scores)) if one in found]:
        mean = float(found[model].mean())
        for topic, value in found[model].items():
            relative = float(value) - mean
            yield {"model": model, "topic": topic, "score": value, "relative": relative}


def equal_length(scores: pd.DataFrame) -> Result:
    """What is left of the differences of models at equal length."""
    rows = []
    known = scores.dropna(subset=[OVERALL])
    models = ranked(cells_of(scores))
    plain, held = (_effects(known, models, with_length) for with_length in (False, True))
    for model in models:
        row = {"model": model, "effect": plain.get(model), "at_equal_length": held.get(model)}
        row["characters"] = np.round(known.loc[known["model"] == model, "characters"].mean())
        rows.append(row)
    first, second = (np.ptp(list(one.values() or [NAN])) for one in (plain, held))
    notes = [said("summaries/spans", first=first, second=second)] if held else []
    return make_table("summaries/equal_length", rows, notes=notes)


def _effects(scores: pd.DataFrame, models: list[str], length: bool) -> dict[str, float]:
    """The effect of each model about the mean of all; nothing where the rest leaves none over."""
    present = [model for model in models if (scores["model"] == model).any()]
    if len(present) < 2:
        return {}
    columns = [(scores["model"] == model).to_numpy(dtype=float) for model in present]
    for name in ("topic", "size"):
        for value in sorted(scores[name].unique())[1:]:
            columns.append((scores[name] == value).to_numpy(dtype=float))
    if length:
        logs = np.log(scores["characters"].clip(lower=1).to_numpy(dtype=float))
        columns.append(logs - logs.mean())
    x = np.column_stack(columns)
    if len(x) <= x.shape[1] or np.linalg.matrix_rank(x) < x.shape[1]:
        return {}
    slopes = np.linalg.lstsq(x, scores[OVERALL].to_numpy(dtype=float), rcond=None)[0]
    own = slopes[: len(present)]
    return dict(zip(present, (own - own.mean()).tolist(), strict=True))


def length(scores: pd.DataFrame) -> Iterator[Row]:
    """How far judges reward length: within topic and size, and between models."""
    models = scores.groupby("model")[["characters", *SCORED]].mean()
    cells = [own for _, own in scores.groupby(["topic", "size"])]
    for name in SCORED:
        found = finite([spearman(own["characters"], own[name]).value for own in cells])
        between = spearman(models["characters"], models[name])
        size = partial_spearman(scores["characters"], scores[name], scores["size"])
        within = float(found.mean()) if len(found) else NAN
        row = {"dimension": name, "within": within, "cells": len(found)}
        row |= {"between_models": between.value, "models": between.n, "given_size": size.value}
        yield row | {"note": "" if len(found) else "too_few_ratings"}


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
            row |= _exact(first, first + second)
            rows.append(row | _at_equal_length(lead, known["log_ratio"].to_numpy(float)))
    return with_holm(rows, "judges")


def _exact(first: int, decided: int) -> Row:
    """The exact interval and p of a share of comparisons that are taken one by one (Clopper and
    Pearson 1934).
    """
    from scipy.stats import binomtest

    if not decided:
        return {}
    found = binomtest(first, decided)
    ends = found.proportion_ci()
    row = {"exact_low": ends.low, "exact_high": ends.high}
    return row | {"exact_p": float(found.pvalue)}


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
