"""How sure strengths are: standard errors of scores, of their differences, and of judges.

Errors come from the inverse of the penalised information, contrasted to "less the mean of the
component" before the diagonal is taken, so that they depend on no text chosen as anchor. Clustered
errors take votes on one pair as not independent (Liang and Zeger 1986,
https://doi.org/10.1093/biomet/73.1.13), with the factor G / (G - 1) for G pairs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.bradley_terry.counts import added
from delibsim.measures.bradley_terry.fit import Fit
from delibsim.measures.bradley_terry.problem import (
    ALPHA,
    DELTA,
    DENSE,
    THRESHOLD,
    NotPositive,
    System,
)

Array = NDArray[np.float64]
Places = NDArray[np.int64]
AT_ONCE = 512
"""How many texts are solved for in one step."""
FEW_PAIRS = "few_pairs"
NO_MAXIMUM = "no_maximum"


@dataclass(frozen=True, eq=False)
class Interval:
    """An estimate (m,) with its standard error and interval, NaN where there is none."""

    value: Array
    error: Array
    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """The covariance of what was fitted; `clustered` says whether by pair.

    `reason` is the code of why there are no errors, whatever the likelihood says: then all are NaN.
    """

    fit: Fit
    clustered: bool
    reason: str = ""

    @property
    def note(self) -> str:
        """What is to be known of the errors: "no_maximum", "few_pairs" or "".

        Where the likelihood has no clear maximum, as with several judges and few votes, there are
        no errors: all are NaN. With fewer than two pairs a parameter the fit follows each pair
        closely, and errors that are clustered by pair are too small.
        """
        if not self.is_maximum:
            return self.reason or NO_MAXIMUM
        parameters = len(self.fit.kept) + self.fit.problem.basis.shape[1]
        few = self.clustered and len(self.fit.counts.pairs) < 2 * parameters
        return FEW_PAIRS if few else ""

    @cached_property
    def is_maximum(self) -> bool:
        """Whether the information is positive definite where the fit ended."""
        if self.reason:
            return False
        if not len(self.fit.kept):
            return True
        try:
            self._system.solve(np.zeros((len(self.fit.kept) + self._free, 1)))
        except NotPositive:
            return False
        return True

    @property
    def _free(self) -> int:
        """How many parameters of judges are free."""
        return self.fit.problem.basis.shape[1]

    @cached_property
    def scores(self) -> Array:
        """Standard errors of the scores (n,); NaN where there is no score."""
        found = np.full(self.fit.graph.component.size, np.nan)
        parts = [variances for _, _, variances in self._blocks(rows=False)]
        if parts:
            found[self.fit.kept] = np.sqrt(np.maximum(np.concatenate(parts), 0.0))
        return np.where(np.isnan(self.fit.scores), np.nan, found)

    def score_intervals(self, level: float = 0.95) -> Interval:
        """The scores with their intervals."""
        return _interval(self.fit.scores, self.scores, level)

    def rows(self) -> Iterator[tuple[Places, Array]]:
        """The covariance of scores in parts: some texts (b,), and their covariance with all texts
        (b, n), NaN where a text has no score.

        Texts of different components have no covariance that means anything.
        """
        n = self.fit.graph.component.size
        for texts, covariance, _ in self._blocks(rows=True):
            full = np.full((len(texts), n), np.nan)
            full[:, self.fit.kept] = covariance
            yield self.fit.kept[texts], full

    def covariance(self, weights: ArrayLike) -> Array:
        """The covariance (r, r) of sums of scores, each with its weights (r, n).

        NaN where a text with a weight has no score. That of the scores themselves is
        `covariance(np.eye(n))`; sums of fewer texts, such as means, need less memory.
        """
        wanted = np.asarray(weights, dtype=float)
        missing = (wanted[:, np.isnan(self.fit.scores)] != 0).any(axis=1)
        right = self.fit.problem.pattern.centred(wanted[:, self.fit.kept].T)
        solved = self._solved(right)
        if self.clustered:
            found = self._factor * solved.T @ self._spread.times(solved)
        else:
            found = right.T @ solved[: len(right)]
        found[missing], found[:, missing] = np.nan, np.nan
        return found

    @cached_property
    def _posterior(self) -> Array:
        n = len(self.fit.kept)
        return self._solved(np.eye(n))[:n]

    def posterior(self) -> Array:
        """The covariance (n, n) of strengths where the penalty places them, by the information.

        For a fit with a penalty of at most 2,000 texts: ValueError for others.
        """
        n = len(self.fit.kept)
        if self.fit.model.penalty is None or n > DENSE:
            raise ValueError(f"this needs a penalty and at most {DENSE} texts")
        return self._posterior

    def log_determinant(self) -> float:
        """The logarithm of the determinant of the information of all parameters.

        For a fit with a penalty of at most 2,000 texts: ValueError for others.
        """
        if self.fit.model.penalty is None or len(self.fit.kept) > DENSE:
            raise ValueError(f"this needs a penalty and at most {DENSE} texts")
        return self._system.log_determinant()

    def difference_errors(self, pairs: ArrayLike) -> Array:
        """Standard errors (p,) of the difference between the two texts of each pair (p, 2).

        NaN for texts of different components, and for texts without a score.
        """
        texts = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        places = np.full(self.fit.graph.component.size, -1)
        places[self.fit.kept] = np.arange(len(self.fit.kept))
        component = self.fit.graph.component
        scored = ~np.isnan(self.fit.scores)[texts].any(axis=1)
        known = scored & (component[texts[:, 0]] == component[texts[:, 1]])
        found = np.full(len(texts), np.nan)
        chosen = np.flatnonzero(known)
        for start in range(0, len(chosen), AT_ONCE):
            own = chosen[start : start + AT_ONCE]
            right = np.zeros((len(self.fit.kept), len(own)))
            right[places[texts[own, 0]], np.arange(len(own))] += 1
            right[places[texts[own, 1]], np.arange(len(own))] -= 1
            variances = self._variances(right, self._solved(right))
            found[own] = np.sqrt(np.maximum(variances, 0.0))
        return found

    @cached_property
    def judges(self) -> Array:
        """The covariance (3K, 3K) of delta, ln theta (or ln nu) and ln |alpha| of the judges."""
        basis, n = self.fit.problem.basis, len(self.fit.kept)
        if not self.is_maximum:
            return np.full((len(basis), len(basis)), np.nan)
        solved = self._system.solve(np.eye(n + self._free)[:, n:])
        own = solved[n:]
        if self.clustered:
            own = self._factor * solved.T @ self._spread.times(solved)
        return basis @ own @ basis.T

    def delta(self, level: float = 0.95) -> Interval:
        """The advantage of the text shown first, of each judge (K,)."""
        return _interval(self.fit.delta, self._judge_errors(DELTA), level)

    def theta(self, level: float = 0.95) -> Interval:
        """The threshold (nu for Davidson) of each judge (K,); intervals on its logarithm."""
        return _logarithmic(self.fit.theta, self._judge_errors(THRESHOLD), level)

    def alpha(self, level: float = 0.95) -> Interval:
        """The discrimination of each judge (K,); intervals on its logarithm."""
        return _logarithmic(self.fit.alpha, self._judge_errors(ALPHA), level)

    def _judge_errors(self, row: int) -> Array:
        """Standard errors of one row of the parameters of judges (K,); NaN for what is fixed."""
        k = self.fit.problem.counts.judges
        places = np.arange(row * k, (row + 1) * k)
        free = np.abs(self.fit.problem.basis[places]).any(axis=1)
        errors = np.sqrt(np.maximum(np.diag(self.judges)[places], 0.0))
        return np.where(free, errors, np.nan)

    @cached_property
    def _system(self) -> System:
        problem = self.fit.problem
        return problem.slope(problem.at(self.fit.point))[1]

    @cached_property
    def _factor(self) -> float:
        """G / (G - 1); NaN with fewer than two pairs."""
        pairs = len(self.fit.counts.pairs)
        return pairs / (pairs - 1) if pairs > 1 else float("nan")

    @cached_property
    def _pair_scores(self) -> tuple[Array, Array]:
        """The derivatives of each pair's log likelihood: by the strength of the text with the
        smaller number (p,), and by the free parameters of judges (p, q).
        """
        rows, problem = self.fit.counts, self.fit.problem
        texts, judges = problem.row_scores(self.fit.point)
        count, k = len(rows.pairs), rows.judges
        by_text = added(rows.pair, texts * rows.direction, count)
        by_judge = np.zeros((count, problem.basis.shape[1]))
        for row, values in enumerate(judges):
            moved = problem.basis[row * k : (row + 1) * k][rows.judge] * values[:, None]
            for column in np.flatnonzero(np.abs(moved).any(axis=0)):
                by_judge[:, column] += added(rows.pair, moved[:, column], count)
        return by_text, by_judge

    @cached_property
    def _spread(self) -> System:
        """The sum over pairs of their scores times themselves, as a system."""
        by_text, by_judge = self._pair_scores
        n, pattern = len(self.fit.kept), self.fit.problem.pattern
        one, other = pattern.pairs.T
        coupling = np.zeros((n, by_judge.shape[1]))
        for column in range(by_judge.shape[1]):
            part = by_text * by_judge[:, column]
            coupling[:, column] = added(one, part, n) - added(other, part, n)
        return System(pattern, by_text**2, np.zeros(n), coupling, by_judge.T @ by_judge)

    def _solved(self, right: Array) -> Array:
        """The inverse information times columns (n, r) for texts: (n + q, r)."""
        whole = np.concatenate([right, np.zeros((self._free, right.shape[1]))])
        return self._system.solve(whole) if self.is_maximum else np.full_like(whole, np.nan)

    def _variances(self, right: Array, solved: Array) -> Array:
        """The variances of combinations (n, r) of strengths, from what is `_solved`."""
        if not self.clustered:
            return (right * solved[: len(right)]).sum(axis=0)
        return self._factor * (solved * self._spread.times(solved)).sum(axis=0)

    def _blocks(self, rows: bool) -> Iterator[tuple[Places, Array, Array]]:
        """Some texts (b,), their covariance with all (b, n) if `rows`, and their variances (b,)."""
        component = self.fit.problem.component
        sizes, n = np.bincount(component), len(self.fit.kept)
        for start in range(0, n, AT_ONCE):
            texts = np.arange(start, min(start + AT_ONCE, n))
            own = component[:, None] == component[texts]
            right = -1.0 * own / sizes[component[texts]]
            right[texts, np.arange(len(texts))] += 1
            solved = self._solved(right)
            variances = self._variances(right, solved)
            covariance = np.empty((len(texts), 0))
            if rows:
                if self.clustered and self.is_maximum:
                    solved = self._factor * self._system.solve(self._spread.times(solved))
                covariance = self.fit.problem.pattern.centred(solved[:n]).T
            yield texts, covariance, variances


def uncertainty(fit: Fit, clustered: bool | None = None) -> Uncertainty:
    """The errors of a fit, clustered by pair where a pair has more than one vote, unless told."""
    if clustered is None:
        votes = np.bincount(fit.counts.pair, fit.counts.votes, len(fit.counts.pairs))
        clustered = bool((votes > 1).any())
    return Uncertainty(fit, clustered)


def _interval(values: Array, errors: Array, level: float) -> Interval:
    half = _quantile(level) * errors
    return Interval(values, errors, values - half, values + half)


def _logarithmic(values: Array, errors: Array, level: float) -> Interval:
    """The interval of a value whose logarithm has these errors."""
    size = np.abs(values)
    with np.errstate(over="ignore"):  # an error that says nothing: from 0 to infinity
        factor = np.exp(_quantile(level) * errors)
    ends = np.stack([values / factor, values * factor])
    return Interval(values, size * errors, ends.min(axis=0), ends.max(axis=0))


def _quantile(level: float) -> float:
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))
