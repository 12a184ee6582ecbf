"""What a fit maximises, its derivatives, and its maximum by Newton's method.

The matrix is [[L, F], [F', Q]]: L (n, n) is a weighted graph of pairs with a penalty on its
diagonal, F (n, q) and Q (q, q) belong to the judges. Above `DIRECT` texts L is never made in full
for a solution: conjugate gradients (Hestenes and Stiefel 1952, https://doi.org/10.6028/jres.049.044)
need its products only, and a sparse factor takes over where they converge slowly.

A row of votes has d = alpha (s_first - s_second) + delta, with alpha and delta of its judge. The
parameters of judges are the rows of an array (3, K): delta, t (the logarithm of theta or nu, or the
log odds of eta) and the logarithm of |alpha|.

Where the likelihood is not concave at a point, expected second derivatives take the place of those
observed (Fisher's scoring), with which every step goes up.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from delibsim.measures.bradley_terry.counts import Counts, added
from delibsim.measures.bradley_terry.likelihood import Kind, Penalty, Terms, sigmoid, terms

Array = NDArray[np.float64]
Places = NDArray[np.int64]

DIRECT = 200
"""The most texts whose matrix is always factored in full."""
DENSE = 2_000
"""The most texts whose matrix is ever made in full."""
PRECISE = 1e-10
"""The share of a right side that conjugate gradients leave over, unless told."""
ITERATIONS = 300
"""The most iterations of conjugate gradients."""


class NotPositive(ArithmeticError):
    """The matrix of the system is not positive definite."""


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
        numbers = np.arange(1.0, len(one) + 1)
        upper = csr_array((numbers, other, starts), shape=(self.n, self.n))
        return upper + upper.T.tocsr()

    @cached_property
    def numbers(self) -> Places:
        """The pair of each entry of `rows`."""
        return self.rows.data.astype(np.int64) - 1

    def centred(self, columns: Array) -> Array:
        """Columns (n, r) less the means of their components."""
        totals = self._members @ columns
        return columns - (totals / self._sizes[:, None])[self._places]

    @cached_property
    def _places(self) -> Places:
        """The place of each text's component among those that there are (n,)."""
        return np.unique(self.component, return_inverse=True)[1]

    @cached_property
    def _sizes(self) -> Places:
        """How many texts each component has."""
        return np.bincount(self._places)

    @cached_property
    def _members(self):
        """The texts of each component as a sparse matrix (c, n) of ones."""
        from scipy.sparse import coo_array

        places = (self._places, np.arange(self.n))
        return coo_array((np.ones(self.n), places), shape=(len(self._sizes), self.n)).tocsr()

    @cached_property
    def grounds(self) -> Places:
        """One text of each component."""
        return np.unique(self.component, return_index=True)[1]


