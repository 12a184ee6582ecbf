"""What every table of effects shares: three questions, the mean over units, verbs, notes."""

from collections.abc import Mapping
from math import isnan, sqrt
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from delibsim.analysis.study.blocks import BlockComparison
from delibsim.analysis.study.study_table import DrawCounts
from delibsim.domain.seed import seed_of
from delibsim.measures.inference.contrasts import flipped_p
from delibsim.measures.inference.means import MeanEstimate, mean_of_units, mean_within
from delibsim.measures.inference.resampling import cluster_interval

EQUAL = "equal_conditions: equal by construction or in fact"
NO_VARIANCE = "no_variance: all {}s have the same difference, and the test is undecided"
ENOUGH = 5
"""The fewest topics over which an effect may be called one, or an interval be resampled."""
LEVEL = 0.05
"""The level of tests, after Holm's correction."""
NAN = float("nan")
OVER_TOPICS, OVER_DRAWS, OVER_MODELS = (
    "over topics like these",
    "on these topics, with these models",
    "over topics and models like these",
)
"""The three questions about an effect, in the order in which tables answer them."""
RAISED, LOWERED, HERE, NONE = "raised", "lowered", "on_these_topics", "none"
NOT_VALID = "not_valid"
"""The verb of what models alone say of texts."""
"""What may be said of an effect."""


def bootstrap_seed(draws: DrawCounts, units: str) -> int:
    """The seed of all bootstraps over these units, so that all tables resample the same ones."""
    return seed_of(draws.seed, "bootstrap", units)


def noted(*sentences: str) -> str:
    """Sentences as one note."""
    return "; ".join(sentence for sentence in sentences if sentence)


def too_few(units: str, count: int) -> str:
    """What a note says of a mean over few topics or models; "" where there are enough.

    >>> too_few("topic", 5), too_few("topic", 3), too_few("model", 3)
    ('', 'few_topics: 3 topics', '')
    """
    if count < 2:
        code = f"one_{units}" if count else f"no_{units}s"
        return f"{code}: no interval and no test over {units}s"
    if units == "topic" and count < ENOUGH:
        return f"few_topics: {count} topics"
    return ""


def mean_of(differences: ArrayLike, units: str, draws: DrawCounts) -> tuple[dict[str, Any], str]:
    """What independent differences (n,) give, one of each topic or model, and a note.

    By the names of columns: the mean, its interval by t with n - 1 degrees of freedom, median,
    standard deviation, share above 0, number, p by t, and the published interval. What is
    undefined is NaN, and without differences not there.
    """
    found = np.asarray(differences, dtype=float)
    if not len(found):
        return {"n": 0, "p": NAN}, too_few(units, 0)
    summary, note = of_clusters(found, np.arange(len(found)), units, draws)
    summary |= {
        "median": float(np.median(found)),
        "sd": float(found.std(ddof=1)) if len(found) > 1 else NAN,
        "share_positive": float((found > 0).mean()),
        "n": len(found),
    }
    return summary, note if found.any() else noted(EQUAL, too_few(units, len(found)))


def of_clusters(
    differences: ArrayLike, clusters: ArrayLike, units: str, draws: DrawCounts
) -> tuple[dict[str, Any], str]:
    """What differences (n,) give over topics or models, each the mean of its own, and a note: the
    mean, its interval and p by t, and the published interval.
    """
    means = means_by(differences, clusters)
    mean = mean_of_units(means)
    low, high = published_interval(differences, clusters, units, draws)
    row = {**told(mean), "p": mean.p, "published_low": low, "published_high": high}
    note = too_few(units, len(means))
    if len(means) > 1 and isnan(mean.error):
        note = noted(NO_VARIANCE.format(units), note)
    return row, note


def means_by(values: ArrayLike, groups: ArrayLike) -> np.ndarray:
    """The mean of the values (n,) of each group, in the order of their names."""
    codes, names = pd.factorize(np.asarray(groups), sort=True, use_na_sentinel=False)
    weights = np.asarray(values, dtype=float)
    return np.bincount(codes, weights, len(names)) / np.bincount(codes, minlength=len(names))


def told(mean: MeanEstimate) -> dict[str, float]:
    """The members of a mean that stand in tables under these names."""
    return {name: getattr(mean, name) for name in ("estimate", "low", "high", "df")}


