"""Judges beside each other, in one fit and by their scores and labels; and beside people, raw and
divided by what people's own errors allow.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.pairs.fitted import (
    MODELS,
    NAN,
    Compared,
    Fitted,
    People,
    Said,
    aligned,
    errors_of,
    fitted_votes,
    label_columns,
    said,
)
from delibsim.analysis.result import Result, make_table, with_holm
from delibsim.analysis.result import said as sentence
from delibsim.domain.text import counted
from delibsim.measures.bradley_terry.fit import Fit
from delibsim.measures.bradley_terry.judges import crowd_bt, likelihood_ratio
from delibsim.measures.bradley_terry.stability import split_half
from delibsim.measures.bradley_terry.strengths import z_scale
from delibsim.measures.bradley_terry.uncertainty import Interval, Uncertainty
from delibsim.measures.correlations import (
    ByCluster,
    agreement_of_scores,
    correlation_interval,
    difference_interval,
    mcnemar,
    resampled_correlations,
    williams,
)
from delibsim.measures.inference.means import mean_of_units
from delibsim.measures.inference.resampling import cluster_interval, percentile_interval
from delibsim.measures.reliability.ratings import agreement_of_labels

Array = NDArray[np.float64]
Row = dict[str, Any]
LEFT_OUT = "judges_left_out"


def judge_models(whole: Fitted) -> Iterator[Row]:
    """Which model of the judges the votes bear out: each against the one before it."""
    own = whole.base
    before: Fit | None = None
    for model, one in own.judged.items() if len(own.judges) > 1 else ():
        row: Row = {"dimension": own.dimension, "model": model, "note": ""}
        row |= {"parameters": one.problem.basis.shape[1], "log_likelihood": one.log_likelihood}
        row["r"] = agreement_of_scores(one.scores, own.judged["pooled"].scores).r
        if before is not None:
            row |= _likelihoods(before, one)
        if own.errors.reason:
            row |= {"p": NAN, "note": own.errors.reason}
        before = one
        yield row


def _likelihoods(smaller: Fit, larger: Fit) -> Row:
    """The likelihood-ratio test of two fits of the same votes."""
    if smaller.counts.votes.sum() != larger.counts.votes.sum():
        return {"note": LEFT_OUT}
    if "not_converged" in (*smaller.flags, *larger.flags):
        return {"note": "not_converged"}
    more = larger.problem.basis.shape[1] - smaller.problem.basis.shape[1]
    if more < 1:
        return {"note": "no_parameters"}
    tested = likelihood_ratio(smaller.objective, larger.objective, more)
    return {"statistic": tested.statistic, "df": tested.df, "p": tested.p}


def judge_parameters(whole: Fitted) -> Iterator[Row]:
    """The parameters of judges in the models in which they differ."""
    own = whole.base
    reason, level = own.errors.reason, own.settings.level
    for model in MODELS[1:] if len(own.judges) > 1 else ():
        found = own.judged[model]
        errors = Uncertainty(found, False, reason) if reason else errors_of(found)
        parts: dict[str, Interval] = {"delta": errors.delta(level), "theta": errors.theta(level)}
        if model == "discriminating":
            parts["alpha"] = errors.alpha(level)
        for parameter, part in parts.items():
            for place, judge in enumerate(own.judges):
                row: Row = {"dimension": own.dimension, "model": model, "judge": judge}
                row |= {"parameter": parameter, "value": part.value[place]}
                row |= {"low": part.low[place], "high": part.high[place]}
                yield row | {"note": found.judge_notes[place] or reason}


def crowd(whole: Fitted) -> Iterator[Row]:
    """Crowd-BT: how often each judge names the stronger text."""
    own = whole.base
    if len(own.judges) < 2:
        return
    found, reason = crowd_bt(own.counts), own.errors.reason
    r = agreement_of_scores(found.scores, own.judged["pooled"].scores).r
    for place, judge in enumerate(own.judges):
        row: Row = {"dimension": own.dimension, "judge": judge, "eta": found.eta[place], "r": r}
        row["low"] = NAN if reason else found.eta_low[place]
        row["high"] = NAN if reason else found.eta_high[place]
        yield row | {"note": " ".join(found.flags) or reason}


RESAMPLES = 10_000
FEW_TOPICS = 8
"""Topics below which the published bootstrap draws texts in their place."""
TOPICS_DRAWN, TEXTS_DRAWN = "topics", "texts"
SPEAKING = 5
"""Topics below which an interval over topics is marked: so few say little of topics like these."""
DRAWN = sentence("pairs/drawn", resamples=RESAMPLES, few=FEW_TOPICS)


@dataclass(frozen=True, eq=False)
class Both:
    """Two scores of the same texts (n,) without NaN, and the group of each text."""

    one: Array
    other: Array
    groups: NDArray[Any]

    @classmethod
    def of(cls, one: Array, other: Array, groups: Sequence[str]) -> "Both":
        """The texts that have both scores."""
        both = ~np.isnan(one) & ~np.isnan(other)
        return cls(one[both], other[both], np.array(groups, dtype=object)[both])

    def unit(self, least: int = 2) -> str:
        """What is drawn or left out: topics where there are so many, else texts."""
        return TOPICS_DRAWN if len(set(self.groups)) >= least else TEXTS_DRAWN

    def units(self, least: int = 2) -> NDArray[Any]:
        """The number of the unit of each text (n,)."""
        if self.unit(least) == TOPICS_DRAWN:
            return np.unique(self.groups.astype(str), return_inverse=True)[1]
        return np.arange(len(self.one))

    @property
    def note(self) -> str:
        """What must be known of an interval over topics."""
        return few_topics(len(set(self.groups))) if self.unit() == TOPICS_DRAWN else ""

    def series(self, ranked: bool) -> list[Array]:
        """Both scores, or their mid-ranks."""
        from scipy.stats import rankdata

        return [rankdata(one) if ranked else one for one in (self.one, self.other)]

    def interval(self, ranked: bool, level: float) -> ByCluster:
        """The interval of r, or of rho; NaN below four texts."""
        if len(self.one) < 4:
            return ByCluster(NAN, NAN, 0)
        return correlation_interval(*self.series(ranked), self.units(), level)

    def draws(self, seed: int, ranked: bool = False) -> Array:
        """r, or rho of these ranks, in each resample; NaN below three texts."""
        if len(self.one) < 3:
            return np.full(RESAMPLES, NAN)
        units = self.units(FEW_TOPICS)
        return resampled_correlations(*self.series(ranked), units, RESAMPLES, seed)


def score_columns(both: Both, seed: int, level: float) -> Row:
    """The agreement of scores as columns of a table."""
    found = agreement_of_scores(both.one, both.other)
    row: Row = {**vars(found), "texts": found.n, "unit": both.unit()}
    row |= {"drawn": both.unit(FEW_TOPICS), "note": both.note if found.r == found.r else ""}
    for value, ranked, name in ((found.rho, True, "rho_"), (found.r, False, "")):
        ends = both.interval(ranked, level)
        row |= {f"{name}low": ends.low, f"{name}high": ends.high, "df": ends.df}
        if value == value:
            low, high = percentile_interval(both.draws(seed, ranked), level)
            row |= {f"published_{name}low": low, f"published_{name}high": high}
    return row


def few_topics(topics: int) -> str:
    """The note of an interval over so many topics.

    >>> few_topics(5), few_topics(2)
    ('', 'few_topics: 2 topics')
    """
    if topics >= SPEAKING:
        return ""
    return f"few_topics: {counted(topics, 'topic')}"


def agreement(own: Fitted) -> Iterator[Row]:
    """Every two judges: their labels on the same pairs, and their scores of the same texts."""
    if len(own.judges) < 2:
        return
    labels = {}
    for judge in own.judges:
        labels[judge] = said([vote for vote in own.base.votes if vote.judge == judge])
    scores = {judge: own.of_judge(place).scores for place, judge in enumerate(own.judges)}
    for a, b in combinations(own.judges, 2):
        _, first, second = aligned(labels[a], labels[b])
        row: Row = {"dimension": own.dimension, "a": a, "b": b}
        row |= label_columns(agreement_of_labels(first, second))
        both = Both.of(scores[a], scores[b], own.groups)
        yield row | score_columns(both, own.seed, own.settings.level)


ALL = "all judges"
GAPS = {"clear": 0.0, "clear_half": 0.5, "clear_one": 1.0, "clear_two": 2.0}
"""Differences of people's scores, in standard deviations, from which on a pair is clear."""
SPLITS = 20
WITHIN = "within topics"


