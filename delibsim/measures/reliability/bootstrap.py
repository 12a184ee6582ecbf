"""Coefficients in resamples of texts or clusters, and differences of two groups of coders.

Texts with the same codes are exchangeable, so it is drawn how often each pattern of codes occurs,
which has the distribution of drawing texts one by one (a multinomial) and takes far less time.

Sources: Gwet (2016), https://doi.org/10.1177/0013164415596420, for the standard error of the
difference; Schuirmann (1987), https://doi.org/10.1007/BF01068419, for the test of equivalence.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.inference.means import UNDEFINED, Equivalence, equivalence
from delibsim.measures.inference.resampling import percentile_interval, resampled_counts
from delibsim.measures.reliability.clusters import by_cluster
from delibsim.measures.reliability.codes import (
    MISSING,
    CodeMatrix,
    Patterns,
    Weighting,
    codes_of,
    name_of,
    table_of,
)
from delibsim.measures.reliability.coefficients import (
    ALPHA,
    CODER_ABSENT,
    COEFFICIENTS,
    NO_PAIR,
    ONE_CATEGORY,
    Estimate,
    coefficient,
    influences,
    patterns_for,
    t_interval,
    values,
)

Array = NDArray[np.float64]
Named = tuple[str, Weighting]
"""A coefficient by id and weighting."""
AT_ONCE = 1_000_000
"""The most numbers that a step of the bootstrap holds in one array."""


@dataclass(frozen=True, eq=False)
class Draws:
    """A coefficient in each resample, NaN where it is undefined; `undefined` counts why.

    `clusters` is how many clusters were drawn from, 0 where texts were drawn.
    """

    coefficient: str
    weighting: str
    values: Array
    undefined: Mapping[str, int]
    clusters: int = 0

    @cached_property
    def error(self) -> float:
        """The standard error: the standard deviation of the defined resamples."""
        known = self.values[~np.isnan(self.values)]
        return float(known.std(ddof=1)) if len(known) > 1 else float("nan")

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The percentile interval of the defined resamples."""
        return percentile_interval(self.values, level)


def bootstrap(
    codes: CodeMatrix,
    named: Sequence[Named],
    resamples: int,
    seed: int,
    clusters: ArrayLike | None = None,
) -> list[Draws]:
    """The coefficients `named` in `resamples` resamples of the texts, in their order.

    All coefficients that need the coders have the same resamples, and so have all the others.
    `clusters` (texts,) says of each text of `codes` from which debate, speaker or session it is;
    then these are drawn, and all their texts with them.
    """
    of_clusters = None if clusters is None else np.unique(clusters, return_inverse=True)[1]
    patterns = [patterns_for(codes, [name]) for name, _ in named]
    found: dict[int, Draws] = {}
    for kind in (codes.by_counts, codes.by_coders):
        own = [i for i, needed in enumerate(patterns) if needed is kind]
        if not own:
            continue
        drawn = _drawn(kind, [named[i] for i in own], resamples, seed, of_clusters)
        found |= dict(zip(own, drawn, strict=True))
    return [found[i] for i in range(len(named))]