def published_interval(
    values: ArrayLike, clusters: ArrayLike, units: str, draws: DrawCounts
) -> tuple[float, float]:
    """The percentile bootstrap interval over topics or models, as published studies print it.

    NaN below five: with few clusters it is far too short (see `published_coverage`).
    """
    if len(set(np.asarray(clusters).tolist())) < ENOUGH:
        return NAN, NAN
    return cluster_interval(values, clusters, draws.resamples, bootstrap_seed(draws, units))


def published_coverage(topics: int) -> float:
    """How often the published interval over so many topics holds the truth, where means of topics
    are normal: the chance that |t| with n - 1 degrees of freedom is below 1.96 sqrt((n - 1) / n).

    >>> [round(published_coverage(n), 2) for n in (5, 6, 12, 48)]
    [0.85, 0.87, 0.91, 0.94]
    """
    from scipy.special import stdtr

    if topics < 2:
        return NAN
    bound = 1.959964 * sqrt((topics - 1) / topics)
    return float(1 - 2 * stdtr(topics - 1, -bound))


def over_topics(blocks: pd.DataFrame) -> MeanEstimate:
    """The first question: the mean over topics of the mean difference of their blocks, by t."""
    return mean_of_units(means_by(blocks["difference"], blocks["topic"]))


def over_draws(found: BlockComparison, paired: bool) -> MeanEstimate:
    """The second question: the mean over topics, these topics held fixed.

    Where treatments share seeds, a value is the mean difference of the blocks of a topic in one
    draw, and its stratum the topic. Where not, it is a session, and its stratum its treatment
    within its block. Topics count alike.
    """
    if paired:
        if found.pairs.empty:
            return MeanEstimate(NAN)
        first = found.pairs.drop_duplicates("draw").sort_values("draw")
        topics = pd.factorize(first["topic"], use_na_sentinel=False)[0]
        each = np.bincount(topics)
        drawn = means_by(found.pairs["difference"], found.pairs["draw"])
        return mean_within(drawn, topics, 1 / each[topics] / len(each))
    runs = found.runs
    side = 2 * runs["block"].to_numpy() + (runs["treatment"] == found.a).to_numpy()
    within = np.bincount(side)[side] * _blocks_of_topic(runs)
    share = 1 / within / runs["topic"].nunique(dropna=False)
    held = pd.factorize(runs["held"])[0]
    weights = np.bincount(held, np.where(side % 2, share, -share))
    first = np.unique(held, return_index=True)[1]  # of several blocks the one with the least number
    return mean_within(runs["value"].to_numpy()[first], side[first], weights)


def p_of_draws(pairs: pd.DataFrame, draws: DrawCounts) -> float:
    """The p of the second question where treatments share seeds: signs flipped draw by draw.

    The seed is the same for all tables, so that equal differences have equal p. NaN without a pair
    and where all differences are 0.
    """
    if not pairs["difference"].any():
        return NAN
    seed = seed_of(draws.seed, "flips")
    share = pairs["difference"] / _blocks_of_topic(pairs)  # topics count alike
    return flipped_p(share, pairs["block"], pairs["draw"], draws.permutations, seed)


def _blocks_of_topic(rows: pd.DataFrame) -> np.ndarray:
    """The number of blocks of the topic of each row."""
    topics = pd.factorize(rows["topic"], use_na_sentinel=False)[0]
    first = np.unique(rows["block"], return_index=True)[1]
    return np.bincount(topics[first])[topics]


def verb(row: Mapping[str, Any]) -> str:
    """What may be said of the row of a contrast: raised, lowered, on_these_topics, or none.

    The first two need five topics, an interval over topics without 0, and Holm's p of the headline
    question below .05; the third needs Holm's p of the second question below .05.

    >>> row = {"topics": 6, "estimate": 0.1, "low": 0.02, "high": 0.2, "p_holm": 0.03}
    >>> verb(row), verb(row | {"topics": 4, "p_holm_draws": 0.01}), verb(row | {"p_holm": 0.2})
    ('raised', 'on_these_topics', 'none')
    """
    low, high = row.get("low", NAN), row.get("high", NAN)
    p, p_draws = row.get("p_holm"), row.get("p_holm_draws")
    clear = p is not None and p < LEVEL
    if row["topics"] >= ENOUGH and clear and (low > 0 or high < 0):
        return RAISED if row["estimate"] > 0 else LOWERED
    return HERE if p_draws is not None and p_draws < LEVEL else NONE


def note_of(comparison: BlockComparison) -> str:
    """What was left out of a comparison, behind whether its treatments are equal."""
    equal = EQUAL if comparison.equal else ""
    return noted(equal, *comparison.left_out)
