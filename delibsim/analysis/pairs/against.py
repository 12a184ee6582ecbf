"""Judges beside people: scores and labels, raw and divided by what people's own errors allow."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.pairs.fitted import (
    Compared,
    Fitted,
    People,
    Said,
    aligned,
    fitted_votes,
    label_columns,
    said,
)
from delibsim.analysis.pairs.panel import (
    DRAWN,
    FEW_TOPICS,
    RESAMPLES,
    TEXTS_DRAWN,
    TOPICS_DRAWN,
    Both,
    few_topics,
    score_columns,
)
from delibsim.analysis.result import Result, make_table
from delibsim.measures.bradley_terry.stability import split_half
from delibsim.measures.bradley_terry.strengths import z_scale
from delibsim.measures.correlations import (
    agreement_of_scores,
    difference_interval,
    mcnemar,
    williams,
)
from delibsim.measures.inference.means import holm, mean_of_units
from delibsim.measures.inference.resampling import cluster_interval, percentile_interval
from delibsim.measures.reliability.ratings import agreement_of_labels

Array = NDArray[np.float64]
ALL = "all judges"
GAPS = (0.5, 1.0, 2.0)
"""Differences of people's scores, in standard deviations, from which on a pair is clear."""
SPLITS = 20
NAN = float("nan")
WITHIN = "within topics"


@dataclass(frozen=True, eq=False)
class Judge:
    """A judge beside people: its scores by text (n,), and what it says of pairs."""

    name: str
    scores: Array
    said: Said


@dataclass(frozen=True, eq=False)
class Beside:
    """Judges and people on one dimension: people's fit, their scores in the order of `own.ids`,
    their labels, and how reliable their scores are.
    """

    own: Fitted
    people: Fitted
    scores: Array
    z: Mapping[str, float]
    said: Said
    reliability: float
    judges: Sequence[Judge]


def against(compared: Compared, fits: Sequence[Fitted]) -> list[Result]:
    """The tables of judges beside people; not given where no people are named."""
    found = [] if compared.people is None else list(_beside(compared, compared.people, fits))
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in ("all", "topics", "labels")}
    for one in found:
        for judge in one.judges:
            rows["all"] += _scores(compared, one, judge)
            rows["topics"] += list(_topics(one, judge))
            rows["labels"].append(_labels(one, judge))
    tests = _tests(compared, found)
    name = "people" if compared.people is None else compared.people.name
    absent = "not_asked" if compared.people is None else "no_dimension"
    why = "" if found else absent
    of_tests = why or ("" if tests else "one_judge")
    return [
        make_table("pairs/against", rows["all"], why=why, name=name, drawn=DRAWN),
        make_table("pairs/against_topics", rows["topics"], why=why, name=name),
        make_table("pairs/against_labels", rows["labels"], why=why, name=name),
        make_table("pairs/against_tests", tests, why=of_tests, name=name),
    ]


def _beside(compared: Compared, people: People, fits: Sequence[Fitted]) -> Iterator[Beside]:
    """Judges and people on every dimension that both judged.

    People who were asked of one dimension only, under whatever name, are compared with a comparison
    of one dimension.
    """
    named = {vote.dimension for vote in people.votes}
    for own in fits:
        dimension = own.dimension if own.dimension in named else None
        if dimension is None and len(named) == len(fits) == 1:
            dimension = next(iter(named))
        if dimension is None:
            continue
        votes = [vote for vote in people.votes if vote.dimension == dimension]
        kept = [vote for vote in votes if vote.sheet.pair not in people.left_out]
        model = replace(own.pooled, order=own.settings.model.order and people.ordered)
        theirs = fitted_votes(
            kept, dimension, compared.texts, replace(own.settings, model=model, scale="log_odds")
        )
        if not theirs.votes:
            continue
        by_id = dict(zip(theirs.ids, theirs.fit.scores, strict=True))
        halves = split_half(theirs.counts.pooled(), model, compared.seed, SPLITS)
        yield Beside(
            own=own,
            people=theirs,
            scores=np.array([by_id.get(id, NAN) for id in own.ids]),
            z=dict(zip(theirs.ids, z_scale(theirs.fit.raw), strict=True)),
            said=said(kept),
            reliability=halves.reliability,
            judges=list(_judges(own, people)),
        )


