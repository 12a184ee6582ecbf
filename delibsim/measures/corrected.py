"""What models coded beside what people coded: corrected means, and calibration."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.inference.means import wilson

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


FEWEST = 50
"""Texts with which a calibration is more than chance; with fewer that is said."""
BINS = 5


@dataclass(frozen=True)
class Bin:
    """The texts whose confidence lies in one range (`above` left out, `to` included).

    `n` texts of mean confidence `confidence`, of which the share `agrees` has the interval `low`
    to `high`; all NaN where n is 0. The first bin holds its lower end as well.
    """

    above: float
    to: float
    n: int
    confidence: float
    agrees: float
    low: float
    high: float


def bins(confidence: ArrayLike, agrees: ArrayLike, number: int = BINS) -> list[Bin]:
    """Texts in bins of equal width over 0 to 1 by confidence; `agrees` is 0 or 1, both (n,).

    Texts of which one is NaN are left out. ValueError for a confidence outside 0 to 1.
    """
    sure, right = _both(confidence, agrees)
    edges = np.linspace(0, 1, number + 1)
    place = np.clip(np.ceil(sure * number - 1e-9).astype(int) - 1, 0, number - 1)
    found = []
    for i in range(number):
        own, given = right[place == i], sure[place == i]
        low, high = wilson(int(own.sum()), len(own))
        means = (float(values.mean()) if len(own) else np.nan for values in (given, own))
        found.append(Bin(float(edges[i]), float(edges[i + 1]), len(own), *means, low, high))
    return found


def brier(confidence: ArrayLike, agrees: ArrayLike) -> float:
    """The mean squared difference of confidence and agreement; NaN without a text.

    Source: Brier (1950). 0 is best; always saying 0.5 gives 0.25.

    >>> brier([1.0, 0.5], [1, 0])
    0.125
    """
    sure, right = _both(confidence, agrees)
    return float(((sure - right) ** 2).mean()) if len(sure) else np.nan


def calibration_error(confidence: ArrayLike, agrees: ArrayLike, number: int = BINS) -> float:
    """The expected calibration error: |agreement - confidence| of the bins, weighted by texts.

    Source: Naeini, Cooper and Hauskrecht (2015). NaN without a text.

    >>> calibration_error([1.0, 1.0, 0.5, 0.5], [1, 0, 1, 0])
    0.25
    """
    found = [one for one in bins(confidence, agrees, number) if one.n]
    n = sum(one.n for one in found)
    gaps = [one.n * abs(one.agrees - one.confidence) for one in found]
    return float(sum(gaps) / n) if n else np.nan


def _both(confidence: ArrayLike, agrees: ArrayLike) -> tuple[Array, Array]:
    """Confidence and agreement where neither is NaN."""
    sure, right = np.asarray(confidence, dtype=float), np.asarray(agrees, dtype=float)
    known = ~np.isnan(sure) & ~np.isnan(right)
    sure, right = sure[known], right[known]
    if sure.size and not (sure.min() >= -1e-9 and sure.max() <= 1 + 1e-9):
        raise ValueError("a confidence lies between 0 and 1")
    return np.clip(sure, 0, 1), right