@dataclass(frozen=True, eq=False)
class JudgeBesidePeople:
    """A judge beside people: its scores by text (n,), and what it says of pairs."""

    name: str
    scores: Array
    said: Said


@dataclass(frozen=True, eq=False)
class JudgesAndPeople:
    """Judges and people on one dimension: their scores in the order of `own.ids`, their z scores by
    text, their labels, and how reliable their scores are.
    """

    own: Fitted
    scores: Array
    z: Mapping[str, float]
    said: Said
    reliability: float
    judges: Sequence[JudgeBesidePeople]


def against(compared: Compared, fits: Sequence[Fitted]) -> Iterator[Result]:
    """The tables of judges beside people; not given where no people are named."""
    people = compared.people
    found = [] if people is None else list(_beside(compared, people, fits))
    judged = [(one, judge) for one in found for judge in one.judges]
    tests = []
    for one in found:
        alone = [judge for judge in one.judges if judge.name != ALL]
        tests += [_mcnemar(one, a, b) for a, b in combinations(alone, 2)]
    absent = "not_asked" if people is None else "no_dimension"
    why = "" if found else absent
    rows = {
        "against": [row for one, judge in judged for row in _scores(one, judge)],
        "against_topics": [row for one, judge in judged for row in _topics(one, judge)],
        "against_labels": [_labels(one, judge) for one, judge in judged],
        "against_tests": with_holm(with_holm(tests), p="p_labels"),
        "against_scores": [row for one in found for row in _each_text(one, PEOPLE)],
    }
    rows["against_means"] = list(_over_dimensions(rows["against"], rows["against_labels"]))
    name = "people" if people is None else people.name
    for table, own in rows.items():
        reason = why or ("" if own or table != "against_tests" else "one_judge")
        yield make_table(f"pairs/{table}", own, why=reason, name=name, drawn=DRAWN)


