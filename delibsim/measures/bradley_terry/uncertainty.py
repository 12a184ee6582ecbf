"""How sure strengths are: standard errors of scores, of their differences, and of judges.

Errors come from the inverse of the penalised information, contrasted to "less the mean of the
component" before the diagonal is taken, so that they depend on no text chosen as anchor. Clustered
errors take votes on one pair as not independent (Liang and Zeger 1986,
https://doi.org/10.1093/biomet/73.1.13), with the factor G / (G - 1) for G pairs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.bradley_terry.counts import added, centred
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
        parameters = len(self.fit.kept) + self.fit.problem.free
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
            self._system.solve(np.zeros((len(self.fit.kept) + self.fit.problem.free, 1)))
        except NotPositive:
            return False
        return True

    @cached_property
    def scores(self) -> Array:
        """Standard errors of the scores (n,); NaN where there is no score."""
        n = len(self.fit.kept)
        variances = np.empty(n)
        for start in range(0, n, AT_ONCE):
            right = self._contrasts(np.arange(start, min(start + AT_ONCE, n)))
            variances[start : start + AT_ONCE] = self._variances(right)
        found = np.full(self.fit.graph.component.size, np.nan)
        found[self.fit.kept] = np.sqrt(variances)
        return np.where(np.isnan(self.fit.scores), np.nan, found)

    def score_intervals(self, level: float = 0.95) -> Interval:
        """The scores with their intervals."""
        return _interval(self.fit.scores, self.scores, level)

    def rows(self) -> Iterator[tuple[Places, Array]]:
        """The covariance of scores in parts: some texts (b,), and their covariance with all texts
        (b, n), NaN where a text has no score.

        Texts of different components have no covariance that means anything.
        """
        kept, component = self.fit.kept, self.fit.problem.component
        for start in range(0, len(kept), AT_ONCE):
            texts = np.arange(start, min(start + AT_ONCE, len(kept)))
            _, covariance = self._of_texts(self._contrasts(texts))
            if self.clustered and self.is_maximum:
                covariance = self._system.solve(covariance)
            full = np.full((len(texts), self.fit.graph.component.size), np.nan)
            full[:, kept] = centred(covariance[: len(kept)], component).T
            yield kept[texts], full

    def covariance(self, weights: ArrayLike) -> Array:
        """The covariance (r, r) of sums of scores, each with its weights (r, n).

        NaN where a text with a weight has no score. That of the scores themselves is
        `covariance(np.eye(n))`; sums of fewer texts, such as means, need less memory.
        """
        wanted = np.asarray(weights, dtype=float)
        missing = (wanted[:, np.isnan(self.fit.scores)] != 0).any(axis=1)
        right = centred(wanted[:, self.fit.kept].T, self.fit.problem.component)
        one, other = self._of_texts(right)
        found = one.T @ other
        found[missing], found[:, missing] = np.nan, np.nan
        return found

    @cached_property
    def _posterior(self) -> Array:
        n = len(self.fit.kept)
        return self._system.solve(np.eye(n + self.fit.problem.free)[:, :n])[:n]

    def posterior(self) -> Array:
        """The covariance (n, n) of strengths where the penalty places them, by the information.

        For a fit with a penalty of at most 2,000 texts: ValueError for others.
        """
        self._refuse_large()
        return self._posterior

    def log_determinant(self) -> float:
        """The logarithm of the determinant of the information of all parameters.

        For a fit with a penalty of at most 2,000 texts: ValueError for others.
        """
        self._refuse_large()
        return self._system.log_determinant()

    def _refuse_large(self) -> None:
        if self.fit.model.penalty is None or len(self.fit.kept) > DENSE:
            raise ValueError(f"this needs a penalty and at most {DENSE} texts")

    def difference_errors(self, pairs: ArrayLike) -> Array:
        """Standard errors (p,) of the difference between the two texts of each pair (p, 2).

        NaN for texts of different components, and for texts without a score.
        """
        texts = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        component, kept = self.fit.graph.component, self.fit.kept
        places = np.full(component.size, -1)
        places[kept] = np.arange(len(kept))
        scored = ~np.isnan(self.fit.scores)[texts].any(axis=1)
        known = np.flatnonzero(scored & (component[texts[:, 0]] == component[texts[:, 1]]))
        found = np.full(len(texts), np.nan)
        for start in range(0, len(known), AT_ONCE):
            own = known[start : start + AT_ONCE]
            right = np.zeros((len(kept), len(own)))
            right[places[texts[own, 0]], np.arange(len(own))] += 1
            right[places[texts[own, 1]], np.arange(len(own))] -= 1
            found[own] = np.sqrt(self._variances(right))
        return found

    @cached_property
    def judges(self) -> Array:
        """The covariance (3K, 3K) of delta, ln theta (or ln nu) and ln |alpha| of the judges."""
        basis, n = self.fit.problem.basis, len(self.fit.kept)
        one, other = self._products(np.eye(n + self.fit.problem.free)[:, n:])
        return basis @ (one.T @ other) @ basis.T

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
    def _spread(self) -> Any:
        """The sum over pairs of the derivatives of their log likelihood times themselves, sparse
        (n + q, n + q).
        """
        from scipy.sparse import csr_array, hstack

        problem, rows = self.fit.problem, self.fit.counts
        texts, judges = problem.row_scores(problem.at(self.fit.point))
        count, (one, other) = len(rows.pairs), rows.pairs.T
        texts = added(rows.pair, texts * rows.direction, count)
        places = np.concatenate([np.arange(count)] * 2), np.concatenate([one, other])
        shape = count, len(self.fit.kept)
        by_text = csr_array((np.concatenate([texts, -texts]), places), shape=shape)
        by_judge = [added(rows.pair, column, count)[:, None] for column in judges.T]
        scores = hstack([by_text, *map(csr_array, by_judge)], format="csr")
        return scores.T @ scores

    def _products(self, right: Array) -> tuple[Array, Array]:
        """Two arrays (n + q, r) whose products are the covariances of sums of parameters, their
        weights in columns (n + q, r); NaN without a maximum.
        """
        if not self.is_maximum:
            return right, np.full_like(right, np.nan)
        solved = self._system.solve(right)
        return (
            (solved, self._factor * (self._spread @ solved)) if self.clustered else (right, solved)
        )

    def _of_texts(self, right: Array) -> tuple[Array, Array]:
        """The same of sums of strengths (n, r)."""
        return self._products(
            np.concatenate([right, np.zeros((self.fit.problem.free, right.shape[1]))])
        )

    def _variances(self, right: Array) -> Array:
        """The variances (r,) of sums of strengths with weights (n, r), 0 at least."""
        one, other = self._of_texts(right)
        return np.maximum((one * other).sum(axis=0), 0.0)

    def _contrasts(self, texts: Places) -> Array:
        """The weights (n, b) that make of strengths the scores of some texts (b,)."""
        right = np.zeros((len(self.fit.kept), len(texts)))
        right[texts, np.arange(len(texts))] = 1
        return centred(right, self.fit.problem.component)


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
