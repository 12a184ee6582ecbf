"""Bootstrap of strengths: pairs are drawn with all their votes, within groups of texts.

Each draw has a seed of its own, so that the number of workers changes no number (Davison and
Hinkley 1997, section 3.2, https://doi.org/10.1017/CBO9780511802843, for draws within groups).
"""

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.bradley_terry.fit import Fit, fit
from delibsim.measures.bradley_terry.graph import NOT_CONNECTED
from delibsim.measures.inference.resampling import percentile_interval

Array = NDArray[np.float64]

NEAR = 1e-4
"""The last change of a parameter in a refit: what is left, about 1e-8, is nothing beside the spread
of the draws."""


@dataclass(frozen=True, eq=False)
class Draws:
    """Refits of drawn pairs: scores (draws, n), delta and theta (draws, K), NaN where undefined.

    `penalised` counts the draws in which some text has no strength without the penalty.
    """

    scores: Array
    delta: Array
    theta: Array
    penalised: int

    @property
    def errors(self) -> Array:
        """The standard deviation (n,) of the scores over the draws in which they are defined."""
        known = ~np.isnan(self.scores)
        times = known.sum(axis=0)
        means = np.where(known, self.scores, 0.0).sum(axis=0) / np.maximum(times, 1)
        squares = np.where(known, (self.scores - means) ** 2, 0.0).sum(axis=0)
        return np.where(times > 1, np.sqrt(squares / np.maximum(times - 1, 1)), np.nan)

    def intervals(self, level: float = 0.95) -> tuple[Array, Array]:
        """The lower and upper ends (n,) of the percentile intervals of the scores."""
        found = [percentile_interval(column, level) for column in self.scores.T]
        low, high = np.array(found).reshape(-1, 2).T
        return low, high


@dataclass(frozen=True, eq=False)
class _Task:
    """What a worker needs: the fit, the pairs of each group, the seed."""

    fit: Fit
    strata: tuple[NDArray[np.int64], ...]
    seed: int

    def drawn(self, draw: int) -> tuple[Array, Array, Array, bool]:
        """Scores, delta and theta of one draw, and whether it needs the penalty."""
        rng = np.random.default_rng([self.seed, draw])
        rows = self.fit.counts
        times = np.zeros(len(rows.pairs))
        for pairs in self.strata:
            times[pairs] = np.bincount(rng.integers(0, len(pairs), len(pairs)), None, len(pairs))
        again = fit(rows.weighted(times[rows.pair]), self.fit.model, self.fit, NEAR)
        held = any(note not in ("", NOT_CONNECTED) for note in again.notes)
        apart = (again.graph.sizes > 1).sum() != (self.fit.graph.sizes > 1).sum()
        lone = again.graph.alone.sum() != self.fit.graph.alone.sum()
        return again.scores, again.delta, again.theta, bool(held or apart or lone)

    def several(self, draws: Sequence[int]) -> list[tuple[Array, Array, Array, bool]]:
        """The same of several draws, on one thread."""
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            return [self.drawn(draw) for draw in draws]


def bootstrap(
    found: Fit,
    draws: int,
    seed: int,
    groups: ArrayLike | None = None,
    workers: int = 1,
) -> Draws:
    """Refits of `draws` samples of the pairs of a fit, as many pairs of each group as it has.

    `groups` (n,) numbers the group of each text; a pair belongs to that of its text with the
    smaller number. Without groups, a component counts as one. `workers` are processes.
    """
    whole = _whole(found)
    codes = whole.graph.component if groups is None else np.asarray(groups)
    of_pairs = np.unique(codes[whole.counts.pairs[:, 0]], return_inverse=True)[1]
    strata = [np.flatnonzero(of_pairs == k) for k in range(of_pairs.max(initial=-1) + 1)]
    task = _Task(whole, tuple(strata), seed)
    if workers == 1:
        results = task.several(range(draws))
    else:
        parts = [range(k, draws, workers) for k in range(workers)]
        with ProcessPoolExecutor(workers) as pool:
            done = list(pool.map(task.several, parts))
        results = [done[draw % workers][draw // workers] for draw in range(draws)]
    scores = np.array([one[0] for one in results])
    delta = np.array([one[1] for one in results])
    theta = np.array([one[2] for one in results])
    return Draws(scores, delta, theta, sum(one[3] for one in results))


def _whole(found: Fit) -> Fit:
    """The fit with its votes under the numbers of all texts."""
    n = len(found.scores)
    if found.counts.n == n:
        return found
    return replace(found, counts=found.counts.renumbered(found.kept, n))
