"""Restricted maximum likelihood of mixed models, on cross-products of the design.

The model is y = X b + sum over terms of Z u + e, every term and the residual normal with a variance
of its own. The likelihood is profiled over b and the variance of the residual, as in lme4 (Bates,
Maechler, Bolker and Walker 2015, doi:10.18637/jss.v067.i01), with an analytic gradient. The term
with the most levels is eliminated first: its cross-product is diagonal. Many responses to one
design are taken together, because a bootstrap has thousands of small ones.
"""

from collections.abc import Sequence
from contextlib import suppress
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
    basis = np.empty((len(columns), 0))
    for i, column in enumerate(columns.T):
        length = np.linalg.norm(column)
        left = column / length if length else column
        for _ in range(2):  # once more, for what rounding left of the first time
            left = left - basis @ (basis.T @ left)
        rest = np.linalg.norm(left)
        if rest > 1e-9:
            kept.append(i)
            basis = np.column_stack([basis, left / rest])
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


Chosen = NDArray[np.intp]
AT_ONCE = 1_000_000
"""About how many numbers are worked on at a time: as many as a processor has near."""


@dataclass(frozen=True)
class Responses:
    """Products of d responses with the design: all that the likelihood needs of them.

    `largest` (d, levels) are the sums by level of the largest term, `others` (d, q + p) the
    products with the other random effects and the fixed effects, `squares` (d,) the sums of
    squares.
    """

    largest: Array
    others: Array
    squares: Array

    def of(self, rows: Chosen) -> "Responses":
        """Those of some responses, by number."""
        return Responses(*[part[rows] for part in vars(self).values()])


@dataclass(frozen=True)
class Evaluations:
    """The likelihood of d responses, each at its own variance ratios; the first axis is theirs.

    `deviance` is minus twice the restricted log likelihood, `gradient` its derivative by each
    ratio and `information` the average information, which stands for the second derivatives
    (Gilmour, Thompson and Cullis 1995, doi:10.2307/2533274). `effects` are the fixed effects,
    `residual` is the variance of the residual, and `covariance` that of the fixed effects. All are
    NaN where rounding has left no covariance.
    """

    deviance: Array
    gradient: Array
    information: Array
    effects: Array
    residual: Array
    covariance: Array

    def of(self, rows: Chosen) -> "Evaluations":
        """Those of some responses, by number."""
        return Evaluations(*[part[rows] for part in vars(self).values()])

    def replaced(self, rows: Chosen, others: "Evaluations") -> "Evaluations":
        """The same with those of some responses, by number, replaced."""
        parts = []
        for name, part in vars(self).items():
            changed = part.copy()
            changed[rows] = getattr(others, name)
            parts.append(changed)
        return Evaluations(*parts)


def joined(parts: Sequence[Evaluations]) -> Evaluations:
    """Evaluations of some responses and then of others, as one."""
    columns = zip(*[vars(part).values() for part in parts], strict=True)
    return Evaluations(*map(np.concatenate, columns))