def _beside(
    compared: Compared, people: People, fits: Sequence[Fitted]
) -> Iterator[JudgesAndPeople]:
    """Judges and people on every dimension that both judged.

    People who were asked of one dimension only, under whatever name, are compared with a comparison
    of one dimension.
    """
    named = {vote.dimension for vote in people.votes}
    for own in fits:
        only = named if len(named) == len(fits) == 1 else {own.dimension}
        votes = [vote for vote in people.votes if vote.dimension in only]
        kept = [vote for vote in votes if vote.sheet.pair not in people.left_out]
        model = replace(own.pooled, order=own.settings.model.order and people.ordered)
        settings = replace(own.settings, model=model, scale="log_odds")
        theirs = fitted_votes(compared, kept, own.dimension, settings)
        if theirs.votes:
            by_id = dict(zip(theirs.ids, theirs.fit.scores, strict=True))
            halves = split_half(theirs.counts.pooled(), model, own.seed, SPLITS)
            yield JudgesAndPeople(
                own=own,
                scores=np.array([by_id.get(id, NAN) for id in own.ids]),
                z=dict(zip(theirs.ids, z_scale(theirs.fit.raw), strict=True)),
                said=said(kept),
                reliability=halves.reliability,
                judges=list(_judges(own, people)),
            )


