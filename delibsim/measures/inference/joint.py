"""Many specifications of one effect tested together, under labels that are flipped for all at once.

Source: Simonsohn, Simmons and Nelson 2020, Specification curve analysis, doi:10.1038/
s41562-020-0912-z.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
LEVEL = 0.05
ROUNDING = 1e-9
STATISTICS = ("median effect", "share significant", "averaged Z")


@dataclass(frozen=True)
class Specified:
    """A specification under m labellings, the first of which is the real one.

    `estimates` and `errors` (m,) are by t with `df` degrees of freedom; `scale` is the standard
    deviation of its outcome, in which effects on several scales are compared.
    """

    estimates: Array
    errors: Array
    df: float
    scale: float

    @cached_property
    def p(self) -> Array:
        """The two-sided p of each labelling; NaN without an error."""
        from scipy.special import stdtr

        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.abs(self.estimates / self.errors)
        return np.where(self.errors > 0, 2 * stdtr(self.df, -ratios), np.nan)


@dataclass(frozen=True)
class Joint:
    """A statistic over all specifications: its value, its median under other labels, and its p."""

    value: float
    under_none: float
    p: float


def relabelled(
    values: ArrayLike, first: ArrayLike, blocks: ArrayLike, units: ArrayLike, signs: ArrayLike
) -> Array:
    """The difference of means of each block under each labelling, (m, blocks); NaN where a block
    has one label alone.

    `values` (n,) have no NaN, `first` (n,) says which are under treatment a, `blocks` and `units`
    (n,) number their block and their unit from 0, and `signs` (m, units) has -1 where the labels of
    a unit are exchanged.

    >>> relabelled([3.0, 1.0], [True, False], [0, 0], [0, 0], [[1.0], [-1.0]]).tolist()
    [[2.0], [-2.0]]
    """
    y, flips = np.asarray(values, dtype=float), np.asarray(signs, dtype=float)
    own, unit = np.asarray(blocks, dtype=np.intp), np.asarray(units, dtype=np.intp)
    labels = np.where(np.asarray(first, dtype=bool), 1.0, -1.0)
    shape = (flips.shape[1], int(own.max()) + 1)
    of_values, of_counts = np.zeros(shape), np.zeros(shape)
    np.add.at(of_values, (unit, own), labels * y)
    np.add.at(of_counts, (unit, own), labels)
    total, count = np.bincount(own, y), np.bincount(own)
    apart, more = flips @ of_values, flips @ of_counts
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (total + apart) / (count + more) - (total - apart) / (count - more)
    return np.where(np.abs(more) < count, found, np.nan)


def over_clusters(
    differences: Array, weights: ArrayLike, clusters: ArrayLike, scale: float, equal: bool
) -> Specified:
    """A mean of blocks under each labelling, with its error over clusters.

    `differences` (m, blocks) may hold NaN. A cluster is the mean of its blocks by their `weights`
    (blocks,); clusters count alike where `equal`, else by the sum of their weights. The error is
    that of a weighted mean of clusters; of equal ones it is Student's.
    """
    codes = np.unique(np.asarray(clusters), return_inverse=True)[1]
    count = int(codes.max()) + 1
    member = np.zeros((len(codes), count))
    member[np.arange(len(codes)), codes] = np.asarray(weights, dtype=float)
    there = ~np.isnan(differences)
    if there.all():
        sums, sizes = differences @ member, member.sum(axis=0)[None]
    else:
        sums = np.where(there, differences, 0.0) @ member
        sizes = there.astype(float) @ member
    with np.errstate(divide="ignore", invalid="ignore"):
        means = sums / sizes
        known = sizes > 0
        shares = known.astype(float) if equal else sizes
        shares = shares / shares.sum(axis=1, keepdims=True)
        means = np.where(known, means, 0.0)
        estimates = (shares * means).sum(axis=1)
        about = np.where(known, means - estimates[:, None], 0.0)
        n = known.sum(axis=1)
        errors = np.sqrt((shares**2 * about**2).sum(axis=1) * n / (n - 1))
    tiny = ROUNDING * np.abs(means).max(axis=1, initial=0)
    errors = np.where((n > 1) & (errors > tiny), errors, np.nan)
    return Specified(estimates, errors, count - 1, scale)


def joint_test(specified: Sequence[Specified]) -> Mapping[str, Joint]:
    """The three statistics over all specifications, under the same labellings of each.

    The median effect is in standard deviations of the outcome; the share is of specifications with
    p < .05 in the direction that more of them have; the averaged Z is the sum of the z of all p
    divided by the root of their number. All are two-sided. p is the share of labellings, the real
    one among them, under which a statistic is at least as far from 0.
    """
    effects = np.array([one.estimates / one.scale for one in specified])
    p = np.array([one.p for one in specified])
    signed = np.sign(effects)
    small = (p < LEVEL) * signed
    shares = np.maximum((small > 0).mean(axis=0), (small < 0).mean(axis=0))
    known = ~np.isnan(p)
    z = _z(np.where(known, p, 1.0)) * signed
    averaged = np.abs(z.sum(axis=0)) / np.sqrt(np.maximum(known.sum(axis=0), 1))
    found = {}
    columns = (np.median(effects, axis=0), shares, averaged)
    for name, column in zip(STATISTICS, columns, strict=True):
        sizes = np.abs(column)
        share = np.mean(sizes >= sizes[0] - ROUNDING * max(1.0, sizes[0]))
        if name != STATISTICS[0] and not known[:, 0].any():
            share = np.nan
        found[name] = Joint(float(column[0]), float(np.median(sizes[1:])), float(share))
    return found


def _z(p: Array) -> Array:
    """The size of a normal deviate with this two-sided p, at most about 37."""
    from scipy.special import ndtri

    return -ndtri(np.maximum(p, 1e-300) / 2)
