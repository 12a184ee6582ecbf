"""The difference of two coefficients of agreement on the same texts, and whether it is small.

Sources: Gwet (2016), https://doi.org/10.1177/0013164415596420, for the standard error of the
difference; Schuirmann (1987), https://doi.org/10.1007/BF01068419, for the test of equivalence.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.inference.equivalence import UNDEFINED, Equivalence, equivalence
from delibsim.measures.inference.resampling import percentile_interval
from delibsim.measures.reliability.bootstrap import resampled_statistic
from delibsim.measures.reliability.codes import Codes, codes_of, table_of
from delibsim.measures.reliability.coefficients import (
    Estimate,
    coefficient,
    influences,
    patterns_for,
    t_interval,
    values,
)
from delibsim.measures.reliability.weightings import Weighting

Array = NDArray[np.float64]
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

    first: Codes
    second: Codes
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
    clusters: ArrayLike | None = None,
) -> Array:
    """The difference of `difference` in resamples of the texts, which are the same for both; NaN
    where it is undefined. `percentile_interval` gives its interval.

    `clusters` (texts,) says of each row to which cluster it belongs; then these are drawn, and all
    their texts with them.
    """
    pair = _paired(first, second, levels)
    joint = Codes(
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

    numbered = None
    if clusters is not None:
        kept = np.asarray(clusters, dtype=object)[pair.kept].astype(str)
        numbered = np.unique(kept, return_inverse=True)[1]
    return resampled_statistic(joint, statistic, resamples, seed, numbered)


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


def interval_of(draws: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """The percentile interval of resampled differences; NaN where none is defined."""
    return percentile_interval(draws, level)


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
        scale = patterns.times.sum() / (patterns.times @ patterns.paired) if name == "alpha" else 1
        moved.append((own * scale)[patterns.which])
    apart = moved[0] - moved[1]
    n = len(apart)
    return float(np.sqrt((apart**2).sum() / (n * (n - 1)))) if n > 1 else NAN