@dataclass(frozen=True, eq=False)
class System:
    """A system with weights (p,) of the pairs, a `ridge` (n,) on the diagonal, and F and Q.

    Where the ridge is 0 everywhere (`free`), L is singular: adding a number to all texts of a
    component changes nothing. Right sides must then add up to 0 in each component, and solutions
    are known up to these numbers.
    """

    pattern: Pattern
    weights: Array
    ridge: Array
    coupling: Array
    rest: Array
    tolerance: float = PRECISE

    @property
    def free(self) -> bool:
        """Whether nothing but votes holds the texts."""
        return not self.ridge.any()

    @cached_property
    def diagonal(self) -> Array:
        """The diagonal of L (n,)."""
        one, other = self.pattern.pairs.T
        n = self.pattern.n
        found = added(one, self.weights, n) + added(other, self.weights, n)
        return found + self.ridge

    @cached_property
    def neighbours(self):
        """The matrix (n, n) of the weights of pairs, sparse."""
        from scipy.sparse import csr_array

        rows = self.pattern.rows
        data = self.weights[self.pattern.numbers]
        return csr_array((data, rows.indices, rows.indptr), shape=rows.shape)

    @cached_property
    def _grounded(self) -> Array:
        """The diagonal with which L is regular."""
        found = self.diagonal.copy()
        if self.free:
            found[self.pattern.grounds] += max(float(found.max(initial=0.0)), 1.0)
        return found

    @cached_property
    def _dense(self):
        from scipy.linalg import LinAlgError, cho_factor

        n = self.pattern.n
        full = np.zeros((n, n))
        one, other = self.pattern.pairs.T
        full[one, other] = full[other, one] = -self.weights
        full[np.arange(n), np.arange(n)] = self._grounded
        try:
            return cho_factor(full, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError as fault:
            raise NotPositive from fault

    @cached_property
    def _sparse(self):
        from scipy.sparse import diags_array
        from scipy.sparse.linalg import splu

        full = diags_array(self._grounded, format="csc") - self.neighbours.tocsc()
        factor = splu(full, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
        if not (factor.U.diagonal() > 0).all():
            raise NotPositive
        return factor

    def _complement(self, inner: Array) -> Array:
        """The Cholesky factor of Q - F'x, with x the solution of L x = F."""
        complement = self.rest - self.coupling.T @ inner
        try:
            factor = np.linalg.cholesky((complement + complement.T) / 2)
        except np.linalg.LinAlgError as fault:
            raise NotPositive from fault
        return factor.astype(np.float64, copy=False)

    @cached_property
    def _coupled(self) -> tuple[Array, Array]:
        """The solution of L x = F, and the Cholesky factor of Q - F'x."""
        inner = self._inner(self.coupling)
        return inner, self._complement(inner)

    def solve(self, top: Array, bottom: Array) -> tuple[Array, Array]:
        """The solution for the right sides `top` (n, r) and `bottom` (q, r), in these two parts.

        Raises NotPositive where the matrix is not positive definite.
        """
        if not self.rest.size:
            return self._inner(top), bottom
        from scipy.linalg import cho_solve

        if "_coupled" in self.__dict__:
            found = self._inner(top)
        else:  # both at once: products with several columns cost little more than with one
            both = self._inner(np.hstack([self.coupling, top]))
            inner, found = np.split(both, [self.coupling.shape[1]], axis=1)
            self.__dict__["_coupled"] = inner, self._complement(inner)
        inner, factor = self._coupled
        others = cho_solve((factor, True), bottom - self.coupling.T @ found)
        return found - inner @ others, others

    def factored(self) -> "System":
        """The same system, which factors L in full where it has at most `DENSE` texts.

        This is faster for hundreds of right sides.
        """
        if self.pattern.n <= DENSE:
            _ = self._dense
        return self

    def log_determinant(self) -> float:
        """The logarithm of the determinant of the matrix, which is made in full.

        Raises NotPositive where the matrix is not positive definite.
        """
        found = 2 * float(np.log(np.diag(self._dense[0])).sum())
        if not self.rest.size:
            return found
        return found + 2 * float(np.log(np.diag(self._coupled[1])).sum())

    def _inner(self, right: Array) -> Array:
        """The solution of L x = right."""
        if not right.shape[1]:
            return np.zeros_like(right)
        n = self.pattern.n
        if n <= DIRECT or "_dense" in self.__dict__:
            from scipy.linalg import cho_solve

            return cho_solve(self._dense, right, check_finite=False)
        if "_sparse" not in self.__dict__:
            found = self._iterated(right)
            if found is not None:
                return found
        if n <= DENSE:
            _ = self._dense
            return self._inner(right)
        return self._sparse.solve(np.ascontiguousarray(right))

    def _iterated(self, right: Array) -> Array | None:
        """Conjugate gradients for all right sides at once, scaled by the diagonal; None where they
        take too long.

        scipy's take one right side at a time, and errors need one for each text.
        """
        neighbours, diagonal = self.neighbours, self.diagonal[:, None]
        if not (diagonal > 0).all():
            raise NotPositive
        x = np.zeros_like(right)
        # Rounding leaves a little outside of what a singular matrix can reach.
        residual = self.pattern.centred(right) if self.free else right.copy()
        scaled = residual / diagonal
        direction = scaled.copy()
        size = (residual * scaled).sum(axis=0)
        enough = size * self.tolerance**2
        for _ in range(ITERATIONS):
            if (size <= enough).all():
                return self.pattern.centred(x) if self.free else x
            image = diagonal * direction - neighbours @ direction
            bend = (direction * image).sum(axis=0)
            going = size > enough
            if (bend[going] <= 0).any():
                raise NotPositive
            step = np.divide(size, bend, out=np.zeros_like(size), where=going)
            x += step * direction
            residual -= step * image
            scaled = residual / diagonal
            before, size = size, (residual * scaled).sum(axis=0)
            turn = np.divide(size, before, out=np.zeros_like(size), where=going)
            direction = scaled + turn * direction
        return None


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


def maximised(
    problem: Problem, start: Point, tolerance: float = TOLERANCE
) -> tuple[Point, int, bool]:
    """The point of the maximum, the steps it took, and whether the method converged.

    A step that changes every parameter by `tolerance` at most is the last one.
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
            moved = problem.at(state.point.moved(texts, judges, share))
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
    """The step of Newton's method: of the strengths (n,) and of all parameters of judges (3K,)."""
    for expected in (False, True):
        here = problem.at(state.point, True) if expected else state
        slope = problem.slope(here, tolerance)
        try:
            texts, judges = slope.system.solve(slope.texts[:, None], slope.judges[:, None])
        except NotPositive:
            continue
        step = texts[:, 0], judges[:, 0]
        ascent = step[0] @ slope.texts + step[1] @ slope.judges
        if np.isfinite(ascent) and ascent >= 0:
            return step[0], problem.basis @ step[1]
    # Uphill by the gradient alone, as far as the curvature of each parameter allows.
    rest = np.diag(slope.system.rest)
    texts = slope.texts / np.maximum(slope.system.diagonal, 1.0)
    return texts, problem.basis @ (slope.judges / np.maximum(rest, 1.0))
