"""Linear systems of a fit: texts are coupled by the pairs that were judged, and by a few parameters
of the judges.

The matrix is [[L, F], [F', Q]]: L (n, n) is a weighted graph of pairs with a penalty on its
diagonal, F (n, q) and Q (q, q) belong to the judges. Above `DIRECT` texts L is never made in full
for a solution: conjugate gradients (Hestenes and Stiefel 1952, https://doi.org/10.6028/jres.049.044)
need its products only, and a sparse factor takes over where they converge slowly.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from delibsim.measures.bradley_terry.counts import added

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