class Likelihood:
    """The restricted likelihood of a design; only the responses change from call to call.

    `terms` are in the order in which they were given; a ratio is the variance of a term divided by
    that of the residual. Z1 is the design of the largest term, Z2 that of the others, X that of the
    fixed effects.
    """

    def __init__(self, fixed: Array, terms: Sequence[Term]) -> None:
        from scipy.linalg import get_lapack_funcs
        from scipy.sparse import csr_array, hstack

        self.trtri = get_lapack_funcs("trtri", dtype=np.float64)
        self.n, self.p = fixed.shape
        self.fixed = fixed
        self.terms = tuple(terms)
        self.first = int(np.argmax([one.count for one in terms]))
        self.order = [k for k in range(len(terms)) if k != self.first]
        blocks = [terms[k].matrix() for k in self.order]
        widths = [block.shape[1] for block in blocks]
        self.q = sum(widths)
        # Which term each level of Z2 is of, as a number among the others and as an indicator.
        self.belongs = np.repeat(np.arange(len(blocks)), widths)
        self.of_terms = np.zeros((self.q, len(terms)))
        self.of_terms[np.arange(self.q), np.array(self.order, dtype=int)[self.belongs]] = 1.0
        # Cross-products of [Z2 X] with itself and with Z1.
        self.z1 = terms[self.first].matrix()
        self.z2x = hstack([*blocks, csr_array(fixed)], format="csr")
        self.products = (self.z2x.T @ self.z2x).toarray()
        self.by_largest = (self.z1.T @ self.z2x).toarray()
        # Levels with equal sums of squares are shrunk alike, and there are few such sums.
        squares = np.asarray(self.z1.multiply(self.z1).sum(axis=0)).ravel()
        self.counts, self.alike, self.times = np.unique(
            squares, return_inverse=True, return_counts=True
        )
        parts = [self.by_largest[self.alike == k] for k in range(len(self.counts))]
        self.alike_products = np.array([part.T @ part for part in parts])
        width = self.q + self.p
        self.size = width * (6 * width + 2 * len(squares))  # numbers held for a response, about

    def responses(self, ys: Array) -> Responses:
        """The products of responses, the columns of an array, with the design."""
        return Responses((self.z1.T @ ys).T, (self.z2x.T @ ys).T, (ys**2).sum(axis=0))

    def __call__(self, ratios: Array, responses: Responses) -> Evaluations:
        """The likelihood of d responses at these ratios (d, terms), none of which is negative."""
        step = max(1, AT_ONCE // self.size)
        if len(ratios) <= step:
            return self._evaluated(ratios, responses)
        parts = []
        for begin in range(0, len(ratios), step):
            rows = np.arange(begin, min(begin + step, len(ratios)))
            parts.append(self._evaluated(ratios[rows], responses.of(rows)))
        return joined(parts)

    def _evaluated(self, ratios: Array, responses: Responses) -> Evaluations:
        q, p = self.q, self.p
        if (ratios == ratios[0]).all():  # as where a search begins: one covariance for all
            ratios = ratios[:1]
        # V1 is the covariance of residual and largest term alone: its inverse is known.
        ratio = ratios[:, self.first, None]
        shrunk = 1 / (1 + ratio * self.counts)
        by_level = shrunk[:, self.alike]
        inner = self.products - _weighted(ratio * shrunk, self.alike_products)
        taken = ratio * by_level * responses.largest
        right = (responses.others - taken @ self.by_largest)[:, :, None]
        squares = responses.squares - (taken * responses.largest).sum(axis=1)
        # Woodbury's identity for the other terms: V^-1 = V1^-1 - V1^-1 Z2 core Z2' V1^-1.
        sds = np.sqrt(ratios[:, self.order])[:, self.belongs, None]
        among, to_fixed, to_y = inner[:, :q, :q], inner[:, :q, q:], right[:, :q]
        factor = _roots(sds * among * _turned(sds) + np.eye(q))
        halves = self._inverse(factor) * _turned(sds)
        core = _turned(halves) @ halves
        of_fixed, of_y = core @ to_fixed, core @ to_y
        # The fixed effects, and what the response has beyond them.
        root = _roots(inner[:, q:, q:] - _turned(to_fixed) @ of_fixed)
        inverse = np.asarray(np.linalg.inv(root), dtype=np.float64)
        scaled = inverse @ (right[:, q:] - _turned(to_fixed) @ of_y)
        effects = _turned(inverse) @ scaled
        beyond = squares - (to_y * of_y).sum(axis=(1, 2)) - (scaled**2).sum(axis=(1, 2))
        quadratic = np.maximum(beyond, 1e-300)
        residual = quadratic / (self.n - p)
        logs = np.log1p(ratio * self.counts) @ self.times
        logs += 2 * (_logs_of_diagonal(root) + _logs_of_diagonal(factor))
        deviance = logs + (self.n - p) * (1 + np.log(2 * np.pi * residual))
        solved = _Solved(shrunk, among, core, inverse, effects, to_fixed, of_fixed, to_y, of_y)
        gradient, information = self._derivatives(solved, responses.largest, quadratic)
        covariance = residual[:, None, None] * (_turned(inverse) @ inverse)
        return Evaluations(deviance, gradient, information, effects[:, :, 0], residual, covariance)

    def _derivatives(
        self, solved: "_Solved", of_largest: Array, quadratic: Array
    ) -> tuple[Array, Array]:
        """The derivatives of the deviance by the ratios, and the average information.

        P is the inverse covariance with the fixed effects taken out. The first are traces of Z' P Z
        less squares of Z' P y; the information has products by P of what each term explains,
        Z Z' P y.
        """
        q, first, of_terms = self.q, self.first, self.of_terms
        among, core, turned = solved.among, solved.core, _turned(solved.inverse)
        by_level = solved.shrunk[:, self.alike]
        crossed = among @ core
        own, fixed = self.by_largest[:, :q], self.by_largest[:, q:]
        fixed_others = solved.to_fixed - crossed @ solved.to_fixed  # Z' V^-1 X
        fixed_largest = by_level[:, :, None] * (fixed - own @ solved.of_fixed)
        others = solved.to_y - crossed @ solved.to_y - fixed_others @ solved.effects  # Z' P y
        largest = by_level * (of_largest - (own @ solved.of_y)[:, :, 0])
        largest = largest - (fixed_largest @ solved.effects)[:, :, 0]
        diagonal = among.diagonal(axis1=1, axis2=2) - np.einsum("dij,dij->di", crossed, among)
        traces = (diagonal - ((fixed_others @ turned) ** 2).sum(axis=2)) @ of_terms
        alike = _weighted(solved.shrunk**2, self.alike_products[:, :q, :q])
        trace = (solved.shrunk * self.counts) @ self.times - np.einsum("dij,dij->d", core, alike)
        traces[:, first] = trace - ((fixed_largest @ turned) ** 2).sum(axis=(1, 2))
        explained = (others[:, :, 0] ** 2) @ of_terms
        explained[:, first] = (largest**2).sum(axis=1)
        by_others = others * of_terms
        by_first = (by_level * largest) @ self.by_largest
        met = among @ by_others
        met[:, :, first] += by_first[:, :q]
        of_met = core @ met
        on_fixed = _turned(solved.to_fixed) @ (by_others - of_met)
        on_fixed[:, :, first] += by_first[:, q:]
        on_fixed = solved.inverse @ on_fixed
        information = _turned(by_others) @ met - _turned(met) @ of_met
        information[:, first] += (by_first[:, None, :q] @ by_others)[:, 0]
        information[:, first, first] += (by_level * largest**2) @ self.counts[self.alike]
        information -= _turned(on_fixed) @ on_fixed
        information -= explained[:, :, None] * (explained / quadratic[:, None])[:, None, :]
        residual = (quadratic / (self.n - self.p))[:, None]
        return traces - explained / residual, information / residual[:, :, None]

    def _inverse(self, factors: Array) -> Array:
        """The inverses of lower triangular factors; numpy has none that is as fast."""
        found = np.empty_like(factors)
        for i in range(len(factors) if self.q else 0):
            found[i] = self.trtri(factors[i], lower=1)[0]
        return found


@dataclass(frozen=True)
class _Solved:
    """What the derivatives need: how levels are `shrunk`, Z2' V1^-1 Z2 (`among`), the `core` of
    Woodbury's identity, the inverse root of X' V^-1 X, the fixed `effects`; Z2' V1^-1 times X and
    times y, and the core times both.
    """

    shrunk: Array
    among: Array
    core: Array
    inverse: Array
    effects: Array
    to_fixed: Array
    of_fixed: Array
    to_y: Array
    of_y: Array


def _weighted(weights: Array, matrices: Array) -> Array:
    """Sums (d, w, w) of matrices (u, w, w), each with its weights (d, u)."""
    count, *shape = matrices.shape
    flat = matrices.reshape(count, shape[0] * shape[1])
    return (weights @ flat).reshape(len(weights), *shape)


def _turned(matrices: Array) -> Array:
    """The transposes of matrices."""
    return matrices.transpose(0, 2, 1)


def _roots(matrices: Array) -> Array:
    """Cholesky's lower factors of matrices; NaN for one that rounding has left without."""
    try:
        return np.asarray(np.linalg.cholesky(matrices), dtype=np.float64)
    except np.linalg.LinAlgError:
        pass
    found = np.full_like(matrices, np.nan)
    for i, one in enumerate(matrices):
        with suppress(np.linalg.LinAlgError):
            found[i] = np.linalg.cholesky(one)
    return found


def _logs_of_diagonal(factors: Array) -> Array:
    """The sum of the logarithms of the diagonal of each."""
    return np.log(factors.diagonal(axis1=1, axis2=2)).sum(axis=1)
