"""Random effects of a mixed model: their terms, and which of them a design can tell apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
TOLD_APART = 1e-9
"""Covariances whose normalised Gram matrix has a smaller eigenvalue are linearly dependent."""


@dataclass(frozen=True)
class Term:
    """Random effects of one variance: the rows of a level share its effect, times their value.

    `levels` numbers the level of each row from 0, `values` is 1 for an intercept and the regressor
    for a slope; both are of the length of the data.
    """

    name: str
    levels: NDArray[np.intp]
    values: Array

    @property
    def count(self) -> int:
        """The number of levels."""
        return int(self.levels.max()) + 1 if len(self.levels) else 0

    def matrix(self):
        """The design of the effects, rows by levels, sparse."""
        from scipy.sparse import csr_array

        rows = np.arange(len(self.levels))
        shape = (len(rows), self.count)
        return csr_array((self.values, (rows, self.levels)), shape=shape)


def term(name: str, groups: ArrayLike, values: ArrayLike | None = None) -> Term:
    """The term of effects by group; intercepts where no values are given.

    >>> term("topic", ["b", "a", "b"]).levels
    array([1, 0, 1])
    """
    levels = np.unique(np.asarray(groups), return_inverse=True)[1].ravel()
    known = np.ones(len(levels)) if values is None else np.asarray(values, dtype=float)
    return Term(name, levels, known)


def independent(columns: Array) -> list[int]:
    """The columns, by number, that are no linear combination of those before them.

    >>> independent(np.array([[1.0, 0, 1], [1, 1, 0], [1, 1, 0]]))
    [0, 1]
    """
    kept: list[int] = []
    for i in range(columns.shape[1]):
        tried = columns[:, [*kept, i]]
        lengths = np.linalg.norm(tried, axis=0)
        if not lengths.all():
            continue
        if np.linalg.matrix_rank(tried / lengths, tol=1e-9) == len(kept) + 1:
            kept.append(i)
    return kept


def estimable(fixed: Array, terms: Sequence[Term]) -> tuple[list[Term], dict[str, str]]:
    """The terms that a design can estimate, and why each of the others is left out.

    The reasons are "one_level" and "not_identified": after the fixed effects are taken out, the
    covariance of the term is a linear combination of those of the terms before it and of the
    residual, so that no data tell its variance (Searle, Casella and McCulloch 1992, chapter 6:
    the matrix is that of MINQUE(0)). Earlier terms are kept before later ones.
    """
    kept: list[Term] = []
    left_out: dict[str, str] = {}
    for one in terms:
        if one.count < 2:
            left_out[one.name] = "one_level"
        elif not _told_apart(fixed, [*kept, one]):
            left_out[one.name] = "not_identified"
        else:
            kept.append(one)
    return kept, left_out


def _told_apart(fixed: Array, terms: Sequence[Term]) -> bool:
    """Whether the covariances of the terms and of the residual are linearly independent."""
    basis = np.linalg.qr(fixed)[0]
    designs = [one.matrix() for one in terms]
    projected = [design.T @ basis for design in designs]
    size = len(terms)
    gram = np.empty((size + 1, size + 1))
    gram[size, size] = len(fixed) - fixed.shape[1]
    for i in range(size):
        for j in range(i + 1):
            product = (designs[i].T @ designs[j]).toarray() - projected[i] @ projected[j].T
            gram[i, j] = gram[j, i] = float((product**2).sum())
            if i == j:
                gram[i, size] = gram[size, i] = float(np.trace(product))
    scale = np.diag(gram)
    if scale.min() <= TOLD_APART * max(scale.max(), 1.0):
        return False
    normalised = gram / np.sqrt(np.outer(scale, scale))
    return bool(np.linalg.eigvalsh(normalised)[0] > TOLD_APART)