def _judges(own: Fitted, people: People) -> Iterator[JudgeBesidePeople]:
    """Each judge alone, and all together where there are several."""
    for place, judge in enumerate(own.judges):
        votes = [vote for vote in own.base.votes if vote.judge == judge]
        yield JudgeBesidePeople(judge, own.of_judge(place).scores, said(votes, people.left_out))
    if len(own.judges) > 1:
        yield JudgeBesidePeople(ALL, own.fit.scores, said(own.base.votes, people.left_out))


def _scores(one: JudgesAndPeople, judge: JudgeBesidePeople) -> list[Row]:
    """The agreement over all texts, and the mean of that within each topic."""
    both = Both.of(one.scores, judge.scores, one.own.groups)
    columns = score_columns(both, one.own.seed, one.own.settings.level)
    rows: list[Row] = [{"over": "all texts"} | columns]
    topics = [row for row in _topics(one, judge) if row["r"] == row["r"]]
    if len(set(one.own.groups)) > 1 and topics:
        within: Row = {"over": WITHIN, "texts": sum(row["texts"] for row in topics)}
        for column in ("r", "rho", "tau", "mae", "rmse"):
            within[column] = float(np.mean([row[column] for row in topics]))
        rows.append(within | _ends_within(one, judge, topics))
    ceiling = np.sqrt(one.reliability) if one.reliability > 0 else NAN
    for row in rows:
        row |= {"dimension": one.own.dimension, "judge": judge.name}
        row["reliability"] = one.reliability
        for column in ("r", "low", "high"):
            row[f"{column}_of_ceiling"] = row[column] / ceiling
    return rows


def _ends_within(
    one: JudgesAndPeople, judge: JudgeBesidePeople, topics: Sequence[Mapping[str, Any]]
) -> Row:
    """The intervals of means over topics by t; and as published, where topics are drawn, or texts
    within each where there are few topics.
    """
    level, seed, few = one.own.settings.level, one.own.seed, len(topics) < FEW_TOPICS
    groups = np.array(one.own.groups, dtype=object)
    found: Row = {"drawn": TEXTS_DRAWN if few else TOPICS_DRAWN, "unit": TOPICS_DRAWN}
    found["note"] = few_topics(len(topics))
    for column, name in (("r", ""), ("rho", "rho_")):
        mean = mean_of_units([row[column] for row in topics], level)
        low, high = np.clip([mean.low, mean.high], -1.0, 1.0)  # what t does not know
        found |= {f"{name}low": float(low), f"{name}high": float(high), "df": mean.df}
        if few:
            draws = []
            for place, row in enumerate(topics):
                own = groups == row["group"]
                both = Both.of(one.scores[own], judge.scores[own], list(groups[own]))
                draws.append(both.draws(seed + place, column == "rho"))
            low, high = percentile_interval(np.mean(draws, axis=0), level)
        else:
            names, values = [row["group"] for row in topics], [row[column] for row in topics]
            low, high = cluster_interval(values, names, RESAMPLES, seed, level)
        found |= {f"published_{name}low": low, f"published_{name}high": high}
    return found


AGREED = ("r", "rho", "tau", "mae", "rmse", "kappa", "agreement")
"""What is averaged over dimensions, of scores and of labels."""
PEOPLE = "people"


def _over_dimensions(scores: Sequence[Row], labels: Sequence[Row]) -> Iterator[Row]:
    """The mean over dimensions of a judge's agreement with people, and its standard deviation."""
    by_judge: dict[str, dict[str, Row]] = {}
    for row in (*(row for row in scores if row["over"] != WITHIN), *labels):
        by_judge.setdefault(row["judge"], {}).setdefault(row["dimension"], {}).update(row)
    for judge, own in by_judge.items():
        found: Row = {"judge": judge, "dimensions": len(own)}
        for name in AGREED:
            values = [row.get(name, NAN) for row in own.values()]
            found[name] = float(np.mean(values))
            found[f"{name}_sd"] = float(np.std(values, ddof=1)) if len(values) > 1 else NAN
        yield found


