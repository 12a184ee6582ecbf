"""From samples of several models to one level a text, by rules that never give a level between two.

Levels are given by their position among the q declared levels, 0 to q - 1; a missing one is NaN.
Rules: docs/coding.md, "The level and how sure it is".
"""

from collections.abc import Sequence
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Rule = Literal["lower", "mean", "mode", "pooled"]
RULES: tuple[Rule, ...] = ("lower", "mean", "mode", "pooled")
"""The rules by which levels of models become one; only `mode` holds where levels have no order."""
ROUNDING = 1e-9
"""How far rounding may carry a share or a mean beyond the limit that it is compared with."""


def counts_of(samples: ArrayLike, q: int) -> Array:
    """How often each level was given, (..., q), from samples (..., k), NaN where there is none.

    >>> counts_of([[2, 2, 1, float("nan")]], 3).tolist()
    [[0.0, 1.0, 2.0]]
    """
    given = np.asarray(samples, dtype=float)
    chosen = [(given == level).sum(axis=-1) for level in range(q)]
    return np.stack(chosen, axis=-1).astype(float)


def lower_median(weights: ArrayLike) -> Array:
    """The lower median of each row of weights or counts of levels, (..., q) to (...).

    It is the lowest level up to which at least half of the weight lies: `sorted(v)[(len(v) - 1) //
    2]` for whole numbers of values v. NaN for a row without weight.

    >>> lower_median([[2, 0, 2], [1, 2, 1], [3, 0, 1]]).tolist()
    [0.0, 1.0, 0.0]
    """
    weight = np.asarray(weights, dtype=float)
    below = weight.cumsum(axis=-1)
    total = below[..., -1]
    reached = below >= total[..., None] / 2 - ROUNDING
    return np.where(total > 0, reached.argmax(axis=-1), np.nan)


def mode(weights: ArrayLike, ordered: bool = True) -> Array:
    """The most frequent level of each row of weights or counts, (..., q) to (...).

    Of several the lowest; where levels have no order (`ordered` False) such a tie has no level.

    >>> mode([[2, 0, 2], [0, 1, 3]]).tolist(), mode([[2, 0, 2], [0, 1, 3]], False).tolist()
    ([0.0, 2.0], [nan, 2.0])
    """
    weight = np.asarray(weights, dtype=float)
    largest = weight.max(axis=-1, keepdims=True)
    first = weight >= largest - ROUNDING
    defined = largest[..., 0] > 0
    if not ordered:
        defined &= first.sum(axis=-1) == 1
    return np.where(defined, first.argmax(axis=-1), np.nan)


def mean_half_down(weights: ArrayLike, values: ArrayLike | None = None) -> Array:
    """The level nearest to the mean of each row of weights or counts, (..., q) to (...).

    A mean half-way between two levels gives the lower. `values` are the values of the levels where
    they are not 0 to q - 1. NaN for a row without weight.

    >>> mean_half_down([[1, 2, 1], [1, 1, 0], [0, 1, 2]]).tolist()
    [1.0, 0.0, 2.0]
    """
    weight = np.asarray(weights, dtype=float)
    scale = np.arange(weight.shape[-1]) if values is None else np.asarray(values, dtype=float)
    total = weight.sum(axis=-1)
    mean = (weight @ scale) / np.where(total > 0, total, 1)
    distance = np.abs(mean[..., None] - scale)
    nearest = distance <= distance.min(axis=-1, keepdims=True) + ROUNDING
    return np.where(total > 0, nearest.argmax(axis=-1), np.nan)


def model_levels(counts: ArrayLike, asked: ArrayLike, ordered: bool = True) -> Array:
    """The level of each model on each text, (n, m), from counts of its samples (n, m, q).

    It is the lower median, or the mode where levels have no order. `asked` says for how many
    samples of a text each model was asked, (m,), or all of them. A model has no level on a text
    with fewer than `ceil(asked / 2)` readable samples.

    >>> model_levels([[[0, 1, 2], [0, 0, 1]]], asked=3).tolist()
    [[2.0, nan]]
    """
    count = np.asarray(counts, dtype=float)
    found = lower_median(count) if ordered else mode(count, ordered=False)
    return np.where(enough_samples(count, asked), found, np.nan)


def enough_samples(counts: ArrayLike, asked: ArrayLike) -> NDArray[np.bool_]:
    """Whether each model has enough readable samples on each text, (n, m), from counts (n, m, q).

    Enough are `ceil(asked / 2)` and one at least; `asked` as in `model_levels`.
    """
    given = np.asarray(counts, dtype=float).sum(axis=-1)
    return given >= np.maximum(np.ceil(np.asarray(asked) / 2), 1)


def enough_models(votes: ArrayLike, models: int) -> NDArray[np.bool_]:
    """Whether at least half of the models, and one at least, have a level on a text."""
    voted = np.asarray(votes, dtype=float)
    return (voted * 2 >= models) & (voted > 0)


def shares_of(counts: ArrayLike, levels: ArrayLike) -> Array:
    """The share of each model's samples on each level, (n, m, q).

    NaN for the models without a level (n, m), which do not vote.
    """
    count = np.asarray(counts, dtype=float)
    total = count.sum(axis=-1, keepdims=True)
    shares = count / np.where(total > 0, total, 1)
    votes = ~np.isnan(np.asarray(levels, dtype=float))
    return np.where(votes[..., None], shares, np.nan)


def ensemble_levels(
    counts: ArrayLike,
    levels: ArrayLike,
    rule: Rule = "lower",
    values: Sequence[float] | None = None,
    ordered: bool = True,
) -> Array:
    """The level of the ensemble on each text, (n,), from its models' levels (n, m).

    `counts` (n, m, q) are those of their samples, which `pooled` takes, each model having the same
    weight. NaN with fewer than half of the models, and for a tie where levels have no order.
    ValueError for a rule other than `mode` there, and for an unknown rule.

    >>> ensemble_levels([[[5, 0], [0, 5]]], [[0, 1]]).tolist()
    [0.0]
    """
    refuse_rule(rule, ordered)
    count, level = np.asarray(counts, dtype=float), np.asarray(levels, dtype=float)
    votes = counts_of(level, count.shape[-1])
    if rule == "pooled":
        shares = np.nan_to_num(shares_of(count, level))
        found = lower_median(shares.sum(axis=1))
    else:
        found = of_votes(votes, rule, values, ordered)
    return np.where(enough_models(votes.sum(axis=-1), level.shape[1]), found, np.nan)


def of_votes(
    votes: Array, rule: Rule, values: Sequence[float] | None = None, ordered: bool = True
) -> Array:
    """The level of each row of votes of models, (..., q) to (...), by a rule other than pooled."""
    if rule == "mode":
        return mode(votes, ordered)
    if rule == "mean":
        return mean_half_down(votes, values)
    return lower_median(votes)


def rule_of(name: str, ordered: bool) -> Rule:
    """The rule of this name, as it can be applied: `mode` wherever levels have no order.

    >>> rule_of("lower", ordered=False)
    'mode'
    """
    rule = cast("Rule", name) if ordered else "mode"
    refuse_rule(rule, ordered)
    return rule


def refuse_rule(rule: str, ordered: bool) -> None:
    """ValueError for a rule that there is none of, and for one that needs an order of levels."""
    if rule not in RULES:
        raise ValueError(f"unknown rule '{rule}': use {', '.join(RULES)}")
    if not ordered and rule != "mode":
        raise ValueError(f"the rule '{rule}' needs levels in order; nominal levels have 'mode'")
