"""What a fit maximises, its derivatives, and its maximum by Newton's method.

A row of votes has d = alpha (s_first - s_second) + delta, with alpha and delta of its judge. The
parameters of judges are the rows of an array (3, K): delta, t (the logarithm of theta or nu, or the
log odds of eta) and the logarithm of |alpha|. Strengths (n,) and the free parameters of judges (q,)
together are one vector (n + q,).

Newton's method is our own: scipy.optimize (Newton-CG, trust-ncg, trust-krylov) takes twice its time
and leaves gradients of 1e-9 to 1e-7 where it leaves 1e-14. Systems are solved by scipy: by a
Cholesky factor, above `DIRECT` texts by conjugate gradients for a step, above `DENSE` by a sparse
factor.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from delibsim.measures.bradley_terry.counts import Counts, added
from delibsim.measures.bradley_terry.likelihood import Kind, Penalty, Terms, sigmoid, terms

Array = NDArray[np.float64]
Places = NDArray[np.int64]

DELTA, THRESHOLD, ALPHA = 0, 1, 2
"""The rows of the parameters of judges."""
DIRECT = 200
"""The most texts whose steps are solved for by a factor."""
DENSE = 2_000
"""The most texts whose matrix is ever made in full."""
ITERATIONS = 300
"""The most iterations of conjugate gradients."""
TOLERANCE = 1e-6
"""The change of every parameter below which the step that was taken was the last one. What is left
is about its square, because steps converge quadratically and are solved for to `FINE`."""
ROUNDING = 1e-12
"""The share of the objective that rounding may take from it."""
EACH = 1e-15
"""What rounding may take from the log likelihood of one vote."""
STEPS = 100
"""The most steps; a few are enough for most data."""
LONGEST = 4.0
"""The largest change of a parameter in one step."""
ROUGH, FINE = 1e-2, 1e-7
"""How exactly the first steps are solved for, and the last: far from the maximum a step need not be
exact (Dembo, Eisenstat and Steihaug 1982, https://doi.org/10.1137/0719025)."""
HALVINGS = 40
"""How often a step is halved at most."""


class NotPositive(ArithmeticError):
    """The matrix of a system is not positive definite."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """Which texts were compared: the two texts of each pair (p, 2) in ascending order, sorted, and
    the component of each text (n,).
    """

    n: int
    pairs: Places
    component: Places

    @cached_property
    def rows(self):
        """Neighbours of each text as a sparse matrix (n, n) whose values are numbers of pairs."""
        from scipy.sparse import csr_array

        one, other = self.pairs.T
        starts = np.concatenate([[0], np.cumsum(np.bincount(one, minlength=self.n))])
        numbers = np.arange(len(one))
        upper = csr_array((numbers + 1, other, starts), shape=(self.n, self.n))
        return upper + upper.T.tocsr()

    @cached_property
    def _means(self):
        """The place of each text's component (n,), and the matrix (c, n) of means over them."""
        from scipy.sparse import csr_array

        places = np.unique(self.component, return_inverse=True)[1]
        sizes = np.bincount(places)
        cells = places, np.arange(self.n)
        return places, csr_array((1 / sizes[places], cells), shape=(len(sizes), self.n))

    def centred(self, columns: Array) -> Array:
        """Columns (n, r) less the means of their components."""
        places, means = self._means
        return columns - (means @ columns)[places]


@dataclass(frozen=True, eq=False)
class System:
    """The matrix [[L, F], [F', Q]] of texts, coupled by the pairs that were judged, and of judges.

    L (n, n) is the graph of pairs with their `weights` (p,) and a `ridge` (n,) on its diagonal, F
    is the `coupling` (n, q) and Q the `rest` (q, q). Where the ridge is 0 everywhere, L is
    singular: adding a number to all texts of a component changes nothing. Right sides must then
    add up to 0 in each component, and solutions are known up to these numbers.
    """

    pattern: Pattern
    weights: Array
    ridge: Array
    coupling: Array
    rest: Array

    @cached_property
    def diagonal(self) -> Array:
        """The diagonal of L (n,)."""
        one, other = self.pattern.pairs.T
        n = self.pattern.n
        return added(one, self.weights, n) + added(other, self.weights, n) + self.ridge

    @cached_property
    def neighbours(self):
        """The matrix (n, n) of the weights of pairs, sparse."""
        from scipy.sparse import csr_array

        rows = self.pattern.rows
        return csr_array((self.weights[rows.data - 1], rows.indices, rows.indptr), rows.shape)

    def times(self, columns: Array) -> Array:
        """The product of the matrix with columns (n + q, r)."""
        texts, judges = np.split(columns, [self.pattern.n])
        among = self.diagonal[:, None] * texts - self.neighbours @ texts
        return np.concatenate(
            [among + self.coupling @ judges, self.coupling.T @ texts + self.rest @ judges]
        )

    def solve(self, right: Array) -> Array:
        """The solutions for right sides (n + q, r); NotPositive where there is no maximum."""
        if self.pattern.n > DENSE:
            return self._sparse.solve(np.ascontiguousarray(right))
        from scipy.linalg import cho_solve

        return cho_solve((self._dense, True), right, check_finite=False)

    def step(self, right: Array, tolerance: float) -> Array:
        """The solution for one right side (n + q,), up to a tolerance where it is found quickly."""
        from scipy.sparse.linalg import LinearOperator, cg

        own = np.concatenate([self.diagonal, np.diag(self.rest)])
        if not (own > 0).all():
            raise NotPositive
        if self.pattern.n > DIRECT:
            shape = (len(right), len(right))
            matrix = LinearOperator(shape, lambda x: self.times(x.reshape(-1, 1)).ravel())
            scaled = LinearOperator(shape, lambda x: x.ravel() / own)
            found, missed = cg(matrix, right, rtol=tolerance, maxiter=ITERATIONS, M=scaled)
            if not missed:
                return found
        return self.solve(right[:, None])[:, 0]

    def log_determinant(self) -> float:
        """The logarithm of the determinant of the matrix, which is made in full."""
        return 2 * float(np.log(np.diag(self._dense)).sum())

    @cached_property
    def _grounded(self) -> Array:
        """The diagonal with which L is regular."""
        found = self.diagonal.copy()
        if not self.ridge.any():
            grounds = np.unique(self.pattern.component, return_index=True)[1]
            found[grounds] += max(float(found.max(initial=0.0)), 1.0)
        return found

    @cached_property
    def _dense(self) -> Array:
        """Cholesky's lower factor."""
        from scipy.linalg import LinAlgError, cholesky

        n = self.pattern.n
        full = np.zeros((n + len(self.rest),) * 2)
        one, other = self.pattern.pairs.T
        full[other, one] = -self.weights
        full[np.arange(n), np.arange(n)] = self._grounded
        full[n:, :n], full[n:, n:] = self.coupling.T, self.rest
        try:
            return cholesky(full, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError as fault:
            raise NotPositive from fault

    @cached_property
    def _sparse(self):
        from scipy.sparse import block_array, diags_array
        from scipy.sparse.linalg import splu

        among = diags_array(self._grounded) - self.neighbours
        coupling, rest = self.coupling, self.rest
        full = block_array([[among, coupling], [coupling.T, rest]]) if rest.size else among
        options = {"SymmetricMode": True}
        factor = splu(full.tocsc(), permc_spec="MMD_AT_PLUS_A", options=options)
        if not (factor.U.diagonal() > 0).all():
            raise NotPositive
        return factor


@dataclass(frozen=True, eq=False)
class Point:
    """Strengths `s` (n,) and parameters of judges (3, K)."""

    s: Array
    judges: Array


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
    component: Places
    beta: tuple[float, float] | None = None

    @cached_property
    def pattern(self) -> Pattern:
        """Which texts were compared."""
        return Pattern(self.counts.n, self.counts.pairs, self.component)

    def alphas(self, point: Point) -> Array:
        """The discrimination of each judge (K,)."""
        return self.signs * np.exp(point.judges[ALPHA])

    def at(self, point: Point, expected: bool = False) -> State:
        """The terms of all rows at a point."""
        rows = self.counts
        moved = point.s[rows.first] - point.s[rows.second]
        alpha, judges = np.ones(1), point.judges
        if rows.judges > 1:  # those of a single judge (1,) are enough as they are
            alpha, judges = self.alphas(point)[rows.judge], judges[:, rows.judge]
            moved = alpha * moved
        votes = rows.a, rows.tie, rows.b
        found = terms(self.kind, votes, moved + judges[DELTA], judges[THRESHOLD], expected)
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

    def objective(self, state: State) -> float:
        """What is maximised."""
        return float(state.terms.value.sum()) + self.penalised(state.point)

    def row_scores(self, point: Point) -> tuple[Array, Array]:
        """The derivatives of each row's log likelihood: by the strength of its first text (m,), and
        by delta, t and ln alpha of its judge (3, m).
        """
        state = self.at(point)
        found = state.terms
        return state.alpha * found.d, np.stack([found.d, found.t, found.d * state.moved])

    def slope(self, state: State) -> tuple[Array, System]:
        """The gradient (n + q,), and minus the second derivatives; with expected ones these are
        never negative.
        """
        found, alpha, moved = state.terms, state.alpha, state.moved
        rows, k = self.counts, self.counts.judges
        texts = self._by_text(alpha * found.d)
        judges, rest = np.zeros((3, k)), np.zeros((3, k, 3, k))
        coupling, each = np.zeros((rows.n, 3, k)), np.arange(k)
        extra = 0.0 if state.expected else found.d
        for i in self._used:
            judges[i] = added(rows.judge, (found.d, found.t, found.d * moved)[i], k)
            crossed = (found.dd, found.dt, found.dd * moved + extra)[i]
            coupling[:, i] = self._by_text_and_judge(alpha * crossed)
        for i, j in combinations_with_replacement(self._used, 2):
            second = (found.dd, found.dt, found.tt)[i + j if j < ALPHA else i]
            if j == ALPHA:
                second = second * moved if i < ALPHA else (found.dd * moved + extra) * moved
            total = added(rows.judge, second, k)
            rest[i, each, j, each] = rest[j, each, i, each] = total
        ridge = np.zeros(rows.n)
        if self.penalty is not None:
            _, by_text, curvature = self.penalty.terms(state.point.s)
            texts, ridge = texts + by_text, -curvature
        if self.beta is not None:
            right, wrong = self.beta
            eta = sigmoid(state.point.judges[THRESHOLD])
            judges[THRESHOLD] += right * (1 - eta) - wrong * eta
            rest[THRESHOLD, each, THRESHOLD, each] -= (right + wrong) * eta * (1 - eta)
        basis = self.basis
        system = System(
            self.pattern,
            -added(rows.pair, alpha**2 * found.dd, len(rows.pairs)),
            ridge,
            -coupling.reshape(rows.n, 3 * k) @ basis,
            -basis.T @ rest.reshape(3 * k, 3 * k) @ basis,
        )
        return np.concatenate([texts, basis.T @ judges.ravel()]), system

    @cached_property
    def _used(self) -> list[int]:
        """The rows of the parameters of judges of which some are free."""
        by_row = np.abs(self.basis).reshape(3, -1).sum(axis=1)
        return np.flatnonzero(by_row).tolist()

    def _by_text(self, values: Array) -> Array:
        """Values of rows (m,) added to their first text and taken from their second (n,)."""
        rows = self.counts
        return added(rows.first, values, rows.n) - added(rows.second, values, rows.n)

    def _by_text_and_judge(self, values: Array) -> Array:
        """The same by judge (n, K)."""
        rows = self.counts
        n, k = rows.n, rows.judges
        gained = added(rows.first * k + rows.judge, values, n * k)
        return (gained - added(rows.second * k + rows.judge, values, n * k)).reshape(n, k)


def maximised(
    problem: Problem, start: Point, tolerance: float = TOLERANCE
) -> tuple[Point, int, bool]:
    """The point of the maximum, the steps it took, and whether the method converged.

    Steps of Newton's method are halved until the objective does not fall. A step that changes every
    parameter by `tolerance` at most is the last one.
    """
    state = problem.at(start)
    value = problem.objective(state)
    votes = float(problem.counts.votes.sum())
    size = np.sqrt(ROUGH)
    for count in range(1, STEPS + 1):
        texts, judges = _step(problem, state, float(np.clip(size**2, FINE, ROUGH)))
        size = max(np.abs(texts).max(initial=0.0), np.abs(judges).max(initial=0.0))
        share = min(1.0, LONGEST / size) if size > 0 else 1.0
        least = value - ROUNDING * abs(value) - EACH * votes
        for _ in range(HALVINGS):
            point = state.point
            moved = problem.at(Point(point.s + share * texts, point.judges + share * judges))
            reached = problem.objective(moved)
            if reached >= least:
                break
            share /= 2
        else:
            return state.point, count, False
        state, value = moved, reached
        if size * share <= tolerance:
            return state.point, count, True
    return state.point, STEPS, False


def _step(problem: Problem, state: State, tolerance: float) -> tuple[Array, Array]:
    """The step of Newton's method: of the strengths (n,) and of all parameters of judges (3, K).

    Where the likelihood is not concave at a point, expected second derivatives take the place of
    those observed (Fisher's scoring), with which every step goes up.
    """
    for expected in (False, True):
        here = problem.at(state.point, True) if expected else state
        gradient, system = problem.slope(here)
        try:
            step = system.step(gradient, tolerance)
        except NotPositive:
            continue
        ascent = step @ gradient
        if np.isfinite(ascent) and ascent >= 0:
            break
    else:  # uphill by the gradient alone, as far as the curvature of each parameter allows
        own = np.concatenate([system.diagonal, np.diag(system.rest)])
        step = gradient / np.maximum(own, 1.0)
    texts, free = np.split(step, [problem.counts.n])
    return texts, (problem.basis @ free).reshape(state.point.judges.shape)
