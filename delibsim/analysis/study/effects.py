"""What every table of effects shares: three questions, the mean over units, verbs, notes."""

from collections.abc import Mapping
from math import isnan, sqrt
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from delibsim.analysis.study.blocks import Compared
from delibsim.analysis.study.study_table import Draws
from delibsim.domain.seed import seed_of
from delibsim.measures.inference.contrasts import flipped_p
from delibsim.measures.inference.means import Mean, mean_of_units, mean_within
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
"""What may be said of an effect."""
SUMMARY = (
    "estimate", "low", "high", "df", "median", "sd", "share_positive", "n", "p",
    "published_low", "published_high",
)  # fmt: skip


def bootstrap_seed(draws: Draws, units: str) -> int:
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


def mean_of(differences: ArrayLike, units: str, draws: Draws) -> tuple[dict[str, Any], str]:
    """What independent differences (n,) give, one of each topic or model, and a note.

    The keys are those of SUMMARY: mean, interval by t with n - 1 degrees of freedom, median,
    standard deviation, share above 0, number, p by t, and the published interval. What is
    undefined is NaN.
    """
    found = np.asarray(differences, dtype=float)
    if not len(found):
        return dict.fromkeys(SUMMARY, np.nan) | {"n": 0}, too_few(units, 0)
    mean = mean_of_units(found)
    low, high = published_interval(found, np.arange(len(found)), units, draws)
    summary = {
        **told(mean),
        "median": float(np.median(found)),
        "sd": float(found.std(ddof=1)) if len(found) > 1 else np.nan,
        "share_positive": float((found > 0).mean()),
        "n": len(found),
        "p": mean.p,
        "published_low": low,
        "published_high": high,
    }
    note = too_few(units, len(found))
    if not found.any():
        note = noted(EQUAL, note)
    elif len(found) > 1 and isnan(mean.error):
        note = noted(NO_VARIANCE.format(units), note)
    return summary, note


def told(mean: Mean) -> dict[str, float]:
    """The members of a mean that stand in tables under these names."""
    return {name: getattr(mean, name) for name in ("estimate", "low", "high", "df")}


def published_interval(
    values: ArrayLike, clusters: ArrayLike, units: str, draws: Draws
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


def over_topics(blocks: pd.DataFrame) -> Mean:
    """The first question: the mean over topics of the mean difference of their blocks, by t."""
    return mean_of_units(blocks.groupby("topic", dropna=False)["difference"].mean())


def over_draws(found: Compared, paired: bool) -> Mean:
    """The second question: the mean over topics, these topics held fixed.

    Where treatments share seeds, a value is the mean difference of the blocks of a topic in one
    draw, and its stratum the topic. Where not, it is a session, and its stratum its treatment
    within its block. Topics count alike.
    """
    if paired:
        drawn = found.pairs.groupby(["topic", "draw"], dropna=False)["difference"].mean()
        topics = drawn.index.get_level_values(0)
        if drawn.empty:
            return Mean(NAN)
        each = drawn.groupby(level=0, dropna=False).transform("size")
        return mean_within(drawn, topics, 1 / each / topics.nunique(dropna=False))
    runs = found.runs
    side = runs["treatment"] == found.a
    within = runs.groupby(["block", "treatment"])["value"].transform("size")
    of_topic = runs.groupby("topic", dropna=False)["block"].transform("nunique")
    share = 1 / within / of_topic / runs["topic"].nunique(dropna=False)
    weight = np.where(side, share, -share)
    held = runs.assign(weight=weight).groupby("held", sort=False)
    sessions = held.agg(
        value=("value", "first"), weight=("weight", "sum"), stratum=("block", "min")
    )
    sides = held["treatment"].first()
    strata = [f"{block} {name}" for block, name in zip(sessions["stratum"], sides, strict=True)]
    return mean_within(sessions["value"], strata, sessions["weight"])


def p_of_draws(pairs: pd.DataFrame, draws: Draws) -> float:
    """The p of the second question where treatments share seeds: signs flipped draw by draw.

    The seed is the same for all tables, so that equal differences have equal p. NaN without a pair
    and where all differences are 0.
    """
    if not pairs["difference"].any():
        return NAN
    seed = seed_of(draws.seed, "flips")
    of_topic = pairs.groupby("topic", dropna=False)["block"].transform("nunique")
    share = pairs["difference"] / of_topic  # topics count alike, whatever their blocks
    return flipped_p(share, pairs["block"], pairs["draw"], draws.permutations, seed)


def verb(row: Mapping[str, Any]) -> str:
    """What may be said of the row of a contrast: raised, lowered, on_these_topics, or none.

    The first two need five topics, an interval over topics without 0, and Holm's p of the headline
    question below .05; the third needs Holm's p of the second question below .05.

    >>> row = {"topics": 6, "estimate": 0.1, "low": 0.02, "high": 0.2, "p_holm": 0.03}
    >>> verb(row), verb(row | {"topics": 4, "p_holm_draws": 0.01}), verb(row | {"p_holm": 0.2})
    ('raised', 'on_these_topics', 'none')
    """
    low, high = row.get("low", NAN), row.get("high", NAN)
    if row["topics"] >= ENOUGH and below(row.get("p_holm")) and (low > 0 or high < 0):
        return RAISED if row["estimate"] > 0 else LOWERED
    return HERE if below(row.get("p_holm_draws")) else NONE


def below(p: float | None) -> bool:
    """Whether there is a p and it is below the level of tests."""
    return p is not None and p < LEVEL


def note_of(comparison: Compared) -> str:
    """What was left out of a comparison, behind whether its treatments are equal."""
    equal = EQUAL if comparison.equal else ""
    return noted(equal, *comparison.left_out)