def resampled_patterns(
    patterns: Patterns,
    resamples: int,
    seed: int,
    clusters: NDArray[np.int64] | None = None,
) -> Generator[Array]:
    """How often each pattern occurs in each resample, in parts (samples, patterns).

    `clusters` (texts,) numbers the cluster of each text from 0.
    """
    size = len(patterns.times)
    if clusters is None:
        rng, n = np.random.default_rng(seed), int(patterns.times.sum())
        step = max(1, AT_ONCE // (size + len(patterns.levels)))
        for start in range(0, resamples, step):
            rows = min(step, resamples - start)
            yield rng.multinomial(n, patterns.times / n, size=rows).astype(float)
        return
    within = by_cluster(patterns, clusters)
    for counts in resampled_counts(len(within), resamples, seed):
        step = max(1, AT_ONCE // (size + len(patterns.levels)))
        for start in range(0, len(counts), step):
            yield counts[start : start + step] @ within


def _drawn(
    patterns: Patterns,
    named: Sequence[Named],
    resamples: int,
    seed: int,
    clusters: NDArray[np.int64] | None,
) -> list[Draws]:
    """The coefficients in resamples of these patterns."""
    parts: list[list[Array]] = [[] for _ in named]
    undefined: list[dict[str, int]] = [{} for _ in named]
    for times in resampled_patterns(patterns, resamples, seed, clusters):
        for i, (name, weighting) in enumerate(named):
            drawn = values(times, patterns, name, weighting)
            parts[i].append(drawn)
            if np.isnan(drawn).any():
                by_coders = COEFFICIENTS[name].by_coders
                _count_reasons(times[np.isnan(drawn)], patterns, by_coders, undefined[i])
    amount = 0 if clusters is None else int(clusters.max()) + 1
    found = []
    for i, (name, weighting) in enumerate(named):
        drawn = np.concatenate(parts[i])
        found.append(Draws(name, name_of(weighting), drawn, undefined[i], amount))
    return found


def _count_reasons(
    times: Array,
    patterns: Patterns,
    by_coders: bool,
    counts: dict[str, int],
) -> None:
    """Add to `counts` why a coefficient is undefined in these resamples."""
    pairless = times @ patterns.paired == 0
    without = (times @ (patterns.places != MISSING) == 0).any(axis=1)
    absent = ~pairless & without & by_coders
    alike = ~pairless & ~absent
    for reason, which in ((NO_PAIR, pairless), (CODER_ABSENT, absent), (ONE_CATEGORY, alike)):
        if which.any():
            counts[reason] = counts.get(reason, 0) + int(which.sum())


def resampled_statistic(
    patterns: Patterns,
    statistic: Callable[[Array], Array],
    resamples: int,
    seed: int,
) -> Array:
    """A statistic of samples (samples, patterns) -> (samples,) in resamples of the texts."""
    drawn = resampled_patterns(patterns, resamples, seed)
    parts = [statistic(times) for times in drawn]
    return np.concatenate(parts)


NAN = float("nan")
EQUAL = Equivalence(*[0.0] * 5)
"""The test of two coefficients that are the same in every text."""


@dataclass(frozen=True)
class Difference:
    """A coefficient of `first` less that of `second`, with the standard error of the difference.

    `texts` is how many texts both have, `left_out` how many only one of them has. `reason` says why
    the difference is undefined, "" where it is not.
    """

    first: Estimate
    second: Estimate
    value: float
    error: float
    texts: int
    left_out: int
    reason: str = ""

    @property
    def df(self) -> int:
        """The degrees of freedom of intervals and tests."""
        return self.texts - 1

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval by t."""
        low, _ = t_interval(self.value, self.error, self.df, level)
        return low, 2 * self.value - low  # a difference may exceed 1, and is not cut

    def equivalence(self, bound: float) -> Equivalence:
        """Two one-sided t tests against -bound and +bound; ValueError for a bound not above 0.

        Where both coefficients are equal in every text, all is 0: nothing lies beyond the bound.
        All is NaN where the difference or its standard error is undefined, or where it varies in
        no text and is not 0.
        """
        if self.error > 0 or not bound > 0:
            return equivalence(self.value, self.error, self.df, bound)
        return EQUAL if self.value == self.error == 0 else UNDEFINED


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two tables of codes on the same texts; `kept` says which rows both have."""

    first: CodeMatrix
    second: CodeMatrix
    left_out: int
    kept: NDArray[np.bool_]


def difference(
    first: ArrayLike,
    second: ArrayLike,
    levels: Sequence[float] | None = None,
    name: str = "ac",
    weighting: Weighting = "identity",
) -> Difference:
    """A coefficient of the coders `first` less that of the coders `second`, on the same texts.

    Both (texts, coders) have the same rows; a missing code is NaN. Texts that only one of them has
    are left out. `levels`, `name` and `weighting` are as those of `codes_of` and `coefficient`; by
    default the levels are those that occur in either.

    >>> a, b, c = [0, 1, 1, 0, 2], [0, 1, 1, 0, 1], [0, 1, 0, 0, 2]
    >>> found = difference(list(zip(a, b)), list(zip(a, c)), [0, 1, 2])
    >>> round(found.value, 4), round(found.error, 4)
    (0.0082, 0.4519)
    """
    pair = _paired(first, second, levels)
    estimates = [coefficient(codes, name, weighting) for codes in (pair.first, pair.second)]
    one, other = estimates
    value, texts = one.value - other.value, len(pair.first.places)
    reason = one.reason or other.reason
    error = NAN if reason else _error(pair, name, weighting)
    return Difference(one, other, value, error, texts, pair.left_out, reason)


def resampled_differences(
    first: ArrayLike,
    second: ArrayLike,
    levels: Sequence[float] | None = None,
    name: str = "ac",
    weighting: Weighting = "identity",
    resamples: int = 10_000,
    seed: int = 0,
) -> Array:
    """The difference of `difference` in resamples of the texts, which are the same for both; NaN
    where it is undefined. `percentile_interval` gives its interval.
    """
    pair = _paired(first, second, levels)
    joint = CodeMatrix(
        np.column_stack([pair.first.places, pair.second.places]),
        pair.first.levels,
        np.arange(len(pair.first.places)),
    ).by_coders
    representative = np.unique(joint.which, return_index=True)[1]
    sides = []
    for codes in (pair.first, pair.second):
        patterns = patterns_for(codes, [name])
        sides.append((patterns, patterns.which[representative]))

    def statistic(times: Array) -> Array:
        found = []
        for patterns, which in sides:
            own = np.zeros((len(patterns.times), times.shape[1]))
            own[which, np.arange(times.shape[1])] = 1
            found.append(values(times @ own.T, patterns, name, weighting))
        return found[0] - found[1]

    return resampled_statistic(joint, statistic, resamples, seed)


def verdicts(low: float, high: float, bound: float) -> tuple[str, ...]:
    """What an interval of a difference says against a bound; several may hold.

    "equivalent" where it lies inside the bound, "different" where it excludes 0, "better" or
    "worse" where it lies beyond the bound, else "undecided"; () where it is NaN.

    >>> verdicts(0.01, 0.08, 0.1), verdicts(-0.3, -0.2, 0.1), verdicts(-0.2, 0.2, 0.1)
    (('equivalent', 'different'), ('different', 'worse'), ('undecided',))
    """
    if np.isnan(low) or np.isnan(high):
        return ()
    said = {
        "equivalent": -bound < low and high < bound,
        "different": low > 0 or high < 0,
        "better": low > bound,
        "worse": high < -bound,
    }
    return tuple(word for word, holds in said.items() if holds) or ("undecided",)


def _paired(first: ArrayLike, second: ArrayLike, levels: Sequence[float] | None) -> _Pair:
    """Both tables without the rows that one of them lacks, under the same levels."""
    tables = table_of(first), table_of(second)
    if len(tables[0]) != len(tables[1]):
        rows = " and ".join(str(len(table)) for table in tables)
        raise ValueError(f"both tables have the same texts, and not {rows} rows")
    has = [(~np.isnan(table)).any(axis=1) for table in tables]
    both, some = has[0] & has[1], has[0] | has[1]
    if levels is None:
        given = np.concatenate([table[both].ravel() for table in tables])
        levels = [float(level) for level in np.unique(given[~np.isnan(given)])]
    one, other = (codes_of(table[both], levels) for table in tables)
    return _Pair(one, other, int(some.sum() - both.sum()), np.asarray(both))


def _error(pair: _Pair, name: str, weighting: Weighting) -> float:
    """The standard error of a difference, from what each text adds to both; NaN without a closed
    form or with one text.
    """
    moved = []
    for codes in (pair.first, pair.second):
        patterns = patterns_for(codes, [name])
        own = influences(patterns, name, weighting)
        if own is None:
            return NAN
        # Alpha's are those of texts with two codes, whose mean it is.
        scale = patterns.times.sum() / (patterns.times @ patterns.paired) if name == ALPHA else 1
        moved.append((own * scale)[patterns.which])
    apart = moved[0] - moved[1]
    n = len(apart)
    return float(np.sqrt((apart**2).sum() / (n * (n - 1)))) if n > 1 else NAN