def _judges(own: Fitted, people: People) -> Iterator[Judge]:
    """Each judge alone, and all together where there are several."""
    for place, judge in enumerate(own.judges):
        votes = [vote for vote in own.base.votes if vote.judge == judge]
        yield Judge(judge, own.of_judge(place).scores, said(votes, people.left_out))
    if len(own.judges) > 1:
        yield Judge(ALL, own.fit.scores, said(own.base.votes, people.left_out))


def _scores(compared: Compared, one: Beside, judge: Judge) -> list[dict[str, Any]]:
    """The agreement over all texts, and the mean of that within each topic."""
    level = one.own.settings.level
    base: dict[str, Any] = {"dimension": one.own.dimension, "judge": judge.name}
    both = Both.of(one.scores, judge.scores, one.own.groups)
    rows: list[dict[str, Any]] = [
        base | {"over": "all texts"} | score_columns(both, compared.seed, level)
    ]
    topics = [row for row in _topics(one, judge) if row["r"] == row["r"]]
    if len(set(one.own.groups)) > 1 and topics:
        within: dict[str, Any] = {"over": WITHIN, "texts": sum(row["texts"] for row in topics)}
        for column in ("r", "rho", "tau", "mae", "rmse"):
            within[column] = float(np.mean([row[column] for row in topics]))
        rows.append(base | within | _ends_within(compared, one, judge, topics))
    ceiling = np.sqrt(one.reliability) if one.reliability > 0 else NAN
    for row in rows:
        row["reliability"] = one.reliability
        for column in ("r", "low", "high"):
            row[f"{column}_of_ceiling"] = row[column] / ceiling
    return rows


