"""What a fit maximises: the log likelihood of all votes with penalties, and its derivatives.

A row of votes has d = alpha (s_first - s_second) + delta, with alpha and delta of its judge. The
parameters of judges are the rows of an array (3, K): delta, t (the logarithm of theta or nu, or the
log odds of eta) and the logarithm of |alpha|.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from delibsim.measures.bradley_terry.counts import Counts, added
from delibsim.measures.bradley_terry.likelihood import Kind, Terms, sigmoid, terms
from delibsim.measures.bradley_terry.linear import PRECISE, Pattern, System
from delibsim.measures.bradley_terry.penalty import Penalty

Array = NDArray[np.float64]
Marks = NDArray[np.bool_]

DELTA, THRESHOLD, ALPHA = 0, 1, 2
"""The rows of the parameters of judges."""


@dataclass(frozen=True, eq=False)
class Point:
    """Strengths `s` (n,) and parameters of judges (3, K)."""

    s: Array
    judges: Array

    def moved(self, texts: Array, judges: Array, share: float = 1.0) -> "Point":
        """The point at this share of a step."""
        changed = self.judges + share * judges.reshape(self.judges.shape)
        return Point(self.s + share * texts, changed)


@dataclass(frozen=True, eq=False)
class State:
    """The terms of all rows at a point, their alphas (m,) or (1,), alpha (s_first - s_second) (m,),
    and whether second derivatives are expected ones.
    """

    point: Point
    terms: Terms
    alpha: Array
    moved: Array
    expected: bool


@dataclass(frozen=True, eq=False)
class Slope:
    """The gradient by strengths (n,) and by free parameters (q,), and minus the second derivatives
    as a system.
    """

    texts: Array
    judges: Array
    system: System


@dataclass(frozen=True, eq=False)
class Problem:
    """Votes under a model. `basis` (3K, q) says which parameters of judges are free, and how they
    move together; `signs` (K,) are those of alpha; `beta` holds the two exponents of a prior
    eta^x (1 - eta)^y, if any.
    """

    kind: Kind
    counts: Counts
    penalty: Penalty | None
    basis: Array
    signs: Array
    component: NDArray[np.int64]
    beta: tuple[float, float] | None = None

    @cached_property
    def pattern(self) -> Pattern:
        """Which texts were compared."""
        return Pattern(self.counts.n, self.counts.pairs, self.component)

    def alphas(self, point: Point) -> Array:
        """The discrimination of each judge (K,)."""
        return self.signs * np.exp(point.judges[ALPHA])

    def at(self, point: Point, expected: bool = False) -> "State":
        """The terms of all rows at a point."""
        rows = self.counts
        moved = point.s[rows.first] - point.s[rows.second]
        alpha = np.ones(1)
        if rows.judges > 1:
            alpha = self.alphas(point)[rows.judge]
            moved = alpha * moved
        delta, t = (self._of_rows(point.judges[row]) for row in (DELTA, THRESHOLD))
        found = terms(self.kind, (rows.a, rows.tie, rows.b), moved + delta, t, expected)
        return State(point, found, alpha, moved, expected)

    def log_likelihood(self, point: Point) -> float:
        """The log likelihood of all votes, in natural logarithms."""
        return float(self.at(point).terms.value.sum())

    def penalised(self, point: Point) -> float:
        """The penalty on strengths and the prior of judges; 0 without."""
        total = 0.0 if self.penalty is None else self.penalty.terms(point.s)[0]
        if self.beta is not None:
            t = point.judges[THRESHOLD]
            right, wrong = self.beta
            total -= float((right * np.logaddexp(0, -t) + wrong * np.logaddexp(0, t)).sum())
        return total

    def objective(self, state: "State") -> float:
        """What is maximised."""
        return float(state.terms.value.sum()) + self.penalised(state.point)

    def row_scores(self, point: Point) -> tuple[Array, Array]:
        """The derivatives of each row's log likelihood: by the strength of its first text (m,), and
        by delta, t and ln alpha of its judge (3, m).
        """
        state = self.at(point)
        found = state.terms
        return state.alpha * found.d, np.stack([found.d, found.t, found.d * state.moved])

    def slope(self, state: "State", tolerance: float = PRECISE) -> Slope:
        """The gradient and the second derivatives; with expected ones these are never negative.

        `tolerance` is that of solutions of the system.
        """
        found, alpha, moved = state.terms, state.alpha, state.moved
        rows, k = self.counts, self.counts.judges
        texts = self._by_text(alpha * found.d)
        extra = 0.0 if state.expected else found.d
        weights = -added(rows.pair, alpha**2 * found.dd, len(rows.pairs))
        judges = np.zeros((3, k))
        coupling = np.zeros((rows.n, 3 * k))
        for row in self._used:
            first = (found.d, found.t, found.d * moved)[row]
            crossed = (found.dd, found.dt, found.dd * moved + extra)[row]
            judges[row] = self._by_judge(first)
            coupling[:, row * k : (row + 1) * k] = self._by_text_and_judge(alpha * crossed)
        rest = self._rest(found, moved, extra)
        ridge = np.zeros(rows.n)
        if self.penalty is not None:
            _, by_text, second = self.penalty.terms(state.point.s)
            texts, ridge = texts + by_text, -second
        if self.beta is not None:
            judges, rest = self._with_prior(state.point, judges, rest)
        basis = self.basis
        system = System(
            self.pattern,
            weights,
            ridge,
            -coupling @ basis,
            -basis.T @ rest @ basis,
            tolerance,
        )
        return Slope(texts, basis.T @ judges.ravel(), system)

    @cached_property
    def _used(self) -> list[int]:
        """The rows of the parameters of judges of which some are free."""
        by_row = np.abs(self.basis).reshape(3, -1).sum(axis=1)
        return np.flatnonzero(by_row).tolist()

    def _rest(self, found: Terms, moved: Array, extra: Array | float) -> Array:
        """The second derivatives by the parameters of judges (3K, 3K)."""
        k = self.counts.judges
        full = np.zeros((3, k, 3, k))
        each = np.arange(k)
        for i in self._used:
            for j in self._used[self._used.index(i) :]:
                values = (found.dd, found.dt, found.tt)[i + j if j < ALPHA else i]
                if j == ALPHA:
                    values = values * moved
                if i == ALPHA:
                    values = found.dd * moved**2 + extra * moved
                total = self._by_judge(values)
                full[i, each, j, each] = full[j, each, i, each] = total
        return full.reshape(3 * k, 3 * k)

    def _of_rows(self, values: Array) -> Array:
        """Values of judges (K,) for each row; those of a single judge (1,) are enough as they
        are.
        """
        return values if self.counts.judges == 1 else values[self.counts.judge]

    def _by_judge(self, values: Array) -> Array:
        """Values of rows (m,) added up by judge (K,)."""
        if self.counts.judges == 1:
            return np.array([values.sum()])
        return added(self.counts.judge, values, self.counts.judges)

    def _with_prior(self, point: Point, judges: Array, rest: Array) -> tuple[Array, Array]:
        """Gradient and second derivatives with those of the prior."""
        right, wrong = self.beta or (0.0, 0.0)
        k = self.counts.judges
        eta = sigmoid(point.judges[THRESHOLD])
        judges, rest = judges.copy(), rest.copy()
        judges[THRESHOLD] += right * (1 - eta) - wrong * eta
        places = THRESHOLD * k + np.arange(k)
        rest[places, places] -= (right + wrong) * eta * (1 - eta)
        return judges, rest

    def _by_text(self, values: Array) -> Array:
        """Values of rows (m,) added to their first text and taken from their second (n,)."""
        rows = self.counts
        gained = added(rows.first, values, rows.n)
        return gained - added(rows.second, values, rows.n)

    def _by_text_and_judge(self, values: Array) -> Array:
        """The same by judge (n, K)."""
        rows = self.counts
        n, k = rows.n, rows.judges
        if k == 1:
            return self._by_text(values)[:, None]
        gained = added(rows.first * k + rows.judge, values, n * k)
        lost = added(rows.second * k + rows.judge, values, n * k)
        return (gained - lost).reshape(n, k)
