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
from typing import Any

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
class System:
    """A symmetric matrix (n + q, n + q) of n texts and the free parameters of judges, in full or
    sparse.

    `grounds` are one text of each component where the matrix is singular because adding a number
    to all texts of a component changes nothing. Right sides must then add up to 0 in each
    component, and solutions are known up to these numbers.
    """

    matrix: Any
    texts: int
    grounds: Places

    @cached_property
    def diagonal(self) -> Array:
        """The diagonal of the matrix."""
        return self.matrix.diagonal()

    def solve(self, right: Array) -> Array:
        """The solutions for right sides (n + q, r); NotPositive where there is no maximum."""
        if self.texts > DENSE:
            return self._sparse.solve(np.ascontiguousarray(right))
        from scipy.linalg import cho_solve

        return cho_solve((self._dense, True), right, check_finite=False)

    def step(self, right: Array, tolerance: float) -> Array:
        """The solution for one right side (n + q,), up to a tolerance where it is found quickly."""
        from scipy.sparse import diags_array
        from scipy.sparse.linalg import cg

        if not (self.diagonal > 0).all():
            raise NotPositive
        if self.texts > DIRECT:
            scaled = diags_array(1 / self.diagonal)
            found, missed = cg(self.matrix, right, rtol=tolerance, maxiter=ITERATIONS, M=scaled)
            if not missed:
                return found
        return self.solve(right[:, None])[:, 0]

    def log_determinant(self) -> float:
        """The logarithm of the determinant of the matrix, which is made in full."""
        return 2 * float(np.log(np.diag(self._dense)).sum())

    @cached_property
    def _raised(self) -> Array:
        """What is added to the diagonal to make the matrix regular."""
        found = np.zeros(len(self.diagonal))
        found[self.grounds] = max(float(self.diagonal[: self.texts].max(initial=0.0)), 1.0)
        return found

    @cached_property
    def _dense(self) -> Array:
        """Cholesky's lower factor."""
        from scipy.linalg import LinAlgError, cholesky

        full = self.matrix.copy() if self.texts <= DIRECT else self.matrix.toarray()
        full[np.diag_indices_from(full)] += self._raised
        try:
            return cholesky(full, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError as fault:
            raise NotPositive from fault

    @cached_property
    def _sparse(self):
        from scipy.sparse import diags_array
        from scipy.sparse.linalg import splu

        full = (self.matrix + diags_array(self._raised)).tocsc()
        factor = splu(full, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
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
    eta^x (1 - eta)^y, if any. `component` (n,) numbers the parts between which nobody voted.
    """

    kind: Kind
    counts: Counts
    penalty: Penalty | None
    basis: Array
    signs: Array
    component: Places
    beta: tuple[float, float] | None = None

    @property
    def free(self) -> int:
        """How many parameters of judges are free."""
        return self.basis.shape[1]

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

    def row_scores(self, state: State) -> tuple[Array, Array]:
        """The derivatives of each row's log likelihood: by the strength of its first text (m,), and
        by the free parameters of judges (m, q).
        """
        found = state.terms
        by_d, by_t = self._moves(state)
        return state.alpha * found.d, found.d[:, None] * by_d + found.t[:, None] * by_t

    def slope(self, state: State) -> tuple[Array, System]:
        """The gradient (n + q,), and minus the second derivatives; with expected ones these are
        never negative.
        """
        found, alpha, rows = state.terms, state.alpha, self.counts
        by_text, by_judge = self.row_scores(state)
        texts, judges = self._by_text(by_text), by_judge.sum(axis=0)
        ridge = np.zeros(rows.n)
        if self.penalty is not None:
            _, by_penalty, curvature = self.penalty.terms(state.point.s)
            texts, ridge = texts + by_penalty, -curvature
        coupling, rest = self._second(state)
        if self.beta is not None:
            right, wrong = self.beta
            eta, own = sigmoid(state.point.judges[THRESHOLD]), self._by_judge[THRESHOLD]
            judges = judges + own.T @ (right * (1 - eta) - wrong * eta)
            rest = rest - own.T @ (((right + wrong) * eta * (1 - eta))[:, None] * own)
        weights = -added(rows.pair, alpha**2 * found.dd, len(rows.pairs))
        matrix = self._matrix(weights, ridge, -coupling, -rest)
        return np.concatenate([texts, judges]), System(matrix, rows.n, self._grounds)

    @cached_property
    def _by_judge(self) -> Array:
        """The basis by row of parameters and judge (3, K, q)."""
        return self.basis.reshape(3, self.counts.judges, self.free)

    @cached_property
    def _by_row(self) -> Array:
        """The same of the judge of each row of votes (3, m, q)."""
        return self._by_judge[:, self.counts.judge]

    @cached_property
    def _grounds(self) -> Places:
        """One text of each component where no penalty holds strengths; none with a penalty."""
        if self.penalty is not None:
            return np.empty(0, dtype=np.int64)
        return np.unique(self.component, return_index=True)[1]

    def _moves(self, state: State) -> tuple[Array, Array]:
        """By how much each free parameter of judges moves d and t of each row (m, q)."""
        by_d = self._by_row[DELTA] + state.moved[:, None] * self._by_row[ALPHA]
        return by_d, self._by_row[THRESHOLD]

    def _second(self, state: State) -> tuple[Array, Array]:
        """The second derivatives by texts and judges (n, q), and by judges alone (q, q)."""
        if not self.free:
            return np.zeros((self.counts.n, 0)), np.zeros((0, 0))
        found = state.terms
        by_d, by_t = self._moves(state)
        by_alpha = self._by_row[ALPHA]
        bend = np.zeros_like(found.d) if state.expected else found.d
        of_d = found.dd[:, None] * by_d + found.dt[:, None] * by_t
        of_t = found.dt[:, None] * by_d + found.tt[:, None] * by_t
        crossed = state.alpha[:, None] * (of_d + bend[:, None] * by_alpha)
        coupling = [self._by_text(column) for column in crossed.T]
        rest = by_d.T @ of_d + by_t.T @ of_t
        rest += by_alpha.T @ ((bend * state.moved)[:, None] * by_alpha)
        return np.stack(coupling, axis=1), rest

    def _matrix(self, weights: Array, ridge: Array, coupling: Array, rest: Array) -> Any:
        """The matrix of pairs with these weights (p,), in full for few texts, else sparse."""
        from scipy.sparse import csr_array

        n, size = self.counts.n, self.counts.n + self.free
        one, other = self.counts.pairs.T
        diagonal = added(one, weights, n) + added(other, weights, n) + ridge
        both = coupling.ravel()
        cells = np.concatenate([-weights, -weights, diagonal, both, both, rest.ravel()])
        if n > DIRECT:
            return csr_array((cells, self._cells), shape=(size, size))
        full = np.zeros((size, size))
        full[self._cells] = cells
        return full

    @cached_property
    def _cells(self) -> tuple[Places, Places]:
        """Rows and columns of the cells of the matrix that are not 0."""
        one, other = self.counts.pairs.T
        texts = np.arange(self.counts.n)
        judges = np.arange(self.counts.n, self.counts.n + self.free)
        by_text, by_judge = np.repeat(texts, self.free), np.tile(judges, self.counts.n)
        own = np.repeat(judges, self.free), np.tile(judges, self.free)
        rows = np.concatenate([one, other, texts, by_text, by_judge, own[0]])
        return rows, np.concatenate([other, one, texts, by_judge, by_text, own[1]])

    def _by_text(self, values: Array) -> Array:
        """Values of rows (m,) added to their first text and taken from their second (n,)."""
        rows = self.counts
        return added(rows.first, values, rows.n) - added(rows.second, values, rows.n)


def maximised(problem: Problem, start: Point, tolerance: float = TOLERANCE) -> tuple[Point, bool]:
    """The point of the maximum, and whether the method converged.

    Steps of Newton's method are halved until the objective does not fall. A step that changes every
    parameter by `tolerance` at most is the last one.
    """
    state = problem.at(start)
    value = problem.objective(state)
    votes = float(problem.counts.votes.sum())
    size = np.sqrt(ROUGH)
    for _ in range(STEPS):
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
            return state.point, False
        state, value = moved, reached
        if size * share <= tolerance:
            return state.point, True
    return state.point, False


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
        step = gradient / np.maximum(system.diagonal, 1.0)
    texts, free = np.split(step, [problem.counts.n])
    return texts, (problem.basis @ free).reshape(state.point.judges.shape)