def _ends_within(
    compared: Compared, one: Beside, judge: Judge, topics: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The intervals of means over topics by t; and as published, where topics are drawn, or texts
    within each where there are few topics.
    """
    level, few = one.own.settings.level, len(topics) < FEW_TOPICS
    groups = np.array(one.own.groups, dtype=object)
    found: dict[str, Any] = {"drawn": TEXTS_DRAWN if few else TOPICS_DRAWN, "unit": TOPICS_DRAWN}
    found["note"] = few_topics(len(topics))
    for column, ends in (("r", ("low", "high")), ("rho", ("rho_low", "rho_high"))):
        mean = mean_of_units([row[column] for row in topics], level)
        low, high = np.clip([mean.low, mean.high], -1.0, 1.0)  # what t does not know
        found |= {ends[0]: float(low), ends[1]: float(high), "df": mean.df}
        if few:
            draws = []
            for place, row in enumerate(topics):
                own = groups == row["group"]
                both = Both.of(one.scores[own], judge.scores[own], list(groups[own]))
                draws.append(both.draws(compared.seed + place, column == "rho"))
            interval = percentile_interval(np.mean(draws, axis=0), level)
        else:
            names, values = [row["group"] for row in topics], [row[column] for row in topics]
            interval = cluster_interval(values, names, RESAMPLES, compared.seed, level)
        found |= {f"published_{end}": value for end, value in zip(ends, interval, strict=True)}
    return found


def _topics(one: Beside, judge: Judge) -> Iterator[dict[str, Any]]:
    """The agreement within each topic, where there are several."""
    groups = np.array(one.own.groups, dtype=object)
    for group in dict.fromkeys(one.own.groups):
        own = groups == group
        found = agreement_of_scores(one.scores[own], judge.scores[own])
        row: dict[str, Any] = {"dimension": one.own.dimension, "judge": judge.name, "group": group}
        row |= {"texts": found.n, "r": found.r, "rho": found.rho, "tau": found.tau}
        yield row | {"mae": found.mae, "rmse": found.rmse}


def _labels(one: Beside, judge: Judge) -> dict[str, Any]:
    """The agreement of labels on the pairs that people judged too."""
    pairs, theirs, own = aligned(one.said, judge.said)
    found = agreement_of_labels(theirs, own)
    row: dict[str, Any] = {"dimension": one.own.dimension, "judge": judge.name}
    row |= label_columns(found)
    row |= {"people_a": found.of_one[0], "people_tie": found.of_one[1]}
    row |= {"judge_a": found.of_other[0], "judge_tie": found.of_other[1]}
    gaps = np.array([abs(one.z[pair.one] - one.z[pair.other]) for pair in pairs])
    named = theirs != 0
    row |= {"clear": _share((own == theirs)[named]), "clear_pairs": int(named.sum())}
    for name, least in zip(("clear_half", "clear_one", "clear_two"), GAPS, strict=True):
        row[name] = _share((own == theirs)[named & (gaps >= least)])
    return row


def _share(values: NDArray[np.bool_]) -> float:
    return float(values.mean()) if values.size else NAN


def _tests(compared: Compared, found: Sequence[Beside]) -> list[dict[str, Any]]:
    """Every two judges, tested against each other by their agreement with people."""
    rows = []
    for one in found:
        alone = [judge for judge in one.judges if judge.name != ALL]
        rows += [_test(compared, one, a, b) for a, b in combinations(alone, 2)]
    for column in ("p", "p_labels"):
        corrected = holm([row[column] for row in rows])
        for row, p in zip(rows, corrected, strict=True):
            row[f"{column}_holm"] = p
    return rows


def _test(compared: Compared, one: Beside, a: Judge, b: Judge) -> dict[str, Any]:
    """The difference of two judges' correlations with people, and of their labels."""
    known = ~np.isnan(one.scores) & ~np.isnan(a.scores) & ~np.isnan(b.scores)
    groups = [group for group, there in zip(one.own.groups, known, strict=True) if there]
    with_people = [Both.of(one.scores[known], own.scores[known], groups) for own in (a, b)]
    r = [agreement_of_scores(both.one, both.other).r for both in with_people]
    between = agreement_of_scores(a.scores[known], b.scores[known]).r
    draws = [both.draws(compared.seed) for both in with_people]
    level, known_both = one.own.settings.level, with_people[0]
    series = [(both.one, both.other) for both in with_people]
    ends = difference_interval(series[0], series[1], known_both.units, level)
    published = percentile_interval(draws[0] - draws[1], level)
    row: dict[str, Any] = {"dimension": one.own.dimension, "a": a.name, "b": b.name}
    row |= {"texts": int(known.sum()), "r_a": r[0], "r_b": r[1], "difference": r[0] - r[1]}
    tested = williams(r[0], r[1], between, int(known.sum()))
    row |= {"unit": known_both.unit, "low": ends.low, "high": ends.high, "df": ends.df}
    row |= {"published_low": published[0], "published_high": published[1]}
    row |= {"t": tested.t, "t_df": tested.df, "p": tested.p, "note": known_both.note}
    only = _only(one.said, a.said, b.said)
    return row | {"only_a": only[0], "only_b": only[1], "p_labels": mcnemar(*only)}


def _only(people: Said, a: Said, b: Said) -> tuple[int, int]:
    """On how many pairs that all judged one of two judges alone says what people say."""
    shared = [pair for pair in people.outcome if pair in a.outcome and pair in b.outcome]
    first = np.array([a.outcome[pair] == people.outcome[pair] for pair in shared], dtype=bool)
    second = np.array([b.outcome[pair] == people.outcome[pair] for pair in shared], dtype=bool)
    return int((first & ~second).sum()), int((second & ~first).sum())
