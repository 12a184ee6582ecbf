"""Judges beside people: scores and labels, raw and divided by what people's own errors allow."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.pairs.agreement import (
    DRAWN,
    FEW_TOPICS,
    RESAMPLES,
    SCORES,
    TEXTS_DRAWN,
    TOPICS_DRAWN,
    Both,
    few_topics,
    score_columns,
)
from delibsim.analysis.pairs.fitted import Compared, Fitted, People, fitted_votes, rows_of
from delibsim.analysis.pairs.labels import LABELS, Said, aligned, label_columns, said
from delibsim.analysis.study.result import Result
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
PAGE = "docs/compare.md#beside-people"
ALL = "all judges"
GAPS = (0.5, 1.0, 2.0)
"""Differences of people's scores, in standard deviations, from which on a pair is clear."""
SPLITS = 20
NAN = float("nan")
WITHIN = "within topics"

AGAINST = {
    "dimension": "the dimension",
    "judge": "the judge; all judges as one where there are several",
    "over": f"all texts; or {WITHIN}: the mean over topics of the agreement in each",
    **SCORES,
    "reliability": "of people's scores, from split halves (Spearman and Brown)",
    "r_of_ceiling": "r divided by the root of it: no judge is expected beyond 1 but for chance",
    "low_of_ceiling": "lower end of the interval of r, divided alike",
    "high_of_ceiling": "upper end of the interval of r, divided alike",
}
TOPICS = {
    "dimension": "the dimension",
    "judge": "the judge",
    "group": "the topic",
    **{name: SCORES[name] for name in ("texts", "r", "rho", "tau", "mae", "rmse")},
}
AGAINST_LABELS = {
    "dimension": "the dimension",
    "judge": "the judge",
    **LABELS,
    "people_a": "share of pairs on which people name the text they saw first",
    "people_tie": "share on which people give a tie",
    "judge_a": "share on which the judge names the text that people saw first",
    "judge_tie": "share on which the judge gives a tie",
    "clear": "of pairs on which people name a winner, the share on which the judge names it too",
    "clear_pairs": "how many they are",
    "clear_half": "the same where people's scores differ by 0.5 standard deviations or more",
    "clear_one": "the same from 1 on",
    "clear_two": "the same from 2 on",
}
TESTS = {
    "dimension": "the dimension",
    "a": "a judge",
    "b": "another judge",
    "texts": "texts with scores of both and of people",
    "r_a": "correlation of the scores of a with people's",
    "r_b": "correlation of the scores of b with people's",
    "difference": "the first less the second",
    "unit": "what its interval rests on: topics; texts where there is one topic",
    "low": "lower end of its interval by t over these units",
    "high": "upper end of this interval",
    "df": "its degrees of freedom",
    "published_low": "lower end of the published interval, by resamples",
    "published_high": "upper end of this interval",
    "t": "Williams' t of no difference, which takes texts as independent",
    "t_df": "its degrees of freedom",
    "p": "its p",
    "p_holm": "the same by Holm over all tests of this column",
    "only_a": "pairs on which a alone says what people say",
    "only_b": "pairs on which b alone does",
    "p_labels": "p of McNemar's exact test of the two numbers",
    "p_labels_holm": "the same by Holm over all tests of this column",
    "note": "what must be known of the interval",
}


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
    why = _why_not(compared, found)
    one_judge = (
        {} if why or tests else {"why_not": "one_judge", "detail": "there is one judge only"}
    )
    ceiling = (
        f"A row a judge. {DRAWN} People's scores have errors of their own: r_of_ceiling is r"
        " divided by the root of their reliability, which is estimated too."
    )
    labels = (
        "A row a judge: labels on the pairs that both judged, by majority, in the order in which"
        " people saw them, beside what one reaches who always says the same. A tie of the judge"
        " names no winner."
    )
    tested = (
        "A row two judges: the difference of their correlations with people, with an interval"
        " by t with the errors of a jackknife over topics, or over texts where there is one topic,"
        " and Williams' test; and of their labels."
    )
    return [
        _result("against", f"Scores beside {name}", ceiling, AGAINST, rows["all"], **why),
        _result(
            "against_topics",
            f"Scores beside {name}, by topic",
            "A row a judge and topic.",
            TOPICS,
            rows["topics"],
            **why,
        ),
        _result(
            "against_labels", f"Labels beside {name}", labels, AGAINST_LABELS, rows["labels"], **why
        ),
        _result(
            "against_tests", f"Judges beside {name}", tested, TESTS, tests, **(why or one_judge)
        ),
    ]


def _result(
    name: str,
    title: str,
    definition: str,
    columns: Mapping[str, str],
    rows: Sequence[Mapping[str, Any]],
    **why: str,
) -> Result:
    return Result(name, title, definition, PAGE, rows_of(rows, columns), columns, **why)


def _why_not(compared: Compared, found: Sequence[Beside]) -> dict[str, str]:
    """Why there is nothing beside people."""
    if compared.people is None:
        detail = "name the comparison that holds the votes of people: --against NAME"
        return {"why_not": "not_asked", "detail": detail}
    if found:
        return {}
    detail = f"{compared.people.name} has no vote on a dimension of this comparison"
    return {"why_not": "no_dimension", "detail": detail}


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
