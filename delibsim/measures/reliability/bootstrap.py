"""Bootstrap of coefficients of agreement: texts, or clusters of texts, are drawn with replacement.

Texts with the same codes are exchangeable, so it is drawn how often each pattern of codes occurs,
which has the distribution of drawing texts one by one (a multinomial) and takes far less time.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.inference.resampling import percentile_interval, resampled_counts
from delibsim.measures.reliability.chance import CHANCES
from delibsim.measures.reliability.codes import MISSING, Codes, Patterns
from delibsim.measures.reliability.coefficients import (
    CODER_ABSENT,
    NO_PAIR,
    ONE_CATEGORY,
    patterns_for,
    values,
)
from delibsim.measures.reliability.weightings import Weighting, name_of

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
    codes: Codes,
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
    amount = int(clusters.max()) + 1
    cells = np.bincount(clusters * size + patterns.which, minlength=amount * size)
    within = cells.reshape(amount, size).astype(float)
    for counts in resampled_counts(amount, resamples, seed):
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
                by_coders = name in CHANCES and CHANCES[name].by_coders
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
    clusters: NDArray[np.int64] | None = None,
) -> Array:
    """A statistic of samples (samples, patterns) -> (samples,) in resamples of the texts, or of
    their clusters, numbered from 0 (texts,).
    """
    drawn = resampled_patterns(patterns, resamples, seed, clusters)
    parts = [statistic(times) for times in drawn]
    return np.concatenate(parts)
