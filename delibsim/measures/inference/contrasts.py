"""Contrasts of two treatments: blocked differences, their permutations, many specifications.

A block is what is held equal, such as a topic and a model. The estimate is the unweighted mean over
blocks of the difference between the means of both treatments. Two tests go with it: labels permuted
freely within blocks, which is right where runs are independent of each other (Edgington and
Onghena 2007, https://doi.org/10.1201/9781420011814), and signs of differences flipped draw by draw,
which is right where the treatments of one replicate share seeds (Fisher 1935, section 21). A draw
is a replicate of a topic: people, orders and shuffles of it are equal for all models and settings.
Many specifications are tested together as in Simonsohn, Simmons and Nelson 2020,
doi:10.1038/s41562-020-0912-z.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Marks = NDArray[np.bool_]

ENUMERATED = 1_024
"""The most ways of labelling the runs of a block that are listed; of more, some are drawn."""
DRAWN = (2_048, 65_536)
"""The fewest and the most labellings that are drawn where not all are listed."""
ENUMERATED_SIGNS = 14
"""The most draws of which all ways of flipping their signs are listed."""
SIGNS_AT_ONCE = 8
"""How many draws have their signs flipped by one random byte."""
ROUNDING = 1e-9
"""The share of an observed difference by which rounding may move a permuted one."""
WEIGHT_DIGITS = 12
"""Decimal places in which weights must agree to be equal."""
NOTHING = 1e-13
"""The share of two means below which their difference is rounding, and so 0."""


def block_differences(values: ArrayLike, first: ArrayLike, blocks: ArrayLike) -> Array:
    """The difference of means of each block (b,): treatment a less treatment b.

    `values` (n,) have no NaN, `first` (n,) is True where the treatment is a, and `blocks` (n,)
    numbers the blocks from 0. ValueError where a block has not both treatments.

    >>> block_differences([3, 5, 1, 2], [True, True, False, False], [0, 0, 0, 0])
    array([2.5])
    """
    found, marks, codes = _checked(values, first, blocks)
    means = []
    for chosen in (marks, ~marks):
        sizes = np.bincount(codes[chosen], minlength=codes.max() + 1)
        totals = np.bincount(codes[chosen], found[chosen], minlength=codes.max() + 1)
        means.append(totals / sizes)
    differences = means[0] - means[1]
    rounding = np.abs(differences) <= NOTHING * (np.abs(means[0]) + np.abs(means[1]))
    return np.where(rounding, 0.0, differences)


def free_p(
    values: ArrayLike,
    first: ArrayLike,
    blocks: ArrayLike,
    permutations: int,
    seed: int,
    sessions: ArrayLike | None = None,
) -> float:
    """Two-sided p of the blocked contrast, labels permuted freely within blocks.

    Arguments as those of `block_differences`. It is (1 + #{|T*| >= |T|}) / (1 + permutations).
    `sessions` (n,) numbers the session of each value from 0, where one stands in several blocks;
    blocks that share a session are then one stratum, in which all sessions change places, each
    with its weight in the estimate. Where a stratum can be labelled in at most 1,024 ways, each
    draw takes one of them. For larger ones some thousands of labellings are drawn for all strata
    of one shape; each draw takes one of these anew for every stratum. Their differences are
    centred, because the mean over all labellings is 0.
    """
    found, marks, codes = _checked(values, first, blocks)
    observed = block_differences(found, marks, codes)
    weights = _weights(marks, codes)
    if sessions is not None:
        found, weights, codes = _of_sessions(found, weights, codes, np.asarray(sessions))
    rng = np.random.default_rng(seed)
    totals = np.zeros(permutations)
    for table, pattern in _by_shape(found, weights, codes):
        ways, all_listed = _labellings(pattern, permutations // len(table), rng)
        differences = table @ ways.T
        if not all_listed:
            differences -= differences.mean(axis=1, keepdims=True)
        for row in differences:
            totals += row[rng.integers(0, len(row), permutations, dtype=np.uint16)]
    return two_sided_p(totals, float(observed.sum()), float(np.abs(observed).sum()))


def flipped_p(
    differences: ArrayLike,
    blocks: ArrayLike,
    draws: ArrayLike,
    permutations: int,
    seed: int,
) -> float:
    """Two-sided p of the mean over blocks of the mean difference of pairs, by flipping signs.

    `differences` (m,) are those of the pairs, treatment a less treatment b, and `blocks` (m,)
    numbers the block of each. `draws` (m,) is equal for pairs that share people and orders: their
    differences go together, and their signs are flipped at once. All ways of flipping are
    enumerated for at most 14 draws; p is then the share of them that is at least as far from 0. Of
    more, `permutations` are drawn, and p is (1 + #{|T*| >= |T|}) / (1 + permutations). NaN without
    a pair.
    """
    found = np.asarray(differences, dtype=float)
    if not found.size:
        return float("nan")
    codes = np.unique(np.asarray(blocks), return_inverse=True)[1]
    of_draw = np.unique(np.asarray(draws), return_inverse=True)[1]
    weighted = np.bincount(of_draw, found / np.bincount(codes)[codes]).astype(np.float64)
    return sign_p(signed_sums(weighted, permutations, seed), weighted)


def signed_sums(weighted: ArrayLike, permutations: int, seed: int) -> Array:
    """Sums of values (n,) or (n, k) whose signs are flipped, row by row: all 2^n, or some drawn.

    The rows of `weighted` are flipped as wholes, so that k sums have their signs flipped together.
    Of shape (2^n,) or (2^n, k) where n is at most 14, else with `permutations` in place of 2^n.
    """
    found = np.asarray(weighted, dtype=float)
    count = len(found)
    if count <= ENUMERATED_SIGNS:
        patterns = np.arange(2**count)[:, None] >> np.arange(count)
        return (1.0 - 2.0 * (patterns & 1)) @ found
    missing = -count % SIGNS_AT_ONCE
    padded = np.concatenate([found, np.zeros((missing, *found.shape[1:]))])
    groups = padded.reshape(-1, SIGNS_AT_ONCE, *found.shape[1:])
    patterns = np.arange(2**SIGNS_AT_ONCE)[:, None] >> np.arange(SIGNS_AT_ONCE)
    signs = 1.0 - 2.0 * (patterns & 1)
    rng = np.random.default_rng(seed)
    totals = np.zeros((permutations, *found.shape[1:]))
    for group in groups:
        totals += (signs @ group)[np.frombuffer(rng.bytes(permutations), dtype=np.uint8)]
    return totals


def sign_p(sums: Array, weighted: Array) -> float:
    """The p of a sum of `weighted` (n,) among those of `signed_sums`."""
    observed, scale = float(weighted.sum()), float(np.abs(weighted).sum())
    if len(weighted) <= ENUMERATED_SIGNS:
        return float(_as_far(sums, observed, scale) / len(sums))
    return two_sided_p(sums, observed, scale)


def pooled_p(first: ArrayLike, second: ArrayLike, permutations: int, seed: int) -> float:
    """Two-sided p of the difference of two means, all labels permuted, without blocks.

    Because the sum of all values stays the same, this is also the permutation test of t with a
    pooled variance.
    """
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    values = np.concatenate([a, b]) - np.concatenate([a, b]).mean()
    rng = np.random.default_rng(seed)
    totals = np.empty(permutations)
    step = max(1, 1_000_000 // len(values))
    for start in range(0, permutations, step):
        rows = min(step, permutations - start)
        shuffled = rng.permuted(np.broadcast_to(values, (rows, len(values))), axis=1)
        totals[start : start + rows] = shuffled[:, : len(a)].sum(axis=1)
    return two_sided_p(totals, float(values[: len(a)].sum()), float(np.abs(values).sum()))


def two_sided_p(drawn: Array, observed: float, scale: float) -> float:
    """(1 + how many draws are at least as far from 0) / (1 + number of draws).

    `scale` is the size of what was added up to give the observed sum; rounding is a share of it.
    """
    return float((1 + _as_far(drawn, observed, scale)) / (1 + len(drawn)))


def _as_far(drawn: Array, observed: float, scale: float) -> int:
    """How many draws are at least as far from 0 as what was observed."""
    return int(np.count_nonzero(np.abs(drawn) >= abs(observed) - ROUNDING * scale))


def _checked(
    values: ArrayLike,
    first: ArrayLike,
    blocks: ArrayLike,
) -> tuple[Array, Marks, NDArray[np.intp]]:
    """The arguments as arrays; ValueError for NaN and for a block without both treatments."""
    found = np.asarray(values, dtype=float)
    marks = np.asarray(first, dtype=bool)
    codes = np.asarray(blocks, dtype=np.intp)
    if np.isnan(found).any():
        raise ValueError("values that are not there must be left out")
    blocks_in_all = codes.max() + 1 if codes.size else 0
    fewest = [np.bincount(codes[side], minlength=blocks_in_all) for side in (marks, ~marks)]
    if not blocks_in_all or not np.min(fewest):
        raise ValueError("every block needs both treatments")
    return found, marks, codes


def _weights(first: Marks, blocks: NDArray[np.intp]) -> Array:
    """The weight of each value in the sum over blocks of their differences."""
    sizes_a = np.bincount(blocks[first], minlength=blocks.max() + 1)
    sizes_b = np.bincount(blocks[~first], minlength=blocks.max() + 1)
    return np.where(first, 1 / sizes_a[blocks], -1 / sizes_b[blocks])


def _of_sessions(
    values: Array,
    weights: Array,
    blocks: NDArray[np.intp],
    sessions: NDArray[np.intp],
) -> tuple[Array, Array, NDArray[np.intp]]:
    """Value, weight and stratum of each session, in the order in which they first occur."""
    _, firsts, numbers = np.unique(sessions, return_index=True, return_inverse=True)
    if len(firsts) == len(sessions):
        return values, weights, blocks
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    of_sessions = blocks.max() + 1 + numbers
    size = int(of_sessions.max()) + 1
    joined = coo_array((np.ones(len(blocks)), (blocks, of_sessions)), shape=(size, size))
    strata = connected_components(joined, directed=False)[1][blocks]
    kept = np.sort(firsts)
    added = np.bincount(numbers, weights).astype(np.float64)[numbers[kept]]
    return values[kept], added, np.unique(strata[kept], return_inverse=True)[1]


def _by_shape(
    values: Array,
    weights: Array,
    strata: NDArray[np.intp],
) -> Generator[tuple[Array, Array]]:
    """Strata with equal weights as a table (strata, sessions), and these weights, largest first."""
    order = np.argsort(strata, kind="stable")
    sorted_values = values[order]
    sizes = np.bincount(strata)
    above = np.bincount(strata, weights > 0)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    patterns = np.zeros((len(sizes), sizes.max()))
    ranked = np.lexsort((-weights, strata))
    places = np.arange(len(ranked)) - starts[strata[ranked]]
    patterns[strata[ranked], places] = weights[ranked]
    keys = np.column_stack([sizes, above, np.round(patterns, WEIGHT_DIGITS)])
    shapes, of_shape = np.unique(keys, axis=0, return_inverse=True)
    for shape in range(len(shapes)):
        alike = np.flatnonzero(of_shape.ravel() == shape)
        size = sizes[alike[0]]
        yield sorted_values[starts[alike][:, None] + np.arange(size)], patterns[alike[0], :size]


def _labellings(pattern: Array, drawn: int, rng: np.random.Generator) -> tuple[Array, bool]:
    """Ways (w, size) of giving these weights to the sessions of a stratum, and whether all are
    listed.
    """
    size, chosen = len(pattern), int((pattern > 0).sum())
    two = len(np.unique(np.round(pattern, WEIGHT_DIGITS))) == 2
    if two and comb(size, chosen) <= ENUMERATED:
        picked = np.array(list(combinations(range(size), chosen)))
        ways = np.full((len(picked), size), pattern[-1])
        np.put_along_axis(ways, picked, pattern[0], axis=1)
        return ways, True
    shape = (int(np.clip(drawn, *DRAWN)), size)
    return rng.permuted(np.broadcast_to(pattern, shape), axis=1), False


LEVEL = 0.05
SMALLEST = 1e-300
"""What a p of 0 counts as, so that its z is finite."""
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
    from scipy.special import ndtri

    effects = np.array([one.estimates / one.scale for one in specified])
    p = np.array([one.p for one in specified])
    signed = np.sign(effects)
    small = (p < LEVEL) * signed
    shares = np.maximum((small > 0).mean(axis=0), (small < 0).mean(axis=0))
    known = ~np.isnan(p)
    tails = np.maximum(np.where(known, p, 1.0), SMALLEST) / 2
    z = -ndtri(tails) * signed
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
