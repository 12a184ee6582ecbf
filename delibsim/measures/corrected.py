"""Means of what models coded, corrected by what people coded of the same texts."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True)
class Mean:
    """A mean, its standard error, its 95% interval; `n` texts of people, `total` of the models."""

    estimate: float
    se: float
    low: float
    high: float
    n: int
    total: int


def _mean(estimate: float, se: float, n: int, total: int) -> Mean:
    return Mean(estimate, se, estimate - Z * se, estimate + Z * se, n, total)


def plain_mean(values: ArrayLike) -> Mean:
    """The mean of values (n,) with the normal interval, its variance with divisor n.

    It is the mean of people alone, or of models alone. NaN with fewer than two values.
    """
    known = _known(values)
    n = len(known)
    if n < 2:
        estimate = float(known.mean()) if n else math.nan
        return Mean(estimate, math.nan, math.nan, math.nan, n, n)
    return _mean(float(known.mean()), math.sqrt(known.var() / n), n, n)


def corrected_mean(people: ArrayLike, models: ArrayLike, others: ArrayLike) -> Mean:
    """The mean where people coded n texts that were drawn at random, and models coded all.

    `people` and `models` (n,) are the codes of the drawn texts, `others` (N,) those of models on
    the texts that people did not code: mean(others) + mean(people - models). SE^2 = var(others)/N
    + var(people - models)/n, both with divisor N and n. NaN where n or N is below 2.
    Source: Angelopoulos et al. (2023), https://doi.org/10.1126/science.adi6000, lambda = 1.
    """
    bias = np.asarray(people, dtype=float) - np.asarray(models, dtype=float)
    bias, rest = _known(bias), _known(others)
    n, size = len(bias), len(rest)
    if n < 2 or size < 2:
        return Mean(math.nan, math.nan, math.nan, math.nan, n, n + size)
    se = math.sqrt(rest.var() / size + bias.var() / n)
    return _mean(float(rest.mean() + bias.mean()), se, n, n + size)


def weighted_mean(models: ArrayLike, people: ArrayLike, chances: ArrayLike) -> Mean:
    """The mean where people coded texts that were drawn by unequal chances, and models all (N,).

    `people` is NaN where a text was not drawn, `chances` are those of its draw: mean(models) +
    sum((people - models)/chances)/N. The standard error is that of the mean of N independent terms
    models + drawn (people - models)/chance. NaN with fewer than two people's codes. ValueError for
    a drawn text whose chance is not in (0, 1].

    >>> round(weighted_mean([1, 2], [2, 1], [0.5, 1]).estimate, 3)
    2.0
    """
    model, person = np.asarray(models, dtype=float), np.asarray(people, dtype=float)
    chance = np.asarray(chances, dtype=float)
    coded = ~np.isnan(model)
    model, person, chance = model[coded], person[coded], chance[coded]
    drawn = ~np.isnan(person)
    if not ((chance[drawn] > 0) & (chance[drawn] <= 1)).all():
        raise ValueError("the chance of a drawn text lies above 0 and is 1 at most")
    n, total = int(drawn.sum()), len(model)
    if n < 2:
        return Mean(math.nan, math.nan, math.nan, math.nan, n, total)
    terms = model.copy()
    terms[drawn] += (person[drawn] - model[drawn]) / chance[drawn]
    return _mean(float(terms.mean()), math.sqrt(terms.var() / total), n, total)


def _known(values: ArrayLike) -> Array:
    """The values that are not NaN."""
    given = np.asarray(values, dtype=float)
    return given[~np.isnan(given)]