def _each_text(one: JudgesAndPeople, people: str) -> Iterator[Row]:
    """The z scores of every text by people and by each judge, over the texts that have both."""
    for judge, scores in ((people, one.scores), *((own.name, own.scores) for own in one.judges)):
        known = ~np.isnan(scores) & ~np.isnan(one.scores)
        places, values = np.flatnonzero(known), z_scale(scores[known])
        for place, value in zip(places, values, strict=True):
            row: Row = {"dimension": one.own.dimension, "judge": judge, "score": value}
            yield row | {"id": one.own.ids[place], "group": one.own.groups[place]}


def _topics(one: JudgesAndPeople, judge: JudgeBesidePeople) -> Iterator[Row]:
    """The agreement within each topic, where there are several."""
    groups = np.array(one.own.groups, dtype=object)
    for group in dict.fromkeys(one.own.groups):
        own = groups == group
        found = agreement_of_scores(one.scores[own], judge.scores[own])
        row: Row = {"dimension": one.own.dimension, "judge": judge.name, "group": group}
        yield row | {"texts": found.n, **vars(found)}


def _labels(one: JudgesAndPeople, judge: JudgeBesidePeople) -> Row:
    """The agreement of labels on the pairs that people judged too."""
    pairs, theirs, own = aligned(one.said, judge.said)
    found = agreement_of_labels(theirs, own)
    row: Row = {"dimension": one.own.dimension, "judge": judge.name} | label_columns(found)
    row |= {"people_a": found.of_one[0], "people_tie": found.of_one[1]}
    row |= {"judge_a": found.of_other[0], "judge_tie": found.of_other[1]}
    gaps = np.array([abs(one.z[pair.one] - one.z[pair.other]) for pair in pairs])
    named = theirs != 0
    row["clear_pairs"] = int(named.sum())
    for name, least in GAPS.items():
        same = (own == theirs)[named & (gaps >= least)]
        row[name] = float(same.mean()) if same.size else NAN
    return row


def _mcnemar(one: JudgesAndPeople, a: JudgeBesidePeople, b: JudgeBesidePeople) -> Row:
    """The difference of two judges' correlations with people, and of their labels."""
    known = ~np.isnan(one.scores) & ~np.isnan(a.scores) & ~np.isnan(b.scores)
    groups = [group for group, there in zip(one.own.groups, known, strict=True) if there]
    first, second = (Both.of(one.scores[known], own.scores[known], groups) for own in (a, b))
    r_a, r_b = (agreement_of_scores(both.one, both.other).r for both in (first, second))
    between = agreement_of_scores(a.scores[known], b.scores[known]).r
    level, seed = one.own.settings.level, one.own.seed
    series = [(both.one, both.other) for both in (first, second)]
    ends = difference_interval(series[0], series[1], first.units(), level)
    published = percentile_interval(first.draws(seed) - second.draws(seed), level)
    row: Row = {"dimension": one.own.dimension, "a": a.name, "b": b.name}
    row |= {"texts": int(known.sum()), "r_a": r_a, "r_b": r_b, "difference": r_a - r_b}
    tested = williams(r_a, r_b, between, int(known.sum()))
    row |= {"unit": first.unit(), "low": ends.low, "high": ends.high, "df": ends.df}
    row |= {"published_low": published[0], "published_high": published[1]}
    row |= {"t": tested.t, "t_df": tested.df, "p": tested.p, "note": first.note}
    only_a, only_b = _only(one.said, a.said, b.said)
    return row | {"only_a": only_a, "only_b": only_b, "p_labels": mcnemar(only_a, only_b)}


def _only(people: Said, a: Said, b: Said) -> tuple[int, int]:
    """On how many pairs that all judged one of two judges alone says what people say."""
    shared = [pair for pair in people.outcome if pair in a.outcome and pair in b.outcome]
    first = np.array([a.outcome[pair] == people.outcome[pair] for pair in shared], dtype=bool)
    second = np.array([b.outcome[pair] == people.outcome[pair] for pair in shared], dtype=bool)
    return int((first & ~second).sum()), int((second & ~first).sum())
